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

    @Override
    void close();
}
