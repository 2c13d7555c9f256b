package io.verbena.embedded;

import io.verbena.client.KvTable;
import io.verbena.memory.MemoryNode;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewState;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.sim.SimNode;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.DeviceAddress;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.stream.LongStream;

import static io.verbena.embedded.OneGroup.addMemoryNode;
import static io.verbena.embedded.OneGroup.awaitEntry;
import static io.verbena.embedded.OneGroup.awaitMembers;
import static io.verbena.embedded.OneGroup.enter;
import static io.verbena.embedded.OneGroup.indexChunks;
import static io.verbena.embedded.OneGroup.isMember;
import static io.verbena.embedded.OneGroup.machine;
import static io.verbena.embedded.OneGroup.put;
import static io.verbena.embedded.OneGroup.requireSound;
import static io.verbena.embedded.OneGroup.requireValue;
import static io.verbena.embedded.OneGroup.view;
import static org.assertj.core.api.Assertions.assertThat;

/** Memory nodes come into the group of a table, on production nodes, while others are lost. */
class MirroredEntrySimTest
{
    private static final int CLIENTS = 4;
    private static final int KEYS = 8;
    private static final long TIMEOUT_NS = 800_000_000;
    private static final long MAX_PAUSE_NS = 200_000;
    private static final long MAX_STEPS = 120_000_000;
    private static final int MOST_LEASES = 200;
    private static final int MOMENTS = 24;
    /** For a memory node to be connected. */
    private static final long PATIENCE_NS = 5_000_000_000L;
    private static final DeviceAddress NOWHERE = new DeviceAddress(99, 99);

    private boolean hasMoved;
    /** Those that have ended, or stand still for longer than their leases. */
    private final Set<PeerIdentity> lost = new HashSet<>();

    /** Seeds 1 to 6, or as many as the system property verbena.mirror.clusterSeeds says. */
    static LongStream seeds()
    {
        final long only = Long.getLong("verbena.mirror.clusterSeed", 0);
        return 0 != only ? LongStream.of(only) :
            LongStream.rangeClosed(1, Long.getLong("verbena.mirror.clusterSeeds", 6));
    }

    /** In the end who came in is the only member. */
    @Test
    void shouldHaveAllRecordsOnWhoCameIn()
    {
        for (int copies = 2; copies <= 3; copies++)
        {
            try (SimCluster cluster = new SimCluster(copies, new SimFabricOptions(), copies, 2))
            {
                final KvTable table = cluster.createTable("t", 100, copies);
                for (int key = 0; key < 40; key++)
                {
                    put(cluster, table, key, key);
                }
                cluster.memoryMachines().getFirst().kill();
                awaitMembers(cluster, copies - 1);
                final int another = addMemoryNode(cluster);
                awaitEntry(cluster, another);
                assertThat(view(cluster).members()).hasSize(copies);
                put(cluster, table, 40, 40);
                cluster.settle();
                requireSound(cluster, copies);
                for (int i = 1; i < copies; i++)
                {
                    cluster.memoryMachines().get(i).kill();
                    awaitMembers(cluster, copies - i);
                }
                for (int key = 0; key <= 40; key++)
                {
                    requireValue(cluster, table, key, key);
                }
            }
        }
    }

    /** Chunks of another group stand at both. */
    @Test
    void shouldComeInWhereItIsAMemberOfAnotherGroup()
    {
        try (SimCluster cluster = new SimCluster(1, new SimFabricOptions(), 4, 2))
        {
            final KvTable table = cluster.createTable("t", 100, 3);
            final KvTable other = cluster.createTable("u", 100, 3);
            put(cluster, table, 1, 1);
            put(cluster, other, 1, 2);
            final List<View> views = cluster.metaServer().views();
            assertThat(views).hasSize(2);
            final int head = views.getFirst().members().getFirst().nodeId();
            final int outsider = views.getLast().members().stream().map(PeerIdentity::nodeId)
                .filter((id) -> !isMember(cluster, id)).findFirst().orElseThrow();
            machine(cluster, head).kill();
            awaitMembers(cluster, 2);
            awaitEntry(cluster, outsider);
            assertThat(view(cluster).members()).hasSize(3);
            for (int i = 2; i > 0; i--)
            {
                machine(cluster, view(cluster).members().stream().map(PeerIdentity::nodeId)
                    .filter((id) -> id != outsider).findFirst().orElseThrow()).kill();
                awaitMembers(cluster, i);
            }
            requireValue(cluster, table, 1, 1);
            requireValue(cluster, other, 1, 2);
        }
    }

