package io.verbena.rdma.soft;

import io.verbena.rdma.spi.StagedQueuePair;
import io.verbena.rdma.spi.WorkRequest;
import io.verbena.rdma.verbs.AsyncEventType;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import static io.verbena.rdma.soft.QueuePairEntry.*;

/**
 * A queue pair whose requester executes its requests on the peer's memory within the doorbell; its state and what peers
 * need of it are an {@linkplain QueuePairEntry entry} of the device file.
 *
 * <p>Fencing: a requester is {@linkplain AccessMark marked inside} from before it looks at the peer's state and keys
 * until after its last access; whoever closes changes those first and then waits for the marks it finds.
 */
final class SoftQueuePair extends StagedQueuePair
{
    private static final int MIN_TOUCHED_REQUESTS = 4;
    private static final int MAX_TOUCHED_REQUESTS = 32;

    private final SoftDevice device;
    private final SoftProtectionDomain protectionDomain;
    private final SoftCompletionQueue sendCompletions;
    private final SoftCompletionQueue receiveCompletions;
    /** Null when it takes receives from a shared queue. */
    private final SoftReceiveQueue receives;
    /** Null when it has receives of its own. */
    private final SoftSharedReceiveQueue shared;
    private final int sendDepth;
    private final SoftRequester requester;
    private final AccessMark mark;
    private final long entry;
    private final int number;
    private final long readyWord;
    private final long errorWord;
    private long sendHead;
    private long waitDeadlineNs;
    private boolean hasWaitDeadline;
    private boolean isWaiting;
    private long touchSink;
    private volatile boolean isClosed;
    private boolean isDestroyed;
    /** Whether the event that it consumes no shared receive any more was raised; guarded by the collector of events. */
    private boolean hasToldLastReceive;
    private volatile SoftConnectionAttempt attempt;
    private volatile SoftPeer peer;

    SoftQueuePair(
        final SoftProtectionDomain protectionDomain,
        final SoftCompletionQueue sendCompletions,
        final SoftCompletionQueue receiveCompletions,
        final SoftSharedReceiveQueue shared,
        final QueuePairCapabilities capabilities,
        final int number)
    {
        super(QueuePairType.RC, capabilities, SoftDevice.MAX_MESSAGE_BYTES, true);
        this.device = protectionDomain.device();
        this.protectionDomain = protectionDomain;
        this.sendCompletions = sendCompletions;
        this.receiveCompletions = receiveCompletions;
        this.number = number;
        sendDepth = capabilities.maxSendRequests();
        entry = device.file().queuePairEntry(number);
        this.shared = shared;
        receives = shared != null ? null :
            new SoftReceiveQueue(device.file(), device.rings(), capabilities.maxReceiveRequests());
        mark = new AccessMark(entry);
        requester = new SoftRequester(this, protectionDomain, capabilities.maxReadAtomic());
        readyWord = stateWord(number, QueuePairState.RTS);
        errorWord = stateWord(number, QueuePairState.ERR);
        SharedWords.putInt(entry + TYPE_OFFSET, type().ordinal());
        SharedWords.putInt(entry + ACCESS_FLAGS_OFFSET, 0);
        SharedWords.putLong(entry + DESTINATION_OFFSET, 0);
        SharedWords.putInt(entry + DESTINATION_NUMBER_OFFSET, 0);
        SharedWords.putInt(entry + DOMAIN_OFFSET, protectionDomain.id());
        SharedWords.putLong(entry + RECEIVE_RING_OFFSET, shared == null ? receives.offset() : shared.offset());
        SharedWords.putLong(entry + RECEIVE_COMPLETIONS_OFFSET, receiveCompletions.inboxOffset());
        SharedWords.putLong(entry + SEND_COMPLETIONS_OFFSET, sendCompletions.inboxOffset());
        SharedWords.putInt(entry + MAX_READS_OFFSET, capabilities.maxReadAtomic());
        SharedWords.putLong(entry + EVENTS_OFFSET, 0);
        SharedWords.putLongVolatile(entry + STATE_OFFSET, stateWord(number, QueuePairState.RESET));
    }

    SoftDevice device()
    {
        return device;
    }

    @Override
    public int number()
    {
        return number;
    }

    @Override
    public String carrier()
    {
        return peer == null ? "none" : "shared-memory";
    }

    @Override
    public QueuePairState state()
    {
        return isDestroyed ? QueuePairState.RESET : QueuePairEntry.state(word());
    }

    boolean isClosed()
    {
        return isClosed;
    }

