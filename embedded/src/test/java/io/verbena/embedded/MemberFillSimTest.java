package io.verbena.embedded;

import io.verbena.client.KvTable;
import io.verbena.protocol.view.FillProgress;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewState;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.sim.SimNode;
import io.verbena.rdma.sim.schedule.SimFabricOptions;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;

import static io.verbena.embedded.OneGroup.LARGE_BYTES;
import static io.verbena.embedded.OneGroup.addMemoryNode;
import static io.verbena.embedded.OneGroup.awaitEntry;
import static io.verbena.embedded.OneGroup.awaitMembers;
import static io.verbena.embedded.OneGroup.enter;
import static io.verbena.embedded.OneGroup.isMember;
import static io.verbena.embedded.OneGroup.machine;
import static io.verbena.embedded.OneGroup.payloadBytes;
import static io.verbena.embedded.OneGroup.put;
import static io.verbena.embedded.OneGroup.putLarge;
import static io.verbena.embedded.OneGroup.requireLarge;
import static io.verbena.embedded.OneGroup.requireSound;
import static io.verbena.embedded.OneGroup.requireValue;
import static io.verbena.embedded.OneGroup.view;
import static org.assertj.core.api.Assertions.assertThat;

/** A memory node is filled, on production nodes, while others read and write. */
class MemberFillSimTest
{
    private static final long MAX_STEPS = 120_000_000;
    private static final int RECORDS = 80;
    private static final long SLOW_BYTES_PER_SECOND = 1L << 20;
    private static final long SECOND_NS = 1_000_000_000;
    private static final int MOST_STEPS = 10_000;
    private static final int MOMENTS = 12;
    private static final long SHORT_NS = 40_000;
    private static final int MOST_PASSES = 8;
    private static final int BREAKS_PER_PASS = 6;

    /** Two copies of a table, of which one is lost, and a memory node that knows nothing of it. */
    private static SimCluster cluster(final int computeNodes)
    {
        final SimCluster cluster = new SimCluster(1, new SimFabricOptions(), 2, 0);
        cluster.fillBytesPerSecond = SLOW_BYTES_PER_SECOND;
        for (int i = 0; i < computeNodes; i++)
        {
            final SimCluster.Compute compute = cluster.addComputeNode();
            cluster.world().runUntil(compute::isServing, MAX_STEPS);
        }
        return cluster;
    }

    private static KvTable lackingTable(final SimCluster cluster)
    {
        final KvTable table = cluster.createTable("t", 400, 2);
        for (int key = 0; key < RECORDS; key++)
        {
            putLarge(cluster, table, key, key);
        }
        machine(cluster, view(cluster).members().getFirst().nodeId()).kill();
        awaitMembers(cluster, 1);
        return table;
    }

    private static void stepWhileFilling(final SimCluster cluster, final Runnable step)
    {
        for (int i = 0; i < MOST_STEPS && view(cluster).isFilling(); i++)
        {
            step.run();
        }
        assertThat(view(cluster).isFilling()).isFalse();
    }

    /** In the closed view only what was written last is copied, so that it takes a part of the time. */
    @Test
    void shouldBeReadAndWrittenMeanwhileAtABoundedRate()
    {
        try (SimCluster cluster = cluster(2))
        {
            final KvTable table = lackingTable(cluster);
            final int another = addMemoryNode(cluster);
            final long before = payloadBytes(cluster);
            final long beganNs = cluster.world().clock().nanoTime();
            enter(cluster, another);
            final View filling = view(cluster);
            assertThat(filling.isFilling()).isTrue();
            final int[] written = {0};
            final List<FillProgress> said = new ArrayList<>();
            stepWhileFilling(cluster, () ->
            {
                put(cluster, table, 100, ++written[0] % 100);
                requireLarge(cluster, table, 1, 1);
                cluster.runFor(SECOND_NS / 1_000);
                said.addAll(cluster.metaServer().fills());
            });
            assertThat(view(cluster).number()).as("in one view").isEqualTo(filling.number());
            final long filledNs = cluster.world().clock().nanoTime() - beganNs;
            final long filledBytes = payloadBytes(cluster) - before;
            assertThat(written[0]).isGreaterThan(50);
            final long recordBytes = RECORDS * (long)LARGE_BYTES;
            assertThat(filledNs).as("at the rate").isGreaterThan(recordBytes * SECOND_NS / SLOW_BYTES_PER_SECOND);
            assertThat(filledBytes).isGreaterThan(2 * recordBytes);
            final long comparedBytes = said.getLast().totalBytes() * (said.getLast().pass() - 1);
            assertThat(filledNs).as("a fourth of what is compared counts, too")
                .isGreaterThan((recordBytes + comparedBytes / 4) * SECOND_NS / SLOW_BYTES_PER_SECOND);

            awaitMembers(cluster, 2);
            final long closedNs = cluster.world().clock().nanoTime() - beganNs - filledNs;
            final long closedBytes = payloadBytes(cluster) - before - filledBytes;
            assertThat(closedBytes).as("of %d", filledBytes).isLessThan(filledBytes / 4);
            assertThat(closedNs).as("of %d", filledNs).isLessThan(filledNs / 4);
            requireProgress(said, filling, recordBytes);
            assertThat(cluster.metaServer().fills()).isEmpty();

            cluster.settle();
            requireSound(cluster, 1);
            machine(cluster, view(cluster).members().getLast().nodeId()).kill();
            awaitMembers(cluster, 1);
            assertThat(isMember(cluster, another)).isTrue();
            requireValue(cluster, table, 100, written[0] % 100);
            for (int key = 0; key < RECORDS; key++)
            {
                requireLarge(cluster, table, key, key);
            }
        }
    }

