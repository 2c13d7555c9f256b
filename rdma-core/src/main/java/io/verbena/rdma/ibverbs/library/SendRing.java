package io.verbena.rdma.ibverbs.library;

import io.verbena.rdma.spi.OperationRules;
import io.verbena.rdma.spi.RawMemory;
import io.verbena.rdma.spi.WorkRequest;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.VerbCounters;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * The send queue of a queue pair as the library takes it: a ring of {@code struct ibv_send_wr}, linked to each other
 * once and filled in place, so that staging writes to native memory and makes no objects. A slot holds a work request
 * and its {@code struct ibv_sge}s, those without bytes left out. Positions are 64-bit and only grow; a slot is free
 * when a signalled completion of its position or a later one has been polled. Owner thread only.
 */
public final class SendRing
{
    /** A queue that takes requests by calls, one by one. */
    public interface Initiator
    {
        void start();

        /** Adds a request that lies in a slot of a send ring. */
        void add(MemorySegment slots, long slot);

        /** Rings the doorbell: 0, or an errno value, and nothing since {@link #start} was posted. */
        int complete();
    }

    /** A memory window that requests bind. */
    public interface Window
    {
        /** A bind to this key was posted, and the window is still held for that. */
        void bound(int newKey);
    }

    public static final int RDMA_WRITE = 0;
    public static final int RDMA_WRITE_WITH_IMM = 1;
    public static final int SEND = 2;
    public static final int SEND_WITH_IMM = 3;
    public static final int RDMA_READ = 4;
    public static final int ATOMIC_CMP_AND_SWP = 5;
    public static final int ATOMIC_FETCH_AND_ADD = 6;
    public static final int LOCAL_INV = 7;
    public static final int BIND_MW = 8;
    public static final int SEND_WITH_INV = 9;

    public static final long IMMEDIATE = VerbsLayouts.offset(VerbsLayouts.IBV_SEND_WR, "imm_data");
    public static final long REMOTE_ADDRESS =
        VerbsLayouts.offset(VerbsLayouts.IBV_SEND_WR, "wr", "rdma", "remote_addr");
    public static final long REMOTE_KEY = VerbsLayouts.offset(VerbsLayouts.IBV_SEND_WR, "wr", "rdma", "rkey");
    public static final long COMPARE_ADD = VerbsLayouts.offset(VerbsLayouts.IBV_SEND_WR, "wr", "atomic", "compare_add");
    public static final long SWAP = VerbsLayouts.offset(VerbsLayouts.IBV_SEND_WR, "wr", "atomic", "swap");
    public static final long ATOMIC_KEY = VerbsLayouts.offset(VerbsLayouts.IBV_SEND_WR, "wr", "atomic", "rkey");
    public static final long UD_HANDLE = VerbsLayouts.offset(VerbsLayouts.IBV_SEND_WR, "wr", "ud", "ah");
    public static final long UD_NUMBER = VerbsLayouts.offset(VerbsLayouts.IBV_SEND_WR, "wr", "ud", "remote_qpn");
    public static final long UD_QKEY = VerbsLayouts.offset(VerbsLayouts.IBV_SEND_WR, "wr", "ud", "remote_qkey");

