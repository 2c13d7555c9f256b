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
    private final ChannelScheduler.VirtualQps virtualQps;
    private final BatchPool batches;
    private final ChannelScheduler scheduler;
    private final int incarnation;
    private final long deadlineNs;
    private final OutstandingBatches kept;
    private final OutstandingBatches ended;
    private final IntHashSet numbersKept = new IntHashSet();
    /** Batches posted in parts of which the first part was met, and those that have ended: more parts may come. */
    private final IntHashSet batchesMet = new IntHashSet();
    private final IntHashSet batchesEnded = new IntHashSet();

    /**
     * @param scheduler   where batches are posted in parts; null where they are not.
     * @param capacity    most batches that it takes over.
     * @param incarnation of the peer whose requests they are; of no other are they posted again.
     * @param deadlineNs  until when they are posted again.
     */
    Replay(
        final ContextResources resources, final ChannelScheduler.VirtualQps virtualQps,
        final ChannelScheduler scheduler,
        final int capacity, final int incarnation, final long deadlineNs)
    {
        this.virtualQps = virtualQps;
        this.scheduler = scheduler;
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
            final int owner = outstanding.oldestOwner();
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
                final boolean isFirstPart = takePart(owner, detail, requestCount);
                if (isWithoutEffect && isReplaced && number != offender && virtualQps.isReady(number))
                {
                    numbersKept.add(number);
                    kept.addPart(wrId, requestCount, detail, owner);
                }
                else if (isFirstPart)
                {
                    final int outcome =
                        isWithoutEffect ? statusWithoutEffect(detail) : BatchListener.OUTCOME_UNKNOWN;
                    forget(owner, detail);
                    end(wrId, isOldest && number == offender ? status : outcome);
                }
            }
            isOldest = false;
        }
        forgetParts();
    }

    /** The requests of a part are not under way any more. Returns whether it is the first of its batch. */
    private boolean takePart(final int owner, final int number, final int requestCount)
    {
        if (owner == OutstandingBatches.NOBODY)
        {
            return true;
        }
        final boolean isFirst = batchesMet.add(number);
        final int from = advance(number, isFirst, requestCount);
        scheduler.onPartLost(owner, number, from, from + requestCount);
        return isFirst;
    }

    /** Goes through the parts of a batch once more: returns where this one begins. */
    private int advance(final int number, final boolean isFirst, final int requestCount)
    {
        final StagedBatch batch = batches.batch(number);
        final int from = isFirst ? batch.completed() : batch.posted();
        batch.posted(from + requestCount);
        return from;
    }

    /** How a batch ends of which what was outstanding had no effect. */
    private int statusWithoutEffect(final int number)
    {
        final StagedBatch batch = batches.batch(number);
        return batch.completed() == 0 || batch.isReadOnly() ?
            WorkCompletionStatus.WR_FLUSH_ERR : BatchListener.OUTCOME_UNKNOWN;
    }

    /** A batch has ended: it is nobody's, at the latest when all parts were met. */
    private void forget(final int owner, final int number)
    {
        if (owner == OutstandingBatches.NOBODY)
        {
            batches.release(number);
        }
        else
        {
            batchesEnded.add(number);
            scheduler.drop(owner, number);
        }
    }

    private void forgetParts()
    {
        final IntHashSet.IntIterator iterator = batchesEnded.iterator();
        while (iterator.hasNext())
        {
            batches.release(iterator.nextValue());
        }
        batchesEnded.clear();
        batchesMet.clear();
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
            final int owner = kept.oldestOwner();
            final boolean wasEnded = kept.isOldestEnded();
            final int requestCount = kept.removeOldest();
            if (wasEnded)
            {
                outstanding.addEnded(wrId, detail);
            }
            else if (batchesEnded.contains(detail))
            {
                continue;
            }
            else if (virtualQps.mayReplay(RequestId.number(wrId), batches.batch(detail), grants))
            {
                if (staged == 0)
                {
                    queuePair.begin();
                }
                stageOn(queuePair, wrId, detail, owner, requestCount);
                outstanding.addPart(wrId, requestCount, detail, owner);
                staged += requestCount;
            }
            else
            {
                final int status = statusWithoutEffect(detail);
                forget(owner, detail);
                outstanding.addEnded(wrId, status);
            }
        }
        forgetParts();
        return staged;
    }

    private void stageOn(
        final QueuePair queuePair, final long wrId, final int number, final int owner, final int requestCount)
    {
        if (owner == OutstandingBatches.NOBODY)
        {
            batches.batch(number).stageOn(queuePair, wrId);
        }
        else
        {
            final int from = advance(number, batchesMet.add(number), requestCount);
            batches.batch(number).stagePartOn(queuePair, wrId, from, from + requestCount);
            scheduler.onPartPosted(owner, number, from, from + requestCount);
        }
    }

    /** Nothing is posted again: all has ended, and what was to be posted had no effect. */
    void abandon()
    {
        while (!kept.isEmpty())
        {
            final long wrId = kept.oldestWrId();
            final int detail = kept.oldestDetail();
            final int owner = kept.oldestOwner();
            final boolean wasEnded = kept.isOldestEnded();
            kept.removeOldest();
            if (wasEnded)
            {
                ended.addEnded(wrId, detail);
            }
            else if (!batchesEnded.contains(detail))
            {
                ended.addEnded(wrId, statusWithoutEffect(detail));
                forget(owner, detail);
            }
        }
        forgetParts();
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
