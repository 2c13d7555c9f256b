package io.verbena.rdma.spi;

import io.verbena.rdma.verbs.AsyncEventType;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.WorkCompletionStatus;

/**
 * What each failed check comes to: the status the requester gets (RC and DC), the one of the responder's receive, and
 * the asynchronous event at the responder. Statuses are {@link WorkCompletionStatus}. Pure.
 */
public final class AccessChecks
{
    private AccessChecks()
    {
    }

    /**
     * The checks of an inbound request that need no key: rights of the queue pair, alignment of atomics, depth of READs
     * and atomics.
     *
     * @param operation       a constant of {@link WorkRequest}.
     * @param accessFlags     rights that the responder's queue pair gives.
     * @param remoteAddress   first byte.
     * @param readAtomicDepth READs and atomics that the responder answers at once.
     * @return SUCCESS, or REM_INV_REQ_ERR.
     */
    public static int queuePairStatus(
        final int operation, final int accessFlags, final long remoteAddress, final int readAtomicDepth)
    {
        final int right = OperationRules.neededRight(operation);
        final boolean isAtomic = operation == WorkRequest.COMPARE_SWAP || operation == WorkRequest.FETCH_ADD;
        final boolean isReadOrAtomic = isAtomic || operation == WorkRequest.READ;
        final boolean isRefused = (accessFlags & right) != right ||
            isAtomic && (remoteAddress & 7) != 0 ||
            isReadOrAtomic && readAtomicDepth == 0;
        return isRefused ? WorkCompletionStatus.REM_INV_REQ_ERR : WorkCompletionStatus.SUCCESS;
    }

    /**
     * The status that the sender gets of a receive that could not take its message.
     *
     * @param receiveStatus of the receive's completion.
     * @return SUCCESS, REM_INV_REQ_ERR for a buffer too short, REM_ACCESS_ERR for a key that could not be invalidated,
     *     REM_OP_ERR for a buffer with a wrong key.
     */
    public static int requesterStatus(final int receiveStatus)
    {
        return switch (receiveStatus)
        {
            case WorkCompletionStatus.SUCCESS -> WorkCompletionStatus.SUCCESS;
            case WorkCompletionStatus.LOC_LEN_ERR -> WorkCompletionStatus.REM_INV_REQ_ERR;
            case WorkCompletionStatus.LOC_ACCESS_ERR -> WorkCompletionStatus.REM_ACCESS_ERR;
            default -> WorkCompletionStatus.REM_OP_ERR;
        };
    }

    /**
     * The event that a refused request raises at the responder, beside moving its queue pair to ERR.
     *
     * @param requesterStatus that the requester gets.
     * @return the event; null for a receiver's own mistake, which its receive's completion reports.
     */
    public static AsyncEventType responderEvent(final int requesterStatus)
    {
        return switch (requesterStatus)
        {
            case WorkCompletionStatus.REM_INV_REQ_ERR -> AsyncEventType.QP_REQ_ERR;
            case WorkCompletionStatus.REM_ACCESS_ERR -> AsyncEventType.QP_ACCESS_ERR;
            default -> null;
        };
    }

    /**
     * Whether a send-side failure of a type leaves its receive side at work (SQE) or fails all of it (ERR).
     *
     * @param type of the queue pair.
     * @return true for UC and UD.
     */
    public static boolean failsIntoSqe(final QueuePairType type)
    {
        return type == QueuePairType.UC || type == QueuePairType.UD;
    }

    /**
     * Whether a request that the responder refuses is answered; on the unreliable types it vanishes and the responder
     * goes on.
     *
     * @param type of the queue pair.
     * @return true for RC and DC.
     */
    public static boolean answersRefusals(final QueuePairType type)
    {
        return !failsIntoSqe(type);
    }
}
