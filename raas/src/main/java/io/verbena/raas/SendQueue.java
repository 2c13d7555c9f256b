package io.verbena.raas;

import io.verbena.raas.batch.BatchPool;
import io.verbena.raas.batch.Doorbells;
import io.verbena.raas.batch.StagedBatch;
import io.verbena.raas.completion.OutstandingBatches;
import io.verbena.raas.completion.ReplayCounters;
import io.verbena.raas.completion.RequestId;
import io.verbena.raas.message.MessageBlock;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.SendFlags;

/**
 * The send queue of a physical queue pair that was made here: batches of virtual queue pairs and requests of calls are
 * posted, at once or with a doorbell that others share, and known until they have completed.
 */
final class SendQueue implements Doorbells.Doorbell, ChannelScheduler.Sends
{
    /** Identifier of empty messages: that of no call. */
    static final long CONTROL = RequestId.encode(RequestId.CALLS, -1);
    /** Most batches and calls that wait for the same doorbell: more save little and delay the first. */
    static final int MAX_GATHERED = 16;

    /**
     * @param dataDepth   one-sided requests that can be outstanding.
     * @param callDepth   requests of calls beside them.
     * @param windowBytes posted at once where several tenants share the queue pair.
     * @param readDepth   READs and atomics that it executes at once.
     */
    record Limits(int dataDepth, int callDepth, int windowBytes, int readDepth)
    {
    }

    private QueuePair queuePair;
    private final Doorbells doorbells;
    private final BatchPool batches;
    private final ChannelScheduler.VirtualQps virtualQps;
    private final Limits limits;
    private final Runnable onRefused;
    private final OutstandingBatches outstanding;
    /** 0 while nothing may be posted. */
    private int dataLimit;
    private int dataOutstanding;
    private int callsOutstanding;
    /** Of the outstanding ones, the last, for which the doorbell was not rung. */
    private int gathered;
    /** Whether the queue pair has an open batch. */
    private boolean isStaging;
    private boolean isDue;
    private boolean isStopped;
    /** Null while one tenant without quotas has it for itself. */
    private ChannelScheduler scheduler;
    private Tenant firstTenant;

    /**
     * @param onRefused called by {@link #ring} when the queue pair is broken, and no completion will say so.
     */
    SendQueue(
        final Doorbells doorbells, final BatchPool batches, final ChannelScheduler.VirtualQps virtualQps,
        final Limits limits,
        final Runnable onRefused)
    {
        this.doorbells = doorbells;
        this.batches = batches;
        this.virtualQps = virtualQps;
        this.limits = limits;
        this.onRefused = onRefused;
        outstanding = new OutstandingBatches(limits.dataDepth + limits.callDepth);
    }

    /** Where to post; before anything is. */
    void queuePair(final QueuePair newQueuePair)
    {
        queuePair = newQueuePair;
    }

    /** Requests of a tenant come from now on; those of several are posted in turns. */
    void add(final Tenant tenant)
    {
        firstTenant = firstTenant == null ? tenant : firstTenant;
        if (scheduler == null && (tenant != firstTenant || tenant.options().isLimitedOnQueuePairs()))
        {
            scheduler = new ChannelScheduler(
                virtualQps, batches, this, limits.windowBytes, limits.readDepth, limits.dataDepth);
            scheduler.add(firstTenant);
        }
        if (scheduler != null)
        {
            scheduler.add(tenant);
        }
    }

    /** Takes over the tenants of a queue pair that broke, and what of them waits. */
    void adopt(final SendQueue broken)
    {
        scheduler = broken.scheduler;
        firstTenant = broken.firstTenant;
        if (scheduler != null)
        {
            scheduler.bind(this);
        }
    }

    /** Null where batches are posted at once. */
    ChannelScheduler scheduler()
    {
        return scheduler;
    }

    /** Whether nothing waits for its turn. */
    boolean hasNoneWaiting()
    {
        return scheduler == null || scheduler.isIdle();
    }

    /** Posts of what waits what can be posted now. */
    void pump()
    {
        if (scheduler != null && !isStopped)
        {
            scheduler.pump();
        }
    }

    /** Nothing that waits will be posted. */
    void endWaiting()
    {
        if (scheduler != null)
        {
            scheduler.endAll();
        }
    }

    /** Lets one-sided requests be posted, or keeps them from it. */
    void open(final boolean isOpen)
    {
        dataLimit = isOpen ? limits.dataDepth : 0;
    }

    /** One-sided requests that a tenant can add now, to be posted at once or later. */
    int dataSpace(final Tenant tenant)
    {
        return scheduler == null ? dataSpace() : scheduler.space(tenant);
    }

    /** One-sided requests that can be posted now. */
    @Override
    public int dataSpace()
    {
        return dataLimit - dataOutstanding;
    }

    @Override
    public boolean isOpen()
    {
        return dataLimit > 0;
    }

    boolean hasRoomForCall()
    {
        return callsOutstanding < limits.callDepth;
    }

    /** What is outstanding, or was when it broke, oldest first. */
    OutstandingBatches outstanding()
    {
        return outstanding;
    }

    /** How many of the last outstanding ones the queue pair does not have yet. */
    int gathered()
    {
        return gathered;
    }

