package io.verbena.embedded;

import io.verbena.client.KvTable;
import io.verbena.protocol.view.ViewState;
import io.verbena.rdma.sim.SimNode;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.table.format.ChunkDescriptor;

import org.junit.jupiter.api.Test;

import static io.verbena.embedded.OneGroup.awaitEntry;
import static io.verbena.embedded.OneGroup.awaitMembers;
import static io.verbena.embedded.OneGroup.enter;
import static io.verbena.embedded.OneGroup.indexChunks;
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

/** A memory node that was lost comes into its group again, with the memory that it has. */
class ReturningMemberSimTest
{
    private static final long MAX_STEPS = 120_000_000;
    private static final int MOMENTS = 24;
    private static final int LARGE_RECORDS = 80;
    private static final int GROUP_TABLES = 3;
    private static final long FIRST_PUTS_NS = SimCluster.LEASE_NS / 2;
    /** About: of a call to the memory node that comes in, of which there is one for each lease. */
    private static final long CALL_NS = 5_000;

    /** It has its memory, and in it chunks that the group has returned since. */
    @Test
    void shouldComeBackWithoutLeasesThatWereReturnedMeanwhile()
    {
        try (SimCluster cluster = new SimCluster(1, new SimFabricOptions(), 3, 2))
        {
            final KvTable table = cluster.createTable("t", 100, 3);
            put(cluster, cluster.createTable("dropped", 100, 3), 1, 1);
            put(cluster, table, 1, 1);
            assertThat(cluster.metaServer().views()).as("both are of one group").hasSize(1);
            final int head = view(cluster).members().getFirst().nodeId();
            final SimNode machine = machine(cluster, head);
            machine.pause();
            awaitMembers(cluster, 2);
            cluster.dropTable("dropped");
            cluster.runFor(8 * SimCluster.LEASE_NS);
            final long indexChunks = MirroredStore.chunks(cluster, ChunkDescriptor.STATE_INDEX).getFirst();
            machine.resume();
            awaitEntry(cluster, head);
            put(cluster, table, 2, 2);
            cluster.settle();
            requireSound(cluster, 1);
            assertThat(MirroredStore.chunks(cluster, ChunkDescriptor.STATE_INDEX)).hasSize(3).containsOnly(indexChunks);
            assertThat(MirroredStore.chunks(cluster, ChunkDescriptor.STATE_ORPHAN)).containsOnly(0L);
        }
    }

    /** It has its memory, in which some records are old ones by now, and as long as the new ones. */
    @Test
    void shouldGetOnlyWhatDiffersWhenItComesBack()
    {
        try (SimCluster cluster = new SimCluster(1, new SimFabricOptions(), 2, 2))
        {
            final KvTable table = cluster.createTable("t", 400, 2);
            for (int key = 0; key < LARGE_RECORDS; key++)
            {
                putLarge(cluster, table, key, key);
            }
            final int head = view(cluster).members().getFirst().nodeId();
            final SimNode machine = machine(cluster, head);
            machine.pause();
            awaitMembers(cluster, 1);
            for (int key = 0; key < LARGE_RECORDS; key += LARGE_RECORDS / 4)
            {
                putLarge(cluster, table, key, key + 1);
            }
            cluster.runFor(8 * SimCluster.LEASE_NS);
            machine.resume();
            final long before = payloadBytes(cluster);
            awaitEntry(cluster, head);
            final long movedBytes = payloadBytes(cluster) - before;
            cluster.settle();
            requireSound(cluster, 1);
            final long chunkBytes = SimCluster.CHUNK_BYTES *
                (MirroredStore.chunks(cluster, ChunkDescriptor.STATE_INDEX).getFirst() +
                    MirroredStore.chunks(cluster, ChunkDescriptor.STATE_BLOCKS).getFirst());
            assertThat(chunkBytes).isGreaterThan(LARGE_RECORDS * (long)OneGroup.LARGE_BYTES);
            // Read and written when all are copied: twice as many, and the words of the index besides.
            assertThat(movedBytes).as("of %d", chunkBytes).isLessThan(chunkBytes / 4);
            machine(cluster, view(cluster).members().getLast().nodeId()).kill();
            awaitMembers(cluster, 1);
            assertThat(isMember(cluster, head)).isTrue();
            for (int key = 0; key < LARGE_RECORDS; key++)
            {
                requireLarge(cluster, table, key, key + (key % (LARGE_RECORDS / 4) == 0 ? 1 : 0));
            }
        }
    }

