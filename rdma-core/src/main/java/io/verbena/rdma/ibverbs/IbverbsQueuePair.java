package io.verbena.rdma.ibverbs;

import io.verbena.rdma.connection.ConnectableQueuePair;
import io.verbena.rdma.connection.ConnectionMessage;
import io.verbena.rdma.connection.ConnectionTransitions;
import io.verbena.rdma.ibverbs.library.Errno;
import io.verbena.rdma.ibverbs.library.HeldPointer;
import io.verbena.rdma.ibverbs.library.Libibverbs;
import io.verbena.rdma.ibverbs.library.ReceiveSlots;
import io.verbena.rdma.ibverbs.library.SendRing;
import io.verbena.rdma.ibverbs.library.VerbsLayouts;
import io.verbena.rdma.spi.QueuePairTransitions;
import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.MemoryWindow;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.VerbCounters;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * {@code struct ibv_qp}. The owner thread stages and posts without a lock; states change under this object's monitor,
 * because the connection service and the event reader change them too.
 */
final class IbverbsQueuePair implements QueuePair, ReceiveConsumer, ConnectableQueuePair
{
    private final OpenDomain domain;
    private final DeviceContext device;
    private final QueuePairType type;
    private final QueuePairCapabilities capabilities;
    private final IbverbsCompletionQueue sendCompletions;
    private final IbverbsCompletionQueue receiveCompletions;
    private final IbverbsSharedReceiveQueue shared;
    private final long qp;
    private final int number;
    private final SendRing.Initiator dcSends;
    private final SendRing sends;
    private final ReceiveSlots receives;
    private final MemorySegment postSend;
    private final MemorySegment postReceive;
    private final VerbCounters counters = new VerbCounters();
    private int serial;
    private Attempt attempt;
    private volatile QueuePairState state = QueuePairState.RESET;
    private volatile boolean isClosed;

    IbverbsQueuePair(
        final OpenDomain domain, final DynamicConnections dynamicConnections, final QueuePairOptions options)
    {
        this.domain = domain;
        device = domain.device();
        type = options.type();
        capabilities = options.capabilities();
        final OwnedOptions owned = OwnedOptions.of(domain, options);
        sendCompletions = owned.sendCompletions();
        receiveCompletions = owned.receiveCompletions();
        shared = owned.shared();
        qp = owned.create(dynamicConnections);
        dcSends = type == QueuePairType.DC_INITIATOR ? dynamicConnections.sendQueue(qp) : null;
        number = VerbsLayouts.intAt(qp, VerbsLayouts.offset(VerbsLayouts.IBV_QP, "qp_num"));
        sends = new SendRing(type, capabilities, maxMessageBytes());
        receives = new ReceiveSlots(
            shared == null && type != QueuePairType.DC_INITIATOR ? capabilities.maxReceiveRequests() : 0);
        postSend = device.operation("post_send");
        postReceive = device.operation("post_recv");
        attach();
        if (shared != null)
        {
            receiveCompletions.addShared(this, shared);
            shared.childOpened();
        }
        device.events().add(qp, this);
    }

    private int maxMessageBytes()
    {
        return type == QueuePairType.UD ? device.query().pathMtuBytes() : device.attributes().maxMessageBytes();
    }

    private void attach()
    {
        serial = device.nextSerial();
        final CompletionOwner owner = new CompletionOwner(sends, receives, this);
        sendCompletions.add(serial, owner);
        if (receiveCompletions != sendCompletions)
        {
            receiveCompletions.add(serial, owner);
        }
    }

    private void detach()
    {
        sendCompletions.remove(serial);
        if (receiveCompletions != sendCompletions)
        {
            receiveCompletions.remove(serial);
        }
    }

    DeviceContext device()
    {
        return device;
    }

    @Override
    public IbverbsSharedReceiveQueue shared()
    {
        return shared;
    }

    @Override
    public boolean receivesDatagrams()
    {
        return type == QueuePairType.UD;
    }

    @Override
    public int maxReadAtomic()
    {
        return capabilities.maxReadAtomic();
    }

    @Override
    public synchronized void attempt(final Attempt attempt)
    {
        this.attempt = attempt;
    }

