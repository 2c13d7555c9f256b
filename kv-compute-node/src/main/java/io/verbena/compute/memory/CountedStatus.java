package io.verbena.compute.memory;

import io.verbena.raas.BatchListener;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import java.util.function.BooleanSupplier;

/** Which status of a completion counts, by what is known when it is polled. Stateless. */
final class CountedStatus
{
    private CountedStatus()
    {
    }

    /**
     * What a READ over DC brought counts only if the lease holds after it: when a node is fenced its queue pairs are
     * closed, but not the read target, which others use; and memory is used again once it is fenced.
     */
    static int of(final boolean isConnected, final int status, final BooleanSupplier holdsLease)
    {
        if (BatchListener.OUTCOME_UNKNOWN == status)
        {
            // To the engine as when the connection was lost; it is in use again when another queue pair is there.
            return WorkCompletionStatus.WR_FLUSH_ERR;
        }
        return isConnected || WorkCompletionStatus.SUCCESS != status || holdsLease.getAsBoolean() ?
            status : WorkCompletionStatus.WR_FLUSH_ERR;
    }
}