    private static void requireProgress(final List<FillProgress> said, final View filling, final long recordBytes)
    {
        assertThat(said).isNotEmpty().allMatch((each) -> each.attempt().group() == filling.group());
        assertThat(said).as("while it copies").anyMatch((each) -> 1 == each.pass() && each.copiedBytes() > 0 &&
            each.copiedBytes() < each.differingBytes() && each.differingBytes() > recordBytes &&
            each.comparedBytes() == each.totalBytes());
        for (int i = 1; i < said.size(); i++)
        {
            final FillProgress later = said.get(i);
            final FillProgress earlier = said.get(i - 1);
            assertThat(later.pass()).isGreaterThanOrEqualTo(earlier.pass());
            if (later.pass() == earlier.pass() && earlier.copiedBytes() > 0)
            {
                assertThat(later.copiedBytes()).isGreaterThanOrEqualTo(earlier.copiedBytes());
                assertThat(later.secondsLeft()).isBetween(0, earlier.secondsLeft());
            }
        }
    }

    /** The other one copies what differs. */
    @Test
    void shouldGoOnWhereAnotherComputeNodeHasEnded()
    {
        try (SimCluster cluster = cluster(2))
        {
            final KvTable table = lackingTable(cluster);
            final int another = addMemoryNode(cluster);
            enter(cluster, another);
            final View filling = view(cluster);
            final long recordBytes = RECORDS * (long)LARGE_BYTES;
            stepUntil(cluster, () -> cluster.metaServer().fills().stream()
                .anyMatch((fill) -> fill.copiedBytes() > recordBytes / 2));
            final SimCluster.Compute first = cluster.computes().stream()
                .filter((compute) -> compute.node().nodeId() == filling.reconciler().nodeId()).findFirst()
                .orElseThrow();
            first.machine().kill();
            cluster.forget(first);
            stepUntil(cluster, () -> view(cluster).isFilling() &&
                !view(cluster).reconciler().equals(filling.reconciler()));
            assertThat(view(cluster).attempt()).isEqualTo(2);
            stepUntil(cluster, () -> cluster.metaServer().fills().stream().anyMatch((fill) -> fill.copiedBytes() > 0));
            final FillProgress second = cluster.metaServer().fills().getFirst();
            assertThat(second.attempt().attempt()).isEqualTo(2);
            assertThat(second.differingBytes()).as("of %d", second.totalBytes()).isLessThan(recordBytes * 3 / 4);
            awaitMembers(cluster, 2);
            requireSound(cluster, 1);
            requireLarge(cluster, table, 7, 7);
        }
    }

    private static void stepUntil(final SimCluster cluster, final BooleanSupplier isSo)
    {
        for (int i = 0; i < MOST_STEPS && !isSo.getAsBoolean(); i++)
        {
            cluster.runFor(SECOND_NS / 1_000);
        }
        assertThat(isSo.getAsBoolean()).as("%s %s", view(cluster), cluster.metaServer().fills()).isTrue();
    }

