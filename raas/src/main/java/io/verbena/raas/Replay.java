package io.verbena.raas;

import io.verbena.raas.batch.BatchPool;
import io.verbena.raas.batch.StagedBatch;
import io.verbena.raas.completion.OutstandingBatches;
import io.verbena.raas.completion.RequestId;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import org.agrona.collections.IntHashSet;

/**
 * What was outstanding on a queue pair that broke, sorted into what is posted again on the one that replaces it and
 * what has ended.
 *
 * <p>Behind a request that the peer refused nothing was executed, so everything behind it is posted again. A READ is
 * the exception: requests behind a refused one may have been executed, as the specification lets the peer execute a
 * READ later. There, and where no completion says what happened, a batch of READs alone is posted again, and any other
 * one may have been executed: its outcome is unknown, and it is never posted again. A batch is known or unknown as a
 * whole, since its last request alone is signalled.
 *
 * <p>Callbacks keep the order of posting: a batch that has ended behind one of the same virtual queue pair that is
 * posted again stays between them.
 */
final class Replay
{
    /** The virtual queue pairs, by number. */
    interface VirtualQps extends DcTransport.BatchCompletions
    {
        /** Whether one is READY. */
        boolean isReady(int number);

        /** Whether a batch of one may be posted again to a peer that grants this; one of which it may not be FAILS. */
        boolean mayReplay(int number, StagedBatch batch, PeerGrants grants);
    }

    private final VirtualQps virtualQps;
    private final BatchPool batches;
    private final int incarnation;
    private final long deadlineNs;
    private final OutstandingBatches kept;
    private final OutstandingBatches ended;
    private final IntHashSet numbersKept = new IntHashSet();

    /**
     * @param capacity    most batches that it takes over.
     * @param incarnation of the peer whose requests they are; of no other are they posted again.
     * @param deadlineNs  until when they are posted again.
     */
    Replay(
        final ContextResources resources, final VirtualQps virtualQps, final int capacity, final int incarnation,
        final long deadlineNs)
    {
        this.virtualQps = virtualQps;
        batches = resources.batches();
        this.incarnation = incarnation;
        this.deadlineNs = deadlineNs;
        kept = new OutstandingBatches(capacity);
        ended = new OutstandingBatches(capacity);
    }

    int incarnation()
    {
        return incarnation;
    }

    long deadlineNs()
    {
        return deadlineNs;
    }

    /** Whether a completion with this status says that the peer has refused its request. */
    static boolean isRefusal(final int status)
    {
        return status == WorkCompletionStatus.REM_INV_REQ_ERR || status == WorkCompletionStatus.REM_ACCESS_ERR ||
            status == WorkCompletionStatus.REM_OP_ERR;
    }

    /** Whether a completion with this status says nothing against its request. */
    private static boolean isInnocent(final int status)
    {
        return status == WorkCompletionStatus.WR_FLUSH_ERR || status == WorkCompletionStatus.RETRY_EXC_ERR ||
            status == WorkCompletionStatus.RNR_RETRY_EXC_ERR;
    }

    /** The virtual queue pair whose request broke the queue pair; {@link RequestId#CALLS} for none. */
    static int offender(final OutstandingBatches outstanding, final int status, final int unposted)
    {
        return outstanding.size() == unposted || isInnocent(status) ? RequestId.CALLS :
            RequestId.number(outstanding.oldestWrId());
    }

    /**
     * Takes over what was outstanding on a queue pair, and empties that; calls are left out.
     *
     * @param outstanding oldest first.
     * @param status      of the oldest.
     * @param unposted    how many of the last were never posted: no doorbell was rung for them.
     * @param isReplaced  whether anything may be posted again.
     */
    void takeOver(
        final OutstandingBatches outstanding, final int status, final int unposted, final boolean isReplaced)
    {
        if (outstanding.isEmpty())
        {
            return;
        }
        final int offender = offender(outstanding, status, unposted);
        final boolean isRestUntouched = isRefusal(status) && !canBeOfRead(outstanding);
        boolean isOldest = true;
        while (!outstanding.isEmpty())
        {
            final long wrId = outstanding.oldestWrId();
            final int number = RequestId.number(wrId);
            final int detail = outstanding.oldestDetail();
            final boolean wasEnded = outstanding.isOldestEnded();
            final int requestCount = outstanding.removeOldest();
            if (wasEnded)
            {
                end(wrId, detail);
            }
            else if (number != RequestId.CALLS)
            {
                final boolean isWithoutEffect = outstanding.size() < unposted ||
                    batches.batch(detail).isReadOnly() || isRestUntouched && !isOldest;
                if (isWithoutEffect && isReplaced && number != offender && virtualQps.isReady(number))
                {
                    numbersKept.add(number);
                    kept.add(wrId, requestCount, detail);
                }
                else
                {
                    batches.release(detail);
                    end(wrId, isOldest && number == offender ? status : isWithoutEffect ?
                        WorkCompletionStatus.WR_FLUSH_ERR : BatchListener.OUTCOME_UNKNOWN);
                }
            }
            isOldest = false;
        }
    }

    private boolean canBeOfRead(final OutstandingBatches outstanding)
    {
        return RequestId.number(outstanding.oldestWrId()) != RequestId.CALLS &&
            batches.batch(outstanding.oldestDetail()).hasRead();
    }

    private void end(final long wrId, final int status)
    {
        (numbersKept.contains(RequestId.number(wrId)) ? kept : ended).addEnded(wrId, status);
    }

    /**
     * Stages what is to be posted again on another queue pair, and adds it to what is outstanding there: oldest first,
     * with what has ended or cannot be posted any more in its place.
     *
     * @return requests staged; with 0 no batch is open on the queue pair.
     */
    int stageOn(final QueuePair queuePair, final OutstandingBatches outstanding, final PeerGrants grants)
    {
        int staged = 0;
        while (!kept.isEmpty())
        {
            final long wrId = kept.oldestWrId();
            final int detail = kept.oldestDetail();
            final boolean wasEnded = kept.isOldestEnded();
            final int requestCount = kept.removeOldest();
            if (wasEnded)
            {
                outstanding.addEnded(wrId, detail);
            }
            else if (virtualQps.mayReplay(RequestId.number(wrId), batches.batch(detail), grants))
            {
                if (staged == 0)
                {
                    queuePair.begin();
                }
                batches.batch(detail).stageOn(queuePair, wrId);
                outstanding.add(wrId, requestCount, detail);
                staged += requestCount;
            }
            else
            {
                batches.release(detail);
                outstanding.addEnded(wrId, WorkCompletionStatus.WR_FLUSH_ERR);
            }
        }
        return staged;
    }

    /** Nothing is posted again: all has ended, and what was to be posted had no effect. */
    void abandon()
    {
        while (!kept.isEmpty())
        {
            final long wrId = kept.oldestWrId();
            final int detail = kept.oldestDetail();
            final boolean wasEnded = kept.isOldestEnded();
            kept.removeOldest();
            if (!wasEnded)
            {
                batches.release(detail);
            }
            ended.addEnded(wrId, wasEnded ? detail : WorkCompletionStatus.WR_FLUSH_ERR);
        }
        numbersKept.clear();
    }

    /** Calls back what has ended. */
    void callBack()
    {
        while (!ended.isEmpty())
        {
            final long wrId = ended.oldestWrId();
            final int status = ended.oldestDetail();
            ended.removeOldest();
            virtualQps.onBatchDone(RequestId.number(wrId), RequestId.cookie(wrId), status);
        }
    }
}
