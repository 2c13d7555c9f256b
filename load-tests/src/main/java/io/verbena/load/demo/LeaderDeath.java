package io.verbena.load.demo;

import io.verbena.client.KvClient;
import io.verbena.client.KvException;
import io.verbena.client.TableOptions;
import io.verbena.load.LoadException;
import org.agrona.concurrent.NanoClock;

import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The meta server that was killed while it led, and the first control call after that: a table is created.
 *
 * @param member        name of its process.
 * @param diedAfterNs   from the start of the run until it was killed.
 * @param controlCallNs from then until the call was answered.
 * @param attempts      calls that were made until one was answered; each has the client's deadline.
 */
record LeaderDeath(String member, long diedAfterNs, long controlCallNs, int attempts)
{
    private static final double NS_PER_US = 1_000.0;
    private static final long GIVE_UP_NS = TimeUnit.SECONDS.toNanos(60);
    private static final long FEW_RECORDS = 1_000;

    /**
     * Kills the leader, and waits for the next one.
     *
     * @param cluster of the demo.
     * @param clock   of the demo.
     * @param startNs when the run began.
     * @return what happened; null when there is one meta server, which is left alone.
     * @throws LoadException when no control call is answered within 60 s.
     */
    static LeaderDeath cause(final DemoCluster cluster, final NanoClock clock, final long startNs)
    {
        if (1 == cluster.metaServers())
        {
            return null;
        }
        final String member = cluster.killMetaLeader();
        final long diedNs = clock.nanoTime();
        final int attempts = callUntilAnswered(cluster.client(), member, clock, diedNs);
        return new LeaderDeath(member, diedNs - startNs, clock.nanoTime() - diedNs, attempts);
    }

    /** Each call has a table of its own: one without an answer may be carried out later. */
    static int callUntilAnswered(
        final KvClient client, final String member, final NanoClock clock, final long diedNs)
    {
        for (int attempt = 1; true; attempt++)
        {
            try
            {
                client.createTable("after-the-leader-" + attempt, new TableOptions(FEW_RECORDS));
                return attempt;
            }
            catch (final KvException ex)
            {
                if (clock.nanoTime() - diedNs > GIVE_UP_NS)
                {
                    throw new LoadException(LoadException.Reason.FAILED, "no table could be created within " +
                        TimeUnit.NANOSECONDS.toSeconds(GIVE_UP_NS) + " s after the death of " + member + ": " +
                        ex.getMessage(), ex);
                }
            }
        }
    }

    static void addTo(final LeaderDeath death, final Map<String, Object> figures)
    {
        figures.put("meta_leader_killed", null == death ? null : death.member);
        figures.put("meta_leader_died_after_us", null == death ? null : death.diedAfterNs / NS_PER_US);
        figures.put("meta_control_call_us", null == death ? null : death.controlCallNs / NS_PER_US);
        figures.put("meta_control_call_attempts", null == death ? null : death.attempts);
    }
}
