package io.verbena.embedded;

import io.verbena.client.KvTable;
import io.verbena.memory.DurableNodes;
import io.verbena.protocol.view.View;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.sim.SimWorld;
import io.verbena.rdma.sim.schedule.SimFabricOptions;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.random.RandomGenerator;
import java.util.stream.LongStream;

import static io.verbena.embedded.OneGroup.awaitEntry;
import static io.verbena.embedded.OneGroup.awaitMembers;
import static io.verbena.embedded.OneGroup.put;
import static io.verbena.embedded.OneGroup.requireSound;
import static io.verbena.embedded.OneGroup.requireValue;
import static io.verbena.embedded.OneGroup.view;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The hosts of all members of a group are lost, with their memory, while clients write, and come back with checkpoints.
 * Each key was, at some moment after the checkpoint began that is taken, as it is then; histories go on from there.
 */
class RestoredCopiesSimTest
{
    private static final int KEYS = 3;
    private static final int CLIENTS = 4;
    private static final int OPERATIONS = 1_600;
    private static final long TIMEOUT_NS = 8_000_000;
    private static final long MAX_PAUSE_NS = 1_500_000;
    private static final long MAX_STEPS = 200_000_000;
    private static final int ROUNDS = 2;
    private static final int FILLED_KEYS = 500;
    private static final int MAX_DISK_STEPS = 40;
    private static final long FILLER_PAUSE_NS = 300_000;
    private static final long GIVEN_UP_NS = 1_200_000_000;
    /** By then the next view is known. */
    private static final long KNOWN_NS = 600_000_000;

    /** Seeds 1 to 6, or as many as the system property verbena.restore.groupSeeds says. */
    static LongStream seeds()
    {
        final long only = Long.getLong("verbena.restore.groupSeed", 0);
        return 0 != only ? LongStream.of(only) :
            LongStream.rangeClosed(1, Long.getLong("verbena.restore.groupSeeds", 6));
    }

    /** Of each memory node, what was done when its last complete checkpoint of the group began. */
    private final Map<Integer, Began> began = new HashMap<>();
    private final List<Runnable> whenLost = new ArrayList<>();
    private SimCluster cluster;
    private SimWorld world;
    private RandomGenerator random;
    private SimClients clients;
    private SimFiller filler;
    private int group;
    private boolean losesOneBefore;

    /** What was done when a checkpoint began. */
    private record Began(int[] positions, BitSet kept)
    {
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void shouldGoOnFromTheLatestCheckpointWhenAllMemoryIsGone(final long seed)
    {
        final int copies = 2 + (int)(seed % 2);
        try (SimCluster opened = SimCluster.durableGrowing(seed, new SimFabricOptions(), copies, 2, Flaw.NONE, 48))
        {
            cluster = opened;
            world = cluster.world();
            random = world.random();
            final KvTable table = cluster.createTable("t", 100, copies);
            group = view(cluster).group();
            clients = new SimClients(world, table, KEYS, OPERATIONS, TIMEOUT_NS);
            clients.start(CLIENTS, MAX_PAUSE_NS);
            for (int round = 0; round < ROUNDS; round++)
            {
                round(copies);
            }
            clients.finish(MAX_STEPS);
            cluster.runFor(4 * SimCluster.LEASE_NS);
            cluster.settle();
            requireSound(cluster, seed);
        }
    }

    /** Subtables are split meanwhile; no key may be missing that was acknowledged before. */
    @ParameterizedTest
    @MethodSource("seeds")
    void shouldHaveAllThatATableHadGrownBy(final long seed)
    {
        final int copies = 2 + (int)(seed % 2);
        try (SimCluster opened = SimCluster.durableGrowing(seed, new SimFabricOptions(), copies, 2, Flaw.NONE, 100))
        {
            cluster = opened;
            world = cluster.world();
            random = world.random();
            final KvTable table = cluster.createTable("t", 50, copies);
            group = view(cluster).group();
            clients = new SimClients(world, table, KEYS, OPERATIONS / 2, TIMEOUT_NS);
            clients.start(CLIENTS / 2, 2 * MAX_PAUSE_NS);
            filler = new SimFiller(world, table, FILLED_KEYS, FILLER_PAUSE_NS);
            filler.start();
            for (int round = 0; round < ROUNDS; round++)
            {
                round(copies);
            }
            clients.finish(MAX_STEPS);
            world.runUntil(filler::isFinished, MAX_STEPS);
            filler.assertComplete(MAX_STEPS);
            assertThat(cluster.tables().getFirst().distinctSubtables()).isGreaterThan(1);
            cluster.runFor(4 * SimCluster.LEASE_NS);
            cluster.settle();
            requireSound(cluster, seed);
        }
    }

