package io.verbena.cli.autoscale;

import io.verbena.cli.autoscale.launch.Launcher;

import java.util.List;

/** A launcher of a meta server, which starts and ends nothing where that does not lead at this moment. */
final class LeadersLauncher implements Launcher
{
    private final Launcher launcher;
    private final ChangePermission permission;

    /**
     * @param launcher   of the nodes.
     * @param permission looked at before each command.
     */
    LeadersLauncher(final Launcher launcher, final ChangePermission permission)
    {
        this.launcher = launcher;
        this.permission = permission;
    }

    @Override
    public void start(final int count, final List<String> present)
    {
        permission.require();
        launcher.start(count, present);
    }

    @Override
    public void end(final List<String> names)
    {
        permission.require();
        launcher.end(names);
    }

    @Override
    public void giveUp(final List<String> present)
    {
        permission.require();
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
