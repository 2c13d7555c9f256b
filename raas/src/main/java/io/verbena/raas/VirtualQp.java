package io.verbena.raas;

import io.verbena.raas.batch.BatchPool;
import io.verbena.raas.batch.StagedBatch;
import io.verbena.raas.completion.RequestId;
import io.verbena.raas.completion.VirtualQpOwner;
import io.verbena.raas.limit.RaasMisuseException;
import io.verbena.raas.region.TenantRegion;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.VerbCounters;

import java.util.List;

/**
 * A logical connection to a peer over a physical queue pair shared with others. Requests are staged between
 * {@link #begin()} and {@link #complete(int)} and posted together.
 *
 * <p>Order: batches of one virtual queue pair execute and complete in posting order, with the verbs' rule that a WRITE
 * after a READ or atomic may start before its data has arrived unless {@link #fenceNext()} says otherwise.
 *
 * <p>Every request is checked before anything is posted: state, local region and bounds, remote region granted by the
 * peer with the right needed, bounds, alignment of atomics, length of the batch. A violation throws
 * {@link RaasMisuseException}, drops the staged batch and changes nothing for anybody.
 *
 * <p>As a {@link OneSidedPort} it reaches the region named when it was connected, under the key granted for it.
 *
 * <p>One owner thread, that of the {@link RaasContext}. Closed by whoever connected it.
 */
public final class VirtualQp implements OneSidedPort, AutoCloseable
{
    /** Life of a virtual queue pair. */
    public enum State
    {
        /** A physical queue pair to the peer is being connected. */
        CONNECTING,
        /** Requests can be posted; only READs as long as {@link VirtualQp#carriesWrites()} is false. */
        READY,
        /** Not connected, or the physical queue pair broke; {@link #failure()} says why. Connect anew. */
        FAILED,
        /** Closed by its user. */
        CLOSED
    }

    private final ContextResources resources;
    private final VirtualQpOwner owner;
    private final int number;
    private final PeerAddress peer;
    private final BatchListener listener;
    private final ReadTargetAddress readTarget;
    private final BatchPool batches;
    private final Tenant tenant;
    private final RequestChecks checks;
    private final VerbCounters counters = new VerbCounters();
    private final boolean isKeepingRequests;
    private ClientChannel channel;
    private final PeerGrants.OfPort grants;
    private long grantEndsNs = Long.MAX_VALUE;
    private long connectDeadlineNs;
    private State state = State.CONNECTING;
    private String failure = "";
    private int batch = BatchPool.NONE;
    private boolean isBatchOpen;
    private boolean isBatchVoid;
    private boolean isBatchRefused;
    private int nextFlags;
    private int outstandingBatches;
    private int unknownOutcomes;

    VirtualQp(
        final ContextResources resources, final Tenant tenant, final VirtualQpOwner owner, final int number,
        final PeerAddress peer, final ReadTargetAddress readTarget, final RemoteRegion defaultRegion,
        final BatchListener listener)
    {
        this.resources = resources;
        this.owner = owner;
        this.readTarget = readTarget;
        grants = new PeerGrants.OfPort(defaultRegion);
        this.number = number;
        this.peer = peer;
        this.listener = listener;
        batches = resources.batches();
        this.tenant = tenant;
        checks = tenant.checks();
        isKeepingRequests = resources.isReplaying();
    }

    /** @return the virtual queue pair number: generation in the upper, index in the lower 16 bits. */
    public int number()
    {
        return number;
    }

    /** @return whose it is. */
    public Tenant tenant()
    {
        return tenant;
    }

    /** @return the peer. */
    public PeerAddress peer()
    {
        return peer;
    }

    /** @return the state now. */
    public State state()
    {
        return state;
    }

    /** @return why it FAILED, one line for people; empty otherwise. */
    public String failure()
    {
        return failure;
    }

    /** @return batches that ended with {@link BatchListener#OUTCOME_UNKNOWN}. */
    public int unknownOutcomes()
    {
        return unknownOutcomes;
    }

    /**
     * Whether more than READs can be posted now. Until then a batch with anything else is QUEUE_FULL, and calls wait:
     * while the peer was reached over DC and is still being connected, and, with nothing at all to be posted, while a
     * queue pair that broke is being replaced.
     *
     * @return true while READY and connected.
     */
    public boolean carriesWrites()
    {
        return state == State.READY && channel.carriesWrites();
    }

    /** @return what the peer's acceptor said; empty before READY, and over DC. A copy. */
    public byte[] peerPrivateData()
    {
        return state == State.READY ? channel.privateData().clone() : new byte[0];
    }

    /** @return regions that the peer granted to this connection; empty before READY. */
    public List<RemoteRegion> peerRegions()
    {
        return state == State.READY ? channel.grants().regions() : List.of();
    }