    /** Checkpoints are of the view before, and some of the last one. */
    @ParameterizedTest
    @MethodSource("seeds")
    void shouldGoOnWhenTheViewHasChangedSinceTheCheckpoint(final long seed)
    {
        try (SimCluster opened = SimCluster.durableGrowing(seed, new SimFabricOptions(), 3, 2, Flaw.NONE, 48))
        {
            cluster = opened;
            world = cluster.world();
            random = world.random();
            losesOneBefore = true;
            final KvTable table = cluster.createTable("t", 100, 3);
            group = view(cluster).group();
            clients = new SimClients(world, table, KEYS, OPERATIONS, TIMEOUT_NS);
            clients.start(CLIENTS, MAX_PAUSE_NS);
            for (int round = 0; round < ROUNDS; round++)
            {
                round(3);
            }
            clients.finish(MAX_STEPS);
            cluster.runFor(4 * SimCluster.LEASE_NS);
            cluster.settle();
            requireSound(cluster, seed);
        }
    }

    /** It had no checkpoint as a middle, and nobody else is a member when its host is lost, too. */
    @Test
    void shouldGoOnWhenTheMiddleWasLeftLast()
    {
        try (SimCluster opened = SimCluster.durable(1, new SimFabricOptions(), 3, 2, Flaw.NONE))
        {
            cluster = opened;
            world = cluster.world();
            final KvTable table = cluster.createTable("t", 100, 3);
            group = view(cluster).group();
            put(cluster, table, 1, 1);
            final List<SimMemoryHost> hosts = cluster.memoryHosts();
            final SimMemoryHost middle = host(view(cluster).members().get(1));
            hosts.stream().filter((host) -> host != middle).forEach((host) ->
                assertThat(host.checkpoint(this::stepped)).isTrue());
            assertThat(DurableNodes.groupCheckpointStartedMs(middle.disk(), group)).isZero();
            hosts.stream().filter((host) -> host != middle).forEach(SimMemoryHost::loseHost);
            awaitMembers(cluster, 1);
            put(cluster, table, 2, 2);
            cluster.runFor(KNOWN_NS);
            assertThat(middle.checkpointNewGroups(this::stepped)).isTrue();
            assertThat(middle.checkpointNewGroups(this::stepped)).as("once").isFalse();
            put(cluster, table, 3, 3);
            middle.loseHost();
            hosts.forEach(SimMemoryHost::start);
            awaitMembers(cluster, 1);
            assertThat(view(cluster).members().getFirst().nodeId()).isEqualTo(middle.nodeId());
            requireValue(cluster, table, 1, 1);
            requireValue(cluster, table, 2, 2);
            cluster.settle();
            requireSound(cluster, 1);
        }
    }

    private SteppedLoads stepped(final MemorySegment region)
    {
        return new SteppedLoads(world, region);
    }

    /** It is restored for nothing, and its memory is free again. */
    @Test
    void shouldGiveUpWhatIsNotTaken()
    {
        try (SimCluster opened = SimCluster.durable(1, new SimFabricOptions(), 2, 2, Flaw.NONE))
        {
            cluster = opened;
            world = cluster.world();
            final KvTable table = cluster.createTable("t", 100, 2);
            put(cluster, table, 1, 1);
            final List<SimMemoryHost> hosts = cluster.memoryHosts();
            hosts.forEach((host) ->
            {
                assertThat(host.checkpoint((region) -> new SteppedLoads(world, region))).isTrue();
                cluster.runFor(5_000_000);
            });
            hosts.forEach(SimMemoryHost::loseHost);
            hosts.forEach(SimMemoryHost::start);
            awaitMembers(cluster, 1);
            final int source = view(cluster).members().getFirst().nodeId();
            assertThat(source).as("the checkpoint that began last").isEqualTo(hosts.getLast().nodeId());
            final SimMemoryHost other = hosts.getFirst();
            assertThat(other.node().stat().indexChunkCount()).as("restored, too").isEqualTo(1);
            put(cluster, table, 2, 2);
            cluster.runFor(GIVEN_UP_NS);
            assertThat(other.node().stat().freeChunkCount()).isEqualTo(other.node().stat().chunkCount());
            requireValue(cluster, table, 1, 1);
            requireValue(cluster, table, 2, 2);
            awaitEntry(cluster, other.nodeId());
            cluster.settle();
            requireSound(cluster, 1);
        }
    }

