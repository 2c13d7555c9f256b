package io.verbena.rdma.spi;

import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.MemoryWindow;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.UnsupportedVerbException;
import io.verbena.rdma.verbs.VerbCounters;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;

/**
 * The posting half of a software queue pair: a ring of preallocated requests, staged by {@link #begin()} and handed to
 * the provider by {@link #complete()}. Positions in the ring are 64-bit and only grow. A slot is free again when a
 * signalled completion of its position or a later one has been polled, as on an RNIC.
 *
 * <p>Used by the owner thread. Another thread may execute what was posted, reading {@link #sendTail()} and
 * {@link #request}, and a third one may poll completions and so free slots by {@link #releaseSends}: the end of the
 * ring that each of them moves is published with release and read with acquire semantics.
 */
public abstract class StagedQueuePair implements QueuePair
{
    private static final VarHandle TAIL;
    private static final VarHandle RELEASED;

    static
    {
        try
        {
            final MethodHandles.Lookup lookup = MethodHandles.lookup();
            TAIL = lookup.findVarHandle(StagedQueuePair.class, "sendTail", long.class);
            RELEASED = lookup.findVarHandle(StagedQueuePair.class, "sendReleased", long.class);
        }
        catch (final ReflectiveOperationException ex)
        {
            throw new ExceptionInInitializerError(ex);
        }
    }

    private final QueuePairType type;
    private final boolean isAddressed;
    private final boolean hasWindows;
    private final int[] forbiddenFlags = new int[OperationRules.KINDS];
    private final int capacity;
    private final int mask;
    private final WorkRequest[] requests;
    private final int maxSendSegments;
    private final int maxReadAtomic;
    private final int maxMessageBytes;
    private final InlineBuffers inlineBuffers;
    private VerbCounters counters = new VerbCounters();
    /** Takes what is staged beyond the queue's depth: nothing of such a batch is posted. */
    private final WorkRequest overflow = new WorkRequest();
    private long sendTail;
    private long sendReleased;
    /** Position that has the first slot of the ring. */
    private long ringStart;
    private int stagedCount;
    private boolean isStaging;
    private boolean hasOverflowed;

    /**
     * @param type            of the queue pair.
     * @param capabilities    queue depths, already checked against the device.
     * @param maxMessageBytes longest message; the path MTU for UD.
     * @param hasWindows      whether the provider executes BIND_MW, LOCAL_INV and SEND_WITH_INV.
     */
    protected StagedQueuePair(
        final QueuePairType type,
        final QueuePairCapabilities capabilities,
        final int maxMessageBytes,
        final boolean hasWindows)
    {
        this.type = type;
        this.isAddressed = type == QueuePairType.UD || type == QueuePairType.DC_INITIATOR;
        this.hasWindows = hasWindows;
        for (int kind = 0; kind < forbiddenFlags.length; kind++)
        {
            forbiddenFlags[kind] = OperationRules.forbiddenFlags(type, kind);
        }
        capacity = capabilities.maxSendRequests();
        final int slots = Integer.highestOneBit(Math.max(1, capacity * 2 - 1));
        mask = slots - 1;
        maxSendSegments = capabilities.maxSendSegments();
        requests = new WorkRequest[slots];
        for (int i = 0; i < slots; i++)
        {
            requests[i] = new WorkRequest();
            requests[i].segments = maxSendSegments > 1 ? new SegmentList(maxSendSegments) : null;
        }
        maxReadAtomic = capabilities.maxReadAtomic();
        this.maxMessageBytes = maxMessageBytes;
        inlineBuffers = new InlineBuffers(slots, capabilities.maxInlineBytes());
    }

    @Override
    public final QueuePairType type()
    {
        return type;
    }

    /**
     * Has it count where others count, too. Owner, before anything is posted.
     *
     * @param shared used from now on.
     */
    public final void countIn(final VerbCounters shared)
    {
        counters = shared;
    }

    /** Takes over the requests that {@link #complete()} has just appended, up to {@link #sendTail()}. */
    protected abstract void onDoorbell();

    /**
     * Where the payload of an INLINE request lies; only providers whose addresses are not raw override it.
     *
     * @param localAddress given by the user.
     * @param lengthBytes  of the payload.
     * @return the address in the terms of {@link RawMemory}.
     */
    protected long inlineSource(final long localAddress, final int lengthBytes)
    {
        return localAddress;
    }

