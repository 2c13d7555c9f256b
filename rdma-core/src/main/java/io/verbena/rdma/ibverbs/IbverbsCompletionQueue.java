package io.verbena.rdma.ibverbs;

import io.verbena.rdma.ibverbs.library.CompletionId;
import io.verbena.rdma.ibverbs.library.DataPath;
import io.verbena.rdma.ibverbs.library.Errno;
import io.verbena.rdma.ibverbs.library.Libibverbs;
import io.verbena.rdma.ibverbs.library.SendRing;
import io.verbena.rdma.ibverbs.library.VerbsLayouts;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.WorkCompletionOpcode;
import io.verbena.rdma.verbs.WorkCompletions;

import org.agrona.collections.Int2ObjectHashMap;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/** {@code struct ibv_cq}. Completions of queue pairs that are closed are dropped here: not every driver does it. */
final class IbverbsCompletionQueue implements CompletionQueue, EventReader.OverrunListener
{
    private static final int BATCH = 32;
    private static final long WC_BYTES = VerbsLayouts.IBV_WC.byteSize();
    private static final long STATUS = VerbsLayouts.offset(VerbsLayouts.IBV_WC, "status");
    private static final long OPCODE = VerbsLayouts.offset(VerbsLayouts.IBV_WC, "opcode");
    private static final long VENDOR_ERROR = VerbsLayouts.offset(VerbsLayouts.IBV_WC, "vendor_err");
    private static final long BYTE_LENGTH = VerbsLayouts.offset(VerbsLayouts.IBV_WC, "byte_len");
    private static final long IMMEDIATE = VerbsLayouts.offset(VerbsLayouts.IBV_WC, "imm_data");
    private static final long NUMBER = VerbsLayouts.offset(VerbsLayouts.IBV_WC, "qp_num");
    private static final long SOURCE_NUMBER = VerbsLayouts.offset(VerbsLayouts.IBV_WC, "src_qp");
    private static final long FLAGS = VerbsLayouts.offset(VerbsLayouts.IBV_WC, "wc_flags");
    private static final int KNOWN_FLAGS =
        WorkCompletions.WITH_GRH | WorkCompletions.WITH_IMMEDIATE | WorkCompletions.WITH_INVALIDATION;
    private static final int CONNECTED_FLAGS = KNOWN_FLAGS & ~WorkCompletions.WITH_GRH;

    private final DeviceContext device;
    private final IbverbsCompletionChannel channel;
    private final long cq;
    private final int capacity;
    private final MemorySegment pollCq;
    private final MemorySegment requestNotify;
    private final MemorySegment batch = Arena.ofAuto().allocate(BATCH * WC_BYTES, 64);
    /** Who posted, by serial number; replaced as a whole, so that the poller reads without a lock. */
    private volatile Int2ObjectHashMap<CompletionOwner> owners = new Int2ObjectHashMap<>();
    private int attachedCount;
    private volatile boolean isOverrun;
    private volatile boolean isClosed;

    IbverbsCompletionQueue(final DeviceContext device, final int capacity, final IbverbsCompletionChannel channel)
    {
        DeviceContext.checkRange("capacity", capacity, 1, device.attributes().maxCompletions());
        device.childOpened();
        this.device = device;
        this.channel = channel;
        try
        {
            cq = Libibverbs.createCompletionQueue("cannot create a completion queue of " + capacity + " on " +
                device.name(), device.pointer(), capacity, channel == null ? 0 : channel.pointer());
        }
        catch (final RdmaException ex)
        {
            device.childClosed();
            throw ex;
        }
        // What the device made of it may be more.
        this.capacity = VerbsLayouts.intAt(cq, VerbsLayouts.offset(VerbsLayouts.IBV_CQ, "cqe"));
        pollCq = device.operation("poll_cq");
        requestNotify = device.operation("req_notify_cq");
        device.events().add(cq, this);
        if (channel != null)
        {
            channel.childOpened();
        }
    }

    DeviceContext device()
    {
        return device;
    }

    long pointer()
    {
        checkOpen();
        return cq;
    }

    /** A queue whose requests complete here, under its serial number; several numbers may stand for one object. */
    synchronized void add(final int serial, final CompletionOwner owner)
    {
        if (isClosed)
        {
            throw new RdmaException("completion queue is closed: device=" + device.name());
        }
        final Int2ObjectHashMap<CompletionOwner> copy = new Int2ObjectHashMap<>(owners);
        copy.put(serial, owner);
        owners = copy;
        attachedCount++;
    }

    /** Something whose receives complete here and come from a shared receive queue. */
    synchronized void addShared(final ReceiveConsumer consumer, final IbverbsSharedReceiveQueue shared)
    {
        add(~consumer.number(), new CompletionOwner(null, null, consumer));
        if (owners.containsKey(shared.serial()))
        {
            return;
        }
        add(shared.serial(), new CompletionOwner(null, shared.slots(), null));
    }

    /** The reverse; others may still use the shared receive queue. */
    synchronized void removeShared(final ReceiveConsumer consumer, final IbverbsSharedReceiveQueue shared)
    {
        remove(~consumer.number());
        if (owners.values().stream().noneMatch(owner ->
            owner.consumer() != null && owner.consumer() != consumer && owner.consumer().shared() == shared))
        {
            remove(shared.serial());
        }
    }

