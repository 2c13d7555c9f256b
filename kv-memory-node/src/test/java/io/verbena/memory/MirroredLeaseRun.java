package io.verbena.memory;

import io.verbena.meta.store.InMemoryMetaStore;
import io.verbena.table.mirror.MirrorGroup;

import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * Compute nodes that lease chunks of groups over two and three memory nodes, with production memory nodes and a meta
 * server: any of them pauses, for longer than its lease too, and compute nodes end between any two messages. In the end
 * those that are left return what they have, and nothing may be leased.
 */
final class MirroredLeaseRun implements AutoCloseable
{
    private static final int ACTORS = 3;
    private static final int FAULTS = 6;
    private static final long MAX_END_NS = 100 * SimControlPlane.LEASE_NS;

    final SimControlPlane plane;
    final List<MirroredActor> actors = new ArrayList<>();
    private final MirroredLedger ledger;
    private final RandomGenerator random;
    private final List<MirrorGroup> groups = new ArrayList<>();

    MirroredLeaseRun(final long seed)
    {
        plane = new SimControlPlane(seed, new InMemoryMetaStore(), 3);
        random = plane.world.random();
        ledger = new MirroredLedger(plane);
        final List<Integer> ids = plane.memoryNodes.stream().map(MemoryNode::nodeId).toList();
        // With other primaries over the same members, and of different lengths.
        groups.add(new MirrorGroup(1, List.of(ids.get(0), ids.get(1))));
        groups.add(new MirrorGroup(2, List.of(ids.get(1), ids.get(0))));
        groups.add(new MirrorGroup(3, List.of(ids.get(2), ids.get(0), ids.get(1))));
        groups.add(new MirrorGroup(4, List.of(ids.get(1), ids.get(2))));
    }

    /** @return what was seen that must not be, or null. */
    String run()
    {
        for (int i = 0; i < ACTORS; i++)
        {
            actors.add(new MirroredActor(plane, ledger, groups));
        }
        for (int i = 0; i < FAULTS && null == ledger.violation(); i++)
        {
            plane.world.runFor(random.nextLong(SimControlPlane.LEASE_NS / 2));
            fault();
        }
        plane.world.runFor(4 * SimControlPlane.LEASE_NS);
        return null != ledger.violation() ? ledger.violation() : end();
    }

    private void fault()
    {
        final MirroredActor actor = actors.get(random.nextInt(actors.size()));
        final MemoryNode memory = plane.memoryNodes.get(random.nextInt(plane.memoryNodes.size()));
        switch (random.nextInt(4))
        {
            case 0 ->
            {
                actor.compute.node.kill();
                actors.add(new MirroredActor(plane, ledger, groups));
            }
            case 1 ->
            {
                if (actor.compute.node.isRunning())
                {
                    actor.compute.node.pause();
                    plane.world.after(random.nextLong(3 * SimControlPlane.LEASE_NS), actor.compute.node::resume);
                }
            }
            case 2 ->
            {
                if (plane.simNode(memory).isRunning())
                {
                    plane.simNode(memory).pause();
                    plane.world.after(random.nextLong(2 * SimControlPlane.LEASE_NS), plane.simNode(memory)::resume);
                }
            }
            default -> plane.world.runFor(random.nextLong(SimControlPlane.LEASE_NS));
        }
    }

    private String end()
    {
        actors.add(new MirroredActor(plane, ledger, groups)); // at least one is left to reclaim
        actors.forEach((actor) -> actor.isEnding = true);
        final long endNs = plane.world.clock().nanoTime() + MAX_END_NS;
        while (plane.world.clock().nanoTime() - endNs < 0 && 0 != ledger.taken())
        {
            plane.world.runFor(SimControlPlane.LEASE_NS / 4);
        }
        return null != ledger.violation() ? ledger.violation() :
            0 == ledger.taken() ? null : "leaked: " + ledger.taken() + " chunks\n" + ledger;
    }

    @Override
    public void close()
    {
        ledger.close();
        plane.close();
    }
}
