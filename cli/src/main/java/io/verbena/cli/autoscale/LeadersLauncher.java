package io.verbena.cli.autoscale;

import io.verbena.cli.autoscale.launch.Launcher;

import java.util.List;
import java.util.function.BooleanSupplier;

/** A launcher of a meta server, which starts and ends nothing where that does not lead at this moment. */
final class LeadersLauncher implements Launcher
{
    private final Launcher launcher;
    private final BooleanSupplier leads;

    /**
     * @param launcher of the nodes.
     * @param leads    whether the leadership that it was opened under is still in force.
     */
    LeadersLauncher(final Launcher launcher, final BooleanSupplier leads)
    {
        this.launcher = launcher;
        this.leads = leads;
    }

    @Override
    public void start(final int count, final List<String> present)
    {
        LeaderAutoscaler.requireLeadership(leads);
        launcher.start(count, present);
    }

    @Override
    public void end(final List<String> names)
    {
        LeaderAutoscaler.requireLeadership(leads);
        launcher.end(names);
    }

    @Override
    public void giveUp(final List<String> present)
    {
        LeaderAutoscaler.requireLeadership(leads);
        launcher.giveUp(present);
    }

    @Override
    public int coming(final List<String> present)
    {
        return launcher.coming(present);
    }

    @Override
    public boolean owns(final String name)
    {
        return launcher.owns(name);
    }

    @Override
    public boolean restarts()
    {
        return launcher.restarts();
    }
}
