package io.verbena.embedded;

import io.verbena.memory.MemoryNode;
import io.verbena.memory.checkpoint.RegionLoads;
import io.verbena.rdma.sim.SimWorld;

import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.function.Function;
import java.util.random.RandomGenerator;

/** One host with its checkpoints, ends and beginnings; tells the histories what was restored, and since when. */
final class CheckpointRounds
{
    private final DurabilityRun run;
    private final SimWorld world;
    private final RandomGenerator random;
    private final SimMemoryHost host;
    private Began lastComplete;
    private Began lastBegun;
    private boolean isLost;
    private int restorations;

    /** What was done when a checkpoint began. */
    private record Began(int[] positions, BitSet kept)
    {
    }

    CheckpointRounds(final DurabilityRun run)
    {
        this.run = run;
        world = run.cluster().world();
        random = world.random();
        host = run.host();
        host.onReady(this::onReady);
    }

    /** How often memory was restored. */
    int restorations()
    {
        return restorations;
    }

    private void onReady(final MemoryNode node)
    {
        if (isLost)
        {
            isLost = false;
            restorations++;
            // One may be complete, and its process dead before it could say so.
            final Began began = null == lastComplete ? lastBegun : lastComplete;
            run.clients().restored(began.positions, SimRecord.of(node, run.cluster().tables()));
            if (null != run.filler())
            {
                run.filler().restored(began.kept, SimRecord.filled(node, run.cluster().tables()));
            }
        }
    }

    /** Some time, a checkpoint, perhaps an end, and then beginnings until there is a node again. */
    void round()
    {
        run.cluster().runFor(random.nextLong(4_000_000));
        checkpoint(random.nextInt(3) == 0 ? 1 + random.nextInt(20) : 0);
        if (random.nextBoolean())
        {
            run.cluster().runFor(random.nextLong(2_000_000));
        }
        end(random.nextInt(3));
        for (int crashes = random.nextInt(3); host.isDead(); crashes--)
        {
            run.cluster().runFor(random.nextLong(3_000_000));
            start(crashes > 0);
        }
    }

    /** @param diskSteps after which the process ends; 0: it does not. */
    void checkpoint(final long diskSteps)
    {
        checkpoint(diskSteps, (region) -> new SteppedLoads(world, region, null != run.filler()));
    }

    void checkpoint(final long diskSteps, final Function<MemorySegment, RegionLoads> loads)
    {
        if (diskSteps > 0)
        {
            host.killInDiskSteps(diskSteps);
        }
        lastBegun =
            new Began(run.clients().positions(), null == run.filler() ? new BitSet() : run.filler().kept());
        if (host.checkpoint(loads))
        {
            lastComplete = lastBegun;
        }
        host.disk().calm();
    }

    void loseHost()
    {
        isLost = true;
        host.loseHost();
    }

    private void end(final int how)
    {
        if (how == 0)
        {
            loseHost();
        }
        else if (how == 1)
        {
            host.killProcess();
        }
    }

    private void start(final boolean endsSoon)
    {
        if (endsSoon)
        {
            host.killInDiskSteps(1 + random.nextInt(40));
        }
        host.start();
        if (endsSoon)
        {
            final long untilNs = world.clock().nanoTime() + random.nextLong(1_000_000);
            world.after(1_000_000, () -> { });
            world.runUntil(() -> host.isDead() || world.clock().nanoTime() > untilNs, DurabilityRun.MAX_STEPS);
            end(random.nextInt(3));
            host.disk().calm();
        }
        world.runUntil(() -> host.isDead() || host.isReady(), DurabilityRun.MAX_STEPS);
    }
}
