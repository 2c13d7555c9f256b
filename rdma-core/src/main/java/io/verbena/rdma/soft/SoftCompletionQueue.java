package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.CompletionInbox;
import io.verbena.rdma.soft.shared.DeviceFile;
import io.verbena.rdma.soft.shared.DeviceFileDescriptor;
import io.verbena.rdma.soft.shared.SharedWords;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.function.Consumer;

import static io.verbena.rdma.soft.shared.CompletionInbox.*;

/**
 * A completion queue of two rings: one in the heap for completions that the polling thread itself produces (its sends),
 * without any atomic; and a {@link CompletionInbox} in the device file for those that others produce (a peer's SEND
 * completes our receive).
 *
 * <p>The count that decides about an overrun spans both rings; while others produce it may lag behind polling and
 * posting by a sixteenth of the capacity, which matters only to a queue that is smaller than the queues that complete
 * in it.
 */
final class SoftCompletionQueue implements SoftCompletionChannel.Queue
{
    /** Each costs a look at its line at each poll. */
    private static final int MAX_DIRECT = 8;

    private final SoftHost device;
    private final DeviceFile file;
    private final SoftCompletionChannel channel;
    private final Consumer<SoftCompletionQueue> onClosed;
    private final int capacity;
    private final int mask;
    private final long inboxOffset;
    private final long inboxBytes;
    private final long inbox;
    private final InboxReader reader;
    private final LocalCompletion[] local;
    private final ArrayList<SoftSender> waiting = new ArrayList<>();
    private long localHead;
    private long localTail;
    private volatile SoftResponder[] attached = new SoftResponder[0];
    /** Those whose receives complete in their slots, or did once. */
    private volatile SoftSender[] direct = new SoftSender[0];
    private volatile boolean isOverrun;
    private boolean isClosed;
    /** Test hook: called between the completions in slots and those in the inbox. */
    Runnable beforeInbox;

    /** One completion of a send queue. */
    private static final class LocalCompletion
    {
        SoftSender queuePair;
        long wrId;
        int status;
        int opcode;
        int byteLength;
        long position;
    }

    /**
     * @param channel  where it raises notifications, or null.
     * @param onClosed called once.
     */
    SoftCompletionQueue(
        final SoftHost device,
        final int capacity,
        final SoftCompletionChannel channel,
        final Consumer<SoftCompletionQueue> onClosed)
    {
        this(device, capacity, channel, onClosed, slotCount(capacity));
    }

    /** @param firstPosition of the first completion in the inbox. */
    SoftCompletionQueue(
        final SoftHost device,
        final int capacity,
        final SoftCompletionChannel channel,
        final Consumer<SoftCompletionQueue> onClosed,
        final long firstPosition)
    {
        this.onClosed = onClosed;
        this.device = device;
        this.file = device.file();
        this.channel = channel;
        this.capacity = capacity;
        final int slots = slotCount(capacity);
        mask = slots - 1;
        local = new LocalCompletion[slots];
        inboxBytes = CompletionInbox.lengthBytes(slots);
        inboxOffset = device.rings().allocate(inboxBytes);
        inbox = file.base() + inboxOffset;
        SharedWords.putInt(inbox + MASK_OFFSET, mask);
        SharedWords.putInt(inbox + CAPACITY_OFFSET, capacity);
        reader = new InboxReader(device, inbox, capacity, firstPosition);
        SharedWords.putLong(inbox + CHANNEL_OFFSET, channel == null ? 0 : channel.wordOffset());
        SharedWords.putLong(inbox + LIMIT_OFFSET, reader.limit(0));
        SharedWords.putLongRelease(inbox + TAIL_OFFSET, firstPosition);
    }

    private static int slotCount(final int capacity)
    {
        return Integer.highestOneBit(Math.max(1, capacity * 2 - 1));
    }

    /** A completion queue of this device. */
    static SoftCompletionQueue of(final SoftHost device, final CompletionQueue completionQueue)
    {
        if (completionQueue instanceof SoftCompletionQueue soft && soft.device == device)
        {
            return soft;
        }
        throw new RdmaException("not a completion queue of this device: device=" + device.name() +
            ", completionQueue=" + completionQueue);
    }

    /** Offset of the inbox in the device file. */
    long inboxOffset()
    {
        return inboxOffset;
    }

    @Override
    public int capacity()
    {
        return capacity;
    }

    @Override
    public int poll(final WorkCompletions completions)
    {
        if (SharedWords.getIntAcquire(inbox + ATTENTION_OFFSET) != 0 || !waiting.isEmpty())
        {
            serve();
        }
        int count = 0;
        if (localHead != localTail)
        {
            count = drainLocal(completions);
        }
        final boolean hasInbox = reader.hasAny();
        for (final SoftSender queuePair : direct)
        {
            if (queuePair.receives().hasCompletion())
            {
                count = queuePair.drainDirect(completions, count);
            }
        }
        if (hasInbox)
        {
            if (beforeInbox != null)
            {
                beforeInbox.run();
            }
            count = reader.drain(completions, count, direct.length > 0);
            publishLimit();
        }
        if (count == 0 && isOverrun)
        {
            throw new RdmaException(
                "completion queue overrun: capacity=" + capacity +
                "; make it as deep as the send and receive queues that complete here together");
        }
        return count;
    }