    /** Posts a checked batch, kept under a number or not, or has it wait; the caller saw that there is space. */
    int postBatch(final Tenant tenant, final StagedBatch batch, final int number, final long wrId)
    {
        if (scheduler != null)
        {
            return scheduler.submit(tenant, batch, number, wrId);
        }
        begin();
        batch.stageOn(queuePair, wrId);
        final int status = add(wrId, batch.count(), number);
        if (status == PostStatus.OK)
        {
            dataOutstanding += batch.count();
        }
        return status;
    }

    /** Stages some requests of a kept batch for the next doorbell; the caller saw that there is space. */
    @Override
    public void postPart(
        final StagedBatch batch, final int from, final int to, final int number, final long wrId, final int owner)
    {
        begin();
        batch.stagePartOn(queuePair, wrId, from, to);
        outstanding.addPart(wrId, to - from, number, owner);
        dataOutstanding += to - from;
        gathered++;
        due();
    }

    /** Rings the doorbell now, unless others may join, and not too many have already. */
    @Override
    public void flushUnlessGathering()
    {
        if (isStaging && (!doorbells.isGathering() || gathered >= MAX_GATHERED))
        {
            isStaging = false;
            gathered = queuePair.complete() == PostStatus.OK ? 0 : gathered;
            // Otherwise it is broken, which is found when the doorbell is due.
        }
    }

    /** Sends a request of a call from a slot of the caller; the caller saw that it can. */
    int sendCall(final MessageBlock block, final int slot, final int lengthBytes, final int immediate)
    {
        final long wrId = RequestId.encode(RequestId.CALLS, slot);
        begin();
        queuePair.sendWithImmediate(
            wrId, SendFlags.SIGNALED, block.localAddress(slot), lengthBytes, block.localKey(), immediate);
        return callPosted(wrId);
    }

    private int callPosted(final long wrId)
    {
        final int status = add(wrId, 1, BatchPool.NONE);
        if (status == PostStatus.OK)
        {
            callsOutstanding++;
        }
        return status;
    }

    /** Sends an empty message, or a probe; the caller saw that there is room for a call. */
    int sendControl(final int immediate)
    {
        begin();
        if (immediate == Channel.PROBE)
        {
            queuePair.read(CONTROL, SendFlags.SIGNALED, 0, 0, 0, 0, 0);
        }
        else
        {
            queuePair.sendWithImmediate(CONTROL, SendFlags.SIGNALED, 0, 0, 0, immediate);
        }
        return callPosted(CONTROL);
    }

    /** Posts again what was left by another queue pair, with one doorbell. Returns false when this one has broken. */
    boolean postKept(final Replay left, final PeerGrants grants, final ReplayCounters counters)
    {
        ring();
        if (scheduler != null)
        {
            scheduler.check(grants);
        }
        final int posted = left.stageOn(queuePair, outstanding, grants);
        dataOutstanding += posted;
        counters.onReplayed(posted);
        return posted == 0 || queuePair.complete() == PostStatus.OK;
    }

    /** Forgets the oldest, which has completed or never will, with its requests; returns its identifier. */
    long removeOldest()
    {
        final long wrId = outstanding.oldestWrId();
        final int batch = outstanding.oldestDetail();
        final int requestCount = outstanding.removeOldest();
        if (RequestId.number(wrId) == RequestId.CALLS)
        {
            callsOutstanding--;
        }
        else
        {
            dataOutstanding -= requestCount;
            if (batch != BatchPool.NONE)
            {
                batches.release(batch);
            }
        }
        return wrId;
    }

    /** The oldest, part of a batch, has completed or never will: calls back where it was the last part. */
    void retireOldestPart(final int status)
    {
        final int owner = outstanding.oldestOwner();
        final long wrId = outstanding.oldestWrId();
        final int batch = outstanding.oldestDetail();
        final int requestCount = outstanding.removeOldest();
        dataOutstanding -= requestCount;
        final int end = scheduler.onPartDone(owner, batch, requestCount, status);
        if (end != ChannelScheduler.NOT_DONE)
        {
            batches.release(batch);
            virtualQps.onBatchDone(RequestId.number(wrId), RequestId.cookie(wrId), end);
        }
    }

    @Override
    public void ring()
    {
        isDue = false;
        if (gathered == 0 || isStopped)
        {
            return;
        }
        final boolean isTaken = isStaging && queuePair.complete() == PostStatus.OK;
        isStaging = false;
        if (isTaken)
        {
            gathered = 0;
        }
        else if (outstanding.size() == gathered)
        {
            onRefused.run();
        }
        // Otherwise the completion in error of what was posted before is to come, and has the cause.
    }

    /** The queue pair is closed: nothing that is staged is posted any more. */
    void stop()
    {
        isStopped = true;
    }

    private void begin()
    {
        if (!isStaging)
        {
            queuePair.begin();
            isStaging = true;
        }
    }

    /** What was staged just now is outstanding: rings the doorbell, or has it rung later. */
    private int add(final long wrId, final int requestCount, final int detail)
    {
        if (doorbells.isGathering() && gathered < MAX_GATHERED - 1)
        {
            gathered++;
            outstanding.add(wrId, requestCount, detail);
            due();
            return PostStatus.OK;
        }
        isStaging = false;
        final int status = queuePair.complete();
        if (status == PostStatus.OK)
        {
            gathered = 0;
            outstanding.add(wrId, requestCount, detail);
        }
        else if (gathered > 0)
        {
            // What was staged before was refused with it: found when the doorbell is due, not by this caller.
            due();
        }
        return status;
    }

    private void due()
    {
        if (!isDue)
        {
            isDue = true;
            doorbells.add(this);
        }
    }
}