    /** Connection service: RESET becomes INIT. */
    @Override
    public synchronized void openForConnection(final int accessFlags)
    {
        if (type == QueuePairType.UD || type == QueuePairType.DC_INITIATOR)
        {
            throw new RdmaException("a " + type + " queue pair is not connected: " + this);
        }
        if (isClosed || state != QueuePairState.RESET)
        {
            throw new RdmaException("queue pair must be open and in state RESET: " + this);
        }
        change(ConnectionTransitions.toInit(device.query().portNumber(), accessFlags));
    }

    @Override
    public synchronized void establish(
        final ConnectionMessage peer, final int ownPsn, final int mtu, final int accessFlags)
    {
        change(ConnectionTransitions.toRtr(type, maxReadAtomic(), mtu, peer, accessFlags));
        change(ConnectionTransitions.toRts(type, maxReadAtomic(), peer, ownPsn));
    }

    @Override
    public synchronized void toReset(final Attempt failed)
    {
        if (attempt == failed && !isClosed && state == QueuePairState.INIT)
        {
            change(new QueuePairAttributes().state(QueuePairState.RESET));
        }
    }

    @Override
    public synchronized void modify(final QueuePairAttributes attributes)
    {
        // The device would refuse most of it too, but with no more than EINVAL.
        QueuePairTransitions.check(
            type, state(), attributes, device.attributes().maxReadAtomic(), device.query().portNumber());
        change(attributes);
    }

    private void change(final QueuePairAttributes attributes)
    {
        if (isClosed)
        {
            throw new RdmaException("queue pair is closed: " + this);
        }
        try (Arena arena = Arena.ofConfined())
        {
            final int errno = Libibverbs.modifyQueuePair(
                qp, QueuePairStructures.attributes(arena, device.localPort(), attributes),
                QueuePairStructures.mask(attributes));
            if (errno != 0)
            {
                throw Errno.failure(
                    "cannot change " + this + " with " + ConnectionTransitions.describe(attributes), errno);
            }
        }
        if (attributes.has(QueuePairAttributes.STATE))
        {
            state = attributes.state();
            if (state == QueuePairState.RESET)
            {
                // Completions not polled yet belong to the life before.
                detach();
                attach();
                sends.clear();
                receives.clear();
            }
        }
    }

    @Override
    public synchronized void query(final QueuePairAttributes attributes)
    {
        if (isClosed)
        {
            throw new RdmaException("queue pair is closed: " + this);
        }
        try (Arena arena = Arena.ofConfined())
        {
            final MemorySegment answer = arena.allocate(VerbsLayouts.IBV_QP_ATTR);
            final int errno = Libibverbs.queryQueuePair(
                qp, answer, 0x1F_FFFF, arena.allocate(VerbsLayouts.IBV_QP_INIT_ATTR));
            if (errno != 0)
            {
                throw Errno.failure("cannot query " + this, errno);
            }
            QueuePairStructures.read(answer, attributes);
        }
    }

    @Override
    public int number()
    {
        return number;
    }

    @Override
    public QueuePairType type()
    {
        return type;
    }

    @Override
    public String transport()
    {
        return state == QueuePairState.RESET || state == QueuePairState.INIT ? "none" : device.rnic();
    }

    /** Asks the device where it may have changed the state by itself: a system call. */
    @Override
    public QueuePairState state()
    {
        final QueuePairState known = state;
        if (known == QueuePairState.RESET || known == QueuePairState.INIT || known == QueuePairState.ERR)
        {
            return known;
        }
        synchronized (this)
        {
            if (!isClosed)
            {
                final QueuePairAttributes answer = new QueuePairAttributes();
                query(answer);
                state = answer.state();
            }
            return state;
        }
    }

    @Override
    public int sendQueueSpace()
    {
        return sends.space();
    }

    @Override
    public void begin()
    {
        sends.begin(this);
    }

    @Override
    public void read(
        final long wrId,
        final int flags,
        final long localAddress,
        final int lengthBytes,
        final int localKey,
        final long remoteAddress,
        final int remoteKey)
    {
        remote(sends.stage(SendRing.RDMA_READ, wrId, flags, localAddress, lengthBytes, localKey),
            remoteAddress, remoteKey);
    }

    @Override
    public void write(
        final long wrId,
        final int flags,
        final long localAddress,
        final int lengthBytes,
        final int localKey,
        final long remoteAddress,
        final int remoteKey)
    {
        remote(sends.stage(SendRing.RDMA_WRITE, wrId, flags, localAddress, lengthBytes, localKey),
            remoteAddress, remoteKey);
    }