    /**
     * The payload taken when an INLINE request was staged.
     *
     * @param request whose local address now points into the inline buffers.
     * @return the payload.
     */
    protected final MemorySegment inlinePayload(final WorkRequest request)
    {
        return inlineBuffers.payload(request);
    }

    /**
     * Refuses destinations of UD and DC that requests of this queue pair cannot go to.
     *
     * @param handle given by the user.
     * @throws RdmaException when it cannot; the request is not addressed then.
     */
    protected void checkDestination(final AddressHandle handle)
    {
        // most can go to all of their provider
    }

    /** @return position after the last posted request; whoever sees it sees the requests before it. */
    protected final long sendTail()
    {
        return (long)TAIL.getAcquire(this);
    }

    /**
     * The request at a position that is not free.
     *
     * @param position of the request.
     * @return the request.
     */
    protected final WorkRequest request(final long position)
    {
        return requests[slot(position)];
    }

    private int slot(final long position)
    {
        return (int)(position - ringStart) & mask;
    }

    /**
     * Frees the slots before a position: its completion was polled.
     *
     * @param position after the completed request.
     */
    public final void releaseSends(final long position)
    {
        RELEASED.setRelease(this, position);
    }

    /**
     * When nothing is outstanding, the next request takes the first slot again: few slots stay near in the processor's
     * caches where a walk through all of them would not. For providers that look at no request after its completion.
     */
    public final void reuseSends()
    {
        if (sendReleased == sendTail && stagedCount == 0)
        {
            ringStart = sendTail;
        }
    }

    /** Whether everything posted was executed without an error; false where the provider does not say. Owner. */
    public boolean isIdle()
    {
        return false;
    }

    /** Frees all slots; by the owner, when it {@link #isIdle()} and no completion is left to be polled. */
    public final void freeSends()
    {
        releaseSends(sendTail);
    }

    /** Forgets everything posted, as on the way to RESET. */
    protected final void clearSends()
    {
        sendTail = 0;
        sendReleased = 0;
        ringStart = 0;
        stagedCount = 0;
        isStaging = false;
    }

    /** @return READs and atomics that it was made for, in either direction. */
    public final int createdReadAtomic()
    {
        return maxReadAtomic;
    }

    @Override
    public final int sendQueueSpace()
    {
        return capacity - (int)(sendTail - (long)RELEASED.getAcquire(this)) - stagedCount;
    }

    @Override
    public final VerbCounters counters()
    {
        return counters;
    }

    @Override
    public final void begin()
    {
        if (isStaging)
        {
            throw new RdmaException("a batch is already open: call complete() or abort() first, queuePair=" + this);
        }
        isStaging = true;
        hasOverflowed = false;
    }

    @Override
    public final void read(
        final long wrId,
        final int flags,
        final long localAddress,
        final int lengthBytes,
        final int localKey,
        final long remoteAddress,
        final int remoteKey)
    {
        checkKind(WorkRequest.READ, flags);
        final WorkRequest request = stage(WorkRequest.READ, wrId, flags, localAddress, lengthBytes, localKey);
        request.remoteAddress = remoteAddress;
        request.remoteKey = remoteKey;
    }

    @Override
    public final void write(
        final long wrId,
        final int flags,
        final long localAddress,
        final int lengthBytes,
        final int localKey,
        final long remoteAddress,
        final int remoteKey)
    {
        checkKind(WorkRequest.WRITE, flags);
        final WorkRequest request = stage(WorkRequest.WRITE, wrId, flags, localAddress, lengthBytes, localKey);
        request.remoteAddress = remoteAddress;
        request.remoteKey = remoteKey;
    }

    @Override
    public final void writeWithImmediate(
        final long wrId,
        final int flags,
        final long localAddress,
        final int lengthBytes,
        final int localKey,
        final long remoteAddress,
        final int remoteKey,
        final int immediate)
    {
        checkKind(OperationRules.WRITE_WITH_IMM, flags);
        final WorkRequest request = stage(WorkRequest.WRITE, wrId, flags, localAddress, lengthBytes, localKey);
        request.remoteAddress = remoteAddress;
        request.remoteKey = remoteKey;
        request.hasImmediate = true;
        request.immediate = immediate;
    }

