package io.verbena.raas;

/** Hears of batches posted on a {@link VirtualQp}; called by the owner thread inside {@link RaasContext#poll()}. */
public interface BatchListener
{
    /**
     * Called exactly once for each batch posted, unless the virtual queue pair is closed first. May post again.
     *
     * @param vqp    on which the batch was posted.
     * @param cookie given at {@link VirtualQp#complete(int)}.
     * @param status {@link io.verbena.rdma.verbs.WorkCompletionStatus}. With SUCCESS every request of the batch is done
     *               and what it read is in local memory. Anything else: a request failed or was flushed, the outcome of
     *               the batch's writes and atomics is unknown, and the virtual queue pair has FAILED.
     */
    void onBatchComplete(VirtualQp vqp, int cookie, int status);
}