    synchronized void remove(final int serial)
    {
        final Int2ObjectHashMap<CompletionOwner> copy = new Int2ObjectHashMap<>(owners);
        copy.remove(serial);
        owners = copy;
        attachedCount--;
    }

    @Override
    public int poll(final WorkCompletions completions)
    {
        checkOpen();
        final int limit = completions.capacity();
        int count = 0;
        int wanted;
        int taken;
        do
        {
            wanted = Math.min(BATCH, limit - count);
            taken = DataPath.pollCq(pollCq, cq, wanted, batch.address());
            if (taken < 0)
            {
                throw new RdmaException("polling failed, the completion queue is lost: errno=" + -taken + ", " + this);
            }
            for (int i = 0; i < taken; i++)
            {
                count += deliver(i * WC_BYTES, completions, count) ? 1 : 0;
            }
        }
        while (taken == wanted && count < limit);
        if (count == 0)
        {
            checkAlive();
        }
        return count;
    }

    private void checkAlive()
    {
        device.checkThere();
        if (isOverrun)
        {
            throw new RdmaException("completion queue overrun: capacity=" + capacity +
                "; make it as deep as the send and receive queues that complete here together");
        }
    }

    private boolean deliver(final long offset, final WorkCompletions completions, final int index)
    {
        final MemorySegment from = batch;
        final long id = from.get(JAVA_LONG, offset);
        final CompletionOwner owner = owners.get(CompletionId.serial(id));
        if (owner == null)
        {
            return false;
        }
        final int status = from.get(JAVA_INT, offset + STATUS);
        int length = from.get(JAVA_INT, offset + BYTE_LENGTH);
        final long wrId;
        ReceiveConsumer consumer = owner.consumer();
        if (CompletionId.isReceive(id))
        {
            wrId = owner.receives().complete((int)CompletionId.position(id));
            if (consumer == null)
            {
                final CompletionOwner sharing = owners.get(~from.get(JAVA_INT, offset + NUMBER));
                if (sharing == null)
                {
                    return false;
                }
                consumer = sharing.consumer();
            }
        }
        else
        {
            final SendRing ring = owner.sends();
            final long position = ring.position(id);
            wrId = ring.wrId(position);
            length = ring.length(position);
            ring.release(position);
        }
        if (status != 0)
        {
            completions.set(index, wrId, status, 0, 0, 0, from.get(JAVA_INT, offset + NUMBER));
            completions.setDetails(index, 0, 0, from.get(JAVA_INT, offset + VENDOR_ERROR));
            return true;
        }
        // rxe says of each receive that a routing header came; only in front of a datagram is one.
        final int flags = from.get(JAVA_INT, offset + FLAGS) &
            (consumer.receivesDatagrams() ? KNOWN_FLAGS : CONNECTED_FLAGS);
        int immediate = from.get(JAVA_INT, offset + IMMEDIATE);
        if ((flags & WorkCompletions.WITH_INVALIDATION) == 0)
        {
            // From network order; what carries none has none.
            immediate = (flags & WorkCompletions.WITH_IMMEDIATE) == 0 ? 0 : Integer.reverseBytes(immediate);
        }
        completions.set(index, wrId, 0, opcode(from.get(JAVA_INT, offset + OPCODE)), length, immediate,
            from.get(JAVA_INT, offset + NUMBER));
        completions.setDetails(index, flags, from.get(JAVA_INT, offset + SOURCE_NUMBER), 0);
        return true;
    }

    /** {@code enum ibv_wc_opcode} has the contract's values but for local invalidation. */
    private static int opcode(final int opcode)
    {
        return opcode == 6 ? WorkCompletionOpcode.LOCAL_INV : opcode;
    }

    @Override
    public void requestNotification(final boolean solicitedOnly)
    {
        if (channel == null)
        {
            throw new RdmaException("the completion queue was made without a completion channel: " + this);
        }
        checkOpen();
        final int errno = DataPath.requestNotification(requestNotify, cq, solicitedOnly);
        if (errno != 0)
        {
            throw Errno.failure("cannot arm the completion queue " + this, errno);
        }
    }

    /** The library would follow a pointer that is gone. */
    private void checkOpen()
    {
        if (isClosed)
        {
            throw new RdmaException("completion queue is closed: device=" + device.name());
        }
    }

    /** The device lost completions: nothing that completes here can be trusted to be complete. */
    @Override
    public void onOverrun()
    {
        isOverrun = true;
        for (final CompletionOwner owner : owners.values())
        {
            if (owner.consumer() != null)
            {
                owner.consumer().moveToError();
            }
        }
    }

    @Override
    public int capacity()
    {
        return capacity;
    }

    @Override
    public synchronized void close()
    {
        if (isClosed)
        {
            return;
        }
        if (attachedCount > 0)
        {
            throw new RdmaException("completion queue is in use: close its queue pairs first, open=" + attachedCount);
        }
        device.events().remove(cq);
        Libibverbs.Destroyer.DESTROY_CQ.destroy("a completion queue of " + device.name(), cq);
        isClosed = true;
        if (channel != null)
        {
            channel.childClosed();
        }
        device.childClosed();
    }

    @Override
    public String toString()
    {
        return "IbverbsCompletionQueue{device=" + device.name() + ", capacity=" + capacity + ", isOverrun=" +
            isOverrun + '}';
    }
}
