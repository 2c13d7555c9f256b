package io.verbena.rdma.sim.explore;

import io.verbena.rdma.sim.SimConnections;
import io.verbena.rdma.sim.SimNode;
import io.verbena.rdma.sim.SimWorld;
import io.verbena.rdma.verbs.Endpoint;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletions;

import org.agrona.concurrent.Agent;

import java.util.ArrayList;
import java.util.List;

/** Adds 1 to a word of another node, one request at a time, until a request fails. */
public final class Adder implements Agent
{
    public final List<Long> found = new ArrayList<>();
    public boolean isClosed;
    private final Endpoint from;
    private final QueuePair queuePair;
    private final Endpoint to;
    private final WorkCompletions completions = new WorkCompletions(4);
    private boolean isPosted;
    private boolean isBroken;

    private Adder(final Endpoint from, final QueuePair queuePair, final Endpoint to)
    {
        this.from = from;
        this.queuePair = queuePair;
        this.to = to;
    }

    /** Nodes compute-0, compute-1 and so on, connected to a node memory. */
    public static List<Adder> addTo(final SimWorld world, final int count)
    {
        final Endpoint memory = new Endpoint(world.addNode("memory").device());
        final List<Adder> adders = new ArrayList<>();
        for (int i = 0; i < count; i++)
        {
            final SimNode node = world.addNode("compute-" + i);
            final Endpoint from = new Endpoint(node.device());
            final QueuePair target =
                memory.domain.createQueuePair(memory.completions, memory.completions, Endpoint.CAPABILITIES);
            SimConnections.connect(world.fabric(), from, from.queuePair, memory, target);
            final Adder adder = new Adder(from, from.queuePair, memory);
            adders.add(adder);
            node.addAgent(adder);
        }
        return adders;
    }

    @Override
    public int doWork()
    {
        if (isBroken)
        {
            return 0;
        }
        if (!isPosted)
        {
            queuePair.begin();
            queuePair.fetchAdd(1, SendFlags.SIGNALED, from.address(0), from.key(), to.address(0), to.key(), 1);
            queuePair.complete();
            isPosted = true;
            return 1;
        }
        final int count = from.completions.poll(completions);
        if (count > 0)
        {
            isBroken = completions.status(0) != 0;
            if (!isBroken)
            {
                found.add(from.getLong(0));
            }
            isPosted = false;
        }
        return count;
    }

    @Override
    public String roleName()
    {
        return "adder";
    }

    @Override
    public void onClose()
    {
        isClosed = true;
    }
}
