package io.verbena.raas;

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
final class DcCarrier implements CompletionOwner
{
    /** 4.096 µs × 2^14, 67 ms; three times more until a silent target is given up. */
    private static final int TIMEOUT = 14;
    private static final int RETRY_COUNT = 3;

    private final RaasContext context;
    private final DcCarrierPool pool;
    private final int depth;
    private final QueuePair initiator;
    private final int number;
    private final OutstandingBatches outstanding;
    private int requestsOutstanding;
    private ClientChannel user;
    private AddressHandle way;
    private ReadTargetAddress target;
    private boolean isClosed;

    /** The caller has taken room in the completion queues; it is given back by {@link #close()}, or here on failure. */
    DcCarrier(final RaasContext context, final DcCarrierPool pool, final int depth)
    {
        final CompletionDispatcher completions = context.completions();
        this.context = context;
        this.pool = pool;
        this.depth = depth;
        outstanding = new OutstandingBatches(depth);
        QueuePair made = null;
        try
        {
            made = context.verbsProtectionDomain().createQueuePair(new QueuePairOptions()
                .type(QueuePairType.DC_INITIATOR).completions(completions.sendQueue(), completions.receiveQueue())
                .capabilities(new QueuePairCapabilities(depth, 0, 0, context.readAtomicDepth())));
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
        final PortAttributes port = context.device().port();
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0).port(port.number()));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTR)
            .pathMtuBytes(port.pathMtuBytes()));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTS).sqPsn(0).timeout(TIMEOUT)
            .retryCount(RETRY_COUNT).rnrRetry(0).maxReadAtomic(context.readAtomicDepth()));
    }

    /** Begins to serve a channel. */
    void lead(final ClientChannel channel, final ReadTargetAddress to)
    {
        way = context.verbsProtectionDomain().createAddressHandle(channel.peer().device());
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

    VerbCounters counters()
    {
        return initiator.counters();
    }

    /** Posts a checked batch of READs; the caller saw that there is space. */
    int postBatch(final StagedBatch batch, final long wrId)
    {
        initiator.begin();
        batch.stageOn(initiator, wrId, way, target);
        final int status = initiator.complete();
        if (status == PostStatus.OK)
        {
            outstanding.add(wrId, batch.count());
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
            user.onCarrierIdle();
        }
    }

    /** Calls the oldest batch back. */
    void retireOldest(final int status)
    {
        final long wrId = outstanding.oldestWrId();
        requestsOutstanding -= outstanding.removeOldest();
        context.virtualQps().dispatch(VirtualQpTable.number(wrId), VirtualQpTable.cookie(wrId), status);
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
        final ClientChannel broken = user;
        pool.onFailed(new RdmaException("DC initiator " + number + " broke" +
            (broken == null ? " while idle: " : ", reading " + broken.peer() + ": ") + reason));
        if (broken == null)
        {
            close();
        }
        else
        {
            broken.breakDown(status, "READ over DC: " + reason);
        }
    }

    /** The channel needs it no more, and nothing of it is under way. */
    void release()
    {
        leave();
        pool.onIdle(this);
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
            isClosed = true;
            initiator.close();
            leave();
            context.completions().remove(this);
            context.completions().release(depth, 0);
            pool.onClosed(this);
        }
    }
}