    @Override
    public final void compareSwap(
        final long wrId,
        final int flags,
        final long localAddress,
        final int localKey,
        final long remoteAddress,
        final int remoteKey,
        final long expected,
        final long desired)
    {
        checkKind(WorkRequest.COMPARE_SWAP, flags);
        final WorkRequest request =
            stage(WorkRequest.COMPARE_SWAP, wrId, flags, localAddress, Long.BYTES, localKey);
        request.remoteAddress = remoteAddress;
        request.remoteKey = remoteKey;
        request.operand = expected;
        request.desired = desired;
    }

    @Override
    public final void fetchAdd(
        final long wrId,
        final int flags,
        final long localAddress,
        final int localKey,
        final long remoteAddress,
        final int remoteKey,
        final long addend)
    {
        checkKind(WorkRequest.FETCH_ADD, flags);
        final WorkRequest request = stage(WorkRequest.FETCH_ADD, wrId, flags, localAddress, Long.BYTES, localKey);
        request.remoteAddress = remoteAddress;
        request.remoteKey = remoteKey;
        request.operand = addend;
    }

    @Override
    public final void send(
        final long wrId, final int flags, final long localAddress, final int lengthBytes, final int localKey)
    {
        checkKind(WorkRequest.SEND, flags);
        stage(WorkRequest.SEND, wrId, flags, localAddress, lengthBytes, localKey);
    }

    @Override
    public final void sendWithImmediate(
        final long wrId,
        final int flags,
        final long localAddress,
        final int lengthBytes,
        final int localKey,
        final int immediate)
    {
        checkKind(WorkRequest.SEND, flags);
        final WorkRequest request = stage(WorkRequest.SEND, wrId, flags, localAddress, lengthBytes, localKey);
        request.hasImmediate = true;
        request.immediate = immediate;
    }

    @Override
    public final void sendWithInvalidate(
        final long wrId,
        final int flags,
        final long localAddress,
        final int lengthBytes,
        final int localKey,
        final int remoteKey)
    {
        checkWindows("SEND_WITH_INV");
        checkKind(OperationRules.SEND_WITH_INV, flags);
        final WorkRequest request = stage(WorkRequest.SEND, wrId, flags, localAddress, lengthBytes, localKey);
        request.invalidates = true;
        request.remoteKey = remoteKey;
    }

    @Override
    public final void bindMemoryWindow(
        final long wrId,
        final int flags,
        final MemoryWindow window,
        final int remoteKey,
        final MemoryRegion region,
        final long address,
        final long lengthBytes,
        final int accessFlags)
    {
        checkWindows("BIND_MW");
        checkKind(WorkRequest.BIND_MW, flags);
        final WorkRequest request = stage(WorkRequest.BIND_MW, wrId, flags, 0, 0, 0);
        request.window = window;
        request.remoteKey = remoteKey;
        request.region = region;
        request.remoteAddress = address;
        request.windowBytes = lengthBytes;
        request.accessFlags = accessFlags;
    }

    @Override
    public final void localInvalidate(final long wrId, final int flags, final int remoteKey)
    {
        checkWindows("LOCAL_INV");
        checkKind(WorkRequest.LOCAL_INV, flags);
        stage(WorkRequest.LOCAL_INV, wrId, flags, 0, 0, 0).remoteKey = remoteKey;
    }

    @Override
    public final void toQueuePair(final AddressHandle handle, final int queuePairNumber, final int qkey)
    {
        address(QueuePairType.UD, handle, queuePairNumber, qkey);
    }

    @Override
    public final void toDcTarget(final AddressHandle handle, final int number, final long accessKey)
    {
        address(QueuePairType.DC_INITIATOR, handle, number, accessKey);
    }

    @Override
    public final void abort()
    {
        stagedCount = 0;
        isStaging = false;
    }

    @Override
    public final int complete()
    {
        if (!isStaging)
        {
            throw new RdmaException("no batch is open: call begin() first, queuePair=" + this);
        }
        final int count = stagedCount;
        abort();
        if (hasOverflowed)
        {
            return PostStatus.QUEUE_FULL;
        }
        final QueuePairState state = state();
        checkAddressed(count);
        if (!QueuePairStates.takesSends(state))
        {
            return PostStatus.INVALID_STATE;
        }
        if (count > 0)
        {
            count(count);
            // Release: who sees the new end sees the requests.
            TAIL.setRelease(this, sendTail + count);
            onDoorbell();
        }
        return PostStatus.OK;
    }