    /** Address of its entry in the device file. */
    long entry()
    {
        return entry;
    }

    boolean isPeerAlive()
    {
        final SoftPeer other = peer;
        return other != null && other.file().isOpen();
    }

    /** Any thread: whether a claim of this visitor is open in its receive queue. */
    boolean hasClaimOf(final int visitor)
    {
        return receives != null && receives.hasClaimOf(visitor);
    }

    /** Owner: marks itself inside a device that it is not connected to yet. */
    void enter(final SoftPeer target)
    {
        mark.target(target.address().gidLow());
        mark.enter();
    }

    /** Owner: after {@link #enter}. */
    void leave()
    {
        mark.leave();
    }

    /** Any thread: events that peers left, as a set of ordinals of AsyncEventType; takes them. */
    long takeEvents()
    {
        final long left = SharedWords.getLongAcquire(entry + EVENTS_OFFSET) == 0 ?
            0 : SharedWords.getAndSetLong(entry + EVENTS_OFFSET, 0);
        return shared == null ? left : left | lastReceiveEvent();
    }

    /** In ERR, with the peer outside, no receive of the shared queue is consumed any more: told once. */
    private long lastReceiveEvent()
    {
        final boolean isInError = word() == errorWord;
        final boolean isTold = hasToldLastReceive && isInError;
        hasToldLastReceive = isTold || isInError && !isPeerInside();
        return hasToldLastReceive && !isTold ? 1L << AsyncEventType.QP_LAST_WQE_REACHED.ordinal() : 0;
    }

    private boolean isPeerInside()
    {
        final SoftPeer other = peer;
        return other != null && other.file().isOpen() && AccessMark.isInside(AccessMark.sequence(peerEntry(other)));
    }

    SoftReceiveQueue receives()
    {
        return receives;
    }

    /** For tests: called between the check of a request and its access. */
    void beforeAccess(final Runnable hook)
    {
        requester.beforeAccess = hook;
    }

    @Override
    public int postReceive(final long wrId, final long localAddress, final int lengthBytes, final int localKey)
    {
        if (receives == null)
        {
            throw new RdmaException("queue pair has no receive queue of its own: post to its shared one, " + this);
        }
        if (isDestroyed || word() == stateWord(number, QueuePairState.RESET))
        {
            return PostStatus.INVALID_STATE;
        }
        if (!receives.offer(wrId, localAddress, lengthBytes, localKey))
        {
            return PostStatus.QUEUE_FULL;
        }
        // After the offer: whoever moved to ERR before has been asked to flush, and now flushes this one too.
        if (word() == errorWord)
        {
            receiveCompletions.requestAttention();
        }
        return PostStatus.OK;
    }

    /** Polling thread: hands out completions that lie in slots, from an index on; returns the index after the last. */
    int drainDirect(final WorkCompletions completions, final int index)
    {
        return isClosed ? index : receives.drain(completions, index, number);
    }

    /** Whether its receives complete in this queue, and could in their slots. */
    boolean mayBeDirectIn(final SoftCompletionQueue queue)
    {
        return queue == receiveCompletions && type() == QueuePairType.RC && receives != null;
    }

    /** How many completions may wait in a queue at once on behalf of this queue pair. */
    int depthIn(final SoftCompletionQueue queue)
    {
        final int receiveDepth = receives == null ? shared.capacity() : receives.capacity();
        return (queue == sendCompletions ? sendDepth : 0) + (queue == receiveCompletions ? receiveDepth : 0);
    }

    /** Polling thread: a completion of a receive was handed out. */
    void releaseReceive(final long slotInRing)
    {
        if (receives != null)
        {
            receives.release(slotInRing);
        }
        else
        {
            shared.release(slotInRing, index());
        }
    }

    @Override
    public void moveToError()
    {
        if (!isDestroyed)
        {
            QueuePairEntry.moveToError(device.file(), entry, number);
        }
    }

    @Override
    public void close()
    {
        if (isDestroyed)
        {
            return;
        }
        final SoftConnectionAttempt pending = attempt;
        if (pending != null)
        {
            pending.cancel();
        }
        isClosed = true;
        SharedWords.putLongVolatile(entry + STATE_OFFSET, (long)number << Byte.SIZE | GONE);
        sendCompletions.removeWaiting(this);
        device.outside().awaitOutside(device.file(), entry, 0);
        awaitRequesters();
        device.windows().unbindAll(number);
        isDestroyed = true;
        sendCompletions.detach(this);
        receiveCompletions.detach(this);
        if (receives != null)
        {
            receives.close();
        }
        else
        {
            shared.releaseAll(index());
            shared.detach();
        }
        protectionDomain.queuePairClosed(this);
        // Nobody finds this queue pair any more who would look at its peer.
        releasePeer();
    }