    private static final long WINDOW = VerbsLayouts.offset(VerbsLayouts.IBV_SEND_WR, "bind_mw", "mw");
    private static final long WINDOW_KEY = VerbsLayouts.offset(VerbsLayouts.IBV_SEND_WR, "bind_mw", "rkey");
    private static final long WINDOW_REGION =
        VerbsLayouts.offset(VerbsLayouts.IBV_SEND_WR, "bind_mw", "bind_info", "mr");
    private static final long WINDOW_ADDRESS =
        VerbsLayouts.offset(VerbsLayouts.IBV_SEND_WR, "bind_mw", "bind_info", "addr");
    private static final long WINDOW_LENGTH =
        VerbsLayouts.offset(VerbsLayouts.IBV_SEND_WR, "bind_mw", "bind_info", "length");
    private static final long WINDOW_RIGHTS =
        VerbsLayouts.offset(VerbsLayouts.IBV_SEND_WR, "bind_mw", "bind_info", "mw_access_flags");
    public static final long WR_ID = VerbsLayouts.offset(VerbsLayouts.IBV_SEND_WR, "wr_id");
    private static final long NEXT = VerbsLayouts.offset(VerbsLayouts.IBV_SEND_WR, "next");
    private static final long SG_LIST = VerbsLayouts.offset(VerbsLayouts.IBV_SEND_WR, "sg_list");
    public static final long NUM_SGE = VerbsLayouts.offset(VerbsLayouts.IBV_SEND_WR, "num_sge");
    public static final long OPCODE = VerbsLayouts.offset(VerbsLayouts.IBV_SEND_WR, "opcode");
    public static final long FLAGS = VerbsLayouts.offset(VerbsLayouts.IBV_SEND_WR, "send_flags");
    /** The target of a DC request, for which the C structure has no place: behind it. */
    public static final long DC_HANDLE = VerbsLayouts.IBV_SEND_WR.byteSize();
    public static final long DC_KEY = DC_HANDLE + Long.BYTES;
    public static final long DC_NUMBER = DC_KEY + Long.BYTES;
    /** The places of the payload, as many as there are; INLINE has one, where they were put together. */
    public static final long SGE = DC_NUMBER + Long.BYTES;
    public static final long SGE_LENGTH = SGE + VerbsLayouts.offset(VerbsLayouts.IBV_SGE, "length");
    public static final long SGE_KEY = SGE + VerbsLayouts.offset(VerbsLayouts.IBV_SGE, "lkey");
    private static final long SGE_BYTES = VerbsLayouts.IBV_SGE.byteSize();
    private static final long LINE_BYTES = 64;
    /** The rule of each opcode, in the terms of {@link OperationRules}. */
    private static final int[] KINDS = {
        WorkRequest.WRITE, OperationRules.WRITE_WITH_IMM, WorkRequest.SEND, WorkRequest.SEND, WorkRequest.READ,
        WorkRequest.COMPARE_SWAP, WorkRequest.FETCH_ADD, WorkRequest.LOCAL_INV, WorkRequest.BIND_MW,
        OperationRules.SEND_WITH_INV };
    private static final ValueLayout.OfInt NETWORK_INT = JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);

    private final QueuePairType type;
    private final int[] forbiddenFlags = new int[KINDS.length];
    /** Where a request says which way it goes; -1 when the queue pair has but one. */
    private final long handle;
    private final int capacity;
    private final int mask;
    private final int maxMessageBytes;
    private final int maxInlineBytes;
    private final int maxSegments;
    /** Whole lines; two places fit into what one takes. */
    private final long slotBytes;
    private final MemorySegment slots;
    private final MemorySegment inlineBuffers;
    private final long bad;
    private final long[] wrIds;
    private final int[] lengths;
    /** Bound by the request of a slot; made when the first one is. */
    private Window[] windows;
    /** Two for each slot: what its request names and the library follows; made when the first request does. */
    private HeldPointer[] named;
    private long heldFrom;
    private int heldCount;
    private long tail;
    private long released;
    private int stagedCount;
    /** Places given for the request staged last. */
    private int segmentCount;
    private boolean isStaging;
    private boolean hasOverflowed;
    private boolean isPartlyPosted;

    public SendRing(final QueuePairType type, final QueuePairCapabilities capabilities, final int maxMessageBytes)
    {
        this.type = type;
        handle = type == QueuePairType.UD ? UD_HANDLE : type == QueuePairType.DC_INITIATOR ? DC_HANDLE : -1;
        for (int opcode = 0; opcode < KINDS.length; opcode++)
        {
            forbiddenFlags[opcode] = OperationRules.forbiddenFlags(type, KINDS[opcode]);
        }
        capacity = capabilities.maxSendRequests();
        this.maxMessageBytes = maxMessageBytes;
        maxInlineBytes = capabilities.maxInlineBytes();
        maxSegments = capabilities.maxSendSegments();
        slotBytes = (SGE + maxSegments * SGE_BYTES + LINE_BYTES - 1) & -LINE_BYTES;
        final int count = Integer.highestOneBit(Math.max(1, capacity * 2 - 1));
        mask = count - 1;
        wrIds = new long[count];
        lengths = new int[count + 1];
        // One more for what is staged beyond the depth, and a word for the first request that was not posted. Kept
        // alive by this object: the library copies what is posted.
        slots = Arena.ofAuto().allocate((count + 1) * slotBytes + Long.BYTES, 64);
        bad = slots.address() + (count + 1) * slotBytes;
        inlineBuffers = maxInlineBytes == 0 ? null : Arena.ofAuto().allocate((count + 1L) * maxInlineBytes, 8);
        for (int i = 0; i <= count; i++)
        {
            slots.set(JAVA_LONG, i * slotBytes + SG_LIST, slots.address() + i * slotBytes + SGE);
            slots.set(JAVA_LONG, i * slotBytes + NEXT, slots.address() + (i + 1 & mask) * slotBytes);
        }
    }

    /** @return the ring's memory, for the fields that only some requests have. */
    public MemorySegment memory()
    {
        return slots;
    }

    public int space()
    {
        return capacity - (int)(tail - released) - stagedCount;
    }

    public void begin(final Object owner)
    {
        if (isStaging)
        {
            throw new RdmaException("a batch is already open: call complete() or abort() first, queuePair=" + owner);
        }
        isStaging = true;
        hasOverflowed = false;
    }

    /** Stages a request; the offset of its slot, where the fields of its kind go. */
    public long stage(
        final int opcode,
        final long wrId,
        final int flags,
        final long localAddress,
        final int lengthBytes,
        final int localKey)
    {
        if (!isStaging || lengthBytes < 0 || lengthBytes > maxMessageBytes ||
            (forbiddenFlags[opcode] & (flags | OperationRules.OPERATION)) != 0 ||
            (flags & SendFlags.INLINE) != 0 && lengthBytes > maxInlineBytes)
        {
            throw misuse(opcode, flags, lengthBytes);
        }
        final long position = tail + stagedCount;
        int slot = mask + 1;
        if (position - released < capacity)
        {
            slot = (int)position & mask;
            stagedCount++;
            wrIds[slot] = wrId;
        }
        else
        {
            hasOverflowed = true;
        }
        lengths[slot] = lengthBytes;
        final long offset = slot * slotBytes;
        final MemorySegment memory = slots;
        memory.set(JAVA_INT, offset + OPCODE, opcode);
        memory.set(JAVA_INT, offset + FLAGS, flags);
        memory.set(JAVA_INT, offset + NUM_SGE, lengthBytes == 0 ? 0 : 1);
        memory.set(JAVA_LONG, offset + SGE, (flags & SendFlags.INLINE) == 0 || lengthBytes == 0 ?
            localAddress : copyInline(localAddress, lengthBytes, slot));
        memory.set(JAVA_INT, offset + SGE_LENGTH, lengthBytes);
        memory.set(JAVA_INT, offset + SGE_KEY, localKey);
        segmentCount = 1;
        if (named != null)
        {
            named[2 * slot] = null;
            named[2 * slot + 1] = null;
        }
        if (handle >= 0)
        {
            // The library follows it without looking: hasUnaddressed() does.
            memory.set(JAVA_LONG, offset + handle, 0);
        }
        return offset;
    }

    /** Adds a place to the request staged last. */
    public void addSegment(final long localAddress, final int lengthBytes, final int localKey)
    {
        final long offset = lastOffset();
        final MemorySegment memory = slots;
        final int slot = (int)(offset / slotBytes);
        final boolean isInline = (memory.get(JAVA_INT, offset + FLAGS) & SendFlags.INLINE) != 0;
        final int before = lengths[slot];
        checkSegment(offset, lengthBytes, before, isInline ? maxInlineBytes : maxMessageBytes);
        segmentCount++;
        if (lengthBytes == 0)
        {
            return;
        }
        lengths[slot] = before + lengthBytes;
        if (isInline)
        {
            final long buffer = inlineBuffers.address() + (long)slot * maxInlineBytes;
            RawMemory.write(localAddress, buffer + before, lengthBytes);
            memory.set(JAVA_LONG, offset + SGE, buffer);
            memory.set(JAVA_INT, offset + SGE_LENGTH, before + lengthBytes);
            memory.set(JAVA_INT, offset + NUM_SGE, 1);
            return;
        }
        final int used = memory.get(JAVA_INT, offset + NUM_SGE);
        final long place = offset + used * SGE_BYTES;
        memory.set(JAVA_LONG, place + SGE, localAddress);
        memory.set(JAVA_INT, place + SGE_LENGTH, lengthBytes);
        memory.set(JAVA_INT, place + SGE_KEY, localKey);
        memory.set(JAVA_INT, offset + NUM_SGE, used + 1);
    }

    private void checkSegment(final long offset, final int lengthBytes, final int before, final int mostBytes)
    {
        final int kind = KINDS[slots.get(JAVA_INT, offset + OPCODE)];
        if (!OperationRules.takesSegments(kind))
        {
            throw new RdmaException(OperationRules.segmentsRefusal(kind));
        }
        if (segmentCount >= maxSegments || lengthBytes < 0 || lengthBytes > mostBytes - before)
        {
            throw new RdmaException("segment is one too many, or too long: lengthBytes=" + lengthBytes + " behind " +
                before + " of at most " + mostBytes + ", segments=" + segmentCount + " of at most " + maxSegments);
        }
    }

    /** The contract copies when a request is staged, the library when it is posted. */
    private long copyInline(final long localAddress, final int lengthBytes, final int slot)
    {
        final long buffer = inlineBuffers.address() + (long)slot * maxInlineBytes;
        RawMemory.write(localAddress, buffer, lengthBytes);
        return buffer;
    }

    public void immediate(final long offset, final int immediate)
    {
        slots.set(NETWORK_INT, offset + IMMEDIATE, immediate);
    }

    /** UD: where the request staged last goes. */
    public void toQueuePair(final HeldPointer addressHandle, final int number, final int qkey)
    {
        final long offset = lastOffset();
        name(offset, addressHandle, null);
        slots.set(JAVA_LONG, offset + UD_HANDLE, addressHandle.address());
        slots.set(JAVA_INT, offset + UD_NUMBER, number);
        slots.set(JAVA_INT, offset + UD_QKEY, qkey);
    }

    /** DC: where the request staged last goes. */
    public void toDcTarget(final HeldPointer addressHandle, final int number, final long accessKey)
    {
        final long offset = lastOffset();
        name(offset, addressHandle, null);
        slots.set(JAVA_LONG, offset + DC_HANDLE, addressHandle.address());
        slots.set(JAVA_LONG, offset + DC_KEY, accessKey);
        slots.set(JAVA_INT, offset + DC_NUMBER, number);
    }

    /** The key to invalidate, in the place of an immediate but in this machine's order. */
    public void invalidate(final long offset, final int remoteKey)
    {
        slots.set(JAVA_INT, offset + IMMEDIATE, remoteKey);
    }

    /** The library names the key of the binding before, as it is when the batch is posted: one bind a batch. */
    public void checkBinds(final Window window)
    {
        for (int i = 0; windows != null && i < stagedCount; i++)
        {
            final int slot = (int)(tail + i) & mask;
            if (windows[slot] == window && slots.get(JAVA_INT, slot * slotBytes + OPCODE) == BIND_MW)
            {
                throw new RdmaException("the batch binds this window already: post that first, " + window);
            }
        }
    }

    public void bind(
        final long offset,
        final Window window,
        final HeldPointer mw,
        final int remoteKey,
        final HeldPointer mr,
        final long address,
        final long lengthBytes,
        final int accessFlags)
    {
        if (windows == null)
        {
            windows = new Window[mask + 2];
        }
        windows[(int)(offset / slotBytes)] = window;
        name(offset, mw, mr);
        // rxe's library refuses a bind with an immediate, and one may be left of an earlier request.
        slots.set(JAVA_INT, offset + IMMEDIATE, 0);
        slots.set(JAVA_LONG, offset + WINDOW, mw.address());
        slots.set(JAVA_INT, offset + WINDOW_KEY, remoteKey);
        slots.set(JAVA_LONG, offset + WINDOW_REGION, mr.address());
        slots.set(JAVA_LONG, offset + WINDOW_ADDRESS, address);
        slots.set(JAVA_LONG, offset + WINDOW_LENGTH, lengthBytes);
        slots.set(JAVA_INT, offset + WINDOW_RIGHTS, accessFlags);
    }

    private void name(final long offset, final HeldPointer first, final HeldPointer second)
    {
        if (named == null)
        {
            named = new HeldPointer[2 * (mask + 2)];
        }
        final int slot = (int)(offset / slotBytes);
        named[2 * slot] = first;
        named[2 * slot + 1] = second;
    }

    /**
     * Keeps what the requests staged last name from being freed until {@link #release()}, which follows the post.
     *
     * @return false when something of it has been closed since: then nothing is held.
     */
    public boolean hold(final int count)
    {
        heldFrom = tail;
        heldCount = 0;
        for (int i = 0; named != null && i < count; i++)
        {
            final int slot = (int)(tail + i) & mask;
            if (!hold(named[2 * slot]) || !holdSecond(slot))
            {
                release();
                return false;
            }
            heldCount++;
        }
        return true;
    }

    private boolean holdSecond(final int slot)
    {
        if (hold(named[2 * slot + 1]))
        {
            return true;
        }
        release(named[2 * slot]);
        return false;
    }

    private static boolean hold(final HeldPointer pointer)
    {
        return pointer == null || pointer.hold();
    }

    private static void release(final HeldPointer pointer)
    {
        if (pointer != null)
        {
            pointer.release();
        }
    }

    public void release()
    {
        for (int i = 0; i < heldCount; i++)
        {
            final int slot = (int)(heldFrom + i) & mask;
            release(named[2 * slot]);
            release(named[2 * slot + 1]);
        }
        heldCount = 0;
    }

    /** UD, DC: whether one of the requests staged last goes nowhere. */
    public boolean hasUnaddressed(final int count)
    {
        for (int i = 0; handle >= 0 && i < count; i++)
        {
            if (slots.get(JAVA_LONG, ((int)(tail + i) & mask) * slotBytes + handle) == 0)
            {
                return true;
            }
        }
        return false;
    }

    /** The slot of the request staged last. */
    public long lastOffset()
    {
        if (!isStaging || stagedCount == 0 && !hasOverflowed)
        {
            throw new RdmaException("no request is staged that this could be added to");
        }
        return hasOverflowed ? (mask + 1) * slotBytes : ((int)(tail + stagedCount - 1) & mask) * slotBytes;
    }

    public void abort()
    {
        stagedCount = 0;
        isStaging = false;
    }

    /** Ends the batch: how many requests are to be posted, or -1 when they do not fit. */
    public int end(final Object owner)
    {
        if (!isStaging)
        {
            throw new RdmaException("no batch is open: call begin() first, queuePair=" + owner);
        }
        final int count = stagedCount;
        abort();
        return hasOverflowed ? -1 : count;
    }

    /**
     * Posts the requests that were staged last.
     *
     * @param function of the context's table.
     * @param qp       {@code struct ibv_qp *}.
     * @param serial   for the identifiers that come back.
     * @param count    of requests, 1 or more.
     * @param counters counts what was posted.
     * @return 0 or an errno value; then {@link #isPartlyPosted()} says whether some were posted all the same.
     */
    public int post(
        final MemorySegment function, final long qp, final int serial, final int count, final VerbCounters counters)
    {
        final MemorySegment memory = slots;
        identify(serial, count);
        final long first = ((int)tail & mask) * slotBytes;
        final long last = ((int)(tail + count - 1) & mask) * slotBytes;
        final long next = memory.get(JAVA_LONG, last + NEXT);
        memory.set(JAVA_LONG, last + NEXT, 0);
        final int errno = DataPath.post(function, qp, slots.address() + first, bad);
        memory.set(JAVA_LONG, last + NEXT, next);
        int posted = count;
        if (errno != 0)
        {
            final long firstBad = memory.get(JAVA_LONG, bad - slots.address());
            // None is bad where only the doorbell failed, as it does when the device is gone.
            posted = firstBad == 0 ? count : (int)((firstBad - slots.address() - first) / slotBytes) & mask;
        }
        count(posted, counters);
        tail += posted;
        isPartlyPosted = errno != 0 && posted > 0;
        return errno;
    }

    /** As the other {@code post}, by calls: all of it was posted, or nothing. */
    public int post(final Initiator queue, final int serial, final int count, final VerbCounters counters)
    {
        identify(serial, count);
        isPartlyPosted = false;
        queue.start();
        for (int i = 0; i < count; i++)
        {
            queue.add(slots, ((int)(tail + i) & mask) * slotBytes);
        }
        final int errno = queue.complete();
        if (errno == 0)
        {
            count(count, counters);
            tail += count;
        }
        return errno;
    }

    private void identify(final int serial, final int count)
    {
        for (int i = 0; i < count; i++)
        {
            final long position = tail + i;
            slots.set(JAVA_LONG, ((int)position & mask) * slotBytes + WR_ID,
                CompletionId.of(serial, false, position));
        }
    }

    public boolean isPartlyPosted()
    {
        return isPartlyPosted;
    }

    /** Polling thread: a completion; the position it is of, out of the bits that came back. */
    public long position(final long completionId)
    {
        return released + (CompletionId.position(completionId) - released & CompletionId.POSITION_MASK);
    }

    public long wrId(final long position)
    {
        return wrIds[(int)position & mask];
    }

    public int length(final long position)
    {
        return lengths[(int)position & mask];
    }

    /** Polling thread: everything up to a position is done. */
    public void release(final long position)
    {
        released = position + 1;
    }

    /** On the way to RESET. */
    public void clear()
    {
        tail = 0;
        released = 0;
        abort();
    }

    private void count(final int count, final VerbCounters counters)
    {
        for (int i = 0; i < count; i++)
        {
            final int slot = (int)(tail + i) & mask;
            counters.payloadBytes += lengths[slot];
            switch (slots.get(JAVA_INT, slot * slotBytes + OPCODE))
            {
                case RDMA_READ -> counters.reads++;
                case RDMA_WRITE, RDMA_WRITE_WITH_IMM -> counters.writes++;
                case ATOMIC_CMP_AND_SWP -> counters.compareSwaps++;
                case ATOMIC_FETCH_AND_ADD -> counters.fetchAdds++;
                case LOCAL_INV -> counters.localOperations++;
                case BIND_MW ->
                {
                    counters.localOperations++;
                    windows[slot].bound(slots.get(JAVA_INT, slot * slotBytes + WINDOW_KEY));
                }
                default -> counters.sends++;
            }
        }
        counters.doorbells += count > 0 ? 1 : 0;
    }

    private RdmaException misuse(final int opcode, final int flags, final int lengthBytes)
    {
        if (!isStaging)
        {
            return new RdmaException("no batch is open: call begin() first");
        }
        final String refusal = OperationRules.refusal(type, KINDS[opcode], flags);
        return new RdmaException("bad request: " + (refusal == null ? "length" : refusal) + ": operation=" +
            OperationRules.name(KINDS[opcode]) + ", type=" + type + ", flags=0x" + Integer.toHexString(flags) +
            ", lengthBytes=" + lengthBytes + " of at most " + maxMessageBytes + ", INLINE at most " + maxInlineBytes);
    }
}