    private void checkKind(final int kind, final int flags)
    {
        if (((flags | OperationRules.OPERATION) & forbiddenFlags[kind]) != 0)
        {
            throw new RdmaException(
                OperationRules.refusal(type, kind, flags) + ": type=" + type + ", operation=" +
                OperationRules.name(kind) + ", flags=0x" + Integer.toHexString(flags));
        }
    }

    private void checkWindows(final String what)
    {
        if (!hasWindows)
        {
            throw new UnsupportedVerbException(what, toString());
        }
    }

    private void address(final QueuePairType wanted, final AddressHandle handle, final int number, final long key)
    {
        if (type != wanted || !isStaging || stagedCount == 0 && !hasOverflowed)
        {
            throw new RdmaException(
                "no request of a " + wanted + " queue pair was staged that could be addressed: type=" + type +
                ", staged=" + stagedCount);
        }
        checkDestination(Objects.requireNonNull(handle));
        final WorkRequest request = hasOverflowed ? overflow : request(sendTail + stagedCount - 1);
        request.destination = handle;
        request.destinationNumber = number;
        request.destinationKey = key;
    }

    private void checkAddressed(final int count)
    {
        for (int i = 0; isAddressed && i < count; i++)
        {
            final WorkRequest request = request(sendTail + i);
            if (request.destination == null)
            {
                throw new RdmaException(
                    "request has no destination, nothing was posted: address each one after staging it, wrId=" +
                    request.wrId + ", type=" + type);
            }
        }
    }

    private WorkRequest stage(
        final int operation,
        final long wrId,
        final int flags,
        final long localAddress,
        final int lengthBytes,
        final int localKey)
    {
        if (!isStaging || lengthBytes < 0 || lengthBytes > maxMessageBytes)
        {
            throw misuse(lengthBytes);
        }
        final long position = sendTail + stagedCount;
        if (position - (long)RELEASED.getAcquire(this) >= capacity)
        {
            hasOverflowed = true;
            return overflow;
        }
        stagedCount++;
        final int slot = slot(position);
        final WorkRequest request = requests[slot];
        request.operation = operation;
        request.wrId = wrId;
        request.flags = flags;
        request.localAddress = localAddress;
        request.lengthBytes = lengthBytes;
        request.localKey = localKey;
        request.segmentCount = 1;
        request.hasImmediate = false;
        request.invalidates = false;
        request.destination = null;
        if ((flags & SendFlags.INLINE) != 0)
        {
            if (!inlineBuffers.fits(lengthBytes))
            {
                stagedCount--;
                inlineBuffers.check(lengthBytes);
            }
            inlineBuffers.take(request, slot, inlineSource(localAddress, lengthBytes));
        }
        return request;
    }

    @Override
    public final void addSegment(final long localAddress, final int lengthBytes, final int localKey)
    {
        if (!isStaging || stagedCount == 0 && !hasOverflowed)
        {
            throw new RdmaException("no request is staged that a segment could be added to, queuePair=" + this);
        }
        if (hasOverflowed)
        {
            return;
        }
        final WorkRequest request = request(sendTail + stagedCount - 1);
        SegmentList.check(request, lengthBytes, maxSendSegments, maxMessageBytes);
        if ((request.flags & SendFlags.INLINE) == 0)
        {
            request.segments.add(request, localAddress, lengthBytes, localKey);
        }
        else
        {
            inlineBuffers.check(request.lengthBytes + lengthBytes);
            InlineBuffers.append(request, inlineSource(localAddress, lengthBytes), lengthBytes);
        }
        request.lengthBytes += lengthBytes;
        request.segmentCount++;
    }

    private RdmaException misuse(final int lengthBytes)
    {
        if (!isStaging)
        {
            return new RdmaException("no batch is open: call begin() first, queuePair=" + this);
        }
        return new RdmaException(
            "bad request: lengthBytes=" + lengthBytes + ", allowed 0 to " + maxMessageBytes + ", type=" + type);
    }

    private void count(final int count)
    {
        final VerbCounters target = counters;
        for (int i = 0; i < count; i++)
        {
            requests[slot(sendTail + i)].count(target);
        }
        target.doorbells++;
    }
}