    @Override
    public boolean isReady()
    {
        return state == State.READY;
    }

    @Override
    public boolean isFailed()
    {
        return state == State.FAILED || state == State.CLOSED;
    }

    @Override
    public long regionLengthBytes()
    {
        return grants.region().lengthBytes();
    }

    /**
     * Limits posting to the time for which the peer has granted its memory: what is posted later is refused there, and
     * breaks the queue pair for everybody. Compared with the time given to {@link RaasContext#poll(long)} last, so that
     * no clock is read: who sets this polls that way, and needs a margin as long as a duty cycle.
     *
     * @param endsNs from when on {@link #complete} posts nothing, by {@link RaasContext#clock()}; may be moved, as a
     *               lease is renewed. {@link Long#MAX_VALUE}, as at first: never.
     */
    public void grantedUntil(final long endsNs)
    {
        grantEndsNs = endsNs;
    }

    /** @return requests that a batch can still have now; 0 unless READY. Grows with {@link RaasContext#poll()}. */
    @Override
    public int space()
    {
        if (state != State.READY || batch == BatchPool.NONE && !(batches.hasFree() && tenant.mayOpenBatch()))
        {
            return 0;
        }
        return Math.max(0, Math.min(batches.maxRequests(), channel.dataSpace(tenant)) - stagedCount());
    }

    /** @return batches posted and not called back. */
    public int outstandingBatches()
    {
        return outstandingBatches;
    }

    @Override
    public void preload(final long remoteOffset, final int lengthBytes)
    {
        if (state == State.READY)
        {
            channel.preload(
                grants.region().address() + remoteOffset, lengthBytes, grants.region().remoteKey());
        }
    }

    private int stagedCount()
    {
        return batch == BatchPool.NONE ? 0 : batches.batch(batch).count();
    }

    /**
     * Opens a batch; one at a time, while other virtual queue pairs may have theirs open. Where as many are open as
     * {@link RaasConfiguration#maxOpenBatches()} says, this one is QUEUE_FULL at {@link #complete}.
     */
    @Override
    public void begin()
    {
        if (isBatchOpen)
        {
            throw misuse("begin() while a batch of " + stagedCount() + " requests is open: complete() or abort() it");
        }
        if (state == State.CLOSED)
        {
            throw misuse("begin() on a closed virtual queue pair");
        }
        isBatchOpen = true;
        if (state == State.READY && grants.isStale(channel.grants()) && !grants.renew(channel.grants()))
        {
            fail(peer + ": the peer does not grant its memory any more, since a queue pair broke");
        }
        // Decided once: a batch begun before READY must not lose its first requests and keep its last.
        isBatchVoid = state != State.READY;
        batch = isBatchVoid ? BatchPool.NONE : tenant.lend(batches);
        isBatchRefused = batch == BatchPool.NONE;
    }

    /**
     * From now on this reaches a region that the peer has granted by a call, and nothing else, and FAILS when its queue
     * pair is replaced. While READY, connected, with nothing outstanding.
     *
     * @param region under a key that was granted apart from those of the connection.
     */
    public void reach(final RemoteRegion region)
    {
        grants.reach(channel.grants(), region);
    }

    @Override
    public void read(final MemoryRegion local, final long localOffset, final int lengthBytes, final long remoteOffset)
    {
        read(local, localOffset, lengthBytes, grants.region(), remoteOffset);
    }

    /**
     * Stages READ.
     *
     * @param local        target, LOCAL_WRITE needed.
     * @param localOffset  first byte in it.
     * @param remote       granted by the peer, or a part of it.
     * @param remoteOffset first byte in {@code remote}.
     */
    public void read(
        final MemoryRegion local, final long localOffset, final int lengthBytes, final RemoteRegion remote,
        final long remoteOffset)
    {
        stage(StagedBatch.READ, AccessFlags.REMOTE_READ, local, localOffset, lengthBytes, remote, remoteOffset);
    }

    @Override
    public void write(final MemoryRegion local, final long localOffset, final int lengthBytes, final long remoteOffset)
    {
        write(local, localOffset, lengthBytes, grants.region(), remoteOffset);
    }

    /** Stages WRITE; parameters as in {@link #read}. Local bytes must stay unchanged until the batch completes. */
    public void write(
        final MemoryRegion local, final long localOffset, final int lengthBytes, final RemoteRegion remote,
        final long remoteOffset)
    {
        stage(StagedBatch.WRITE, AccessFlags.REMOTE_WRITE, local, localOffset, lengthBytes, remote, remoteOffset);
    }

