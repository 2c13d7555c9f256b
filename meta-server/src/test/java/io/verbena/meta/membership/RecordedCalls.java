package io.verbena.meta.membership;

import io.verbena.protocol.view.View;
import io.verbena.raas.identity.PeerIdentity;

import java.util.List;

/** Calls of memory nodes, which are not made. */
class RecordedCalls implements ViewConductor.ViewCaller
{
    private final List<String> calls;

    /** @param calls to which they are added. */
    RecordedCalls(final List<String> calls)
    {
        this.calls = calls;
    }

    @Override
    public void close(final PeerIdentity memoryNode, final View view)
    {
        calls.add(memoryNode.nodeId() + " closes " + view.number() + "." + view.attempt());
    }

    @Override
    public void fill(final PeerIdentity memoryNode, final View view)
    {
        calls.add(memoryNode.nodeId() + " is filled " + view.number() + "." + view.attempt());
    }
}
