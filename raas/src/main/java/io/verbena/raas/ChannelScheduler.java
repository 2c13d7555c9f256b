package io.verbena.raas;

import io.verbena.raas.batch.BatchPool;
import io.verbena.raas.batch.StagedBatch;
import io.verbena.raas.batch.WaitingBatches;
import io.verbena.raas.completion.RequestId;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import java.util.Arrays;

/**
 * Whose requests are posted next on a queue pair that several tenants share: deficit round robin by bytes and weight.
 * What was posted cannot be overtaken, so little is: the rest waits here. A queue pair executes so many READs and
 * atomics at once, and one more would delay what is behind it for everybody, so it waits here too; and so does what is
 * behind a tenant's fence. A batch is posted in as many parts as that takes, and done when its last part is.
 */
final class ChannelScheduler
{
    /** The virtual queue pairs, by number. */
    interface VirtualQps extends DcTransport.BatchCompletions
    {
        /** Whether one is READY. */
        boolean isReady(int number);

        /** Whether what waits of one may be posted: it has not FAILED, and its grant goes on. */
        boolean mayPost(int number);

        /** Whether a batch of one may be posted again to a peer that grants this; one of which it may not be FAILS. */
        boolean mayReplay(int number, StagedBatch batch, PeerGrants grants);
    }

    /** The queue pair, as far as one posts there. */
    interface Sends
    {
        /** Whether requests may be posted. */
        boolean isOpen();

        /** Room for requests of batches. */
        int dataSpace();

        /** Posts requests of a batch; the doorbell is rung by {@link #flushUnlessGathering}. */
        void postPart(StagedBatch batch, int from, int to, int number, long wrId, int owner);

        /** Rings the doorbell for what was posted, unless it is shared with what others post. */
        void flushUnlessGathering();
    }

    /** What a request costs beside its bytes. */
    static final int REQUEST_COST_BYTES = 256;
    /** What a tenant of weight 1 may post in one turn. */
    static final int QUANTUM_BYTES = 4096;

    /** Returned by {@link #onPartDone} for a batch of which more is to come. */
    static final int NOT_DONE = -1;

    /** Why a request cannot be posted now. */
    private enum Limit
    {
        NONE,
        /** Of the tenant: its quota, or its fence. */
        OWN,
        /** It has posted its part for this turn. */
        DEFICIT,
        /** The queue pair executes no more READs at once; others, who do not read, may go on. */
        READ_DEPTH,
        /** Enough is posted. */
        ROOM
    }

    /** What a tenant has here. */
    private static final class Share
    {
        private final Tenant tenant;
        private final int maxSlots;
        private final int maxReads;
        private final long quantumBytes;
        private final WaitingBatches waiting = new WaitingBatches();
        /** Requests that wait or are posted. */
        private int slots;
        private int posted;
        private int reads;
        private long deficitBytes;
        private boolean hasTurn;

        private Share(final Tenant tenant, final int depth)
        {
            this.tenant = tenant;
            maxSlots = Math.min(depth, tenant.options().queueSlots());
            maxReads = tenant.options().readDepth();
            quantumBytes = (long)QUANTUM_BYTES * tenant.options().weight();
        }
    }

    private final VirtualQps virtualQps;
    private final BatchPool batches;
    private final long windowBytes;
    private final int readDepth;
    private final int depth;
    private Sends sends;
    private Share[] shares = new Share[0];
    private int waitingCount;
    private long postedBytes;
    private int postedReads;
    private int turn;

    /**
     * @param windowBytes posted at once, as far as one request is not longer.
     * @param readDepth   READs and atomics that the queue pair executes at once.
     * @param depth       most requests of one tenant.
     */
    ChannelScheduler(
        final VirtualQps virtualQps, final BatchPool batches, final Sends sends, final long windowBytes,
        final int readDepth, final int depth)
    {
        this.virtualQps = virtualQps;
        this.batches = batches;
        this.sends = sends;
        this.windowBytes = windowBytes;
        this.readDepth = readDepth;
        this.depth = depth;
    }

    /** Another queue pair takes the place of the one before. */
    void bind(final Sends newSends)
    {
        sends = newSends;
    }

    void add(final Tenant tenant)
    {
        if (indexOf(tenant) < 0)
        {
            shares = Arrays.copyOf(shares, shares.length + 1);
            shares[shares.length - 1] = new Share(tenant, depth);
        }
    }

    private int indexOf(final Tenant tenant)
    {
        for (int i = 0; i < shares.length; i++)
        {
            if (shares[i].tenant == tenant)
            {
                return i;
            }
        }
        return -1;
    }