    @Override
    public void requestNotification(final boolean solicitedOnly)
    {
        if (channel == null)
        {
            throw new RdmaException("completion queue has no channel: create it with one, device=" + device.name());
        }
        SharedWords.putIntVolatile(inbox + ARMED_OFFSET, solicitedOnly ? ARMED_SOLICITED : ARMED_ANY);
    }

    /** Any thread: whether it has overrun and that was not reported yet. */
    boolean takeOverrun()
    {
        return SharedWords.compareAndSetInt(inbox + OVERRUN_OFFSET, 1, OVERRUN_REPORTED);
    }

    @Override
    public boolean takeEvent()
    {
        return SharedWords.getIntAcquire(inbox + EVENT_OFFSET) != 0 &&
            SharedWords.compareAndSetInt(inbox + EVENT_OFFSET, 1, 0);
    }

    @Override
    public boolean serveWhileAsleep()
    {
        if (SharedWords.getIntAcquire(inbox + ATTENTION_OFFSET) != 0 || !waiting.isEmpty())
        {
            serve();
        }
        return !waiting.isEmpty();
    }

    /** Polling thread: the request before a position of a queue pair's send queue has completed. */
    void pushSend(
        final SoftSender queuePair,
        final long wrId,
        final int status,
        final int opcode,
        final int byteLength,
        final long position)
    {
        if (SharedWords.getLongAcquire(inbox + TAIL_OFFSET) - reader.limit(localTail - localHead) >= 0)
        {
            overrun();
            return;
        }
        final LocalCompletion entry = entryAt((int)localTail & mask);
        if (entry.queuePair != queuePair)
        {
            // Not otherwise: to store a reference costs a full fence with G1, once the objects are old.
            entry.queuePair = queuePair;
        }
        entry.wrId = wrId;
        entry.status = status;
        entry.opcode = opcode;
        entry.byteLength = byteLength;
        entry.position = position;
        localTail++;
        publishLimit();
        if (channel != null)
        {
            // A wake-up is a system call. Threads that only watch are not to be woken: they wake this one.
            final boolean isSolicited = status != WorkCompletionStatus.SUCCESS;
            if (CompletionInbox.raiseOwn(file, inbox, channel.wordOffset(), isSolicited) && channel.isAwaited())
            {
                channel.askAnew();
            }
        }
    }

    /** Made when as many wait for the first time: most queues are deep, and never get near that. */
    private LocalCompletion entryAt(final int index)
    {
        LocalCompletion entry = local[index];
        if (entry == null)
        {
            entry = new LocalCompletion();
            local[index] = entry;
        }
        return entry;
    }

    /** Polling thread: a receive that it claimed for itself is flushed. */
    void pushFlushedReceive(final SoftResponder queuePair, final long wrId, final long slotInRing)
    {
        final int index = queuePair.number() & DeviceFileDescriptor.MAX_QUEUE_PAIRS - 1;
        final long slot = CompletionInbox.claim(inbox, CompletionInbox.limit(inbox), 0, index);
        if (slot <= 0)
        {
            overrun();
            return;
        }
        SharedWords.putLong(slot + WR_ID_OFFSET, wrId);
        SharedWords.putInt(slot + STATUS_OFFSET, WorkCompletionStatus.WR_FLUSH_ERR);
        SharedWords.putInt(slot + QUEUE_PAIR_OFFSET, queuePair.number());
        SharedWords.putInt(slot + FLAGS_OFFSET, 0);
        SharedWords.putInt(slot + SOURCE_OFFSET, 0);
        SharedWords.putLong(slot + RECEIVE_OFFSET, slotInRing);
        CompletionInbox.publish(slot);
        CompletionInbox.raise(file, inbox, true);
    }

    /** Whether a completion of a receive of this queue pair waits here; by the polling thread. */
    boolean hasReceived(final SoftResponder queuePair)
    {
        return SoftResponder.hasDirectCompletion(queuePair) || reader.hasReceived(queuePair);
    }

    /** Whether the completion of one receive waits here, which a shared slot stands for; by the polling thread. */
    boolean hasReceived(final SoftResponder queuePair, final long slotInRing)
    {
        return reader.hasReceived(queuePair, slotInRing);
    }

    /** Polling thread: completions of this queue pair that were not polled yet go; with no requester about. */
    void forget(final SoftSender queuePair)
    {
        for (long position = localHead; position != localTail; position++)
        {
            final LocalCompletion entry = local[(int)position & mask];
            entry.queuePair = entry.queuePair == queuePair ? null : entry.queuePair;
        }
        reader.forget(queuePair.number());
    }

