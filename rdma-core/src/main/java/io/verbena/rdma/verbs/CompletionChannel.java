package io.verbena.rdma.verbs;

/**
 * A completion event channel ({@code struct ibv_comp_channel}): lets a thread sleep until a completion queue that was
 * armed with {@link CompletionQueue#requestNotification} gets a completion. One thread waits at a time. Events are
 * acknowledged as they are taken. Closed by its creator, after its completion queues.
 */
public interface CompletionChannel extends AutoCloseable
{
    /**
     * Waits for the next event, without burning a core.
     *
     * @param timeoutNs longest wait; 0 only looks.
     * @return the completion queue that raised it, now disarmed; null when the time is over or the thread was
     *     interrupted, or a {@linkplain Device#listen(int, CompletionChannel) listener of this channel} has a request.
     *     Poll the queue until it is empty, arm it, and poll once more before waiting again.
     */
    CompletionQueue await(long timeoutNs);

    /** @return whether {@link #wake()} works. */
    default boolean canWake()
    {
        return false;
    }

    /**
     * Ends the wait of another thread, which returns null, or else the next wait at once. Any thread, until the channel
     * is closed.
     *
     * @throws UnsupportedOperationException unless {@link #canWake()}.
     */
    default void wake()
    {
        throw new UnsupportedOperationException("waits of this channel end by completions and time only");
    }

    /** @return whether {@link #signals()}, {@link #watch} and {@link #sleepLimitNs()} work. */
    default boolean canWatch()
    {
        return false;
    }

    /**
     * For a thread that sleeps elsewhere and is woken by one that watches.
     *
     * @return a number that changes when something happens that ends a wait. Any thread, until the channel is closed.
     * @throws UnsupportedOperationException unless {@link #canWatch()}.
     */
    default int signals()
    {
        throw new UnsupportedOperationException("this channel cannot be watched by other threads");
    }

    /**
     * Sleeps until the number differs, the time is over, or for no reason; touches nothing of the waiting thread. Any
     * thread, until the channel is closed.
     *
     * @param seen      what {@link #signals()} returned.
     * @param timeoutNs longest sleep, more than 0.
     * @throws UnsupportedOperationException unless {@link #canWatch()}.
     */
    default void watch(final int seen, final long timeoutNs)
    {
        throw new UnsupportedOperationException("this channel cannot be watched by other threads");
    }

    /**
     * By the waiting thread before it sleeps elsewhere: tries what it has posted that waits for peers.
     *
     * @return when it must do so again, in ns from now; {@link Long#MAX_VALUE} when nothing waits.
     * @throws UnsupportedOperationException unless {@link #canWatch()}.
     */
    default long sleepLimitNs()
    {
        throw new UnsupportedOperationException("this channel cannot be watched by other threads");
    }

    @Override
    void close();
}