    @Override
    public void compareSwap(final MemoryRegion local, final long localOffset, final long remoteOffset,
        final long expected, final long desired)
    {
        compareSwap(local, localOffset, grants.region(), remoteOffset, expected, desired);
    }

    /**
     * Stages CMP_SWAP of an 8-byte aligned remote word; parameters as in {@link #read}.
     *
     * @param local    receives the 8 bytes found, aligned to 8 in memory; equal to {@code expected} when it swapped.
     * @param expected compared with the word.
     * @param desired  stored when equal.
     */
    public void compareSwap(
        final MemoryRegion local, final long localOffset, final RemoteRegion remote, final long remoteOffset,
        final long expected, final long desired)
    {
        stageAtomic(StagedBatch.COMPARE_SWAP, local, localOffset, remote, remoteOffset, expected, desired);
    }

    /** Stages FETCH_ADD of an 8-byte aligned remote word; parameters as in {@link #compareSwap}. */
    public void fetchAdd(
        final MemoryRegion local, final long localOffset, final RemoteRegion remote, final long remoteOffset,
        final long addend)
    {
        stageAtomic(StagedBatch.FETCH_ADD, local, localOffset, remote, remoteOffset, addend, 0);
    }

    private void stageAtomic(
        final int opcode, final MemoryRegion local, final long localOffset, final RemoteRegion remote,
        final long remoteOffset, final long first, final long second)
    {
        if (stage(opcode, AccessFlags.REMOTE_ATOMIC, local, localOffset, Long.BYTES, remote, remoteOffset))
        {
            batches.batch(batch).operands(first, second);
        }
    }

    /** The next request staged starts only after earlier READs and atomics of the queue pair have completed. */
    @Override
    public void fenceNext()
    {
        nextFlags |= SendFlags.FENCE;
    }

    /** Posts a request of a message, which was checked, as a batch; returns what {@link #complete} does. */
    int post(final int opcode, final long localAddress, final int lengthBytes, final int localKey,
        final long remoteAddress, final int remoteKey, final int immediate, final int cookie)
    {
        begin();
        isBatchRefused |= !carriesWrites();
        if (!isBatchRefused)
        {
            batches.batch(batch).add(opcode, 0, localAddress, lengthBytes, localKey, remoteAddress, remoteKey);
            batches.batch(batch).operands(immediate, 0);
        }
        return complete(cookie);
    }

    /** Drops the batch under construction. */
    @Override
    public void abort()
    {
        if (batch != BatchPool.NONE)
        {
            batches.giveBack(batch);
            tenant.onBatchClosed();
            batch = BatchPool.NONE;
        }
        nextFlags = 0;
        isBatchOpen = false;
    }

    /**
     * Posts the batch, the last request signalled; {@link BatchListener} is called once, later. Its doorbell is rung at
     * once, or shared: in callbacks of a poll, and behind {@link RaasContext#gather()}.
     *
     * @param cookie comes back in the callback; its meaning is the caller's.
     * @return {@link io.verbena.rdma.verbs.PostStatus}: QUEUE_FULL (poll, then stage it again; also with anything but
     *         READs before {@link #carriesWrites()}, and when too many batches were open at {@link #begin()}) or
     *         INVALID_STATE (not READY, or the grant has {@linkplain #grantedUntil ended}): then nothing was posted,
     *         no callback comes, and the batch is dropped.
     */
    @Override
    public int complete(final int cookie)
    {
        if (!isBatchOpen || stagedCount() == 0 && !isBatchRefused)
        {
            final String what = isBatchOpen ? "complete() of an empty batch" : "complete() without begin()";
            abort();
            throw misuse(what);
        }
        try
        {
            return post(cookie);
        }
        finally
        {
            abort();
        }
    }

    /**
     * @return how its messages travel, see {@link io.verbena.rdma.verbs.QueuePair#transport()}; none unless READY, and
     *         while a queue pair that broke is being replaced.
     */
    public String transport()
    {
        return state != State.READY ? "none" : channel.way();
    }

    /** @return what was posted here: requests by kind, doorbells, bytes. Live. */
    public VerbCounters counters()
    {
        return counters;
    }

    /**
     * Closes; no callback comes any more. Requests in flight still execute, and READs among them still write local
     * memory: keep that memory registered until {@link #outstandingBatches()} is 0.
     */
    @Override
    public void close()
    {
        if (state != State.CLOSED)
        {
            abort();
            state = State.CLOSED;
            tenant.onVirtualQp(-1);
            owner.onEnded();
            owner.onClosed(number);
            if (outstandingBatches == 0)
            {
                owner.onReleased(number);
            }
        }
    }