    /** Waits until the peer is outside, if it was inside when this was called. */
    void awaitRequesters()
    {
        final SoftPeer other = peer;
        if (other != null)
        {
            device.outside().awaitOutside(other.file(), peerEntry(other), device.address().gidLow());
        }
    }

    /** The mark of the requester that is inside through this queue pair now; 0 when none is. */
    long insideMark()
    {
        final SoftPeer other = peer;
        if (other == null || !other.file().isOpen())
        {
            return 0;
        }
        final long peerEntry = peerEntry(other);
        final long found = AccessMark.sequence(peerEntry);
        return AccessMark.target(peerEntry, found) == device.address().gidLow() ? found : 0;
    }

    /** Ends the peer's process, whose requester has been inside for too long; false when that may not be done. */
    boolean endRequester()
    {
        final SoftPeer other = peer;
        return other == null || device.outside().end(other.file());
    }

    /** Owner or the service: prepares to take receives. */
    void toInit()
    {
        if (isClosed || !SharedWords.compareAndSetLong(
            entry + STATE_OFFSET, stateWord(number, QueuePairState.RESET), stateWord(number, QueuePairState.INIT)))
        {
            throw new RdmaException("queue pair must be open and in state RESET: " + this);
        }
    }

    /**
     * Owner: begins to connect.
     *
     * @param attempt     pending.
     * @param target      device of the peer, used for this queue pair; null when there is none.
     * @param accessFlags rights of the peer.
     */
    void attempt(final SoftConnectionAttempt attempt, final SoftPeer target, final int accessFlags)
    {
        this.attempt = attempt;
        peer = target;
        SharedWords.putInt(entry + ACCESS_FLAGS_OFFSET, accessFlags);
    }

    /** The connecting side failed: receives posted so far are dropped without completions. */
    void toReset(final SoftConnectionAttempt failed)
    {
        if (attempt == failed && SharedWords.compareAndSetLong(
            entry + STATE_OFFSET, stateWord(number, QueuePairState.INIT), stateWord(number, QueuePairState.RESET)))
        {
            if (receives != null)
            {
                receives.reset();
            }
            releasePeer();
        }
    }

    private void releasePeer()
    {
        final SoftPeer other = peer;
        if (other != null)
        {
            peer = null;
            other.unuse();
        }
    }

    /** Acceptor: binds this side to its peer and opens it. */
    void establish(final SoftPeer target, final int targetNumber, final int accessFlags)
    {
        peer = target;
        SharedWords.putInt(entry + ACCESS_FLAGS_OFFSET, accessFlags);
        connect(entry, number, target.address().gidLow(), targetNumber);
    }

    /** Acceptor, for both sides: writes the destination into an entry and opens it. */
    static void connect(final long entry, final int number, final long destination, final int destinationNumber)
    {
        SharedWords.putLong(entry + DESTINATION_OFFSET, destination);
        SharedWords.putInt(entry + DESTINATION_NUMBER_OFFSET, destinationNumber);
        SharedWords.compareAndSetLong(
            entry + STATE_OFFSET, stateWord(number, QueuePairState.INIT), stateWord(number, QueuePairState.RTS));
    }

    @Override
    protected void onDoorbell()
    {
        if (!isWaiting)
        {
            execute();
        }
    }

    /** Polling thread: tries again what waits for the peer. */
    void retry()
    {
        execute();
    }

    /** Polling thread: completes everything outstanding with WR_FLUSH_ERR once in ERR. */
    void flushIfInError()
    {
        if (shared != null && peer != null && !isPeerAlive() && shared.hasDeadClaim(index(), device::isDeadVisitor))
        {
            // Nobody else would ever tell that this receive is lost.
            moveToError();
        }
        if (word() == errorWord)
        {
            flushSends();
            flushReceives();
        }
    }

    @Override
    public String toString()
    {
        return "SoftQueuePair{device=" + device.name() + ", number=" + number + ", state=" + state() +
            ", isClosed=" + isClosed + '}';
    }

    private long word()
    {
        return SharedWords.getLongAcquire(entry + STATE_OFFSET);
    }