    /**
     * Survivors take calls only from who has said that it left the view that they have closed. One that did nothing
     * meanwhile has connections from before: it finds its keys closed before it has waited for long.
     */
    @Test
    void shouldLeaseAtOnceInTheNextView()
    {
        try (SimCluster cluster = new SimCluster(1, new SimFabricOptions(), 3, 3))
        {
            final KvTable table = cluster.createTable("t", 100, 3);
            machine(cluster, view(cluster).members().getFirst().nodeId()).kill();
            cluster.world().runUntil(() -> 2 == view(cluster).members().size(), MAX_STEPS);
            final long beganNs = cluster.world().clock().nanoTime();
            for (int key = 0; key < 3 * cluster.computes().size(); key++)
            {
                put(cluster, table, key, key);
            }
            assertThat(cluster.world().clock().nanoTime() - beganNs).as("of which each node's first leases a chunk")
                .isLessThan(FIRST_PUTS_NS);
            assertThat(MirroredStore.chunks(cluster, ChunkDescriptor.STATE_BLOCKS))
                .hasSize(2).containsOnly((long)cluster.computes().size());
        }
    }

    /** It has leases of the group from before: no chunk of these is free for the other table while they are entered. */
    @Test
    void shouldComeBackAtAnyMomentWhileATableWithOneCopyIsCreated()
    {
        final long releasedNs = comeBack(Long.MAX_VALUE);
        for (int moment = 0; moment < MOMENTS / 2; moment++)
        {
            comeBack(releasedNs + (moment - MOMENTS / 3) * CALL_NS);
        }
    }

    /**
     * A member that was lost comes in again. Of the group's tables one was dropped meanwhile: its chunks are freed.
     *
     * @param startNs when a table with one copy is created, after the request to come in.
     * @return after which time chunks were freed.
     */
    private static long comeBack(final long startNs)
    {
        try (SimCluster cluster = new SimCluster(1, new SimFabricOptions(), 3, 2))
        {
            final KvTable table = cluster.createTable("t", 100, 3);
            for (int i = 0; i < GROUP_TABLES; i++)
            {
                cluster.createTable("t" + i, 100, 3);
            }
            put(cluster, table, 1, 1);
            final int head = view(cluster).members().getFirst().nodeId();
            machine(cluster, head).pause();
            awaitMembers(cluster, 2);
            cluster.dropTable("t0");
            final int member = view(cluster).members().getFirst().nodeId();
            cluster.world().runUntil(() -> indexChunks(cluster, member) == GROUP_TABLES, MAX_STEPS);
            machine(cluster, head).resume();
            cluster.runFor(2 * SimCluster.LEASE_NS);
            assertThat(indexChunks(cluster, head)).as("has its leases").isEqualTo(1 + GROUP_TABLES);

            final long beganNs = cluster.world().clock().nanoTime();
            enter(cluster, head);
            if (Long.MAX_VALUE == startNs)
            {
                cluster.world().runUntil(() -> indexChunks(cluster, head) <= GROUP_TABLES, MAX_STEPS);
                return cluster.world().clock().nanoTime() - beganNs;
            }
            cluster.runFor(startNs);
            final KvTable single = cluster.createTable("single", 4_000);
            cluster.world().runUntil(
                () -> ViewState.ACTIVE == view(cluster).state() && !view(cluster).isFilling(), MAX_STEPS);
            assertThat(isMember(cluster, head)).as("created after %d ns", startNs).isTrue();
            assertThat(indexChunks(cluster, head)).as("has a part of it").isGreaterThan(GROUP_TABLES);
            put(cluster, single, 2, 2);
            requireValue(cluster, table, 1, 1);
            return startNs;
        }
    }
}