    /** Requests that a tenant may add now. */
    int space(final Tenant tenant)
    {
        final Share share = shares[indexOf(tenant)];
        return sends.isOpen() ? share.maxSlots - share.slots : 0;
    }

    boolean isIdle()
    {
        return waitingCount == 0;
    }

    /** Takes a batch, which is kept from now on, and posts what can be posted. */
    int submit(final Tenant tenant, final StagedBatch batch, final int number, final long wrId)
    {
        final Share share = shares[indexOf(tenant)];
        share.slots += batch.count();
        share.waiting.add(number, wrId);
        waitingCount++;
        pump();
        if (batch.posted() < batch.count())
        {
            tenant.onWaited();
        }
        return PostStatus.OK;
    }

    /** Posts what can be posted now, with one doorbell. */
    void pump()
    {
        if (waitingCount == 0)
        {
            return;
        }
        int idle = 0;
        int blocked = -1;
        long rounds = Long.MAX_VALUE;
        while (waitingCount > 0)
        {
            if (idle == shares.length)
            {
                if (rounds == Long.MAX_VALUE)
                {
                    break;
                }
                // Nobody has posted in a whole round: as many rounds at once as the first of them needs.
                addRounds(rounds);
                rounds = Long.MAX_VALUE;
                idle = 0;
            }
            final Share share = shares[turn];
            beginTurn(share);
            final int before = waitingCount;
            final long bytesBefore = postedBytes;
            final Limit limit = serve(share, turn);
            if (limit == Limit.ROOM)
            {
                break;
            }
            idle = waitingCount == before && postedBytes == bytesBefore ? idle + 1 : 1;
            if (limit == Limit.DEFICIT)
            {
                rounds = Math.min(rounds, roundsUntilPosted(share));
            }
            blocked = limit == Limit.READ_DEPTH && blocked < 0 ? turn : blocked;
            endTurn(share, limit);
        }
        // It goes on with whom there was no place for one more READ.
        turn = blocked < 0 ? turn : blocked;
        sends.flushUnlessGathering();
    }

    private static void beginTurn(final Share share)
    {
        if (!share.hasTurn && !share.waiting.isEmpty())
        {
            share.hasTurn = true;
            share.deficitBytes += share.quantumBytes;
        }
    }

    private void endTurn(final Share share, final Limit limit)
    {
        share.hasTurn = limit == Limit.READ_DEPTH;
        if (limit == Limit.NONE)
        {
            share.deficitBytes = 0;
        }
        else if (limit == Limit.OWN)
        {
            // Nothing is saved up by waiting for oneself.
            share.deficitBytes = Math.min(share.deficitBytes, share.quantumBytes);
        }
        turn = turn + 1 == shares.length ? 0 : turn + 1;
    }

    private long roundsUntilPosted(final Share share)
    {
        final StagedBatch batch = batches.batch(share.waiting.number(0));
        final long missing = cost(batch, batch.posted()) - share.deficitBytes;
        return (missing + share.quantumBytes - 1) / share.quantumBytes;
    }

    /** All but one of these rounds: the last is the next. */
    private void addRounds(final long rounds)
    {
        for (final Share share : shares)
        {
            if (!share.waiting.isEmpty() && !share.hasTurn)
            {
                share.deficitBytes += (rounds - 1) * share.quantumBytes;
            }
        }
    }

    /** Posts for one tenant until something is in the way; {@link Limit#NONE}: nothing of it waits any more. */
    private Limit serve(final Share share, final int owner)
    {
        while (!share.waiting.isEmpty())
        {
            final int number = share.waiting.number(0);
            final long wrId = share.waiting.wrId(0);
            final StagedBatch batch = batches.batch(number);
            if (!virtualQps.mayPost(RequestId.number(wrId)))
            {
                if (share.posted > 0)
                {
                    // Those before it are called back first.
                    return Limit.OWN;
                }
                giveUpOldest(share, wrId, number);
                continue;
            }
            final int from = batch.posted();
            int to = from;
            Limit limit = Limit.NONE;
            while (to < batch.count() && limit == Limit.NONE)
            {
                limit = limit(share, batch, to, to - from);
                if (limit == Limit.NONE)
                {
                    share.deficitBytes -= cost(batch, to);
                    onPosted(share, batch, to++, 1);
                }
            }
            if (to > from)
            {
                sends.postPart(batch, from, to, number, wrId, owner);
                batch.posted(to);
            }
            if (to < batch.count())
            {
                return limit;
            }
            share.waiting.removeOldest();
            waitingCount--;
        }
        return Limit.NONE;
    }

