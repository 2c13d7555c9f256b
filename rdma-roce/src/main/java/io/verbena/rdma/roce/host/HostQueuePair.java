package io.verbena.rdma.roce.host;

import io.verbena.rdma.spi.StagedQueuePair;
import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.MemoryWindow;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.VerbCounters;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * A queue pair of shared memory and one of the network with the same number, one of which is used: which one is decided
 * when the peer is known. The other one stays in RESET; that of the network is made when it is first needed. In INIT,
 * before the peer is known, it is that of shared memory, and receives are posted anew if it has to change.
 */
final class HostQueuePair implements QueuePair
{
    /** A receive that was posted before the peer was known. */
    private record EarlyReceive(long wrId, long address, int lengthBytes, int key)
    {
    }

    private final HostParts parts;
    private final HostCompletionQueue sendCompletions;
    private final HostCompletionQueue receiveCompletions;
    private final StagedQueuePair shared;
    private final Function<Boolean, ? extends StagedQueuePair> networkFactory;
    private final boolean isDatagram;
    private StagedQueuePair network;
    private volatile StagedQueuePair current;
    /** How it came to INIT by {@link #modify}; null when it is not there, or by a connection. */
    private QueuePairAttributes initial;
    private List<EarlyReceive> earlyReceives;
    private DeviceAddress peer;
    private boolean isByService;
    private boolean isClosed;

    /**
     * @param shared         for peers of this host; gives the number.
     * @param networkFactory makes the one for others; given whether the connection service says where its packets go.
     * @param isDatagram     whether it takes the network, whoever the peer.
     */
    HostQueuePair(
        final HostParts parts,
        final HostCompletionQueue sendCompletions,
        final HostCompletionQueue receiveCompletions,
        final StagedQueuePair shared,
        final Function<Boolean, ? extends StagedQueuePair> networkFactory,
        final boolean isDatagram)
    {
        this.parts = parts;
        this.sendCompletions = sendCompletions;
        this.receiveCompletions = receiveCompletions;
        this.shared = shared;
        this.networkFactory = networkFactory;
        this.isDatagram = isDatagram;
        current = shared;
        if (isDatagram)
        {
            select(false);
        }
        parts.opened(shared, this);
        sendCompletions.attach(this);
        receiveCompletions.attach(this);
    }

    /** A queue pair of a device. */
    static HostQueuePair of(final HostParts parts, final QueuePair queuePair)
    {
        if (queuePair instanceof final HostQueuePair own && own.parts == parts)
        {
            return own;
        }
        if (queuePair instanceof final HostDcInitiator initiator && initiator.isOf(parts))
        {
            throw new RdmaException("DC is not connected: address each request, queuePair=" + queuePair);
        }
        throw new RdmaException(
            "not a queue pair of this device: device=" + parts.name() + ", queuePair=" + queuePair);
    }

    /**
     * The part for a peer, for the connection service.
     *
     * @param isLocal whether the peer is on this host.
     * @param address of the peer.
     * @return the part, in RESET, or in INIT if it was prepared.
     */
    synchronized StagedQueuePair route(final boolean isLocal, final DeviceAddress address)
    {
        checkOpen();
        final QueuePairState state = current.state();
        isByService = true;
        if (isDatagram || state != QueuePairState.RESET && state != QueuePairState.INIT)
        {
            throw new RdmaException("queue pair must be RC or UC, open and in state RESET: " + this);
        }
        if (state == QueuePairState.INIT)
        {
            moveTo(isLocal);
        }
        else
        {
            select(isLocal);
        }
        peer = address;
        return current;
    }

    /** The part of the network; null before it is needed. */
    synchronized QueuePair networkPart()
    {
        return network;
    }

    private boolean isLocal()
    {
        return current == shared;
    }

    private void select(final boolean isLocal)
    {
        if (isLocal == isLocal())
        {
            return;
        }
        if (!isLocal && network == null)
        {
            network = networkFactory.apply(isByService);
            network.countIn(shared.counters());
            parts.opened(network, this);
        }
        if (isLocal)
        {
            current = shared;
            sendCompletions.networkEnds();
            receiveCompletions.networkEnds();
        }
        else
        {
            sendCompletions.networkBegins();
            receiveCompletions.networkBegins();
            current = network;
        }
    }

    /** In INIT: the other part comes to INIT with the same receives, and this one goes back to RESET. */
    private void moveTo(final boolean isLocal)
    {
        if (isLocal == isLocal())
        {
            return;
        }
        if (initial == null)
        {
            throw new RdmaException("queue pair is being connected by another way: " + this);
        }
        final StagedQueuePair before = current;
        select(isLocal);
        boolean isMoved = false;
        try
        {
            current.modify(initial);
            isMoved = true;
        }
        finally
        {
            if (!isMoved)
            {
                select(!isLocal);
            }
        }
        for (final EarlyReceive receive : earlyReceives)
        {
            current.postReceive(receive.wrId, receive.address, receive.lengthBytes, receive.key);
        }
        before.modify(new QueuePairAttributes().state(QueuePairState.RESET));
    }

    private void checkOpen()
    {
        if (isClosed)
        {
            throw new RdmaException("queue pair is closed: " + this);
        }
    }