    /** Patience is for what is waited for, not for copying; and what is written meanwhile goes with a later pass. */
    @Test
    void shouldTakeAsLongAsItTakes()
    {
        try (SimCluster cluster = cluster(1))
        {
            final KvTable table = cluster.createTable("t", 800, 2);
            final int records = 6 * RECORDS;
            for (int key = 0; key < records; key++)
            {
                putLarge(cluster, table, key, key);
            }
            machine(cluster, view(cluster).members().getFirst().nodeId()).kill();
            awaitMembers(cluster, 1);
            final int another = addMemoryNode(cluster);
            final long beganNs = cluster.world().clock().nanoTime();
            enter(cluster, another);
            final View filling = view(cluster);
            final List<FillProgress> said = new ArrayList<>();
            stepWhileFilling(cluster, () ->
            {
                cluster.runFor(SECOND_NS / 100);
                said.addAll(cluster.metaServer().fills());
                for (int key = 0; said.size() < 20 && key < 3; key++)
                {
                    putLarge(cluster, table, key, key + 1);
                }
            });
            assertThat(cluster.world().clock().nanoTime() - beganNs).as("longer than anything is waited for")
                .isGreaterThan(5 * SECOND_NS);
            assertThat(said).as("what was written meanwhile").anyMatch((each) -> each.pass() > 1);
            awaitMembers(cluster, 2);
            assertThat(view(cluster).number()).isEqualTo(filling.number() + 1);
            requireSound(cluster, 1);
        }
    }

    /** As when the view of another group is closed there: it goes on with the same attempt. */
    @Test
    void shouldGoOnWhenConnectionsBreakAtAnyMoment()
    {
        for (int moment = 0; moment < MOMENTS; moment++)
        {
            // The first ones are close to each other: connections are made, and leases are entered.
            final long breakNs = moment < MOMENTS / 2 ? moment * SHORT_NS : moment * SECOND_NS / MOMENTS;
            try (SimCluster cluster = cluster(1))
            {
                final KvTable table = lackingTable(cluster);
                final int another = addMemoryNode(cluster);
                enter(cluster, another);
                final View filling = view(cluster);
                cluster.runFor(breakNs);
                final SimNode compute = cluster.computes().getFirst().machine();
                compute.device().breakConnections(machine(cluster, another).device());
                cluster.runFor(SHORT_NS);
                compute.device().breakConnections(
                    machine(cluster, filling.members().getLast().nodeId()).device());
                stepWhileFilling(cluster, () -> cluster.runFor(SECOND_NS / 1_000));
                awaitMembers(cluster, 2);
                assertThat(view(cluster).number()).as("broken after %d ns", breakNs).isEqualTo(filling.number() + 1);
                requireSound(cluster, 1);
                requireLarge(cluster, table, 9, 9);
            }
        }
    }

    /** In each pass some may break; and what was copied in one that was broken off does not count against the next. */
    @Test
    void shouldGoOnWhenConnectionsBreakInSeveralPasses()
    {
        try (SimCluster cluster = cluster(1))
        {
            final KvTable table = lackingTable(cluster);
            final int another = addMemoryNode(cluster);
            enter(cluster, another);
            final View filling = view(cluster);
            final SimNode compute = cluster.computes().getFirst().machine();
            final int[] breaks = new int[MOST_PASSES + 1];
            final int[] written = {0};
            final List<FillProgress> said = new ArrayList<>();
            stepWhileFilling(cluster, () ->
            {
                cluster.runFor(SECOND_NS / 200);
                final List<FillProgress> now = cluster.metaServer().fills();
                if (now.isEmpty())
                {
                    return;
                }
                final FillProgress progress = now.getFirst();
                if (progress.copiedBytes() > 0 && breaks[progress.pass()] < BREAKS_PER_PASS && !said.contains(progress))
                {
                    breaks[progress.pass()]++;
                    compute.device().breakConnections(machine(cluster, another).device());
                }
                said.add(progress);
                final int every = 1 == progress.pass() ? 1 : 8;
                if (progress.pass() < 3 && said.size() % every == 0)
                {
                    putLarge(cluster, table, 1 + ++written[0] % (RECORDS / every), written[0]);
                }
            });
            assertThat(view(cluster).hasEntering() || view(cluster).number() > filling.number())
                .as("comes in: %s, broken %s", view(cluster), Arrays.toString(breaks)).isTrue();
            assertThat(breaks[1] + breaks[2]).as("more than may break in one").isGreaterThan(8);
            assertThat(breaks[3]).as("copies on: %s", Arrays.toString(breaks)).isGreaterThan(1);
            awaitMembers(cluster, 2);
            requireSound(cluster, 1);
        }
    }

    /** What it reported of the one before is over with the view. */
    @Test
    void shouldFillOneAfterAnother()
    {
        try (SimCluster cluster = new SimCluster(1, new SimFabricOptions(), 2, 1))
        {
            final KvTable table = lackingTable(cluster);
            for (int i = 0; i < 3; i++)
            {
                enter(cluster, addMemoryNode(cluster));
                final View filling = view(cluster);
                assertThat(filling.isFilling()).isTrue();
                awaitMembers(cluster, 2);
                assertThat(view(cluster).number()).isEqualTo(filling.number() + 1);
                machine(cluster, view(cluster).members().getLast().nodeId()).kill();
                awaitMembers(cluster, 1);
                requireLarge(cluster, table, 9, 9);
            }
        }
    }