    /** After the delay, by itself; the first one has no room, so that another one is tried. */
    @Test
    void shouldComeInByItselfAfterADelay()
    {
        try (SimCluster cluster = new SimCluster(1, new SimFabricOptions(), 3, 2))
        {
            cluster.metaOptions((options) -> options.fillAfterNs(4 * SimCluster.LEASE_NS));
            cluster.moveMetaServer();
            cluster.runFor(2 * SimCluster.LEASE_NS); // the identities that the first one had in store have ended
            final KvTable table = cluster.createTable("t", 100, 3);
            put(cluster, table, 1, 1);
            machine(cluster, view(cluster).members().getFirst().nodeId()).kill();
            awaitMembers(cluster, 2);
            final int chunkCount = cluster.memoryHosts().getFirst().node().stat().chunkCount();
            cluster.chunksPerNode(chunkCount - 1);
            final int smaller = addMemoryNode(cluster);
            cluster.chunksPerNode(chunkCount);
            final int another = addMemoryNode(cluster);
            cluster.runFor(2 * SimCluster.LEASE_NS);
            assertThat(view(cluster).members()).as("not before the delay is over").hasSize(2);
            awaitMembers(cluster, 3);
            assertThat(isMember(cluster, smaller)).isFalse();
            assertThat(isMember(cluster, another)).isTrue();
            final long number = view(cluster).number();
            cluster.runFor(20 * SimCluster.LEASE_NS);
            assertThat(view(cluster).number()).as("nothing is lacking").isEqualTo(number);
            requireValue(cluster, table, 1, 1);
            cluster.settle();
            requireSound(cluster, 1);
        }
    }

    /** Where the connections break on which it leases and formats, it begins again. */
    @Test
    void shouldCreateTablesWhileAMemoryNodeComesIn()
    {
        for (int moment = 0; moment < MOMENTS; moment++)
        {
            try (SimCluster cluster = new SimCluster(1, new SimFabricOptions(), 3, 2))
            {
                final KvTable table = cluster.createTable("t", 100, 3);
                put(cluster, table, 1, 1);
                machine(cluster, view(cluster).members().getFirst().nodeId()).kill();
                awaitMembers(cluster, 2);
                final int another = addMemoryNode(cluster);
                cluster.runFor(SimCluster.LEASE_NS);
                final int indexChunks = indexChunks(cluster, view(cluster).members().getFirst().nodeId());
                enter(cluster, another);
                cluster.runFor(moment * SimCluster.LEASE_NS / 160);
                final KvTable created = cluster.createTable("created", 100, 1 + moment % 3);
                put(cluster, created, 2, 2);
                // Not one with three members: the table may have a chunk that the group has, too.
                requireValue(cluster, table, 1, 1);
                requireValue(cluster, created, 2, 2);
                cluster.dropTable("created");
                cluster.settle();
                for (final PeerIdentity member : view(cluster).members())
                {
                    assertThat(indexChunks(cluster, member.nodeId())).as("moment %d: what was leased is back", moment)
                        .isEqualTo(indexChunks);
                }
            }
        }
    }

    /** Of a table with copies: it has another group then, or the same one once there are enough members again. */
    @Test
    void shouldCreateTablesWithCopiesWhileAMemberIsLost()
    {
        for (int moment = 0; moment < MOMENTS; moment++)
        {
            try (SimCluster cluster = new SimCluster(1, new SimFabricOptions(), 4, 2))
            {
                final KvTable table = cluster.createTable("t", 100, 3);
                put(cluster, table, 1, 1);
                final SimNode lost = machine(cluster, view(cluster).members().getFirst().nodeId());
                cluster.world().after(1 + moment * SimCluster.LEASE_NS / 2_000, lost::kill);
                final KvTable created = cluster.createTable("created", 100, 2 + moment % 2);
                put(cluster, created, 2, 2);
                requireValue(cluster, table, 1, 1);
                requireValue(cluster, created, 2, 2);
            }
        }
    }

