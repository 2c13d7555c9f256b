package io.verbena.raas;

import io.verbena.raas.batch.StagedBatch;
import io.verbena.raas.completion.CompletionDispatcher;
import io.verbena.raas.completion.CompletionOwner;
import io.verbena.raas.completion.OutstandingBatches;
import io.verbena.raas.completion.RequestId;
import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.PortAttributes;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.VerbCounters;
import io.verbena.rdma.verbs.WorkCompletionStatus;

/**
 * A DC initiator. It serves one {@link Path} at a time, because one error flushes what it has for all targets, and
 * others when nothing of that one is under way.
 */
final class DcTransport implements CompletionOwner
{
    /** Whose requests go over a path. */
    interface User
    {
        PeerAddress peer();

        /** Nothing is under way or waits: if there is a queue pair that is connected, it is used from now on. */
        void onPathIdle();

        /** The initiator broke and is closed, or there is none; what was outstanding is left in the path. */
        void onPathBroken(int status, String reason);
    }

    /** Keeps the initiators. */
    interface Owner
    {
        /** An initiator for a path that has none; null when it waits until it is {@linkplain Path#carry given one}. */
        DcTransport lend(Path path);

        /** A path that has an initiator of which nothing is under way uses it again. */
        void onBusy(DcTransport transport);

        /** Nothing of its path is under way. */
        void onIdle(DcTransport transport);

        /** Whether a path waits for an initiator. */
        boolean isAwaited();

        /** A path needs none any more. */
        void forget(Path path);

        void onClosed(DcTransport transport);

        /** An initiator could not be made, or broke. */
        void onFailed(RdmaException failure);
    }

    /** Receives the ends of batches. */
    interface BatchCompletions
    {
        /** @param number of the virtual queue pair that posted it. */
        void onBatchDone(int number, int cookie, int status);

        /** Whether what waits of one may be posted: it has not FAILED, and its grant goes on. */
        boolean mayPost(int number);
    }

    /** 4.096 µs × 2^14, 67 ms; three times more until a silent target is given up. */
    private static final int TIMEOUT = 14;
    private static final int RETRY_COUNT = 3;
    /** Batches that a path posts while another one waits: as many as a batch may have requests would be long. */
    static final int QUOTA = 32;

    private final ContextResources resources;
    private final Owner owner;
    private final int depth;
    private final QueuePair initiator;
    private final int number;
    private Path path;
    private boolean isClosed;

    /** The caller has taken room in the completion queues; it is given back by {@link #close()}, or here on failure. */
    DcTransport(final ContextResources resources, final Owner owner, final int depth)
    {
        final CompletionDispatcher completions = resources.completions();
        this.resources = resources;
        this.owner = owner;
        this.depth = depth;
        QueuePair made = null;
        try
        {
            made = resources.verbsProtectionDomain().createQueuePair(new QueuePairOptions()
                .type(QueuePairType.DC_INITIATOR).completions(completions.sendQueue(), completions.receiveQueue())
                .capabilities(new QueuePairCapabilities(depth, 0, 0, resources.readAtomicDepth())));
            bringUp(made);
        }
        catch (final RdmaException ex)
        {
            completions.release(depth, 0);
            if (made != null)
            {
                made.close();
            }
            throw ex;
        }
        initiator = made;
        number = made.number();
        completions.add(this);
    }

