package io.verbena.embedded;

import io.verbena.client.KvTable;
import io.verbena.compute.SplitRepairs;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.table.check.SpaceReport;
import io.verbena.table.check.StoreCheck;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A node ends in the midst of a split or a merge, after any of its requests, and nobody uses the table since: another
 * node, which has it open, finishes or takes back what was left, and the table shrinks to what it was made with.
 */
class LeftHalfDoneSimTest
{
    /** Every request of a split or a merge, and more: each of them with the system property, else one of so many. */
    private static final int EACH = Integer.getInteger("verbena.sim.each", 71);
    private static final int REQUESTS_OF_A_SPLIT = 420;
    private static final int REQUESTS_OF_MERGES = 900;
    private static final int TIDE_KEYS = 150;
    private static final long PAUSE_NS = 1_000_000;
    private static final long OFTEN_NS = 50_000;
    private static final long NEVER_NS = 1_000_000_000_000L;
    private static final long UNTIL_SHRUNK_NS = 1_000_000_000L;
    private static final long BETWEEN_LOOKS_NS = 10_000_000L;
    private static final int MOST_WAITS = 40;
    private static final long WAIT_NS = 250_000;
    private static final long MAX_STEPS = 50_000_000;

    /** What was found when the node had ended. */
    private int underWay;

    /** Of a table that has grown, and was emptied before; its other subtables are merged meanwhile. */
    @Test
    void shouldShrinkWhereASplitWasLeft()
    {
        for (int requests = 0; requests < REQUESTS_OF_A_SPLIT; requests += EACH)
        {
            run(requests, NEVER_NS, TIDE_KEYS);
        }
        assertUnderWay();
    }

    /** Of the only subtable that a table was made with: it has no sibling. */
    @Test
    void shouldShrinkWhereASplitOfWhatTheTableWasMadeWithWasLeft()
    {
        for (int requests = 0; requests < REQUESTS_OF_A_SPLIT; requests += EACH)
        {
            run(requests, NEVER_NS, 0);
        }
        assertUnderWay();
    }

    /** Of a table that has grown, and was emptied; the one that ends has merged alone. */
    @Test
    void shouldShrinkWhereAMergeWasLeft()
    {
        for (int requests = 0; requests < REQUESTS_OF_MERGES; requests += 2 * EACH)
        {
            run(requests, OFTEN_NS, TIDE_KEYS);
        }
        assertUnderWay();
    }

    private void assertUnderWay()
    {
        System.out.println("stores with something half done: " + underWay);
        assertThat(underWay).as("stores with something half done").isPositive();
    }

    private void run(final int requests, final long pauseOfWhoEndsNs, final int keys)
    {
        final boolean isSplitter = NEVER_NS == pauseOfWhoEndsNs;
        try (SimCluster cluster = SimCluster.growing(1 + requests, new SimFabricOptions(), 1, 0))
        {
            cluster.fillLookPauseNs(NEVER_NS);
            final SimCluster.Compute ends = add(cluster);
            final KvTable table = cluster.createTable("t", 50);
            final int least = subtables(cluster);
            final SimTide tide = new SimTide(cluster.world(), table, keys);
            tide.rise();
            tide.finish();
            tide.fall();
            tide.finish();
            cluster.fillLookPauseNs(pauseOfWhoEndsNs);
            final SimCluster.Compute victim = isSplitter ? ends : add(cluster);
            open(cluster, victim);
            cluster.fillLookPauseNs(PAUSE_NS);
            final SimCluster.Compute other = add(cluster);
            victim.machine().device().killAfterRequests(requests);
            if (isSplitter && victim.isServing())
            {
                SplitRepairs.split(victim.node(), 0);
            }
            open(cluster, other);
            for (int i = 0; i < MOST_WAITS && !victim.machine().device().isKilled(); i++)
            {
                cluster.runFor(WAIT_NS);
            }
            victim.machine().kill();
            cluster.forget(victim);
            underWay += cluster.check(cluster.tables()).tables().get("t").splitsUnderWay > 0 ? 1 : 0;

            awaitShrunk(cluster, least);
            assertThat(cluster.check(cluster.tables()).spaces().getFirst().indexBytes)
                .as("after %d requests: without being asked to sweep", requests).isEqualTo(indexBytes(least));
            cluster.sweep();
            assertThat(subtables(cluster)).as("after %d requests: subtables", requests).isEqualTo(least);
            final StoreCheck check = cluster.check(cluster.tables());
            assertThat(check.isSound()).as("after %d requests: %s", requests, check).isTrue();
            assertThat(check.tables().get("t").splitsUnderWay).as("after %d requests", requests).isZero();
            final SpaceReport space = check.spaces().getFirst();
            assertThat(space.unnamedIndexBytes).as("after %d requests", requests).isZero();
            assertThat(space.indexBytes).as("after %d requests", requests)
                .isEqualTo(indexBytes(least));
            tide.assertRight();
        }
    }

    private static SimCluster.Compute add(final SimCluster cluster)
    {
        final SimCluster.Compute compute = cluster.addComputeNode();
        cluster.world().runUntil(compute::isServing, MAX_STEPS);
        return compute;
    }

    /** Knows the table by its descriptor, and uses nothing of it. */
    private static void open(final SimCluster cluster, final SimCluster.Compute compute)
    {
        if (compute.isServing())
        {
            cluster.control(compute, ControlRequest.Kind.FIND_TABLE, "t");
        }
    }

    private static int subtables(final SimCluster cluster)
    {
        return cluster.tables().getFirst().distinctSubtables();
    }

    /** Or for so long; also where only what the table was made with is being split, or that is not published. */
    private static void awaitShrunk(final SimCluster cluster, final int least)
    {
        final long untilNs = cluster.world().clock().nanoTime() + UNTIL_SHRUNK_NS;
        while (cluster.world().clock().nanoTime() < untilNs && (subtables(cluster) != least || hasMore(cluster, least)))
        {
            cluster.runFor(BETWEEN_LOOKS_NS);
        }
    }

    private static boolean hasMore(final SimCluster cluster, final int least)
    {
        final StoreCheck check = cluster.check(cluster.tables());
        return check.tables().get("t").splitsUnderWay > 0 || check.spaces().getFirst().indexBytes > indexBytes(least);
    }

    private static long indexBytes(final int subtables)
    {
        return (long)subtables * SimCluster.CHUNK_BYTES;
    }
}
