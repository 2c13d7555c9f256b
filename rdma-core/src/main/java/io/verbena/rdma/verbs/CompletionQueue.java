package io.verbena.rdma.verbs;

/**
 * A completion queue ({@code struct ibv_cq}). Must be deep enough for every request outstanding on the queue pairs that
 * use it: an overrun kills the queue and its queue pairs. Polled by one thread. Closed by its creator, after its queue
 * pairs.
 */
public interface CompletionQueue extends AutoCloseable
{
    /**
     * Takes up to {@link WorkCompletions#capacity()} completions, oldest first, and never blocks.
     *
     * @param completions overwritten from index 0.
     * @return how many were taken; 0 when there are none.
     * @throws RdmaException once the queue has overrun and what it held before has been taken; no completion comes any
     *                       more.
     */
    int poll(WorkCompletions completions);

    /**
     * Arms one notification ({@code ibv_req_notify_cq}): the next completion raises one event on the channel given at
     * creation, then none until armed again. Completions that are there already may or may not raise it: poll once more
     * after arming.
     *
     * @param solicitedOnly only receives whose sender asked with {@link SendFlags#SOLICITED}, and errors.
     */
    default void requestNotification(final boolean solicitedOnly)
    {
        throw new UnsupportedVerbException("notification of completions", toString());
    }

    /** @return the most completions it holds. */
    int capacity();

    @Override
    void close();
}
