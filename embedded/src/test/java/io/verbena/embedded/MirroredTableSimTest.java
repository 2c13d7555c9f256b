package io.verbena.embedded;

import io.verbena.client.KvTable;
import io.verbena.protocol.view.ViewState;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.sim.SimNode;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.table.directory.Subtable;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.TableDescriptor;

import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.stream.LongStream;

import static io.verbena.embedded.OneGroup.awaitMembers;
import static io.verbena.embedded.OneGroup.put;
import static io.verbena.embedded.OneGroup.requireValue;
import static io.verbena.embedded.OneGroup.view;
import static org.assertj.core.api.Assertions.assertThat;

/** Tables with several copies on production nodes: memory nodes are lost, and nothing that was acknowledged is. */
class MirroredTableSimTest
{
    private static final int CLIENTS = 4;
    private static final int KEYS = 8;
    private static final long TIMEOUT_NS = 400_000_000;
    private static final Duration TIMEOUT = Duration.ofNanos(TIMEOUT_NS);
    private static final long MAX_PAUSE_NS = 200_000;
    private static final long MAX_STEPS = 80_000_000;
    private static final long LEAST_RETRY_NS = 200_000;
    private static final long LONG_RETRY_NS = 100_000_000;
    private static final int ROUNDS = 20;
    private static final int KEYS_AT_ONCE = 20;

    /** Seeds 1 to 6, or as many as the system property verbena.mirror.clusterSeeds says. */
    static LongStream seeds()
    {
        final long only = Long.getLong("verbena.mirror.clusterSeed", 0);
        return 0 != only ? LongStream.of(only) :
            LongStream.rangeClosed(1, Long.getLong("verbena.mirror.clusterSeeds", 6));
    }

    @Test
    void shouldHaveAllRecordsWhenAMemoryNodeIsLost()
    {
        try (SimCluster cluster = new SimCluster(1, new SimFabricOptions(), 2, 2))
        {
            final KvTable table = cluster.createTable("t", 100, 2);
            for (int key = 0; key < 20; key++)
            {
                put(cluster, table, key, key);
            }
            cluster.memoryMachines().getFirst().kill();
            put(cluster, table, 20, 20);
            awaitMembers(cluster, 1);
            for (int key = 0; key <= 20; key++)
            {
                requireValue(cluster, table, key, key);
            }
        }
    }

    /** The connection to a process that has ended fails; its lease need not run out. */
    @Test
    void shouldGoOnBeforeTheLeaseOfWhoHasEndedRunsOut()
    {
        try (SimCluster cluster = new SimCluster(2, new SimFabricOptions().retryTimeoutNs(LEAST_RETRY_NS), 3, 2))
        {
            final KvTable table = cluster.createTable("t", 100, 3);
            put(cluster, table, 1, 1);
            cluster.runFor(SimCluster.LEASE_NS);
            cluster.memoryMachines().get(1).kill();
            final long killedNs = cluster.world().clock().nanoTime();
            put(cluster, table, 1, 2);
            assertThat(cluster.world().clock().nanoTime() - killedNs).as("until a write was acknowledged")
                .isLessThan(SimCluster.LEASE_NS * 5 / 4);
            assertThat(view(cluster).members()).hasSize(2);
            requireValue(cluster, table, 1, 2);
        }
    }

