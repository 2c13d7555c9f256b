package io.verbena.raas;

import io.verbena.raas.completion.CompletionDispatcher;
import io.verbena.raas.completion.CompletionOwner;
import io.verbena.raas.message.MessageBlock;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.VerbCounters;
import io.verbena.rdma.verbs.WorkCompletionStatus;

/** A physical queue pair with its receive buffers: what the two kinds, made here and accepted here, have in common. */
abstract class Channel implements CompletionOwner
{
    /** Keeps the channels that are open. */
    interface Owner
    {
        void onOpened(Channel channel);

        /** The queue pair is destroyed. */
        void onClosed(Channel channel);
    }

    /** Of clients, and of nodes that have not registered yet. */
    static final int NO_NODE = -1;

    protected final ContextResources resources;
    private final Owner owner;
    protected final QueuePair queuePair;
    protected final MessageBlock receives;
    private final int queuePairNumber;
    private final int sendDepth;
    private boolean isClosed;

    /** The caller has taken room in the completion queues; it is given back by {@link #close()}, or here on failure. */
    Channel(final ContextResources resources, final Owner owner, final int sendDepth)
    {
        final CompletionDispatcher completions = resources.completions();
        this.resources = resources;
        this.owner = owner;
        this.sendDepth = sendDepth;
        receives = resources.receiveBlocks().acquire();
        queuePair = createQueuePair(resources, sendDepth, receives);
        queuePairNumber = queuePair.number();
        completions.add(this);
        owner.onOpened(this);
    }

    /** See {@link QueuePair#transport()}. */
    final String transport()
    {
        return queuePair.transport();
    }

    /** Number of the node at the other end, 0 for one that has none; {@link #NO_NODE} for what is no node. */
    abstract int nodeId();

    private static QueuePair createQueuePair(
        final ContextResources resources, final int sendDepth, final MessageBlock receives)
    {
        final CompletionDispatcher completions = resources.completions();
        try
        {
            return resources.verbsProtectionDomain().createQueuePair(
                completions.sendQueue(),
                completions.receiveQueue(),
                new QueuePairCapabilities(sendDepth, receives.slotCount(), 0, resources.readAtomicDepth()));
        }
        catch (final RdmaException ex)
        {
            completions.release(sendDepth, receives.slotCount());
            resources.receiveBlocks().release(receives);
            throw ex;
        }
    }

    /** See {@link QueuePair#preload}. */
    final void preload(final long remoteAddress, final int lengthBytes, final int remoteKey)
    {
        queuePair.preload(remoteAddress, lengthBytes, remoteKey);
    }

    final VerbCounters counters()
    {
        return queuePair.counters();
    }

    @Override
    public final int queuePairNumber()
    {
        return queuePairNumber;
    }

    final boolean isClosed()
    {
        return isClosed;
    }

    /** Posts every receive buffer; before the peer can send. */
    final void postAllReceives()
    {
        for (int slot = 0; slot < receives.slotCount(); slot++)
        {
            postReceive(slot);
        }
    }

    final void postReceive(final int slot)
    {
        final int status = queuePair.postReceive(
            slot, receives.localAddress(slot), MessageBlock.SLOT_LENGTH_BYTES, receives.localKey());
        if (status == PostStatus.QUEUE_FULL)
        {
            throw new IllegalStateException("receive slot " + slot + " posted twice on queue pair " + queuePairNumber);
        }
        // INVALID_STATE: the queue pair broke meanwhile; its completions say so.
    }

    /** The queue pair is destroyed: drops what was kept for it. */
    abstract void onClosed();

    /** Tells everybody concerned that the channel is gone; it is closed already. */
    abstract void onBreakdown(int status, String reason);

    @Override
    public final void breakDown(final int status, final String reason)
    {
        if (!isClosed)
        {
            close();
            onBreakdown(status, reason);
        }
    }

    final void breakProtocol(final String reason)
    {
        breakDown(WorkCompletionStatus.GENERAL_ERR, reason);
    }

    /**
     * Destroys the queue pair: no access through it lands any more, at either end's memory. Tells nobody. Where the
     * device cannot destroy it yet, because a requester does not leave the memory, that is thrown and nothing is over:
     * who needs it gone, as a fence does, has to call this again.
     */
    final void close()
    {
        if (!isClosed)
        {
            // First, and when it throws the channel is still there: whoever fences must not believe it closed.
            queuePair.close();
            isClosed = true;
            resources.completions().remove(this);
            owner.onClosed(this);
            resources.completions().release(sendDepth, receives.slotCount());
            resources.receiveBlocks().release(receives);
            onClosed();
        }
    }
}
