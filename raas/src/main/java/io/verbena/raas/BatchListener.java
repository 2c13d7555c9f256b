package io.verbena.raas;

/** Hears of batches of a {@link VirtualQp}; called by the owner thread inside {@link RaasContext#poll()}. */
public interface BatchListener
{
    /**
     * The queue pair broke, and nothing says whether the batch, which has a WRITE or an atomic, was executed. Of a
     * context with {@link RaasConfiguration#replayTimeoutNs()}.
     */
    int OUTCOME_UNKNOWN = 256;

    /** Of a connection that only carries calls: a batch on it is a mistake of its owner. */
    BatchListener CALLS_ONLY = (vqp, cookie, status) ->
    {
        throw new IllegalStateException(
            "a batch was posted on a connection for calls only: cookie=" + cookie + ", " + vqp);
    };

    /**
     * Called exactly once for each batch posted, unless the virtual queue pair is closed first. May post again: what is
     * posted here shares doorbells with what others post in the same poll.
     *
     * @param vqp    on which the batch was posted.
     * @param cookie given at {@link VirtualQp#complete(int)}.
     * @param status {@link io.verbena.rdma.verbs.WorkCompletionStatus}. With SUCCESS every request of the batch is done
     *               and what it read is in local memory. {@link #OUTCOME_UNKNOWN}: see there; the virtual queue pair is
     *               READY still when the queue pair is replaced. Anything else: a request failed or was flushed, the
     *               outcome of the batch's writes and atomics is unknown, and the virtual queue pair has FAILED. In a
     *               context with {@link RaasConfiguration#replayTimeoutNs()} WR_FLUSH_ERR says that no WRITE or atomic
     *               of the batch was executed.
     */
    void onBatchComplete(VirtualQp vqp, int cookie, int status);
}