    /** It may stand still: so its lease decides. */
    @Test
    void shouldWaitForTheLeaseOfWhoIsSilent()
    {
        try (SimCluster cluster = new SimCluster(3, new SimFabricOptions().retryTimeoutNs(LONG_RETRY_NS), 3, 2))
        {
            final KvTable table = cluster.createTable("t", 100, 3);
            put(cluster, table, 1, 1);
            final SimNode silent = cluster.memoryMachines().get(1);
            silent.pause();
            cluster.runFor(SimCluster.LEASE_NS / 2);
            assertThat(view(cluster).state()).isEqualTo(ViewState.ACTIVE);
            silent.resume();
            cluster.runFor(4 * SimCluster.LEASE_NS);
            assertThat(view(cluster).members()).hasSize(3);
            put(cluster, table, 1, 2);
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void shouldBeLinearizableWhileMembersAreLost(final long seed)
    {
        try (SimCluster cluster = new SimCluster(seed, new SimFabricOptions(), 3, 2))
        {
            final RandomGenerator random = cluster.world().random();
            final KvTable table = cluster.createTable("t", 100, 3);
            final SimClients clients = new SimClients(cluster.world(), table, KEYS, 400, TIMEOUT_NS);
            clients.start(CLIENTS, MAX_PAUSE_NS);
            cluster.runFor(random.nextLong(4_000_000));
            final int first = random.nextInt(3);
            cluster.memoryMachines().get(first).kill();
            awaitMembers(cluster, 2);
            cluster.runFor(random.nextLong(4_000_000));
            cluster.memoryMachines().get((first + 1 + random.nextInt(2)) % 3).kill();
            awaitMembers(cluster, 1);
            clients.finish(MAX_STEPS);
        }
    }

    /** What was proposed and not committed when a member was lost is on all survivors, or on none. */
    @ParameterizedTest
    @MethodSource("seeds")
    void shouldHaveEqualCopiesWhenAMemberWasLostAmongWrites(final long seed)
    {
        try (SimCluster cluster = new SimCluster(seed, new SimFabricOptions(), 3, 2))
        {
            final KvTable table = cluster.createTable("t", 1_000, 3);
            for (int round = 0; round < ROUNDS; round++)
            {
                for (int key = 0; key < KEYS_AT_ONCE; key++)
                {
                    table.withTimeout(TIMEOUT).putAsync(new byte[]{(byte)round, (byte)key}, new byte[round]);
                }
                cluster.runFor(cluster.world().random().nextLong(60_000));
            }
            // A compute node that lives would go on with what it has begun.
            final SimCluster.Compute writer = cluster.computes().getFirst();
            writer.machine().kill();
            cluster.forget(writer);
            cluster.memoryMachines().get((int)(seed % 3)).kill();
            awaitMembers(cluster, 2);
            cluster.runFor(2 * SimCluster.LEASE_NS);
            requireEqualCopies(cluster);
        }
    }

    /** Buckets, and headers behind the first line, which says where a subtable lies. */
    private static void requireEqualCopies(final SimCluster cluster)
    {
        final TableDescriptor table = cluster.tables().getFirst();
        final int lengthBytes = (int)SubtableDescriptor.lengthBytes(table.groupCount());
        for (final Subtable subtable : Subtable.of(table))
        {
            final Set<ByteBuffer> copies = new HashSet<>();
            for (final PeerIdentity member : view(cluster).members())
            {
                final ByteBuffer copy = ByteBuffer.allocateDirect(lengthBytes);
                cluster.regions().read(member.nodeId(), subtable.offset(), new UnsafeBuffer(copy), lengthBytes);
                copies.add(copy);
            }
            assertThat(copies).as("different copies of %s", subtable).hasSize(1);
        }
    }

    /**
     * Two of three members are lost, by their ends or by a pause that outlasts their leases, so that they answer again
     * later; compute nodes end, or stand still and wake in a later view; the meta server ends.
     */
    @ParameterizedTest
    @MethodSource("seeds")
    void shouldBeLinearizableWhateverElseEndsOrPauses(final long seed)
    {
        try (SimCluster cluster = new SimCluster(seed, new SimFabricOptions(), 3, 3))
        {
            final RandomGenerator random = cluster.world().random();
            final KvTable table = cluster.createTable("t", 100, 3);
            final SimClients clients = new SimClients(cluster.world(), table, KEYS, 600, TIMEOUT_NS);
            clients.start(CLIENTS, MAX_PAUSE_NS);
            int members = 3;
            boolean hasMoved = false;
            final List<SimNode> memory = new ArrayList<>(cluster.memoryMachines());
            for (int i = 0; i < 8; i++)
            {
                cluster.runFor(random.nextLong(8_000_000));
                switch (random.nextInt(4))
                {
                    case 0 ->
                    {
                        if (members > 1)
                        {
                            members--;
                            lose(cluster, memory.remove(random.nextInt(memory.size())), random);
                        }
                    }
                    case 1 ->
                    {
                        pause(cluster, anyCompute(cluster, random).machine(), random.nextLong(3 * SimCluster.LEASE_NS));
                    }
                    case 2 ->
                    {
                        final SimCluster.Compute compute = anyCompute(cluster, random);
                        compute.machine().kill();
                        cluster.forget(compute);
                        cluster.addComputeNode();
                    }
                    default ->
                    {
                        if (!hasMoved)
                        {
                            hasMoved = true;
                            cluster.moveMetaServer();
                        }
                    }
                }
            }
            awaitMembers(cluster, members);
            clients.finish(MAX_STEPS);
            cluster.runFor(4 * SimCluster.LEASE_NS);
        }
    }

    private static void lose(final SimCluster cluster, final SimNode machine, final RandomGenerator random)
    {
        if (random.nextBoolean())
        {
            machine.kill();
            return;
        }
        pause(cluster, machine, 2 * SimCluster.LEASE_NS + random.nextLong(2 * SimCluster.LEASE_NS));
    }

    private static void pause(final SimCluster cluster, final SimNode machine, final long durationNs)
    {
        machine.pause();
        cluster.world().after(durationNs, machine::resume);
    }

    private static SimCluster.Compute anyCompute(final SimCluster cluster, final RandomGenerator random)
    {
        final List<SimCluster.Compute> running = cluster.computes();
        return running.get(random.nextInt(running.size()));
    }
}
