package io.verbena.rdma.verbs;

import java.util.Objects;

/**
 * What a queue pair is made of ({@code struct ibv_qp_init_attr}). Mutable; read once by
 * {@link ProtectionDomain#createQueuePair(QueuePairOptions)}.
 */
public final class QueuePairOptions
{
    private QueuePairType type = QueuePairType.RC;
    private CompletionQueue sendCompletions;
    private CompletionQueue receiveCompletions;
    private SharedReceiveQueue sharedReceiveQueue;
    private QueuePairCapabilities capabilities;

    /** @return the transport service; RC unless set. */
    public QueuePairType type()
    {
        return type;
    }

    /**
     * @param type the transport service.
     * @return this.
     */
    public QueuePairOptions type(final QueuePairType type)
    {
        this.type = Objects.requireNonNull(type);
        return this;
    }

    /** @return where sends complete. */
    public CompletionQueue sendCompletions()
    {
        return sendCompletions;
    }

    /** @return where receives complete; may be the same queue. */
    public CompletionQueue receiveCompletions()
    {
        return receiveCompletions;
    }

    /**
     * @param sendCompletions    where sends complete.
     * @param receiveCompletions where receives complete; may be the same queue.
     * @return this.
     */
    public QueuePairOptions completions(
        final CompletionQueue sendCompletions, final CompletionQueue receiveCompletions)
    {
        this.sendCompletions = Objects.requireNonNull(sendCompletions);
        this.receiveCompletions = Objects.requireNonNull(receiveCompletions);
        return this;
    }

    /** @return where receives are taken from, or null for a receive queue of its own. */
    public SharedReceiveQueue sharedReceiveQueue()
    {
        return sharedReceiveQueue;
    }

    /**
     * @param sharedReceiveQueue of the same protection domain (RC, UD); {@code maxReceiveRequests} is ignored then.
     * @return this.
     */
    public QueuePairOptions sharedReceiveQueue(final SharedReceiveQueue sharedReceiveQueue)
    {
        this.sharedReceiveQueue = sharedReceiveQueue;
        return this;
    }

    /** @return queue depths. */
    public QueuePairCapabilities capabilities()
    {
        return capabilities;
    }

    /**
     * @param capabilities queue depths.
     * @return this.
     */
    public QueuePairOptions capabilities(final QueuePairCapabilities capabilities)
    {
        this.capabilities = Objects.requireNonNull(capabilities);
        return this;
    }
}
