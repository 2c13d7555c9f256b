package io.verbena.memory;

import io.verbena.meta.store.InMemoryMetaStore;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.VirtualQp;
import io.verbena.rdma.sim.SimHunt;
import io.verbena.rdma.sim.SimWorld;
import io.verbena.rdma.sim.schedule.SimRepetition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Random faults on the production agents: compute nodes die or pause, memory nodes pause, the meta server restarts,
 * here or elsewhere, at any step. Whoever the meta server has forgotten must be connected nowhere; when the faults end,
 * everything must go on.
 */
@Timeout(300)
class ControlPlaneFaultSimTest
{
    private static final int SEEDS = Integer.getInteger("verbena.sim.seeds", 12);
    private static final int FAULTS = 25;
    private static final int MAX_COMPUTE_NODES = 8;

    @Test
    void shouldLetNobodyInWhomTheMetaServerForgotAndGoOnWhenFaultsEnd()
    {
        final List<Integer> forgotten = new ArrayList<>();

        new SimHunt(SimControlPlane::options, (world) ->
            forgotten.add(run(new SimControlPlane(world, new InMemoryMetaStore(), 3)))).run(1, SEEDS);

        if (SEEDS == forgotten.size())
        {
            assertThat(forgotten.stream().mapToInt(Integer::intValue).sum()).as("nodes fenced in all schedules")
                .isGreaterThan(SEEDS);
        }
    }

    @Test
    void shouldDoTheSameAgain()
    {
        SimRepetition.check(() ->
        {
            try (SimWorld world = new SimWorld(2, SimControlPlane.options()))
            {
                run(new SimControlPlane(world, new InMemoryMetaStore(), 3));
            }
        });
        SimRepetition.check(() ->
            new ControlPlaneSimTest().shouldBounceLateWritesWhenAPausedNodeWakesUpAfterItsFence(1));
        SimRepetition.check(() -> new NotificationSimTest().shouldTellWhenSomebodyWaitsForTheNode());
    }

    private static int run(final SimControlPlane plane)
    {
        final RandomGenerator random = plane.world.random();
        final List<SimComputeNode> computes = new ArrayList<>();

        for (int i = 0; i < FAULTS; i++)
        {
            if (computes.size() < MAX_COMPUTE_NODES && random.nextInt(3) == 0)
            {
                computes.add(new SimComputeNode(plane.world.addNode("compute"), plane.locator()));
            }

            computes.forEach((compute) -> connectSomewhere(plane, compute, random));
            fault(plane, computes, random);

            for (int step = 0; step < 200; step++)
            {
                plane.world.runFor(random.nextLong(SimControlPlane.LEASE_NS / 100));
                checkForgottenAreOut(plane, computes);
            }
        }

        return settle(plane, computes);
    }

    private static void connectSomewhere(
        final SimControlPlane plane, final SimComputeNode compute, final RandomGenerator random)
    {
        if (compute.node.isRunning() && null != compute.registration)
        {
            final MemoryNode memory = plane.memoryNodes.get(random.nextInt(plane.memoryNodes.size()));
            final VirtualQp vqp = compute.connect(memory, plane.address(memory));
            assertThat(vqp.number()).isNotZero();
        }
    }

    private static void fault(
        final SimControlPlane plane, final List<SimComputeNode> computes, final RandomGenerator random)
    {
        final SimComputeNode compute = computes.isEmpty() ? null : computes.get(random.nextInt(computes.size()));
        final MemoryNode memory = plane.memoryNodes.get(random.nextInt(plane.memoryNodes.size()));
        final long durationNs = random.nextLong(3 * SimControlPlane.LEASE_NS);

        switch (random.nextInt(7))
        {
            case 5 -> plane.moveMetaServer();
            case 0 -> plane.restartMetaServer();
            case 1 ->
            {
                plane.simNode(memory).pause();
                plane.world.after(durationNs, () -> plane.simNode(memory).resume());
            }
            case 2, 3 ->
            {
                if (null != compute && compute.node.isRunning())
                {
                    compute.node.pause();
                    plane.world.after(durationNs, compute.node::resume);
                }
            }
            case 4 ->
            {
                if (null != compute)
                {
                    compute.node.kill();
                }
            }
            default -> plane.world.runFor(durationNs);
        }
    }

    private static void checkForgottenAreOut(final SimControlPlane plane, final List<SimComputeNode> computes)
    {
        for (final SimComputeNode compute : computes)
        {
            if (null != compute.registration && isForgotten(plane, compute.registration.identity()))
            {
                for (final MemoryNode memory : plane.memoryNodes)
                {
                    if (memory.hasKey(compute.registration.identity()))
                    {
                        throw plane.world.failure(compute.registration.identity() + " is forgotten, but memory node " +
                            memory.nodeId() + " has it connected", null);
                    }
                }
            }
        }
    }

    private static boolean isForgotten(final SimControlPlane plane, final PeerIdentity identity)
    {
        return !plane.metaServer.isKnown(identity);
    }

    private static int settle(final SimControlPlane plane, final List<SimComputeNode> computes)
    {
        plane.world.runFor(4 * SimControlPlane.LEASE_NS);
        plane.runUntil(() -> plane.memoryNodes.stream().allMatch(MemoryNode::isReady));
        plane.runUntil(() -> 0 == plane.metaServer.stat().fencingNodes());
        final long safeEpoch = plane.metaServer.stat().safeEpoch();
        plane.runUntil(() -> plane.metaServer.stat().safeEpoch() > safeEpoch + 3);
        checkForgottenAreOut(plane, computes);
        return (int)computes.stream()
            .filter((c) -> null != c.registration && isForgotten(plane, c.registration.identity()))
            .count();
    }
}
