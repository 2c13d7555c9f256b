package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.AccessMark;
import io.verbena.rdma.soft.shared.QueuePairEntry;
import io.verbena.rdma.soft.shared.QueuePairFailure;
import io.verbena.rdma.soft.shared.SharedWords;
import io.verbena.rdma.spi.QueuePairTransitions;
import io.verbena.rdma.verbs.AsyncEventType;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.WorkCompletions;

import java.util.function.Consumer;

import static io.verbena.rdma.soft.shared.QueuePairEntry.*;

/**
 * A queue pair: its states and receives. What it sends, {@link SoftSendQueue} executes on the peer's memory within the
 * doorbell; what it is connected to is {@link SoftConnection}'s; state and what peers need of it are an
 * {@linkplain QueuePairEntry entry} of the device file.
 *
 * <p>Fencing: a requester is {@linkplain AccessMark marked inside} from before it looks at the peer's state and keys
 * until after its last access; whoever closes, or leaves the states that serve inbound requests, changes those first
 * and then waits for the marks it finds.
 */
final class SoftQueuePair extends SoftSender
{
    /** The transport between devices of one host. */
    static final String SHARED_MEMORY = "shared-memory";

    /** The attempt to connect it. */
    interface Attempt
    {
        /** Its queue pair is being closed. */
        void cancel();
    }

    private final SoftHost device;
    private final Consumer<SoftResponder> onClosed;
    private final SoftCompletionQueue sendCompletions;
    private final SoftCompletionQueue receiveCompletions;
    private final SoftReceiveSide receives;
    private final SoftConnection connection;
    private final SoftRequester requester;
    private final SoftSendQueue sends;
    private final AccessMark mark;
    private final long entry;
    private final int number;
    private final int sendDepth;
    private final long resetWord;
    private final long errorWord;
    private volatile boolean isClosed;
    private boolean isDestroyed;
    private volatile Attempt attempt;

    /** @param onClosed called once. */
    SoftQueuePair(
        final SoftHost device,
        final DomainIdentity domain,
        final Consumer<SoftResponder> onClosed,
        final SoftCompletionQueue sendCompletions,
        final SoftCompletionQueue receiveCompletions,
        final SoftSharedReceiveQueue shared,
        final QueuePairOptions options,
        final int number)
    {
        super(
            options.type(),
            options.capabilities(),
            options.type() == QueuePairType.UD ? SoftHost.PATH_MTU_BYTES : SoftHost.MAX_MESSAGE_BYTES);
        this.device = device;
        this.onClosed = onClosed;
        this.sendCompletions = sendCompletions;
        this.receiveCompletions = receiveCompletions;
        this.number = number;
        sendDepth = options.capabilities().maxSendRequests();
        entry = device.file().queuePairEntry(number);
        mark = new AccessMark(entry, device.pace());
        connection = new SoftConnection(device, type(), entry, options.capabilities().maxReadAtomic());
        receives = new SoftReceiveSide(
            this, connection, receiveCompletions, shared, options.capabilities().maxReceiveRequests());
        requester = new SoftRequester(device, domain, connection, type(), number);
        sends = new SoftSendQueue(this, connection, sendCompletions, requester, route(), mark);
        resetWord = stateWord(number, QueuePairState.RESET);
        errorWord = stateWord(number, QueuePairState.ERR);
        SharedWords.putInt(entry + TYPE_OFFSET, type().ordinal());
        SharedWords.putInt(entry + DOMAIN_OFFSET, domain.id());
        SharedWords.putLong(entry + RECEIVE_RING_OFFSET, receives.offset());
        SharedWords.putLong(entry + RECEIVE_COMPLETIONS_OFFSET, receiveCompletions.inboxOffset());
        SharedWords.putLong(entry + SEND_COMPLETIONS_OFFSET, sendCompletions.inboxOffset());
        SharedWords.putLong(entry + EVENTS_OFFSET, 0);
        connection.reset();
        SharedWords.putLongVolatile(entry + STATE_OFFSET, resetWord);
    }

    private SoftRoute route()
    {
        return switch (type())
        {
            case RC, UC -> null;
            case UD -> new SoftDatagramRoute(device, connection, requester, mark);
            case DC_INITIATOR -> new SoftDcRoute(device, number, connection, requester, mark);
        };
    }

    /** A queue pair of this device. */
    static SoftQueuePair of(final SoftHost device, final QueuePair queuePair)
    {
        if (queuePair instanceof SoftQueuePair soft && soft.device == device)
        {
            return soft;
        }
        throw new RdmaException(
            "not a queue pair of this device: device=" + device.name() + ", queuePair=" + queuePair);
    }

