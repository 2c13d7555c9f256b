package io.verbena.embedded;

import io.verbena.client.KvException;
import io.verbena.client.KvTable;
import io.verbena.rdma.sim.SimWorld;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.table.check.StoreCheck;
import io.verbena.table.format.SuperblockDescriptor;

import org.agrona.concurrent.UnsafeBuffer;

import java.nio.ByteBuffer;
import java.util.random.RandomGenerator;

import static org.assertj.core.api.Assertions.assertThat;

/** A cluster whose memory nodes end and begin again while clients work; what is wrong then is thrown. */
final class DurabilityRun implements AutoCloseable
{
    static final int KEYS = 3;
    static final int OPERATIONS = 800;
    private static final int BUSY_OPERATIONS = 1_500;
    static final long TIMEOUT_NS = 8_000_000;
    static final long MAX_PAUSE_NS = 200_000;
    private static final long BUSY_PAUSE_NS = 2_000;
    static final long MAX_STEPS = 50_000_000;
    private static final int CLIENTS = 4;
    private static final int FAULTS = 6;
    private static final int ROUNDS = 6;
    private static final Growth MUCH = new Growth(1_500, 100, false);
    private static final Growth LITTLE = new Growth(700, 100, false);
    private static final Growth EBBING = new Growth(700, 100, true);
    /** Chunks are used again soon, so that words also move to where a checkpoint has looked. */
    private static final Growth TIGHT = new Growth(1_500, 64, false);
    /** As {@link #TIGHT}, and what dead nodes held comes back later than operations can wait for their values. */
    private static final Growth SCARCE = new Growth(1_500, 64, false);
    private static final String TABLE_FULL = "found no free slot";
    private static final String NO_MEMORY = "found no memory";
    private static final int ROUNDS_OF_TIGHT = 10;
    private static final long FILLER_PAUSE_NS = 100_000;

    /** By so many keys, in memory nodes of so many chunks; and whether it is merged again. */
    private record Growth(int keys, int chunks, boolean shrinks)
    {
    }

    private final SimCluster cluster;
    private final SimWorld world;
    private final RandomGenerator random;
    private final SimClients clients;
    private final SimFiller filler;
    private final boolean isShortOfMemory;

    DurabilityRun(final long seed, final int memoryNodes, final int computeNodes, final Flaw flaw)
    {
        this(seed, memoryNodes, computeNodes, flaw, CLIENTS, OPERATIONS, MAX_PAUSE_NS, null);
    }

    private DurabilityRun(
        final long seed, final int memoryNodes, final int computeNodes, final Flaw flaw, final int clientCount,
        final int operations, final long maxPauseNs, final Growth growth)
    {
        final SimFabricOptions options =
            new SimFabricOptions().namedMemoryAfterDeathNs(seed % 3 == 0 ? 0 : 2_000_000);
        cluster = null == growth ? SimCluster.durable(seed, options, memoryNodes, computeNodes, flaw) :
            growth.shrinks ?
            SimCluster.durableShrinking(seed, options, memoryNodes, computeNodes, flaw, growth.chunks) :
            SimCluster.durableGrowing(seed, options, memoryNodes, computeNodes, flaw, growth.chunks);
        world = cluster.world();
        random = world.random();
        final KvTable table = cluster.createTable("t", 50);
        clients = new SimClients(world, table, KEYS, operations, TIMEOUT_NS).withCounters();
        clients.start(clientCount, maxPauseNs);
        filler = null == growth ? null : new SimFiller(world, table, growth.keys, FILLER_PAUSE_NS);
        isShortOfMemory = SCARCE == growth;
        if (null != filler)
        {
            if (isShortOfMemory)
            {
                filler.expectShortage();
            }
            filler.start();
        }
    }

    SimCluster cluster()
    {
        return cluster;
    }

    SimClients clients()
    {
        return clients;
    }

    /** Who makes the table grow; null where it does not. */
    SimFiller filler()
    {
        return filler;
    }

    SimMemoryHost host()
    {
        return cluster.memoryHosts().getFirst();
    }

    /** Processes of all roles end at any moment, memory nodes again while they adopt what they find. */
    static void adoption(final long seed, final Flaw flaw)
    {
        try (DurabilityRun run = new DurabilityRun(seed, 2, 3, flaw))
        {
            for (int i = 0; i < FAULTS; i++)
            {
                run.world.after(i * 7_000_000L + run.random.nextLong(5_000_000), run::hurt);
            }
            run.finish();
        }
    }