    /** Any thread: some attached queue pair may have to be flushed by the polling thread. */
    void requestAttention()
    {
        CompletionInbox.requestAttention(file, inbox);
    }

    /** Polling thread: the queue pair has requests that wait for the peer. */
    void addWaiting(final SoftSender queuePair)
    {
        if (!waiting.contains(queuePair))
        {
            waiting.add(queuePair);
        }
    }

    /** Polling thread: nothing waits any more. */
    void removeWaiting(final SoftSender queuePair)
    {
        waiting.remove(queuePair);
    }

    synchronized void attach(final SoftResponder queuePair)
    {
        if (isClosed)
        {
            throw new RdmaException("completion queue is closed: device=" + device.name());
        }
        final SoftResponder[] copy = Arrays.copyOf(attached, attached.length + 1);
        copy[attached.length] = queuePair;
        attached = copy;
        chooseDirect(queuePair);
    }

    /**
     * Completions in the slots of receives do not count against the capacity: they stay there only as long as no more
     * can come than fit. Requesters that have not seen yet that they shall not may leave some for a while.
     */
    private void chooseDirect(final SoftResponder added)
    {
        final long depth = Arrays.stream(attached).distinct().mapToLong(queuePair -> queuePair.depthIn(this)).sum();
        if (depth > capacity)
        {
            for (final SoftSender queuePair : direct)
            {
                queuePair.receives().direct(false);
            }
        }
        else if (direct.length < MAX_DIRECT && added instanceof final SoftSender queuePair &&
            queuePair.mayBeDirectIn(this) && !Arrays.asList(direct).contains(queuePair))
        {
            final SoftSender[] copy = Arrays.copyOf(direct, direct.length + 1);
            copy[direct.length] = queuePair;
            direct = copy;
            queuePair.receives().direct(true);
        }
    }

    synchronized void detach(final SoftResponder queuePair)
    {
        attached = Arrays.stream(attached).filter(other -> other != queuePair).toArray(SoftResponder[]::new);
        direct = Arrays.stream(direct).filter(other -> other != queuePair).toArray(SoftSender[]::new);
    }

    /** Whether a claim of this visitor is open in it; any thread. */
    boolean hasClaimOf(final int visitor)
    {
        return reader.hasClaimOf(visitor);
    }

    @Override
    public synchronized void close()
    {
        if (attached.length > 0)
        {
            throw new RdmaException(
                "completion queue is in use: close its queue pairs first, open=" + attached.length);
        }
        if (!isClosed)
        {
            isClosed = true;
            if (channel != null)
            {
                channel.detach(this);
            }
            onClosed.accept(this);
            device.rings().free(inboxOffset, inboxBytes);
        }
    }

    private void serve()
    {
        if (SharedWords.getIntAcquire(inbox + ATTENTION_OFFSET) != 0)
        {
            // Cleared before looking: a request that comes meanwhile sets it again.
            SharedWords.putIntVolatile(inbox + ATTENTION_OFFSET, 0);
            if (SharedWords.getIntAcquire(inbox + OVERRUN_OFFSET) != 0 && !isOverrun)
            {
                overrun();
            }
            for (final SoftResponder queuePair : attached)
            {
                queuePair.flushIfInError();
            }
        }
        for (int i = waiting.size() - 1; i >= 0; i--)
        {
            waiting.get(i).retry();
        }
    }

    private int drainLocal(final WorkCompletions completions)
    {
        final int limit = completions.capacity();
        long head = localHead;
        final long tail = localTail;
        int count = 0;
        while (count < limit && head != tail)
        {
            final LocalCompletion entry = local[(int)head & mask];
            head++;
            final SoftSender queuePair = entry.queuePair;
            if (queuePair != null && !queuePair.isClosed())
            {
                queuePair.releaseSends(entry.position);
                queuePair.reuseSends();
                completions.set(
                    count++, entry.wrId, entry.status, entry.opcode, entry.byteLength, 0, queuePair.number());
            }
        }
        final boolean isEmpty = head == tail;
        // From the first entry again: a few entries that stay near, instead of a walk through all of the ring.
        localHead = isEmpty ? 0 : head;
        localTail = isEmpty ? 0 : tail;
        publishLimit();
        return count;
    }

    private void publishLimit()
    {
        SharedWords.putLongRelease(inbox + LIMIT_OFFSET, reader.limit(localTail - localHead));
    }

    private void overrun()
    {
        isOverrun = true;
        SharedWords.compareAndSetInt(inbox + OVERRUN_OFFSET, 0, 1);
        for (final SoftResponder queuePair : attached)
        {
            queuePair.moveToError();
        }
    }

    @Override
    public String toString()
    {
        return "SoftCompletionQueue{device=" + device.name() + ", capacity=" + capacity + ", isOverrun=" + isOverrun +
            '}';
    }
}
