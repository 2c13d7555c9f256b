package io.verbena.rdma.roce.host;

import io.verbena.rdma.spi.StagedQueuePair;
import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.MemoryWindow;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.VerbCounters;

/**
 * A DC initiator: one of shared memory and one of the network with the same number and in the same state. Each request
 * is staged on both, and a batch is posted on the one that leads to its targets. So that requests are executed, and
 * completed, in the order in which they were posted, the other one is used only when all before is done and polled;
 * until then a batch is refused as by a full queue. One thread posts.
 */
final class HostDcInitiator implements QueuePair
{
    private static final int LOCAL = 1;
    private static final int REMOTE = 2;

    private final HostParts parts;
    private final HostCompletionQueue sendCompletions;
    private final HostCompletionQueue receiveCompletions;
    private final StagedQueuePair shared;
    private final StagedQueuePair network;
    private final int capacity;
    private volatile StagedQueuePair current;
    /** Requests on the current part behind its last signalled one. */
    private int silentCount;
    private int stagedSilentCount;
    private int stagedCount;
    private int stagedWays;
    private boolean isClosed;

    /**
     * @param shared   for targets of this host; gives the number.
     * @param network  for others.
     * @param capacity requests that either takes.
     */
    HostDcInitiator(
        final HostParts parts,
        final HostCompletionQueue sendCompletions,
        final HostCompletionQueue receiveCompletions,
        final StagedQueuePair shared,
        final StagedQueuePair network,
        final int capacity)
    {
        this.parts = parts;
        this.sendCompletions = sendCompletions;
        this.receiveCompletions = receiveCompletions;
        this.shared = shared;
        this.network = network;
        this.capacity = capacity;
        current = shared;
        network.countIn(shared.counters());
        parts.opened(shared, this);
        sendCompletions.attach(this);
        receiveCompletions.attach(this);
    }

    boolean isOf(final HostParts device)
    {
        return parts == device;
    }

    /** Whether it took the network last; for tests. */
    boolean isOnNetwork()
    {
        return current == network;
    }

    @Override
    public synchronized void modify(final QueuePairAttributes change)
    {
        if (isClosed)
        {
            throw new RdmaException("queue pair is closed: " + this);
        }
        final StagedQueuePair other = other();
        current.modify(change);
        boolean isChanged = false;
        try
        {
            other.modify(change);
            isChanged = true;
        }
        finally
        {
            if (!isChanged)
            {
                moveToError();
            }
        }
        if (current.state() == QueuePairState.RESET)
        {
            silentCount = 0;
            select(shared);
        }
    }

    private StagedQueuePair other()
    {
        return current == shared ? network : shared;
    }

    /** Events of the part that is not in use are nobody's. */
    private void select(final StagedQueuePair part)
    {
        if (part == current)
        {
            return;
        }
        if (part == network)
        {
            sendCompletions.networkBegins();
            receiveCompletions.networkBegins();
        }
        else
        {
            sendCompletions.networkEnds();
            receiveCompletions.networkEnds();
        }
        parts.closed(current);
        parts.opened(part, this);
        current = part;
    }

    @Override
    public void query(final QueuePairAttributes attributes)
    {
        current.query(attributes);
    }

    @Override
    public int number()
    {
        return shared.number();
    }