    @Override
    public synchronized void modify(final QueuePairAttributes change)
    {
        checkOpen();
        if (isDatagram)
        {
            current.modify(change);
            return;
        }
        final QueuePairState before = current.state();
        // First: it may change what is current.
        final QueuePairAttributes routed =
            change.has(QueuePairAttributes.ADDRESS_VECTOR) ? routed(change, before) : change;
        current.modify(routed);
        final QueuePairState after = current.state();
        if (after == QueuePairState.INIT && change.has(QueuePairAttributes.STATE))
        {
            noteInitial(before, change);
        }
        else if (after != QueuePairState.INIT)
        {
            initial = null;
            earlyReceives = null;
        }
        if (change.has(QueuePairAttributes.ADDRESS_VECTOR))
        {
            peer = change.destination();
        }
        if (after == QueuePairState.RESET)
        {
            peer = null;
            select(true);
        }
    }

    private void noteInitial(final QueuePairState before, final QueuePairAttributes change)
    {
        if (before == QueuePairState.RESET)
        {
            initial = change.copy();
            earlyReceives = new ArrayList<>();
        }
        else if (initial != null && change.has(QueuePairAttributes.ACCESS_FLAGS))
        {
            initial.accessFlags(change.accessFlags());
        }
    }

    /** Takes the way to the peer, and names the peer as that way does. */
    private QueuePairAttributes routed(final QueuePairAttributes change, final QueuePairState state)
    {
        final DeviceAddress local = parts.local(change.destination());
        isByService = false;
        if (state == QueuePairState.INIT)
        {
            moveTo(local != null);
        }
        else if (isLocal() != (local != null))
        {
            throw new RdmaException("queue pair is connected by " + current.transport() +
                ", the other device is reached by another way: reset it first, " + this);
        }
        return local == null ? change : change.copy().destination(local);
    }

    @Override
    public void query(final QueuePairAttributes attributes)
    {
        current.query(attributes);
        if (peer != null && attributes.has(QueuePairAttributes.ADDRESS_VECTOR))
        {
            attributes.destination(peer);
        }
    }

    @Override
    public int number()
    {
        return shared.number();
    }

    @Override
    public QueuePairType type()
    {
        return current.type();
    }

    @Override
    public String transport()
    {
        return current.transport();
    }

    @Override
    public QueuePairState state()
    {
        return current.state();
    }

    @Override
    public int sendQueueSpace()
    {
        return current.sendQueueSpace();
    }

    @Override
    public void begin()
    {
        current.begin();
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
        current.read(wrId, flags, localAddress, lengthBytes, localKey, remoteAddress, remoteKey);
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
        current.write(wrId, flags, localAddress, lengthBytes, localKey, remoteAddress, remoteKey);
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
        current.writeWithImmediate(
            wrId, flags, localAddress, lengthBytes, localKey, remoteAddress, remoteKey, immediate);
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
        current.compareSwap(wrId, flags, localAddress, localKey, remoteAddress, remoteKey, expected, desired);
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
        current.fetchAdd(wrId, flags, localAddress, localKey, remoteAddress, remoteKey, addend);
    }

    @Override
    public void send(
        final long wrId, final int flags, final long localAddress, final int lengthBytes, final int localKey)
    {
        current.send(wrId, flags, localAddress, lengthBytes, localKey);
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
        current.sendWithImmediate(wrId, flags, localAddress, lengthBytes, localKey, immediate);
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
        current.sendWithInvalidate(wrId, flags, localAddress, lengthBytes, localKey, remoteKey);
    }

    @Override
    public void addSegment(final long localAddress, final int lengthBytes, final int localKey)
    {
        current.addSegment(localAddress, lengthBytes, localKey);
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
        current.bindMemoryWindow(wrId, flags, window, remoteKey, region, address, lengthBytes, accessFlags);
    }

    @Override
    public void localInvalidate(final long wrId, final int flags, final int remoteKey)
    {
        current.localInvalidate(wrId, flags, remoteKey);
    }

    @Override
    public void toQueuePair(final AddressHandle handle, final int queuePairNumber, final int qkey)
    {
        current.toQueuePair(
            handle instanceof final HostAddressHandle own ? own.network() : handle, queuePairNumber, qkey);
    }

    @Override
    public void toDcTarget(final AddressHandle handle, final int number, final long accessKey)
    {
        current.toDcTarget(handle, number, accessKey);
    }

    @Override
    public void preload(final long remoteAddress, final int lengthBytes, final int remoteKey)
    {
        current.preload(remoteAddress, lengthBytes, remoteKey);
    }

    @Override
    public int complete()
    {
        return current.complete();
    }

    @Override
    public void abort()
    {
        current.abort();
    }

    @Override
    public int postReceive(final long wrId, final long localAddress, final int lengthBytes, final int localKey)
    {
        final int status = current.postReceive(wrId, localAddress, lengthBytes, localKey);
        if (earlyReceives != null && status == PostStatus.OK && current.state() == QueuePairState.INIT)
        {
            earlyReceives.add(new EarlyReceive(wrId, localAddress, lengthBytes, localKey));
        }
        return status;
    }

    @Override
    public VerbCounters counters()
    {
        return shared.counters();
    }

    @Override
    public void moveToError()
    {
        current.moveToError();
    }

    @Override
    public synchronized void close()
    {
        if (isClosed)
        {
            return;
        }
        // The part in use first: it takes the bindings of windows away that were made by it.
        current.close();
        if (network != null && current != network)
        {
            network.close();
        }
        shared.close();
        if (!isLocal())
        {
            sendCompletions.networkEnds();
            receiveCompletions.networkEnds();
        }
        isClosed = true;
        sendCompletions.detach(this);
        receiveCompletions.detach(this);
        parts.closed(shared);
        if (network != null)
        {
            parts.closed(network);
        }
    }

    @Override
    public String toString()
    {
        return "HostQueuePair{" + current + '}';
    }
}