    /** Checkpoints while writers go on, cut short, and hosts that end, again while the node restores. */
    static void restoration(final long seed, final Flaw flaw)
    {
        try (DurabilityRun run = new DurabilityRun(seed, 1, 2, flaw))
        {
            final CheckpointRounds rounds = new CheckpointRounds(run);
            rounds.checkpoint(0);
            for (int i = 0; i < ROUNDS; i++)
            {
                rounds.round();
            }
            run.finish();
        }
    }

    /** As {@link #restoration}, while the table grows, and compute nodes end that split it. */
    static void growing(final long seed, final Flaw flaw)
    {
        try (DurabilityRun run = new DurabilityRun(
            seed, 1, 2, flaw, CLIENTS, OPERATIONS, MAX_PAUSE_NS, MUCH))
        {
            final CheckpointRounds rounds = new CheckpointRounds(run);
            run.cluster.runFor(run.random.nextLong(3_000_000));
            rounds.checkpoint(0);
            for (int i = 0; i < ROUNDS; i++)
            {
                if (run.random.nextInt(3) == 0)
                {
                    run.endOne(run.random.nextInt(200));
                }
                rounds.round();
            }
            run.finish();
        }
    }

    /** As {@link #growing}, but what it has grown by is deleted again meanwhile, so that it shrinks. */
    static void shrinking(final long seed, final Flaw flaw)
    {
        try (DurabilityRun run = new DurabilityRun(
            seed, 1, 2, flaw, CLIENTS, OPERATIONS / 2, MAX_PAUSE_NS, EBBING))
        {
            final CheckpointRounds rounds = new CheckpointRounds(run);
            run.world.runUntil(run.filler::isFinished, MAX_STEPS);
            final int grown = run.subtables();
            rounds.checkpoint(0);
            run.filler.drain();
            for (int i = 0; i < ROUNDS; i++)
            {
                if (run.random.nextInt(3) == 0)
                {
                    run.endOne(run.random.nextInt(200));
                }
                rounds.round();
            }
            run.finish();
            assertThat(run.subtables()).as("seed %d", seed).isLessThan(grown);
        }
    }

    /** Each time who merges ends, then there is a checkpoint, and the host ends. */
    static void shrinkingWhileMergersEnd(final long seed, final Flaw flaw)
    {
        try (DurabilityRun run = new DurabilityRun(
            seed, 1, 2, flaw, CLIENTS, OPERATIONS / 4, MAX_PAUSE_NS, EBBING))
        {
            final CheckpointRounds rounds = new CheckpointRounds(run);
            run.world.runUntil(run.filler::isFinished, MAX_STEPS);
            run.filler.drain();
            for (int i = 0; i < ROUNDS; i++)
            {
                run.cluster.runFor(500_000 + run.random.nextLong(4_000_000));
                run.endOne(run.random.nextInt(40));
                run.cluster.runFor(run.random.nextLong(300_000));
                run.restore(rounds);
            }
            run.finish();
        }
    }

    private int subtables()
    {
        return cluster.tables().getFirst().distinctSubtables();
    }

    /** Each time a splitter ends, then there is a checkpoint, and the host ends; what was frozen stays so meanwhile. */
    static void growingWhileSplittersEnd(final long seed, final Flaw flaw)
    {
        growingWhileSplittersEnd(seed, flaw, MUCH);
    }

    /** As {@link #growingWhileSplittersEnd}, where splits need chunks that splits before them are giving back. */
    static void growingWhileSplittersEndInLittleMemory(final long seed, final Flaw flaw)
    {
        growingWhileSplittersEnd(seed, flaw, SCARCE);
    }

    private static void growingWhileSplittersEnd(final long seed, final Flaw flaw, final Growth growth)
    {
        try (DurabilityRun run = new DurabilityRun(
            seed, 1, 2, flaw, CLIENTS, OPERATIONS / 4, MAX_PAUSE_NS, growth))
        {
            final CheckpointRounds rounds = new CheckpointRounds(run);
            for (int i = 0; i < ROUNDS; i++)
            {
                run.cluster.runFor(500_000 + run.random.nextLong(4_000_000));
                run.endOne(run.random.nextInt(40));
                run.cluster.runFor(run.random.nextLong(300_000));
                run.restore(rounds);
            }
            run.finish();
        }
    }

