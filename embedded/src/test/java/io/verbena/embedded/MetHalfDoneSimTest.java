package io.verbena.embedded;

import io.verbena.client.KvTable;
import io.verbena.compute.SplitRepairs;
import io.verbena.rdma.sim.SimNode;
import io.verbena.rdma.sim.device.SimDevice;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.table.directory.Subtable;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;

import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;
import java.time.Duration;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * A node meets what another one has left half done while it is about to do the same itself; or its own is taken back by
 * another one.
 */
class MetHalfDoneSimTest
{
    private static final int TIDE_KEYS = 150;
    private static final int REQUESTS_UNTIL_LINKED = 45;
    private static final int MOST_REQUESTS = 64;
    private static final byte[] KEY = {1};
    private static final long NEVER_NS = 1_000_000_000_000L;
    private static final long OFTEN_NS = 500_000;
    private static final long LATER_NS = 20_000_000;
    private static final Duration TIMEOUT = Duration.ofNanos(20_000_000);
    private static final long LEASE_TAKES_NS = 5_000_000;
    private static final long UNTIL_ENDED_NS = 400_000_000;
    private static final long MAX_STEPS = 50_000_000;

    private final UnsafeBuffer line = new UnsafeBuffer(ByteBuffer.allocateDirect(SubtableDescriptor.HEADER_BYTES));
    private KvTable table;

    /** Who wants to split what somebody else has begun to goes on with that; whatever becomes of it is to be ended. */
    @Test
    void shouldGoOnWithASplitThatItHasMetInThePlaceOfItsOwn()
    {
        int leftTwice = 0;
        for (int requests = 1; requests <= MOST_REQUESTS; requests *= 2)
        {
            try (SimCluster cluster = SimCluster.growing(requests, new SimFabricOptions(), 1, 0))
            {
                final SimCluster.Compute other = leaveSplit(cluster);
                SplitRepairs.split(other.node(), 0);
                cluster.world().runUntil(() -> SplitRepairs.isWorking(other.node()), MAX_STEPS);
                final SimDevice device = other.machine().device();
                final long until = device.executedRequests() + requests;
                cluster.world().runUntil(() -> device.executedRequests() >= until, MAX_STEPS);
                device.breakConnections(memory(cluster).device());
                leftTwice += splitsUnderWay(cluster);
                cluster.runFor(UNTIL_ENDED_NS);
                assertThat(splitsUnderWay(cluster)).as("after %d requests", requests).isZero();
            }
        }
        assertThat(leftTwice).as("splits left half done twice").isPositive();
    }

    /** An operation meets it while memory is leased for what is begun already, and goes back. */
    @Test
    void shouldEndASplitThatItMeetsWhileItLeases()
    {
        try (SimCluster cluster = SimCluster.growing(1, new SimFabricOptions(), 1, 0))
        {
            final SimCluster.Compute other = leaveSplit(cluster);
            cluster.pause(memory(cluster), LEASE_TAKES_NS);
            SplitRepairs.split(other.node(), 0);
            final boolean[] isRead = {false};
            table.withTimeout(TIMEOUT).getAsync(KEY).thenRun(() -> isRead[0] = true);
            cluster.world().runUntil(() -> isRead[0], MAX_STEPS);
            assertThat(SplitRepairs.isBusy(other.node())).as("leases still").isTrue();
            cluster.runFor(UNTIL_ENDED_NS);
            assertThat(splitsUnderWay(cluster)).isZero();
        }
    }

    /** The one who leased it is alive, and has found it named when it looked. */
    @Test
    void shouldReturnTheMemoryOfAProposalThatAnotherNodeTakesBack()
    {
        try (SimCluster cluster = SimCluster.growing(1, new SimFabricOptions(), 1, 0))
        {
            final SimCluster.Compute proposer = propose(cluster);
            proposer.machine().device().breakConnections(memory(cluster).device());
            assertAllIsBack(cluster);
            assertThat(proposer.isServing()).isTrue();
        }
    }

    @Test
    void shouldReturnTheMemoryOfAProposalWhoseNodeHasEnded()
    {
        try (SimCluster cluster = SimCluster.growing(1, new SimFabricOptions(), 1, 0))
        {
            final SimCluster.Compute proposer = propose(cluster);
            proposer.machine().kill();
            cluster.forget(proposer);
            assertAllIsBack(cluster);
        }
    }

    /** A node that ends in the midst of a split. @return another one, which has met nothing yet, and does not look. */
    private SimCluster.Compute leaveSplit(final SimCluster cluster)
    {
        cluster.fillLookPauseNs(NEVER_NS);
        final SimCluster.Compute ends = add(cluster);
        table = cluster.createTable("t", 50);
        final SimCluster.Compute other = add(cluster);
        ends.machine().device().killAfterRequests(REQUESTS_UNTIL_LINKED);
        SplitRepairs.split(ends.node(), 0);
        cluster.world().runUntil(ends.machine().device()::isKilled, MAX_STEPS);
        ends.machine().kill();
        cluster.forget(ends);
        assertThat(splitsUnderWay(cluster)).as("left half done").isOne();
        return other;
    }

    /** @return a node that has just proposed a merge; another one will look later. */
    private SimCluster.Compute propose(final SimCluster cluster)
    {
        cluster.fillLookPauseNs(NEVER_NS);
        add(cluster);
        table = cluster.createTable("t", 50);
        final SimTide tide = new SimTide(cluster.world(), table, TIDE_KEYS);
        tide.rise();
        tide.finish();
        tide.fall();
        tide.finish();
        cluster.fillLookPauseNs(LATER_NS);
        final SimCluster.Compute other = add(cluster);
        cluster.fillLookPauseNs(OFTEN_NS);
        final SimCluster.Compute proposer = add(cluster);
        cluster.world().runUntil(() -> isProposed(cluster), MAX_STEPS);
        assertThat(SplitRepairs.isWorking(other.node())).isFalse();
        return proposer;
    }

    private static void assertAllIsBack(final SimCluster cluster)
    {
        cluster.runFor(2 * UNTIL_ENDED_NS);
        cluster.settle();
        assertThat(cluster.tables().getFirst().distinctSubtables()).isOne();
        assertThat(cluster.check(cluster.tables()).spaces().getFirst().indexBytes).isEqualTo(SimCluster.CHUNK_BYTES);
    }

    private static SimNode memory(final SimCluster cluster)
    {
        return cluster.memoryMachines().getFirst();
    }

    private static SimCluster.Compute add(final SimCluster cluster)
    {
        final SimCluster.Compute compute = cluster.addComputeNode();
        cluster.world().runUntil(compute::isServing, MAX_STEPS);
        return compute;
    }

    private static int splitsUnderWay(final SimCluster cluster)
    {
        return (int)cluster.check(cluster.tables()).tables().get("t").splitsUnderWay;
    }

    /** Whether a merge of two subtables is proposed, and not decided. */
    private boolean isProposed(final SimCluster cluster)
    {
        return Subtable.of(cluster.tables().getFirst()).stream().anyMatch((subtable) ->
        {
            final long link = linkAt(cluster, subtable.offset());
            return MergeLink.isLink(link) && linkAt(cluster, MergeLink.sibling(link)) == SplitLink.NONE;
        });
    }

    private long linkAt(final SimCluster cluster, final long offset)
    {
        cluster.memoryHosts().getFirst().node().readRegion(offset, line, SubtableDescriptor.HEADER_BYTES);
        return line.getLong(SubtableDescriptor.SPLIT_OFFSET, LITTLE_ENDIAN);
    }
}