    /** The meta server does; the compute node that is to fill it tries for some time. */
    @Test
    void shouldGoOnWithoutAMemoryNodeThatIsNotReached()
    {
        try (SimCluster cluster = new SimCluster(1, new SimFabricOptions(), 2, 0))
        {
            final Set<DeviceAddress> reached = new HashSet<>();
            cluster.computeDevices((device) -> reaching(device, reached));
            final SimCluster.Compute compute = cluster.addComputeNode();
            cluster.world().runUntil(compute::isServing, MAX_STEPS);
            final KvTable table = cluster.createTable("t", 100, 2);
            put(cluster, table, 1, 1);
            machine(cluster, view(cluster).members().getFirst().nodeId()).kill();
            awaitMembers(cluster, 1);
            cluster.world().nodes().forEach((node) -> reached.add(node.device().address()));
            enter(cluster, addMemoryNode(cluster));
            assertThat(view(cluster).hasEntering()).isTrue();
            cluster.runFor(PATIENCE_NS * 9 / 10);
            assertThat(view(cluster).isFilling()).isTrue();
            cluster.runFor(PATIENCE_NS / 5);
            assertThat(view(cluster).state()).isEqualTo(ViewState.ACTIVE);
            assertThat(view(cluster).isFilling()).isFalse();
            assertThat(view(cluster).members()).hasSize(1);
            requireValue(cluster, table, 1, 1);
        }
    }

    /** A device that connects to nobody else, unless that is empty. */
    private static Device reaching(final Device device, final Set<DeviceAddress> reached)
    {
        final InvocationHandler handler = (self, method, arguments) ->
        {
            for (int i = 0; "connect".equals(method.getName()) && i < arguments.length; i++)
            {
                arguments[i] = reached.isEmpty() || !(arguments[i] instanceof DeviceAddress) ||
                    reached.contains(arguments[i]) ? arguments[i] : NOWHERE;
            }
            try
            {
                return method.invoke(device, arguments);
            }
            catch (final InvocationTargetException ex)
            {
                throw ex.getCause();
            }
        };
        return (Device)Proxy.newProxyInstance(Device.class.getClassLoader(), new Class<?>[]{Device.class}, handler);
    }

    /** A chunk that is leased later might not be there. */
    @Test
    void shouldNotComeInWithFewerChunks()
    {
        try (SimCluster cluster = new SimCluster(1, new SimFabricOptions(), 2, 2))
        {
            final KvTable table = cluster.createTable("t", 100, 2);
            put(cluster, table, 1, 1);
            machine(cluster, view(cluster).members().getFirst().nodeId()).kill();
            awaitMembers(cluster, 1);
            final int chunkCount = cluster.memoryHosts().getFirst().node().stat().chunkCount();
            cluster.chunksPerNode(chunkCount - 1);
            final int smaller = addMemoryNode(cluster);
            enter(cluster, smaller);
            assertThat(view(cluster).hasEntering()).isTrue();
            cluster.runFor(4 * SimCluster.LEASE_NS);
            assertThat(view(cluster).members()).hasSize(1);
            put(cluster, table, 1, 2);

            cluster.chunksPerNode(chunkCount);
            awaitEntry(cluster, addMemoryNode(cluster));
            cluster.settle();
            requireSound(cluster, 1);
        }
    }