    private long peerEntry(final SoftPeer other)
    {
        return other.file().queuePairEntry(SharedWords.getInt(entry + DESTINATION_NUMBER_OFFSET));
    }

    private void execute()
    {
        if (!requester.hasTarget() && word() == readyWord)
        {
            requester.target(peer, SharedWords.getInt(entry + DESTINATION_NUMBER_OFFSET));
            mark.target(peer.address().gidLow());
        }
        mark.enter();
        try
        {
            requester.begin();
            executeInside();
        }
        finally
        {
            mark.leave();
        }
        if (word() == errorWord)
        {
            flushSends();
        }
    }

    private void executeInside()
    {
        final long tail = sendTail();
        long position = sendHead;
        long touched = tail - position < MIN_TOUCHED_REQUESTS ? tail : position;
        while (position < tail && word() == readyWord)
        {
            if (position == touched)
            {
                touched = Math.min(tail, position + MAX_TOUCHED_REQUESTS);
                touch(position, touched);
            }
            final WorkRequest request = request(position);
            int status = requester.execute(request);
            if (status == SoftRequester.WAIT)
            {
                status = awaitPeer();
            }
            if (status < 0)
            {
                keepWaiting();
                break;
            }
            hasWaitDeadline = false;
            position++;
            sendHead = position;
            complete(request, status, position);
        }
        if (isWaiting && (position == tail || word() != readyWord))
        {
            isWaiting = false;
            sendCompletions.removeWaiting(this);
        }
    }

    private void touch(final long fromPosition, final long toPosition)
    {
        long sum = 0;
        for (long position = fromPosition; position < toPosition; position++)
        {
            sum += requester.touch(request(position));
        }
        touchSink = sum;
    }

    private void complete(final WorkRequest request, final int status, final long position)
    {
        if (status != WorkCompletionStatus.SUCCESS)
        {
            moveToError();
            sendCompletions.pushSend(this, request.wrId, status, 0, 0, position);
        }
        else if ((request.flags & SendFlags.SIGNALED) != 0)
        {
            sendCompletions.pushSend(
                this, request.wrId, status, request.operation, request.lengthBytes, position);
        }
    }

    /** The peer has no receive posted: wait, until the retries are over. */
    private int awaitPeer()
    {
        final long nowNs = device.clock().nanoTime();
        if (!hasWaitDeadline)
        {
            hasWaitDeadline = true;
            waitDeadlineNs = nowNs + device.rnrTimeoutNs();
        }
        return nowNs - waitDeadlineNs >= 0 ? WorkCompletionStatus.RNR_RETRY_EXC_ERR : SoftRequester.WAIT;
    }

    /** The polling thread tries again. */
    private void keepWaiting()
    {
        if (!isWaiting)
        {
            isWaiting = true;
            sendCompletions.addWaiting(this);
        }
    }

    private void flushSends()
    {
        final long tail = sendTail();
        while (sendHead < tail)
        {
            final WorkRequest request = request(sendHead);
            sendHead++;
            sendCompletions.pushSend(
                this, request.wrId, WorkCompletionStatus.WR_FLUSH_ERR, 0, 0, sendHead);
        }
        if (isWaiting)
        {
            isWaiting = false;
            sendCompletions.removeWaiting(this);
        }
    }

    private void flushReceives()
    {
        // The peer may be consuming a receive right now: look again at the next poll.
        if (isPeerInside() || peer != null && !isPeerAlive() && !flushDeadClaims())
        {
            receiveCompletions.requestAttention();
            return;
        }
        if (receives == null)
        {
            return;
        }
        for (long slot = receives.claimForFlush(index()); slot != 0; slot = receives.claimForFlush(index()))
        {
            flushReceive(slot, receives.ring());
        }
    }

    private void flushReceive(final long slot, final long ring)
    {
        receiveCompletions.pushFlushedReceive(
            this, SharedWords.getLong(slot + ReceiveRing.WR_ID_OFFSET), slot - ring);
    }

    private int index()
    {
        return number & DeviceFileDescriptor.MAX_QUEUE_PAIRS - 1;
    }

    /** Receives that a dead peer was filling come first, once what it had finished has been handed out. */
    private boolean flushDeadClaims()
    {
        if (receiveCompletions.hasReceived(this))
        {
            return false;
        }
        if (receives != null)
        {
            receives.flushClaimed(slot -> flushReceive(slot, receives.ring()));
        }
        else
        {
            shared.flushClaimed(index(), device::isDeadVisitor, slot -> flushReceive(slot, shared.ring()));
        }
        return true;
    }
}