    /** As {@link #growingWhileSplittersEnd}, where no compute node ends, and chunks are used again soon. */
    static void growingInLittleMemory(final long seed, final Flaw flaw)
    {
        try (DurabilityRun run = new DurabilityRun(
            seed, 1, 2, flaw, CLIENTS, OPERATIONS / 4, MAX_PAUSE_NS, TIGHT))
        {
            final CheckpointRounds rounds = new CheckpointRounds(run);
            for (int i = 0; i < ROUNDS_OF_TIGHT; i++)
            {
                run.cluster.runFor(500_000 + run.random.nextLong(4_000_000));
                run.restore(rounds);
            }
            run.finish();
        }
    }

    /** A checkpoint that is cut short, one that is not, and the end of the host: again and again. */
    static void cutShortAndWhole(final long seed, final Flaw flaw)
    {
        try (DurabilityRun run = new DurabilityRun(seed, 1, 2, flaw))
        {
            final CheckpointRounds rounds = new CheckpointRounds(run);
            rounds.checkpoint(0);
            for (int i = 0; i < ROUNDS; i++)
            {
                run.cluster.runFor(run.random.nextLong(2_000_000));
                rounds.checkpoint(1 + run.random.nextInt(20));
                run.startIfDead();
                run.cluster.runFor(run.random.nextLong(2_000_000));
                run.restore(rounds);
            }
            run.finish();
        }
    }

    /** Makes a checkpoint, and goes on with nothing else. */
    private void restore(final CheckpointRounds rounds)
    {
        rounds.checkpoint(0);
        rounds.loseHost();
        startIfDead();
    }

    private void startIfDead()
    {
        if (host().isDead())
        {
            host().start();
        }
        world.runUntil(host()::isReady, MAX_STEPS);
    }

    /** A checkpoint of a table that has grown since the one before ends somewhere, and the host with it. */
    static void growingCutShort(final long seed, final Flaw flaw)
    {
        try (DurabilityRun run = new DurabilityRun(
            seed, 1, 2, flaw, CLIENTS, OPERATIONS / 4, MAX_PAUSE_NS, LITTLE))
        {
            final CheckpointRounds rounds = new CheckpointRounds(run);
            run.cluster.runFor(3_000_000 + run.random.nextLong(10_000_000));
            rounds.checkpoint(0);
            run.cluster.runFor(1_000_000 + run.random.nextLong(3_000_000));
            rounds.checkpoint(8 + run.random.nextInt(40));
            rounds.loseHost();
            run.host().start();
            run.finish();
        }
    }

    /** The second checkpoint ends after so many steps of the disk, and the host with it. */
    static void cutShort(final long steps, final Flaw flaw)
    {
        try (DurabilityRun run = new DurabilityRun(steps, 1, 2, flaw))
        {
            final CheckpointRounds rounds = new CheckpointRounds(run);
            run.cluster.runFor(2_000_000);
            rounds.checkpoint(0);
            run.cluster.runFor(3_000_000);
            rounds.checkpoint(steps);
            rounds.loseHost();
            run.host().start();
            run.finish();
        }
    }

    /** The checkpoint meets each block while it is being written. */
    static void torn(final Flaw flaw)
    {
        try (DurabilityRun run = new DurabilityRun(1, 1, 2, flaw))
        {
            final CheckpointRounds rounds = new CheckpointRounds(run);
            run.cluster.runFor(3_000_000);
            rounds.checkpoint(0, TornLoads::new);
            rounds.loseHost();
            run.host().start();
            run.finish();
        }
    }

    /** A compute node stands still with requests under way; when it goes on, its memory is somebody else's. */
    static void late(final long seed, final Flaw flaw)
    {
        try (DurabilityRun run = new DurabilityRun(
            seed, 1, 3, flaw, 3 * CLIENTS, BUSY_OPERATIONS, BUSY_PAUSE_NS, null))
        {
            run.cluster.runFor(200_000 + run.random.nextLong(400_000));
            final SimCluster.Compute stopped = run.cluster.computes().getFirst();
            stopped.machine().pause();
            run.cluster.forget(stopped);
            run.cluster.runFor(run.random.nextLong(5_000));
            run.host().killProcess();
            run.cluster.runFor(run.random.nextLong(500_000));
            run.host().start();
            run.clients.finish(MAX_STEPS);
            run.cluster.runFor(4 * SimCluster.LEASE_NS);
            run.cluster.settle();
            final byte[] before = run.chunks();
            // What was begun before it stood still goes on before it can look at the time.
            stopped.machine().device().resume();
            run.cluster.runFor(1_000_000);
            stopped.machine().resume();
            assertThat(run.chunks()).as("memory of others, seed %d", seed).isEqualTo(before);
            run.finish();
        }
    }

