package io.verbena.rdma.sim;

import io.verbena.rdma.sim.schedule.SimFault;
import io.verbena.rdma.sim.schedule.SimIncidents;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

/** Which faults {@link SimWorld#injectFaults} draws. How many of each kind is drawn too, up to the most given here. */
public final class SimFaultOptions
{
    private int mostKills;
    private int mostPauses;
    private int mostBreaks;
    private List<String> victims = List.of();
    private List<String> peers = List.of();
    private long horizonNs = TimeUnit.MILLISECONDS.toNanos(1);
    private long longestPauseNs = TimeUnit.MICROSECONDS.toNanos(200);
    private int mostRequestsBeforeKill = 16;

    /**
     * @param names of nodes that may be killed, paused, or lose connections.
     * @return this.
     */
    public SimFaultOptions victims(final String... names)
    {
        victims = List.of(names);
        return this;
    }

    /**
     * @param names of nodes to which victims may lose their connections.
     * @return this.
     */
    public SimFaultOptions peers(final String... names)
    {
        peers = List.of(names);
        return this;
    }

    /**
     * @param most victims that die, half of them at a time, half after a number of requests.
     * @return this.
     */
    public SimFaultOptions kills(final int most)
    {
        mostKills = most;
        return this;
    }

    /**
     * @param most           pauses.
     * @param longestPauseNs longest pause, 1 or more.
     * @return this.
     */
    public SimFaultOptions pauses(final int most, final long longestPauseNs)
    {
        mostPauses = most;
        this.longestPauseNs = longestPauseNs;
        return this;
    }

    /**
     * @param most breaks between a victim and a peer.
     * @return this.
     */
    public SimFaultOptions breaks(final int most)
    {
        mostBreaks = most;
        return this;
    }

    /**
     * @param horizonNs faults begin within this time, 1 or more.
     * @return this.
     */
    public SimFaultOptions horizonNs(final long horizonNs)
    {
        this.horizonNs = horizonNs;
        return this;
    }

    void draw(final RandomGenerator random, final SimIncidents faults)
    {
        for (int i = random.nextInt(mostKills + 1); i > 0; i--)
        {
            final long atNs = random.nextLong(horizonNs);
            faults.add(random.nextBoolean() ? SimFault.kill(oneOf(victims, random), atNs) :
                SimFault.killAfter(oneOf(victims, random), atNs, random.nextInt(mostRequestsBeforeKill)));
        }
        for (int i = random.nextInt(mostPauses + 1); i > 0; i--)
        {
            faults.add(SimFault.pause(
                oneOf(victims, random), random.nextLong(horizonNs), 1 + random.nextLong(longestPauseNs)));
        }
        for (int i = random.nextInt(mostBreaks + 1); i > 0; i--)
        {
            faults.add(SimFault.breakConnections(
                oneOf(victims, random), oneOf(peers, random), random.nextLong(horizonNs)));
        }
    }

    private static String oneOf(final List<String> names, final RandomGenerator random)
    {
        return names.get(random.nextInt(names.size()));
    }
}