    /** The group goes on as before; once the chunk is free, the memory node comes in. */
    @Test
    void shouldNotComeInWhereAChunkOfTheGroupIsInUse()
    {
        try (SimCluster cluster = new SimCluster(1, new SimFabricOptions(), 4, 2))
        {
            final KvTable table = cluster.createTable("t", 100, 3);
            put(cluster, table, 1, 1);
            cluster.createTable("single", 4_000);
            final MemoryNode outsider = cluster.memoryHosts().stream().map(SimMemoryHost::node)
                .filter((node) -> !isMember(cluster, node.nodeId())).findFirst().orElseThrow();
            final int another = outsider.nodeId();
            assertThat(outsider.stat().indexChunkCount()).isPositive();
            machine(cluster, view(cluster).members().getFirst().nodeId()).kill();
            awaitMembers(cluster, 2);
            enter(cluster, another);
            assertThat(view(cluster).hasEntering()).isTrue();
            awaitMembers(cluster, 2);
            put(cluster, table, 2, 2);
            assertThat(isMember(cluster, another)).isFalse();
            requireValue(cluster, table, 1, 1);

            cluster.dropTable("single");
            awaitEntry(cluster, another);
            requireValue(cluster, table, 2, 2);
            // The memory node that was killed had a part of the other table: what it has is not used again.
            cluster.runFor(4 * SimCluster.LEASE_NS);
            requireSound(cluster, 1);
        }
    }

    /**
     * Members are lost and others come in; compute nodes end, or stand still and wake in a later view; the meta server
     * ends. In the end the table has all its copies, and they are equal.
     */
    @ParameterizedTest
    @MethodSource("seeds")
    void shouldBeLinearizableWhileMemoryNodesComeAndGo(final long seed)
    {
        try (SimCluster cluster = new SimCluster(seed, new SimFabricOptions(), 3, 3))
        {
            final RandomGenerator random = cluster.world().random();
            final KvTable table = cluster.createTable("t", 100, 3);
            final SimClients clients = new SimClients(cluster.world(), table, KEYS, 600, TIMEOUT_NS);
            clients.start(CLIENTS, MAX_PAUSE_NS);
            for (int i = 0; i < 8; i++)
            {
                cluster.runFor(random.nextLong(8_000_000));
                disturb(cluster, random);
            }
            // Whoever stands still goes on by then, and is lost.
            cluster.runFor(6 * SimCluster.LEASE_NS);
            for (int i = 0; i < MOST_LEASES && !hasAllCopies(cluster); i++)
            {
                awaitEntry(cluster, addMemoryNode(cluster));
            }
            clients.finish(MAX_STEPS);
            cluster.runFor(4 * SimCluster.LEASE_NS);
            assertThat(hasAllCopies(cluster)).as("%s", view(cluster)).isTrue();
            requireSound(cluster, seed);
        }
    }

    private static boolean hasAllCopies(final SimCluster cluster)
    {
        return ViewState.ACTIVE == view(cluster).state() && 3 == view(cluster).members().size();
    }

    private void disturb(final SimCluster cluster, final RandomGenerator random)
    {
        switch (random.nextInt(6))
        {
            case 0, 1 ->
            {
                final List<PeerIdentity> whole = new ArrayList<>(view(cluster).survivors());
                whole.removeAll(lost);
                if (whole.size() > 1)
                {
                    lose(cluster, whole.get(random.nextInt(whole.size())), random);
                }
            }
            case 2 -> enter(cluster, random.nextBoolean() ? addMemoryNode(cluster) : anyMemory(cluster, random));
            case 3 -> pause(
                cluster, anyCompute(cluster, random).machine(), random.nextLong(3 * SimCluster.LEASE_NS));
            case 4 ->
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

    private void lose(final SimCluster cluster, final PeerIdentity member, final RandomGenerator random)
    {
        lost.add(member);
        final SimNode machine = machine(cluster, member.nodeId());
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

    /** One that was a member and is back, perhaps. */
    private static int anyMemory(final SimCluster cluster, final RandomGenerator random)
    {
        return cluster.memoryHosts().get(random.nextInt(cluster.memoryHosts().size())).node().nodeId();
    }

    private static SimCluster.Compute anyCompute(final SimCluster cluster, final RandomGenerator random)
    {
        final List<SimCluster.Compute> running = cluster.computes();
        return running.get(random.nextInt(running.size()));
    }
}