    @Override
    SoftHost host()
    {
        return device;
    }

    @Override
    public int number()
    {
        return number;
    }

    @Override
    public String transport()
    {
        return connection.peer() == null ? "none" : SHARED_MEMORY;
    }

    @Override
    public QueuePairState state()
    {
        return isDestroyed ? QueuePairState.RESET : QueuePairEntry.state(word());
    }

    @Override
    public boolean isClosed()
    {
        return isClosed;
    }

    @Override
    long entry()
    {
        return entry;
    }

    @Override
    boolean isInError()
    {
        return word() == errorWord;
    }

    boolean isPeerAlive()
    {
        return connection.isPeerAlive();
    }

    @Override
    public void awaitRequesters()
    {
        connection.awaitRequesters();
    }

    /** Any thread: whether a claim of this visitor is open in its receive queue. */
    @Override
    public boolean hasClaimOf(final int visitor)
    {
        return receives.hasClaimOf(visitor);
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
    @Override
    public long takeEvents()
    {
        return QueuePairEntry.takeEvents(entry) | receives.takeEvents();
    }

    /** Its own queue of receives; null when it takes them from a shared one. */
    @Override
    public SoftReceiveQueue receives()
    {
        return receives.own();
    }

    /** For tests: called between the check of a request and its access. */
    void beforeAccess(final Runnable hook)
    {
        requester.remote().beforeAccess = hook;
    }

    /** For tests: called before a system call wakes a receiver. */
    void beforeWake(final Runnable hook)
    {
        requester.remote().beforeWake = hook;
    }

    @Override
    public int postReceive(final long wrId, final long localAddress, final int lengthBytes, final int localKey)
    {
        receives.checkOwn();
        if (isDestroyed || word() == resetWord)
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

    @Override
    int drainDirect(final WorkCompletions completions, final int index)
    {
        return isClosed ? index : receives.own().drain(completions, index, number);
    }

    @Override
    boolean mayBeDirectIn(final CompletionQueue queue)
    {
        return queue == receiveCompletions && type() == QueuePairType.RC && receives.own() != null;
    }

    @Override
    public int depthIn(final CompletionQueue queue)
    {
        return (queue == sendCompletions ? sendDepth : 0) + (queue == receiveCompletions ? receives.capacity() : 0);
    }

    /**
     * A request waits for the peer: it is tried again whichever of its completion queues is polled, as an RNIC does
     * without any poll. Who waits for an answer need not poll the queue of the question.
     */
    @Override
    void beginWaiting()
    {
        sendCompletions.addWaiting(this);
        receiveCompletions.addWaiting(this);
    }

    @Override
    void endWaiting()
    {
        sendCompletions.removeWaiting(this);
        receiveCompletions.removeWaiting(this);
    }

    /** Polling thread: a completion of a receive was handed out. */
    @Override
    public void releaseReceive(final long slotInRing)
    {
        receives.release(slotInRing);
    }

    @Override
    public void modify(final QueuePairAttributes change)
    {
        if (isClosed)
        {
            throw new RdmaException("queue pair is closed: " + this);
        }
        final long before = word();
        final QueuePairState state = QueuePairEntry.state(before);
        QueuePairTransitions.check(type(), state, change, SoftHost.MAX_READ_ATOMIC);
        connection.attributes();
        final QueuePairState target = QueuePairTransitions.target(state, change);
        if (target == QueuePairState.RESET)
        {
            reset();
        }
        else if (target == QueuePairState.ERR)
        {
            moveToError();
            connection.awaitRequesters();
        }
        else
        {
            connection.show(change);
            if (target != state &&
                !SharedWords.compareAndSetLong(entry + STATE_OFFSET, before, stateWord(number, target)))
            {
                throw new RdmaException("queue pair has failed meanwhile, its state was not changed: " + this);
            }
            stopIfEnding();
            connection.apply(change);
            sends.termsChanged(change);
            entered(state, target);
        }
    }

    private void entered(final QueuePairState from, final QueuePairState to)
    {
        if (to == QueuePairState.RTS && from != to)
        {
            sends.ring();
        }
        else if (to == QueuePairState.SQD && from != to && !sends.isInFlight())
        {
            drained();
        }
    }

    @Override
    void drained()
    {
        device.raise(AsyncEventType.SQ_DRAINED, this);
    }

    @Override
    public void query(final QueuePairAttributes target)
    {
        connection.attributes().fill(target, state());
    }

    @Override
    public void moveToError()
    {
        if (!isDestroyed)
        {
            QueuePairFailure.moveToError(device.file(), entry, number);
        }
    }

    /** Everything outstanding goes without a completion, once nobody can be inside on account of this queue pair. */
    private void reset()
    {
        cancelAttempt();
        if (word() != resetWord)
        {
            SharedWords.putLongVolatile(entry + STATE_OFFSET, errorWord);
        }
        connection.awaitRequesters();
        forgetAll();
        SharedWords.putLongVolatile(entry + STATE_OFFSET, resetWord);
    }

    private void forgetAll()
    {
        sends.reset();
        clearSends();
        sendCompletions.forget(this);
        receiveCompletions.forget(this);
        device.windows().unbindAll(number);
        receives.reset();
        connection.reset();
        SharedWords.getAndBitwiseAndLong(entry + EVENTS_OFFSET, ~ESTABLISHED);
    }

    @Override
    public void close()
    {
        if (isDestroyed)
        {
            return;
        }
        cancelAttempt();
        isClosed = true;
        SharedWords.putLongVolatile(entry + STATE_OFFSET, (long)number << Byte.SIZE | GONE);
        endWaiting();
        device.outside().awaitOutside(device.file(), entry, 0);
        connection.awaitRequesters();
        device.windows().unbindAll(number);
        isDestroyed = true;
        sends.close();
        sendCompletions.detach(this);
        receiveCompletions.detach(this);
        receives.close();
        onClosed.accept(this);
        // Nobody finds this queue pair any more who would look at its peer; its entry may be another one's.
        connection.release();
    }

    private void cancelAttempt()
    {
        final Attempt pending = attempt;
        if (pending != null)
        {
            pending.cancel();
        }
    }

    /** Owner or the service: prepares to take receives. */
    void toInit()
    {
        if (type() != QueuePairType.RC && type() != QueuePairType.UC)
        {
            throw new RdmaException("the connection service connects RC and UC queue pairs: type=" + type());
        }
        if (isClosed || !SharedWords.compareAndSetLong(
            entry + STATE_OFFSET, resetWord, stateWord(number, QueuePairState.INIT)))
        {
            throw new RdmaException("queue pair must be open and in state RESET: " + this);
        }
        stopIfEnding();
    }

    /** After a change of state: either this sees that the process ends, or what stops requesters sees the state. */
    private void stopIfEnding()
    {
        if (device.isEnding())
        {
            moveToError();
        }
    }

    /**
     * Owner: begins to connect.
     *
     * @param attempt     pending.
     * @param target      device of the peer, used for this queue pair; null when there is none.
     * @param accessFlags rights of the peer.
     */
    void attempt(final Attempt attempt, final SoftPeer target, final int accessFlags)
    {
        this.attempt = attempt;
        connection.offer(target, accessFlags);
    }

    /** The connecting side failed: receives posted so far are dropped without completions. */
    void toReset(final Attempt failed)
    {
        if (attempt == failed &&
            SharedWords.compareAndSetLong(entry + STATE_OFFSET, stateWord(number, QueuePairState.INIT), resetWord))
        {
            receives.reset();
            connection.reset();
        }
    }

    /** Acceptor: binds this side to its peer and opens it. */
    void accept(final SoftPeer target, final int targetNumber, final int accessFlags)
    {
        connection.accept(target, targetNumber, number, accessFlags);
    }

    @Override
    public void preload(final long remoteAddress, final int lengthBytes, final int remoteKey)
    {
        requester.preload(remoteAddress, lengthBytes, remoteKey);
    }

    @Override
    protected void onDoorbell()
    {
        sends.ring();
    }

    @Override
    public boolean isIdle()
    {
        return !isInError() && sends.isDone();
    }

    @Override
    void retry()
    {
        sends.retry();
    }

    /** Polling thread: completes everything outstanding with WR_FLUSH_ERR once in ERR. */
    @Override
    public void flushIfInError()
    {
        receives.flushLost();
        if (receives.hasLostReceive())
        {
            moveToError();
        }
        if (word() == errorWord)
        {
            sends.flush();
            receives.flush();
        }
    }

    @Override
    public String toString()
    {
        return "SoftQueuePair{device=" + device.name() + ", number=" + number + ", type=" + type() + ", state=" +
            state() + ", isClosed=" + isClosed + '}';
    }

    private long word()
    {
        return SharedWords.getLongAcquire(entry + STATE_OFFSET);
    }
}