    private void round(final int copies)
    {
        final List<SimMemoryHost> hosts = new ArrayList<>(cluster.memoryHosts());
        Collections.shuffle(hosts, new Random(random.nextLong()));
        final boolean isCutShort = !checkpoints(hosts);
        final List<SimMemoryHost> members = losesOneBefore && !isCutShort ? loseOne(hosts) : hosts;
        final int newest =
            members.stream().mapToInt((host) -> host.node().incarnation()).max().orElseThrow();
        for (final SimMemoryHost host : members)
        {
            world.after(1 + random.nextLong(100_000), host::loseHost);
        }
        cluster.runFor(200_000 + random.nextLong(SimCluster.LEASE_NS * 3 / 2));
        whenLost.forEach(Runnable::run);
        whenLost.clear();
        for (final SimMemoryHost host : hosts)
        {
            world.after(1 + random.nextLong(SimCluster.LEASE_NS * 2), host::start);
        }
        if (random.nextInt(3) == 0)
        {
            world.after(1 + random.nextLong(SimCluster.LEASE_NS), cluster::moveMetaServer);
        }
        world.runUntil(() -> null != chosen(newest), MAX_STEPS);
        final SimMemoryHost source = host(chosen(newest));
        assertThat(members).as("nobody was taken back before all were there").allMatch((host) -> 0 != host.nodeId() &&
            host.node().incarnation() > newest);
        final Began before = began.get(source.nodeId());
        clients.restored(before.positions, SimRecord.of(source.node(), group, cluster.tables()));
        if (null != filler)
        {
            filler.restored(before.kept, SimRecord.filled(source.node(), group, cluster.tables()));
        }
        awaitMembers(cluster, 1);
        for (final SimMemoryHost host : hosts)
        {
            if (host != source)
            {
                awaitEntry(cluster, host.nodeId());
            }
        }
        awaitMembers(cluster, copies);
    }

    /** In some rounds power fails meanwhile. @return whether all were made. */
    private boolean checkpoints(final List<SimMemoryHost> hosts)
    {
        final SimMemoryHost cut = random.nextInt(3) == 0 ? hosts.get(random.nextInt(hosts.size())) : null;
        for (final SimMemoryHost host : hosts)
        {
            cluster.runFor(random.nextLong(2_000_000));
            if (host == cut)
            {
                host.killInDiskSteps(1 + random.nextLong(MAX_DISK_STEPS));
            }
            final boolean goesOn = checkpoint(host);
            host.disk().calm();
            if (!goesOn)
            {
                return false;
            }
        }
        cluster.runFor(random.nextLong(6_000_000));
        return true;
    }

    /** Of the others some make a checkpoint in the next view. @return they. */
    private List<SimMemoryHost> loseOne(final List<SimMemoryHost> hosts)
    {
        final List<SimMemoryHost> left = new ArrayList<>(hosts);
        left.remove(random.nextInt(left.size())).loseHost();
        awaitMembers(cluster, left.size());
        cluster.runFor(random.nextLong(4_000_000));
        for (final SimMemoryHost host : left)
        {
            if (random.nextInt(3) == 0)
            {
                checkpoint(host);
            }
        }
        cluster.runFor(random.nextLong(4_000_000));
        return left;
    }

    /** Who has come back after all were lost. */
    private PeerIdentity chosen(final int newest)
    {
        final View now = view(cluster);
        return now.survivors().stream().filter((member) -> member.incarnation() > newest).findFirst().orElse(null);
    }

    private SimMemoryHost host(final PeerIdentity member)
    {
        return cluster.memoryHosts().stream().filter((host) -> host.nodeId() == member.nodeId()).findFirst()
            .orElseThrow();
    }

    /** Whether the node goes on. */
    private boolean checkpoint(final SimMemoryHost host)
    {
        final Began now = new Began(clients.positions(), null == filler ? new BitSet() : filler.kept());
        final long before = DurableNodes.groupCheckpointStartedMs(host.disk(), group);
        final Runnable look = () ->
        {
            if (DurableNodes.groupCheckpointStartedMs(host.disk(), group) > before)
            {
                began.put(host.nodeId(), now);
            }
        };
        final boolean goesOn = host.checkpoint((region) -> new SteppedLoads(world, region, null != filler));
        if (goesOn)
        {
            look.run();
        }
        else
        {
            whenLost.add(look); // what its disk had not synced may be gone
        }
        return goesOn;
    }
}