    private byte[] chunks()
    {
        final int length = (int)host().node().stat().regionLengthBytes() - SuperblockDescriptor.SPACE_BYTES;
        final UnsafeBuffer copy = new UnsafeBuffer(ByteBuffer.allocateDirect(length));
        host().node().readRegion(SuperblockDescriptor.SPACE_BYTES, copy, length);
        final byte[] bytes = new byte[host().node().stat().chunkCount() * SimCluster.CHUNK_BYTES];
        copy.getBytes(0, bytes);
        return bytes;
    }

    /** A compute node dies while the memory node is away, which is never told of it. */
    static void away(final long seed, final Flaw flaw)
    {
        try (DurabilityRun run = new DurabilityRun(seed, 1, 2, flaw))
        {
            run.cluster.runFor(1_000_000 + run.random.nextLong(2_000_000));
            final SimCluster.Compute dead = run.cluster.computes().getFirst();
            run.host().killProcess();
            run.cluster.runFor(run.random.nextLong(1_000_000));
            dead.machine().kill();
            run.cluster.forget(dead);
            run.cluster.runFor(2 * SimCluster.LEASE_NS);
            run.host().start();
            run.finish();
        }
    }

    /** All histories must be right, and in the end every byte be in one hand. */
    void finish()
    {
        clients.finish(MAX_STEPS);
        final long seed = world.seed();
        if (null != filler)
        {
            world.runUntil(filler::isFinished, MAX_STEPS);
            filler.assertComplete(MAX_STEPS);
        }
        assertThat(clients.failures()).as("seed %d: %s", seed, clients.messages())
            .doesNotContainKey(KvException.Category.INVALID_REQUEST)
            .doesNotContainKey(KvException.Category.CORRUPT);
        assertThat(clients.messages().keySet()).as("seed %d", seed).noneMatch((said) -> said.contains(TABLE_FULL) ||
            !isShortOfMemory && said.contains(NO_MEMORY));
        assertThat(clients.succeeded()).isGreaterThan(OPERATIONS / 8);
        world.runUntil(() -> cluster.memoryHosts().stream().allMatch(SimMemoryHost::isReady), MAX_STEPS);
        cluster.runFor(4 * SimCluster.LEASE_NS);
        cluster.settle();
        check();
        cluster.sweep();
        final StoreCheck check = check();
        assertThat(check.unreclaimedBytes() + check.lostBytes()).as("bytes lost, seed %d: %s", seed, check)
            .isZero();
    }

    private StoreCheck check()
    {
        final StoreCheck check = cluster.check(cluster.tables());
        assertThat(check.problems()).as("seed %d: %s", world.seed(), check).isEmpty();
        assertThat(check.isSound()).as("seed %d: %s", world.seed(), check).isTrue();
        return check;
    }

    private void hurt()
    {
        final SimCluster.Compute victim = cluster.computes().get(random.nextInt(cluster.computes().size()));
        final SimMemoryHost host = cluster.memoryHosts().get(random.nextInt(cluster.memoryHosts().size()));
        switch (random.nextInt(8))
        {
            case 0, 1, 2, 3 -> killAndStart(host, 2);
            case 4 -> cluster.moveMetaServer();
            case 5 -> endOne(random.nextInt(6));
            case 6 -> cluster.pause(victim.machine(), 3 * SimCluster.LEASE_NS);
            default -> victim.machine().device().breakConnections(host.machine().device());
        }
    }

    /** A compute node ends after so many requests, and another one comes. */
    private void endOne(final int requests)
    {
        final SimCluster.Compute victim = cluster.computes().get(random.nextInt(cluster.computes().size()));
        if (victim.isServing())
        {
            victim.machine().device().killAfterRequests(requests);
            world.after(1 + random.nextLong(3_000_000), () -> cluster.forget(victim));
            cluster.addComputeNode();
        }
    }

    /** The next process may end as well, at any moment of its adoption. */
    private void killAndStart(final SimMemoryHost host, final int more)
    {
        if (host.isDead())
        {
            return;
        }
        host.killProcess();
        world.after(random.nextLong(4_000_000), () ->
        {
            host.start();
            if (more > 0 && random.nextInt(2) == 0)
            {
                world.after(random.nextLong(500_000), () -> killAndStart(host, more - 1));
            }
        });
    }

    @Override
    public void close()
    {
        cluster.close();
    }
}