    /** It is reached under its later incarnation, though its link was not used meanwhile. */
    @Test
    void shouldFillWhoHasBegunAnew()
    {
        try (SimCluster cluster = cluster(1))
        {
            final KvTable table = lackingTable(cluster);
            final int another = addMemoryNode(cluster);
            put(cluster, cluster.createTable("single", 400), 1, 1);
            machine(cluster, another).pause();
            cluster.runFor(4 * SimCluster.LEASE_NS);
            machine(cluster, another).resume();
            cluster.runFor(4 * SimCluster.LEASE_NS);
            enter(cluster, another);
            assertThat(view(cluster).isFilling()).isTrue();
            final int attempt = view(cluster).attempt();
            stepWhileFilling(cluster, () -> cluster.runFor(SECOND_NS / 1_000));
            awaitMembers(cluster, 2);
            assertThat(attempt).isEqualTo(1);
            requireLarge(cluster, table, 9, 9);
        }
    }

    /** Else it would never end; what differs is copied while the view is closed. */
    @Test
    void shouldEndWhereOthersWriteAsFastAsItCopies()
    {
        try (SimCluster cluster = cluster(1))
        {
            final KvTable table = lackingTable(cluster);
            enter(cluster, addMemoryNode(cluster));
            final int[] written = {0};
            final List<FillProgress> said = new ArrayList<>();
            stepWhileFilling(cluster, () ->
            {
                putLarge(cluster, table, 1 + written[0] % (RECORDS - 1), ++written[0]);
                cluster.runFor(SECOND_NS / 500);
                said.addAll(cluster.metaServer().fills());
            });
            assertThat(said.getLast().pass()).isBetween(3, 8);
            awaitMembers(cluster, 2);
            requireSound(cluster, 1);
        }
    }

    /** Which is lost with what was copied, or is not; nobody waits for it. */
    @Test
    void shouldGoOnWhereWhoIsFilledEnds()
    {
        try (SimCluster cluster = cluster(1))
        {
            final KvTable table = lackingTable(cluster);
            final int another = addMemoryNode(cluster);
            enter(cluster, another);
            stepUntil(cluster, () -> !cluster.metaServer().fills().isEmpty());
            machine(cluster, another).kill();
            stepUntil(cluster, () -> !view(cluster).isFilling());
            assertThat(view(cluster).state()).isEqualTo(ViewState.ACTIVE);
            assertThat(view(cluster).members()).hasSize(1);
            putLarge(cluster, table, 3, 4);
            awaitEntry(cluster, addMemoryNode(cluster));
            requireLarge(cluster, table, 3, 4);
        }
    }

    /** The meta server knows it from the record, and has the memory node hear of it again. */
    @Test
    void shouldGoOnUnderAnotherMetaServer()
    {
        try (SimCluster cluster = cluster(1))
        {
            final KvTable table = lackingTable(cluster);
            final int another = addMemoryNode(cluster);
            enter(cluster, another);
            final View filling = view(cluster);
            stepUntil(cluster, () -> cluster.metaServer().fills().stream().anyMatch((fill) -> fill.copiedBytes() > 0));
            cluster.moveMetaServer();
            assertThat(view(cluster)).isEqualTo(filling);
            stepUntil(cluster, () -> cluster.metaServer().fills().stream().anyMatch((fill) -> fill.copiedBytes() > 0));
            awaitMembers(cluster, 2);
            assertThat(view(cluster).number()).isEqualTo(filling.number() + 1);
            requireLarge(cluster, table, 5, 5);
        }
    }

    /** Its chunks are others than the group's, whether it is made before or meanwhile. */
    @Test
    void shouldLeaveOtherTablesAsTheyAre()
    {
        try (SimCluster cluster = cluster(1))
        {
            lackingTable(cluster);
            final int another = addMemoryNode(cluster);
            enter(cluster, another);
            stepUntil(cluster, () -> !cluster.metaServer().fills().isEmpty());
            final KvTable single = cluster.createTable("single", 2_000);
            put(cluster, single, 1, 1);
            for (int i = 0; i < MOST_STEPS && !isMember(cluster, another); i++)
            {
                put(cluster, single, 2, i % 100);
                requireValue(cluster, single, 1, 1);
                cluster.runFor(SECOND_NS / 1_000);
            }
            put(cluster, single, 2, 2);
            assertThat(cluster.memoryHosts().getLast().node().stat().indexChunkCount())
                .as("has a part of it").isGreaterThan(1);
            assertThat(view(cluster).members()).extracting(PeerIdentity::nodeId).contains(another);
            requireValue(cluster, single, 1, 1);
            requireValue(cluster, single, 2, 2);
        }
    }
}
