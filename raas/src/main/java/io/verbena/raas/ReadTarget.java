package io.verbena.raas;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.DcTarget;
import io.verbena.rdma.verbs.DcTargetOptions;
import io.verbena.rdma.verbs.DeviceCapability;
import io.verbena.rdma.verbs.SharedReceiveQueue;

/**
 * Lets whoever knows its address READ the regions of a context over DC, without a connection and without this node's
 * doing anything. It gives no other right, whatever the regions give: nobody can change a byte through it, so that
 * fencing has nothing to close here. Whoever must not READ any more is kept out by closing it. Owner thread of the
 * context; closed by its opener, before the node.
 */
public final class ReadTarget implements AutoCloseable
{
    private final CompletionQueue completions;
    private final SharedReceiveQueue receives;
    private final DcTarget target;
    private final ReadTargetAddress address;

    private ReadTarget(final ContextResources node, final long accessKey)
    {
        final ContextResources.Closables resources = new ContextResources.Closables();
        try
        {
            // Nothing is ever received: a SEND finds no buffer, and an immediate has no right.
            completions = resources.add(node.device().createCompletionQueue(1));
            receives = resources.add(node.verbsProtectionDomain().createSharedReceiveQueue(1));
            target = resources.add(node.verbsProtectionDomain().createDcTarget(new DcTargetOptions(
                completions, receives, accessKey, AccessFlags.REMOTE_READ, node.readAtomicDepth())));
        }
        catch (final RuntimeException ex)
        {
            resources.close();
            throw ex;
        }
        address = new ReadTargetAddress(target.number(), accessKey);
    }

    /**
     * @param node      whose regions are read.
     * @param accessKey given to those who may.
     * @return the target, or null where the device has no DC: peers connect first then.
     */
    static ReadTarget open(final ContextResources node, final long accessKey)
    {
        return node.device().attributes().supports(DeviceCapability.DC) ?
            new ReadTarget(node, accessKey) : null;
    }

    /** @return what others need; to be published. */
    public ReadTargetAddress address()
    {
        return address;
    }

    /** No READ through it lands once this returns; when it throws, try again. */
    @Override
    public void close()
    {
        target.close();
        receives.close();
        completions.close();
    }
}