    @Override
    public String toString()
    {
        return "VirtualQp{number=0x" + Integer.toHexString(number) + " peer=" + peer + " state=" + state +
            " outstandingBatches=" + outstandingBatches + (failure.isEmpty() ? "" : " failure=" + failure) + '}';
    }

    ReadTargetAddress readTarget()
    {
        return readTarget;
    }

    RemoteRegion defaultRegion()
    {
        return grants.published();
    }

    ClientChannel channel()
    {
        return channel;
    }

    long connectDeadlineNs()
    {
        return connectDeadlineNs;
    }

    /** The channel that carries it; it may be connecting still. */
    void bind(final ClientChannel newChannel, final long deadlineNs)
    {
        channel = newChannel;
        connectDeadlineNs = deadlineNs;
    }

    void onConnected()
    {
        if (state == State.CONNECTING)
        {
            state = State.READY;
        }
    }

    boolean isGrantOver()
    {
        return resources.polledAtNs() >= grantEndsNs;
    }

    void fail(final String reason)
    {
        if (state != State.CLOSED)
        {
            state = State.FAILED;
            failure = reason;
            owner.onEnded();
        }
    }

    /** A batch is done; returns false when nobody hears of it any more. */
    boolean onBatchDone(final int cookie, final int status)
    {
        outstandingBatches--;
        if (state == State.CLOSED)
        {
            if (outstandingBatches == 0)
            {
                owner.onReleased(number);
            }
            return false;
        }
        if (status == BatchListener.OUTCOME_UNKNOWN)
        {
            unknownOutcomes++;
            tenant.onUnknownOutcome();
            resources.replays().onUnknownOutcome();
        }
        try
        {
            listener.onBatchComplete(this, cookie, status);
        }
        catch (final RuntimeException ex)
        {
            resources.deferError(ex);
        }
        return true;
    }

    private int post(final int cookie)
    {
        if (isBatchVoid || state != State.READY || isGrantOver())
        {
            return PostStatus.INVALID_STATE;
        }
        if (isBatchRefused)
        {
            return PostStatus.QUEUE_FULL;
        }
        final StagedBatch staged = batches.batch(batch);
        // Granted anew since it was begun, which is when the queue pair was connected: its keys are those of before.
        if (grants.isStale(channel.grants()) || staged.count() > channel.dataSpace(tenant))
        {
            return refuse(staged.count());
        }
        final boolean isKept = isKeepingRequests || channel.isScheduling();
        final int status = channel.postBatch(
            tenant, staged, isKept ? batch : BatchPool.NONE, RequestId.encode(number, cookie));
        if (status == PostStatus.OK)
        {
            outstandingBatches++;
            final long bytesBefore = counters.payloadBytes;
            staged.countInto(counters);
            tenant.onPosted(staged.count(), counters.payloadBytes - bytesBefore);
            if (isKept)
            {
                batches.keep(batch);
                tenant.onBatchClosed();
                batch = BatchPool.NONE;
            }
        }
        return status;
    }

    private int refuse(final int requestCount)
    {
        final String problem = tenant.onNoRoom(requestCount, channel.isScheduling());
        if (problem != null)
        {
            throw misuse(problem);
        }
        return PostStatus.QUEUE_FULL;
    }

    /** Checks and stages; false: {@link #complete} says why not. */
    private boolean stage(
        final int opcode, final int right, final MemoryRegion local, final long localOffset, final int lengthBytes,
        final RemoteRegion remote, final long remoteOffset)
    {
        if (!isBatchOpen)
        {
            throw misuse(StagedBatch.name(opcode) + " without begin()");
        }
        if (isBatchVoid || state != State.READY || batch == BatchPool.NONE)
        {
            return false;
        }
        final StagedBatch staged = batches.batch(batch);
        final int flags = nextFlags;
        nextFlags = 0;
        if (grants.isStale(channel.grants()) || opcode != StagedBatch.READ && !channel.carriesWrites())
        {
            // Neither checked nor refused: what the peer grants is known when it is connected.
            isBatchRefused = true;
            return false;
        }
        if (!(local instanceof final TenantRegion region) ||
            !checks.allows(grants.checked(), opcode, right, region, localOffset, lengthBytes, remote, remoteOffset) ||
            staged.count() >= staged.capacity())
        {
            final String violation = checks.violation(
                grants.checked(), opcode, right, local, localOffset, lengthBytes, remote, remoteOffset, staged);
            abort();
            throw misuse(violation);
        }
        staged.add(opcode, flags, region.address + localOffset, lengthBytes, region.localKey,
            remote.address() + remoteOffset, remote.remoteKey());
        return true;
    }

    ContextResources resources()
    {
        return resources;
    }

    private RaasMisuseException misuse(final String what)
    {
        return new RaasMisuseException(what + "; " + this);
    }
}
