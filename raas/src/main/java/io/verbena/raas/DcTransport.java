package io.verbena.raas;

import io.verbena.raas.batch.BatchPool;
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
 * A DC initiator that carries the READs of one {@link ClientChannel} while its queue pair is being connected. It serves
 * one channel at a time, because one error flushes what it has for all targets, and goes back to the pool when nothing
 * of that channel is under way.
 */
final class DcTransport implements CompletionOwner
{
    /** The channel whose READs it carries. */
    interface User
    {
        PeerAddress peer();

        /** Nothing is under way over DC: if the queue pair is connected, it is used from now on. */
        void onTransportIdle();

        /** The initiator broke and is closed; what it had outstanding is left in it. */
        void onTransportBroken(DcTransport broken, int status, String reason);
    }

    /** Keeps the initiators. */
    interface Owner
    {
        /** It serves no channel any more. */
        void onIdle(DcTransport transport);

        void onClosed(DcTransport transport);

        /** An initiator could not be made, or broke. */
        void onFailed(RdmaException failure);
    }

    /** Receives the ends of batches. */
    interface BatchCompletions
    {
        /** @param number of the virtual queue pair that posted it. */
        void onBatchDone(int number, int cookie, int status);
    }

    /** 4.096 µs × 2^14, 67 ms; three times more until a silent target is given up. */
    private static final int TIMEOUT = 14;
    private static final int RETRY_COUNT = 3;

    private final ContextResources resources;
    private final Owner owner;
    private final BatchCompletions batches;
    private final int depth;
    private final QueuePair initiator;
    private final int number;
    private final OutstandingBatches outstanding;
    private int requestsOutstanding;
    private User user;
    private AddressHandle way;
    private ReadTargetAddress target;
    private boolean isClosed;

    /** The caller has taken room in the completion queues; it is given back by {@link #close()}, or here on failure. */
    DcTransport(
        final ContextResources resources, final Owner owner, final BatchCompletions batches, final int depth)
    {
        final CompletionDispatcher completions = resources.completions();
        this.resources = resources;
        this.owner = owner;
        this.batches = batches;
        this.depth = depth;
        outstanding = new OutstandingBatches(depth);
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

    /** Begins to serve a channel. */
    void lead(final User channel, final ReadTargetAddress to)
    {
        way = resources.verbsProtectionDomain().createAddressHandle(channel.peer().device());
        user = channel;
        target = to;
    }

    int space()
    {
        return depth - requestsOutstanding;
    }

    boolean isIdle()
    {
        return outstanding.isEmpty();
    }

    /** What is under way, or was when it broke, oldest first. */
    OutstandingBatches outstanding()
    {
        return outstanding;
    }

    VerbCounters counters()
    {
        return initiator.counters();
    }

    /** Posts a checked batch of READs, kept under a number or not; the caller saw that there is space. */
    int postBatch(final StagedBatch batch, final int number, final long wrId)
    {
        initiator.begin();
        batch.stageOn(initiator, wrId, way, target.number(), target.accessKey());
        final int status = initiator.complete();
        if (status == PostStatus.OK)
        {
            outstanding.add(wrId, batch.count(), number);
            requestsOutstanding += batch.count();
        }
        return status;
    }

    @Override
    public int queuePairNumber()
    {
        return number;
    }

    @Override
    public boolean hasOutstandingSends()
    {
        return !isIdle();
    }

    @Override
    public void onSendComplete(final long wrId)
    {
        if (outstanding.isEmpty() || outstanding.oldestWrId() != wrId)
        {
            throw new IllegalStateException(
                "completion out of order on initiator " + number + ": wrId=" + Long.toHexString(wrId));
        }
        retireOldest(WorkCompletionStatus.SUCCESS);
        if (user != null && isIdle())
        {
            user.onTransportIdle();
        }
    }

    /** Calls the oldest batch back. */
    void retireOldest(final int status)
    {
        final long wrId = outstanding.oldestWrId();
        final int batch = outstanding.oldestDetail();
        requestsOutstanding -= outstanding.removeOldest();
        if (batch != BatchPool.NONE)
        {
            resources.batches().release(batch);
        }
        batches.onBatchDone(RequestId.number(wrId), RequestId.cookie(wrId), status);
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
        final User broken = user;
        owner.onFailed(new RdmaException("DC initiator " + number + " broke" +
            (broken == null ? " while idle: " : ", reading " + broken.peer() + ": ") + reason));
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
            broken.onTransportBroken(this, status, "READ over DC: " + reason);
        }
    }

    /** The channel needs it no more, and nothing of it is under way. */
    void release()
    {
        leave();
        owner.onIdle(this);
    }

    private void leave()
    {
        if (way != null)
        {
            way.close();
            way = null;
        }
        user = null;
        target = null;
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
}
