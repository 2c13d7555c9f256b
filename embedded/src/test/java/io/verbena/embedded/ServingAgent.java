package io.verbena.embedded;

import io.verbena.compute.ComputeNode;
import io.verbena.protocol.request.ComputeEndpoint;

import org.agrona.concurrent.Agent;

import java.util.function.Consumer;

/** A compute node that clients in the same process hear of once it serves. */
final class ServingAgent implements Agent
{
    private final ComputeNode node;
    private final Consumer<ComputeEndpoint> onServing;
    private boolean isKnown;

    ServingAgent(final ComputeNode node, final Consumer<ComputeEndpoint> onServing)
    {
        this.node = node;
        this.onServing = onServing;
    }

    @Override
    public int doWork()
    {
        final int workCount = node.doWork();
        if (!isKnown && ComputeNode.State.SERVING == node.state())
        {
            isKnown = true;
            onServing.accept(node.endpoint());
        }
        return workCount;
    }

    @Override
    public void onClose()
    {
        node.onClose();
    }

    @Override
    public String roleName()
    {
        return node.roleName();
    }
}
