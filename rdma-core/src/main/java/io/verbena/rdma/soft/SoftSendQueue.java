package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.AccessMark;
import io.verbena.rdma.soft.shared.SharedWords;
import io.verbena.rdma.spi.AccessChecks;
import io.verbena.rdma.spi.CurrentAttributes;
import io.verbena.rdma.spi.RetryTimers;
import io.verbena.rdma.spi.WorkRequest;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import static io.verbena.rdma.soft.shared.QueuePairEntry.STATE_OFFSET;
import static io.verbena.rdma.soft.shared.QueuePairEntry.stateWord;
import static io.verbena.rdma.verbs.QueuePairAttributes.ADDRESS_VECTOR;
import static io.verbena.rdma.verbs.QueuePairAttributes.DESTINATION_NUMBER;
import static io.verbena.rdma.verbs.QueuePairAttributes.MAX_READ_ATOMIC;

/**
 * The requesting side of a queue pair: executes what was posted, in order, within the doorbell; waits for a peer that
 * has no receive or does not answer, at each poll, until the retries are over; flushes. Owner thread.
 */
final class SoftSendQueue
{
    private static final int MIN_TOUCHED_REQUESTS = 4;
    private static final int MAX_TOUCHED_REQUESTS = 32;
    /** How often a peer is looked for that was never there; it may cost a look into the fabric directory. */
    private static final long FIND_NS = 1_000_000;

    private final SoftSender queuePair;
    private final SoftConnection connection;
    private final SoftCompletionQueue completions;
    private final SoftRequester requester;
    /** Null when all requests go to one peer. */
    private final SoftRoute route;
    private final AccessMark mark;
    private final boolean failsIntoSqe;
    private final long stateAddress;
    private final long readyWord;
    private final long errorWord;
    private final long drainWord;
    private final long sendErrorWord;
    private long head;
    private boolean isWaiting;
    private int waitsFor;
    private int missCount;
    private long deadlineNs;
    private long notBeforeNs;
    private boolean hasDeadline;
    private long touchSink;

    SoftSendQueue(
        final SoftSender queuePair,
        final SoftConnection connection,
        final SoftCompletionQueue completions,
        final SoftRequester requester,
        final SoftRoute route,
        final AccessMark mark)
    {
        this.queuePair = queuePair;
        this.connection = connection;
        this.completions = completions;
        this.requester = requester;
        this.route = route;
        this.mark = mark;
        failsIntoSqe = AccessChecks.failsIntoSqe(queuePair.type());
        stateAddress = queuePair.entry() + STATE_OFFSET;
        readyWord = stateWord(queuePair.number(), QueuePairState.RTS);
        errorWord = stateWord(queuePair.number(), QueuePairState.ERR);
        drainWord = stateWord(queuePair.number(), QueuePairState.SQD);
        sendErrorWord = stateWord(queuePair.number(), QueuePairState.SQE);
    }

    /** Something was posted, or the queue pair went from SQD or SQE to RTS. */
    void ring()
    {
        if (!isWaiting)
        {
            execute();
        }
    }

    /** At a poll: tries again what waits for the peer, unless it is too early. */
    void retry()
    {
        if (mayExecute() && queuePair.host().clock().nanoTime() - notBeforeNs < 0)
        {
            return;
        }
        execute();
        if (!isWaiting && word() == drainWord)
        {
            queuePair.drained();
        }
    }

    /** Whether a request has begun and is not complete. */
    boolean isInFlight()
    {
        return isWaiting;
    }

    /** Whether everything that was posted has been executed. */
    boolean isDone()
    {
        return head == queuePair.tail();
    }

    /** Attributes were changed: the peer is looked for anew when it may be another one. */
    void termsChanged(final QueuePairAttributes change)
    {
        if (change.has(ADDRESS_VECTOR) || change.has(DESTINATION_NUMBER) || change.has(MAX_READ_ATOMIC))
        {
            requester.reset();
        }
    }

    /** Completes everything outstanding with WR_FLUSH_ERR. */
    void flush()
    {
        final long tail = queuePair.tail();
        while (head < tail)
        {
            final WorkRequest request = queuePair.posted(head);
            head++;
            completions.pushSend(queuePair, request.wrId, WorkCompletionStatus.WR_FLUSH_ERR, 0, 0, head);
        }
        endWait();
        close();
    }

    /** Lets go of where its requests went. */
    void close()
    {
        if (route != null)
        {
            route.disconnect();
        }
    }

    /** Forgets everything, without completions. */
    void reset()
    {
        endWait();
        close();
        head = 0;
        requester.reset();
    }

    private long word()
    {
        return SharedWords.getLongAcquire(stateAddress);
    }

    /** In SQD only what has begun goes on. */
    private boolean mayExecute()
    {
        final long word = word();
        return word == readyWord || word == drainWord && isWaiting;
    }

