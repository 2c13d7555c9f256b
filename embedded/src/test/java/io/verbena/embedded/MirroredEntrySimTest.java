package io.verbena.embedded;

import io.verbena.client.KvEntry;
import io.verbena.client.KvTable;
import io.verbena.meta.membership.MembershipRefusedException;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewState;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.sim.SimNode;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.table.check.StoreCheck;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import java.util.stream.LongStream;

import static org.assertj.core.api.Assertions.assertThat;

/** Memory nodes come into the group of a table, on production nodes, while others are lost. */
class MirroredEntrySimTest
{
    private static final int CLIENTS = 4;
    private static final int KEYS = 8;
    private static final long TIMEOUT_NS = 800_000_000;
    private static final Duration TIMEOUT = Duration.ofNanos(TIMEOUT_NS);
    private static final long MAX_PAUSE_NS = 200_000;
    private static final long MAX_STEPS = 120_000_000;
    private static final int MOST_LEASES = 200;

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

    private static View view(final SimCluster cluster)
    {
        return cluster.metaServer().views().getFirst();
    }

    private static void awaitMembers(final SimCluster cluster, final int members)
    {
        for (int i = 0; i < MOST_LEASES; i++)
        {
            if (ViewState.ACTIVE == view(cluster).state() && view(cluster).members().size() == members)
            {
                return;
            }
            cluster.runFor(SimCluster.LEASE_NS / 4);
        }
        throw new AssertionError("wants " + members + " members: " + cluster.metaServer().views());
    }

    /** Until it is one; what is refused is asked again. */
    private static void awaitEntry(final SimCluster cluster, final int nodeId)
    {
        for (int i = 0; i < MOST_LEASES; i++)
        {
            if (ViewState.ACTIVE == view(cluster).state() && isMember(cluster, nodeId))
            {
                return;
            }
            enter(cluster, nodeId);
            cluster.runFor(SimCluster.LEASE_NS / 4);
        }
        throw new AssertionError("node " + nodeId + " does not come in: " + cluster.metaServer().views());
    }

    private static boolean isMember(final SimCluster cluster, final int nodeId)
    {
        return view(cluster).members().stream().anyMatch((member) -> member.nodeId() == nodeId);
    }

    private static void enter(final SimCluster cluster, final int nodeId)
    {
        try
        {
            cluster.metaServer().enterGroup(view(cluster).group(), nodeId);
        }
        catch (final MembershipRefusedException ex)
        {
            // Not now.
        }
    }

    private static int addMemoryNode(final SimCluster cluster)
    {
        cluster.addMemoryNode("another-" + cluster.memoryHosts().size());
        return cluster.memoryHosts().getLast().node().nodeId();
    }

    private static void put(final SimCluster cluster, final KvTable table, final int key, final int value)
    {
        final CompletableFuture<Long> put =
            table.withTimeout(TIMEOUT).putAsync(new byte[]{(byte)key}, new byte[]{(byte)value});
        cluster.world().runUntil(put::isDone, MAX_STEPS);
        assertThat(put).as("put %d", key).isCompleted();
    }

    private static void requireValue(final SimCluster cluster, final KvTable table, final int key, final int value)
    {
        final CompletableFuture<Optional<KvEntry>> get =
            table.withTimeout(TIMEOUT).getAsync(new byte[]{(byte)key});
        cluster.world().runUntil(get::isDone, MAX_STEPS);
        assertThat(get).as("get %d", key).isCompleted();
        assertThat(get.resultNow()).as("key %d", key).isPresent();
        assertThat(get.resultNow().get().value()).as("key %d", key).containsExactly(value);
    }

    private static void requireSound(final SimCluster cluster, final long seed)
    {
        final StoreCheck check = MirroredStore.check(cluster);
        assertThat(check.isSound()).as("seed %d: %s %s", seed, check.problems(), check.differences()).isTrue();
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
            case 2 -> enter(cluster, addMemoryNode(cluster));
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
        final SimNode machine = cluster.memoryHosts().stream()
            .filter((host) -> host.node().nodeId() == member.nodeId()).findFirst().orElseThrow().machine();
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