    private void bringUp(final QueuePair queuePair)
    {
        final PortAttributes port = resources.device().port();
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0).port(port.number()));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTR)
            .pathMtuBytes(port.pathMtuBytes()));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTS).sqPsn(0).timeout(TIMEOUT)
            .retryCount(RETRY_COUNT).rnrRetry(0).maxReadAtomic(resources.readAtomicDepth()));
    }

    /** Whether a path has it, whether anything of that is under way or not. */
    boolean isLed()
    {
        return path != null;
    }

    Path path()
    {
        return path;
    }

    /** Takes it from the path that had it, of which nothing is under way. */
    void leave()
    {
        if (path != null)
        {
            path.transport = null;
            path = null;
        }
    }

    VerbCounters counters()
    {
        return initiator.counters();
    }

    @Override
    public int queuePairNumber()
    {
        return number;
    }

    @Override
    public boolean hasOutstandingSends()
    {
        return path != null && path.posted > 0;
    }

    @Override
    public void onSendComplete(final long wrId)
    {
        if (path == null || path.posted == 0 || path.outstanding.oldestWrId() != wrId)
        {
            throw new IllegalStateException(
                "completion out of order on initiator " + number + ": wrId=" + Long.toHexString(wrId));
        }
        path.onOldestDone();
    }

    @Override
    public void onReceive(final int slot, final int lengthBytes, final int immediate)
    {
        throw new IllegalStateException("a DC initiator received something: " + number);
    }

    @Override
    public void breakDown(final int status, final String reason)
    {
        if (isClosed)
        {
            return;
        }
        final Path broken = path;
        owner.onFailed(new RdmaException("DC initiator " + number + " broke" +
            (broken == null ? " while idle: " : ", for " + broken.user.peer() + ": ") + reason));
        try
        {
            close();
        }
        catch (final RdmaException ex)
        {
            // As with a queue pair: closed when it is looked at again.
            resources.deferError(ex);
            return;
        }
        if (broken != null)
        {
            broken.breakDown(status, reason);
        }
    }

    /** Destroys the initiator: nothing it has begun lands here any more. */
    void close()
    {
        if (!isClosed)
        {
            initiator.close();
            isClosed = true;
            leave();
            resources.completions().remove(this);
            resources.completions().release(depth, 0);
            owner.onClosed(this);
        }
    }

    /**
     * The way to one peer over DC: requests in order, posted as soon as an initiator is there for it. What waits for
     * one is posted with the next, so that an initiator goes to another target less often than requests do.
     */
    static final class Path
    {
        private final ContextResources resources;
        private final Owner owner;
        private final BatchCompletions batches;
        private final ReadTargetAddress target;
        private final AddressHandle way;
        private final int depth;
        private final boolean carriesWrites;
        private final OutstandingBatches outstanding;
        private User user;
        private DcTransport transport;
        private int requestsOutstanding;
        /** Of the outstanding ones, the last, which no initiator has yet. */
        private int unposted;
        /** Batches that the initiator has, and that have not completed. */
        private int posted;
        /** Batches posted since it has the initiator. */
        private int turn;
        private boolean isClosed;

        /** @param carriesWrites whether requests have keys of this node's own, so that all of them may go this way. */
        Path(
            final ContextResources resources, final Owner owner, final BatchCompletions batches, final User user,
            final ReadTargetAddress target, final int depth, final boolean carriesWrites)
        {
            this.resources = resources;
            this.owner = owner;
            this.batches = batches;
            this.user = user;
            this.target = target;
            this.depth = depth;
            this.carriesWrites = carriesWrites;
            outstanding = new OutstandingBatches(depth);
            way = resources.verbsProtectionDomain().createAddressHandle(user.peer().device());
        }

        /** Goes over to another user, with what is under way. */
        void user(final User newUser)
        {
            user = newUser;
        }

        ReadTargetAddress target()
        {
            return target;
        }

        boolean carriesWrites()
        {
            return carriesWrites;
        }

        int space()
        {
            return depth - requestsOutstanding;
        }

        /** Whether nothing is under way and nothing waits. */
        boolean isIdle()
        {
            return outstanding.isEmpty();
        }

        /** What is under way or waits, or did when it broke, oldest first. */
        OutstandingBatches outstanding()
        {
            return outstanding;
        }

        /** How many of the last no initiator had. */
        int unposted()
        {
            return unposted;
        }

        /** Posts a checked batch that is kept, or has it wait; the caller saw that there is space. Always OK. */
        int postBatch(final StagedBatch batch, final int number, final long wrId)
        {
            outstanding.add(wrId, batch.count(), number);
            requestsOutstanding += batch.count();
            unposted++;
            if (transport != null)
            {
                owner.onBusy(transport);
                pump();
            }
            else if (unposted == 1)
            {
                carry(owner.lend(this));
            }
            return PostStatus.OK;
        }

        /** Gets an initiator, unless it is null, and posts what waits. */
        void carry(final DcTransport newTransport)
        {
            if (newTransport != null)
            {
                transport = newTransport;
                transport.path = this;
                turn = 0;
                pump();
            }
        }

        /** Whether something waits for an initiator. */
        boolean isWaiting()
        {
            return unposted > 0 && !isClosed;
        }

        /** Posts what waits, within the quota, with one doorbell. */
        private void pump()
        {
            int staged = 0;
            while (staged < unposted && (turn + staged < QUOTA || !owner.isAwaited()))
            {
                final int index = outstanding.size() - unposted + staged;
                final long wrId = outstanding.wrId(index);
                final int number = outstanding.detail(index);
                if (staged == 0 && !batches.mayPost(RequestId.number(wrId)))
                {
                    endUnposted(index, number);
                    continue;
                }
                if (staged > 0 && !batches.mayPost(RequestId.number(wrId)))
                {
                    // Behind what is staged, which goes first.
                    break;
                }
                if (staged == 0)
                {
                    transport.initiator.begin();
                }
                resources.batches().batch(number).stageOn(
                    transport.initiator, wrId, way, target.targetNumber(), target.accessKey());
                staged++;
            }
            if (staged > 0 && transport.initiator.complete() != PostStatus.OK)
            {
                breakLater();
                return;
            }
            unposted -= staged;
            posted += staged;
            turn += staged;
            if (posted == 0)
            {
                owner.onIdle(transport);
            }
        }

        /** Called back in its turn, behind those before it, and not while its successor is being posted. */
        private void endUnposted(final int index, final int number)
        {
            requestsOutstanding -= resources.batches().batch(number).count();
            resources.batches().release(number);
            outstanding.end(index, WorkCompletionStatus.WR_FLUSH_ERR);
            unposted--;
            resources.doorbells().add(this::callBackEnded);
        }

        /** The initiator is in error: found here only where no completion is to come. */
        private void breakLater()
        {
            final DcTransport broken = transport;
            if (posted == 0)
            {
                resources.doorbells().add(() -> broken.breakDown(
                    WorkCompletionStatus.WR_FLUSH_ERR, WorkCompletionStatus.text(WorkCompletionStatus.WR_FLUSH_ERR)));
            }
        }

        private void onOldestDone()
        {
            posted--;
            retireOldest(WorkCompletionStatus.SUCCESS);
            if (transport != null)
            {
                pump();
            }
            callBackEnded();
        }

        private void callBackEnded()
        {
            while (outstanding.isOldestEnded())
            {
                final long wrId = outstanding.oldestWrId();
                final int status = outstanding.oldestDetail();
                outstanding.removeOldest();
                batches.onBatchDone(RequestId.number(wrId), RequestId.cookie(wrId), status);
            }
            if (!isClosed && isIdle())
            {
                user.onPathIdle();
            }
        }

        /** Calls the oldest back, which has not ended before. */
        private void retireOldest(final int status)
        {
            final long wrId = outstanding.oldestWrId();
            final int batch = outstanding.oldestDetail();
            requestsOutstanding -= outstanding.removeOldest();
            resources.batches().release(batch);
            batches.onBatchDone(RequestId.number(wrId), RequestId.cookie(wrId), status);
        }

        /** Calls everything back, where nothing is posted again: the oldest has the request that failed. */
        void retireAll(final int status)
        {
            int batchStatus = status;
            unposted = 0;
            while (!outstanding.isEmpty())
            {
                callBackEnded();
                if (!outstanding.isEmpty())
                {
                    retireOldest(batchStatus);
                    batchStatus = WorkCompletionStatus.WR_FLUSH_ERR;
                }
            }
        }

        /** No initiator can be had, or the one that it had is closed. */
        void breakDown(final int status, final String reason)
        {
            if (!isClosed)
            {
                user.onPathBroken(status, reason);
            }
        }

        /** Whoever used it does not any more; what is under way ends with the initiator. */
        void close()
        {
            if (!isClosed)
            {
                if (transport != null && posted > 0)
                {
                    transport.close();
                }
                else if (transport != null)
                {
                    transport.leave();
                }
                isClosed = true;
                owner.forget(this);
                way.close();
            }
        }
    }
}