    @Override
    public void writeWithImmediate(
        final long wrId,
        final int flags,
        final long localAddress,
        final int lengthBytes,
        final int localKey,
        final long remoteAddress,
        final int remoteKey,
        final int immediate)
    {
        final long slot =
            sends.stage(SendRing.RDMA_WRITE_WITH_IMM, wrId, flags, localAddress, lengthBytes, localKey);
        remote(slot, remoteAddress, remoteKey);
        sends.immediate(slot, immediate);
    }

    private void remote(final long slot, final long remoteAddress, final int remoteKey)
    {
        final MemorySegment memory = sends.memory();
        memory.set(JAVA_LONG, slot + SendRing.REMOTE_ADDRESS, remoteAddress);
        memory.set(JAVA_INT, slot + SendRing.REMOTE_KEY, remoteKey);
    }

    @Override
    public void compareSwap(
        final long wrId,
        final int flags,
        final long localAddress,
        final int localKey,
        final long remoteAddress,
        final int remoteKey,
        final long expected,
        final long desired)
    {
        atomic(sends.stage(SendRing.ATOMIC_CMP_AND_SWP, wrId, flags, localAddress, Long.BYTES, localKey),
            remoteAddress, remoteKey, expected, desired);
    }

    @Override
    public void fetchAdd(
        final long wrId,
        final int flags,
        final long localAddress,
        final int localKey,
        final long remoteAddress,
        final int remoteKey,
        final long addend)
    {
        atomic(sends.stage(SendRing.ATOMIC_FETCH_AND_ADD, wrId, flags, localAddress, Long.BYTES, localKey),
            remoteAddress, remoteKey, addend, 0);
    }

    private void atomic(
        final long slot, final long remoteAddress, final int remoteKey, final long compareAdd, final long swap)
    {
        final MemorySegment memory = sends.memory();
        memory.set(JAVA_LONG, slot + SendRing.REMOTE_ADDRESS, remoteAddress);
        memory.set(JAVA_LONG, slot + SendRing.COMPARE_ADD, compareAdd);
        memory.set(JAVA_LONG, slot + SendRing.SWAP, swap);
        memory.set(JAVA_INT, slot + SendRing.ATOMIC_KEY, remoteKey);
    }

    @Override
    public void send(
        final long wrId, final int flags, final long localAddress, final int lengthBytes, final int localKey)
    {
        sends.stage(SendRing.SEND, wrId, flags, localAddress, lengthBytes, localKey);
    }

    @Override
    public void sendWithImmediate(
        final long wrId,
        final int flags,
        final long localAddress,
        final int lengthBytes,
        final int localKey,
        final int immediate)
    {
        sends.immediate(
            sends.stage(SendRing.SEND_WITH_IMM, wrId, flags, localAddress, lengthBytes, localKey), immediate);
    }

    @Override
    public void sendWithInvalidate(
        final long wrId,
        final int flags,
        final long localAddress,
        final int lengthBytes,
        final int localKey,
        final int remoteKey)
    {
        device.checkWindows("SEND_WITH_INV");
        sends.invalidate(
            sends.stage(SendRing.SEND_WITH_INV, wrId, flags, localAddress, lengthBytes, localKey), remoteKey);
    }

    @Override
    public void localInvalidate(final long wrId, final int flags, final int remoteKey)
    {
        device.checkWindows("LOCAL_INV");
        sends.invalidate(sends.stage(SendRing.LOCAL_INV, wrId, flags, 0, 0, 0), remoteKey);
    }

    @Override
    public void bindMemoryWindow(
        final long wrId,
        final int flags,
        final MemoryWindow window,
        final int remoteKey,
        final MemoryRegion region,
        final long address,
        final long lengthBytes,
        final int accessFlags)
    {
        final HeldPointer mw = window instanceof final IbverbsMemoryWindow own ? own.pointer(domain) : null;
        final HeldPointer mr = region instanceof final IbverbsMemoryRegion own ? own.pointer(domain) : null;
        if (mw == null || mr == null)
        {
            throw new RdmaException("window and region of a BIND_MW must be open and of the queue pair's domain: " +
                window + ", " + region + ", " + this);
        }
        DeviceContext.checkAccessFlags(accessFlags);
        sends.checkBinds((IbverbsMemoryWindow)window);
        sends.bind(sends.stage(SendRing.BIND_MW, wrId, flags, 0, 0, 0), (IbverbsMemoryWindow)window, mw, remoteKey, mr,
            address, lengthBytes, accessFlags);
    }