    private void execute()
    {
        if (route == null && !requester.isConnected() && mayExecute() && connect())
        {
            mark.target(requester.remote().peer().address().gidLow());
        }
        mark.enter();
        try
        {
            requester.begin();
            executeInside();
            if (route != null && !isWaiting)
            {
                route.rest();
            }
        }
        finally
        {
            mark.leave();
            requester.remote().wakeSleepers();
        }
        final long word = word();
        if (word == errorWord || word == sendErrorWord)
        {
            flush();
        }
    }

    /** Leads the requester, outside, to the peer; false when it was never there. */
    private boolean connect()
    {
        final SoftPeer peer = connection.findPeer();
        final CurrentAttributes terms = connection.attributes();
        return requester.connect(peer, terms.destinationNumber(), terms.maxReadAtomic());
    }

    /**
     * Whether the requests are too many for the processor to look ahead to, or begin with a WRITE: an atomic behind it
     * waits until the lines written are here, and only then asks for its own.
     */
    private boolean isWorthTouching(final long position, final long tail)
    {
        final long count = tail - position;
        return count >= MIN_TOUCHED_REQUESTS ||
            count > 1 && queuePair.posted(position).operation == WorkRequest.WRITE;
    }

    private void executeInside()
    {
        final long tail = queuePair.tail();
        long position = head;
        long touched = isWorthTouching(position, tail) ? position : tail;
        while (position < tail && mayExecute())
        {
            if (position == touched)
            {
                touched = Math.min(tail, position + MAX_TOUCHED_REQUESTS);
                touch(position, touched);
            }
            final WorkRequest request = queuePair.posted(position);
            int status = route == null ? requester.execute(request) : route.execute(request);
            if (status < 0)
            {
                status = awaitPeer(status);
                if (status < 0)
                {
                    return;
                }
            }
            if (isWaiting)
            {
                endWait();
            }
            position++;
            head = position;
            complete(request, status, position);
        }
    }

    private void touch(final long fromPosition, final long toPosition)
    {
        long sum = 0;
        for (long position = fromPosition; position < toPosition; position++)
        {
            sum += requester.touch(queuePair.posted(position));
        }
        touchSink = sum;
    }

    private void complete(final WorkRequest request, final int status, final long position)
    {
        if (status != WorkCompletionStatus.SUCCESS)
        {
            fail();
            completions.pushSend(queuePair, request.wrId, status, 0, 0, position);
        }
        else if ((request.flags & SendFlags.SIGNALED) != 0)
        {
            completions.pushSend(
                queuePair, request.wrId, status, request.operation, request.lengthBytes, position);
        }
    }

    private void fail()
    {
        if (!failsIntoSqe || !SharedWords.compareAndSetLong(stateAddress, readyWord, sendErrorWord))
        {
            queuePair.moveToError();
        }
    }

    /** The peer has no receive, or does not answer: wait, until the retries are over. */
    private int awaitPeer(final int status)
    {
        final long nowNs = queuePair.host().clock().nanoTime();
        if (!isWaiting)
        {
            isWaiting = true;
            queuePair.beginWaiting();
        }
        if (waitsFor != status)
        {
            waitsFor = status;
            missCount = 0;
            beginWait(status, nowNs);
        }
        if (status == WindowRequests.WAIT_OUTSIDE)
        {
            return status;
        }
        if (!requester.isConnected())
        {
            notBeforeNs = nowNs + FIND_NS;
        }
        if (hasDeadline)
        {
            final int failure = status == RemoteQueuePair.NOT_READY ?
                WorkCompletionStatus.RNR_RETRY_EXC_ERR : WorkCompletionStatus.RETRY_EXC_ERR;
            return nowNs - deadlineNs >= 0 ? failure : status;
        }
        return status == RemoteQueuePair.NOT_READY ? countMiss(nowNs) : status;
    }

    private void beginWait(final int status, final long nowNs)
    {
        notBeforeNs = nowNs;
        if (status == WindowRequests.WAIT_OUTSIDE)
        {
            // It has a deadline of its own.
            hasDeadline = false;
        }
        else if (status == RemoteQueuePair.NOT_READY)
        {
            hasDeadline = connection.rnrRetries() == SoftConnection.RNR_BY_TIME;
            deadlineNs = nowNs + queuePair.host().rnrTimeoutNs();
        }
        else
        {
            final long retryNs = connection.retryTimeNs();
            hasDeadline = retryNs != RetryTimers.NEVER_NS;
            deadlineNs = nowNs + retryNs;
        }
    }

    private int countMiss(final long nowNs)
    {
        final int retries = connection.rnrRetries();
        if (retries != RetryTimers.RNR_RETRY_FOR_EVER && missCount >= retries)
        {
            return WorkCompletionStatus.RNR_RETRY_EXC_ERR;
        }
        missCount++;
        notBeforeNs = nowNs + RetryTimers.rnrWaitNs(requester.remote().rnrTimer());
        return RemoteQueuePair.NOT_READY;
    }

    private void endWait()
    {
        if (isWaiting)
        {
            isWaiting = false;
            waitsFor = WorkCompletionStatus.SUCCESS;
            queuePair.endWaiting();
        }
    }
}
