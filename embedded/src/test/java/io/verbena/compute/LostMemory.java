package io.verbena.compute;

import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.message.ForgottenNode;

/** Gives memory nodes up for good, over the connection of a compute node to the meta server, as an operator does. */
public final class LostMemory
{
    private static final long TIMEOUT_NS = 10_000_000;

    private LostMemory()
    {
    }

    /** @return the call, under way. */
    public static ControlCall<ForgottenNode> forget(final ComputeNode through, final int memoryNodeId)
    {
        return through.session().parts().metaLink().client().forgetNode(memoryNodeId, true, TIMEOUT_NS);
    }
}