    private Limit limit(final Share share, final StagedBatch batch, final int index, final int staged)
    {
        final boolean isRead = batch.isReadOrAtomic(index);
        if (isRead && share.reads >= share.maxReads || batch.isFenced(index) && share.reads > 0)
        {
            return Limit.OWN;
        }
        final long cost = cost(batch, index);
        if (share.deficitBytes < cost)
        {
            return Limit.DEFICIT;
        }
        if (isRead && postedReads >= readDepth)
        {
            return Limit.READ_DEPTH;
        }
        return sends.dataSpace() <= staged || postedBytes > 0 && postedBytes + cost > windowBytes ?
            Limit.ROOM : Limit.NONE;
    }

    private static long cost(final StagedBatch batch, final int index)
    {
        return REQUEST_COST_BYTES + (long)batch.lengthBytes(index);
    }

    /** A request is posted (1), or over (-1). */
    private void onPosted(final Share share, final StagedBatch batch, final int index, final int sign)
    {
        postedBytes += sign * cost(batch, index);
        share.posted += sign;
        if (batch.isReadOrAtomic(index))
        {
            share.reads += sign;
            postedReads += sign;
        }
    }

    /** Requests of a part are posted again. */
    void onPartPosted(final int owner, final int number, final int from, final int to)
    {
        for (int i = from; i < to; i++)
        {
            onPosted(shares[owner], batches.batch(number), i, 1);
        }
    }

    /** Nothing is heard any more of the requests of a part; they may be posted again. */
    void onPartLost(final int owner, final int number, final int from, final int to)
    {
        for (int i = from; i < to; i++)
        {
            onPosted(shares[owner], batches.batch(number), i, -1);
        }
    }

    /**
     * Requests of a batch, the oldest that are posted, are over.
     *
     * @return how the batch ends; {@link #NOT_DONE} when more of it is to come.
     */
    int onPartDone(final int owner, final int number, final int requestCount, final int status)
    {
        final StagedBatch batch = batches.batch(number);
        final int from = batch.completed();
        onPartLost(owner, number, from, from + requestCount);
        shares[owner].slots -= requestCount;
        batch.completed(from + requestCount);
        if (batch.endStatus() == WorkCompletionStatus.SUCCESS)
        {
            batch.endStatus(status);
        }
        return batch.completed() == batch.count() ? batch.endStatus() : NOT_DONE;
    }

    /** What is not posted of the oldest batch that waits never will be, and nothing that is posted is under way. */
    private void giveUpOldest(final Share share, final long wrId, final int number)
    {
        final StagedBatch batch = batches.batch(number);
        share.waiting.removeOldest();
        waitingCount--;
        share.slots -= batch.count() - batch.posted();
        final int status = batch.endStatus() == WorkCompletionStatus.SUCCESS ?
            statusOfUnposted(batch) : batch.endStatus();
        batches.release(number);
        virtualQps.onBatchDone(RequestId.number(wrId), RequestId.cookie(wrId), status);
    }

    /** How a batch ends whose last requests are not posted any more. */
    static int statusOfUnposted(final StagedBatch batch)
    {
        return batch.posted() == 0 || batch.isReadOnly() ?
            WorkCompletionStatus.WR_FLUSH_ERR : BatchListener.OUTCOME_UNKNOWN;
    }

    /** A batch of which parts were posted has ended: forgets what of it waits. */
    void drop(final int owner, final int number)
    {
        final Share share = shares[owner];
        share.slots -= batches.batch(number).count() - batches.batch(number).completed();
        // Batches of a tenant are posted in order: what was posted in part is the oldest that waits.
        if (!share.waiting.isEmpty() && share.waiting.number(0) == number)
        {
            share.waiting.removeOldest();
            waitingCount--;
        }
    }

    /** Another queue pair grants what it grants: those who may not go on there FAIL, and their batches end. */
    void check(final PeerGrants grants)
    {
        for (final Share share : shares)
        {
            for (int i = 0; i < share.waiting.size(); i++)
            {
                virtualQps.mayReplay(
                    RequestId.number(share.waiting.wrId(i)), batches.batch(share.waiting.number(i)), grants);
            }
        }
    }

    /** Nothing that waits is posted any more. */
    void endAll()
    {
        for (final Share share : shares)
        {
            while (!share.waiting.isEmpty())
            {
                giveUpOldest(share, share.waiting.wrId(0), share.waiting.number(0));
            }
        }
    }
}