    @Override
    public QueuePairType type()
    {
        return QueuePairType.DC_INITIATOR;
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

    /** On the way that was taken last. */
    @Override
    public int sendQueueSpace()
    {
        return current.sendQueueSpace();
    }

    @Override
    public void begin()
    {
        shared.begin();
        network.begin();
        stagedCount = 0;
        stagedSilentCount = 0;
        stagedWays = 0;
    }

    private void staged(final int flags)
    {
        stagedCount++;
        stagedSilentCount = (flags & SendFlags.SIGNALED) != 0 ? 0 : stagedSilentCount + 1;
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
        shared.read(wrId, flags, localAddress, lengthBytes, localKey, remoteAddress, remoteKey);
        network.read(wrId, flags, localAddress, lengthBytes, localKey, remoteAddress, remoteKey);
        staged(flags);
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
        shared.write(wrId, flags, localAddress, lengthBytes, localKey, remoteAddress, remoteKey);
        network.write(wrId, flags, localAddress, lengthBytes, localKey, remoteAddress, remoteKey);
        staged(flags);
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
        shared.writeWithImmediate(
            wrId, flags, localAddress, lengthBytes, localKey, remoteAddress, remoteKey, immediate);
        network.writeWithImmediate(
            wrId, flags, localAddress, lengthBytes, localKey, remoteAddress, remoteKey, immediate);
        staged(flags);
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
        shared.compareSwap(wrId, flags, localAddress, localKey, remoteAddress, remoteKey, expected, desired);
        network.compareSwap(wrId, flags, localAddress, localKey, remoteAddress, remoteKey, expected, desired);
        staged(flags);
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
        shared.fetchAdd(wrId, flags, localAddress, localKey, remoteAddress, remoteKey, addend);
        network.fetchAdd(wrId, flags, localAddress, localKey, remoteAddress, remoteKey, addend);
        staged(flags);
    }

    @Override
    public void send(
        final long wrId, final int flags, final long localAddress, final int lengthBytes, final int localKey)
    {
        shared.send(wrId, flags, localAddress, lengthBytes, localKey);
        network.send(wrId, flags, localAddress, lengthBytes, localKey);
        staged(flags);
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
        shared.sendWithImmediate(wrId, flags, localAddress, lengthBytes, localKey, immediate);
        network.sendWithImmediate(wrId, flags, localAddress, lengthBytes, localKey, immediate);
        staged(flags);
    }

    /** DC has no such request, as the part says. */
    @Override
    public void sendWithInvalidate(
        final long wrId,
        final int flags,
        final long localAddress,
        final int lengthBytes,
        final int localKey,
        final int remoteKey)
    {
        shared.sendWithInvalidate(wrId, flags, localAddress, lengthBytes, localKey, remoteKey);
    }

    @Override
    public void addSegment(final long localAddress, final int lengthBytes, final int localKey)
    {
        shared.addSegment(localAddress, lengthBytes, localKey);
        network.addSegment(localAddress, lengthBytes, localKey);
    }

    /** DC has no such request, as the part says. */
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
        shared.bindMemoryWindow(wrId, flags, window, remoteKey, region, address, lengthBytes, accessFlags);
    }

    /** DC has no such request, as the part says. */
    @Override
    public void localInvalidate(final long wrId, final int flags, final int remoteKey)
    {
        shared.localInvalidate(wrId, flags, remoteKey);
    }

    /** DC has none, as the part says. */
    @Override
    public void toQueuePair(final AddressHandle handle, final int queuePairNumber, final int qkey)
    {
        shared.toQueuePair(handle, queuePairNumber, qkey);
    }

    @Override
    public void toDcTarget(final AddressHandle handle, final int number, final long accessKey)
    {
        if (!(handle instanceof final HostAddressHandle own))
        {
            throw new RdmaException("not an address handle of this device: device=" + parts.name() + ", " + handle);
        }
        network.toDcTarget(own.network(), number, accessKey);
        shared.toDcTarget(own.shared(), number, accessKey);
        stagedWays |= own.isLocal() ? LOCAL : REMOTE;
    }

    /**
     * {@inheritDoc} QUEUE_FULL also when the batch takes the other way than requests that are under way, or were not
     * polled.
     */
    @Override
    public int complete()
    {
        final int ways = stagedWays;
        stagedWays = 0;
        if (ways == (LOCAL | REMOTE))
        {
            abort();
            throw new RdmaException("nothing was posted: a batch goes to DC targets of this host, or of others; " +
                "post one for each, queuePair=" + this);
        }
        final StagedQueuePair before = current;
        final StagedQueuePair wanted = ways == LOCAL ? shared : ways == REMOTE ? network : before;
        // What the part in use refuses or flushes, the other one would execute.
        final boolean isChange = wanted != before && before.state() == QueuePairState.RTS;
        final StagedQueuePair part = isChange ? wanted : before;
        (part == shared ? network : shared).abort();
        if (isChange && !mayLeave(before))
        {
            part.abort();
            return PostStatus.QUEUE_FULL;
        }
        final int status = part.complete();
        if (status == PostStatus.OK)
        {
            silentCount = stagedSilentCount == stagedCount ? silentCount + stagedCount : stagedSilentCount;
        }
        return status;
    }

    private synchronized boolean mayLeave(final StagedQueuePair before)
    {
        final boolean isPolled = before.sendQueueSpace() == capacity - silentCount;
        final boolean isDone = isPolled && before.isIdle();
        if (isDone)
        {
            before.freeSends();
            silentCount = 0;
            select(other());
        }
        return isDone;
    }

    @Override
    public void abort()
    {
        stagedWays = 0;
        shared.abort();
        network.abort();
    }

    @Override
    public int postReceive(final long wrId, final long localAddress, final int lengthBytes, final int localKey)
    {
        return PostStatus.INVALID_STATE;
    }

    @Override
    public VerbCounters counters()
    {
        return shared.counters();
    }

    @Override
    public void moveToError()
    {
        shared.moveToError();
        network.moveToError();
    }

    @Override
    public synchronized void close()
    {
        if (isClosed)
        {
            return;
        }
        current.close();
        other().close();
        select(shared);
        isClosed = true;
        sendCompletions.detach(this);
        receiveCompletions.detach(this);
        parts.closed(shared);
    }

    @Override
    public String toString()
    {
        return "HostDcInitiator{" + current + '}';
    }
}