    @Override
    public void addSegment(final long localAddress, final int lengthBytes, final int localKey)
    {
        sends.addSegment(localAddress, lengthBytes, localKey);
    }

    @Override
    public void toQueuePair(final AddressHandle handle, final int queuePairNumber, final int qkey)
    {
        if (type != QueuePairType.UD || !(handle instanceof final IbverbsAddressHandle own))
        {
            throw new RdmaException("only requests of UD queue pairs are addressed, with handles of this provider");
        }
        sends.toQueuePair(own.pointer(), queuePairNumber, qkey);
    }

    @Override
    public void toDcTarget(final AddressHandle handle, final int targetNumber, final long accessKey)
    {
        if (type != QueuePairType.DC_INITIATOR || !(handle instanceof final IbverbsAddressHandle own))
        {
            throw new RdmaException("only requests of DC initiators go to targets, with handles of this provider");
        }
        sends.toDcTarget(own.pointer(), targetNumber, accessKey);
    }

    @Override
    public int complete()
    {
        final int count = sends.end(this);
        if (count < 0)
        {
            return PostStatus.QUEUE_FULL;
        }
        final QueuePairState now = state;
        if (now.ordinal() < QueuePairState.RTS.ordinal() || isClosed)
        {
            return PostStatus.INVALID_STATE;
        }
        if (count == 0)
        {
            return PostStatus.OK;
        }
        if (sends.hasUnaddressed(count))
        {
            throw new RdmaException("a request of the batch has no address, nothing is posted: " + this);
        }
        if (!sends.hold(count))
        {
            throw new RdmaException("an address handle, window or region that a request of the batch names was " +
                "closed after staging, nothing is posted: " + this);
        }
        final int errno;
        try
        {
            errno = dcSends == null ?
                sends.post(postSend, qp, serial, count, counters) : sends.post(dcSends, serial, count, counters);
        }
        finally
        {
            sends.release();
        }
        return errno == 0 ? PostStatus.OK : onRefused(errno);
    }

    /** The device took less than the queue's depth: its own limit, or it failed. */
    private int onRefused(final int errno)
    {
        if (errno == Errno.ENOMEM && !sends.isPartlyPosted())
        {
            return PostStatus.QUEUE_FULL;
        }
        moveToError();
        throw Errno.failure("posting failed, the queue pair goes to ERR: " + this, errno);
    }

    @Override
    public void abort()
    {
        sends.abort();
    }

    @Override
    public int postReceive(final long wrId, final long localAddress, final int lengthBytes, final int localKey)
    {
        if (isClosed || state == QueuePairState.RESET || type == QueuePairType.DC_INITIATOR)
        {
            return PostStatus.INVALID_STATE;
        }
        final int result = receives.post(postReceive, qp, serial, wrId, localAddress, lengthBytes, localKey);
        if (result == 0)
        {
            if (state == QueuePairState.ERR)
            {
                // rxe flushes what is there when the state is set, and nothing that comes later.
                moveToError();
            }
            return PostStatus.OK;
        }
        if (result > 0 && result != Errno.ENOMEM)
        {
            throw Errno.failure("posting a receive failed: " + this, result);
        }
        return PostStatus.QUEUE_FULL;
    }

    @Override
    public VerbCounters counters()
    {
        return counters;
    }

    @Override
    public synchronized void moveToError()
    {
        if (isClosed || state == QueuePairState.RESET)
        {
            return;
        }
        change(new QueuePairAttributes().state(QueuePairState.ERR));
    }

    @Override
    public void close()
    {
        final Attempt pending;
        synchronized (this)
        {
            if (isClosed)
            {
                return;
            }
            pending = attempt;
            device.events().remove(qp);
            Libibverbs.Destroyer.DESTROY_QP.destroy("a queue pair of " + device.name(), qp);
            isClosed = true;
            state = QueuePairState.RESET;
            detach();
            if (shared != null)
            {
                receiveCompletions.removeShared(this, shared);
                shared.childClosed();
            }
            domain.childClosed();
        }
        if (pending != null)
        {
            pending.cancel();
        }
    }

    @Override
    public String toString()
    {
        return "IbverbsQueuePair{device=" + device.name() + ", number=" + number + ", type=" + type + ", state=" +
            state + ", isClosed=" + isClosed + '}';
    }
}
