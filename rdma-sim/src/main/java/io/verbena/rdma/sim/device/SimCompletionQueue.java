package io.verbena.rdma.sim.device;

import io.verbena.rdma.sim.schedule.SimStateful;
import io.verbena.rdma.sim.schedule.StatePart;
import io.verbena.rdma.sim.schedule.StateWords;
import io.verbena.rdma.spi.NotificationArm;
import io.verbena.rdma.verbs.AsyncEventType;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/** A completion queue: entries appear by steps of the fabric and stay until polled. */
final class SimCompletionQueue implements CompletionQueue, SimStateful
{
    /** A queue pair or DC target that completes here. */
    interface Receiver
    {
        int number();

        /** The completion of a receive was polled, its slot is free. */
        void releaseReceive();

        /** This queue failed. */
        void moveToError();
    }

    /** A queue pair whose requests complete here. */
    interface Sender extends Receiver
    {
        /** The completion of a request was polled: slots before this position are free. */
        void releaseSends(long position);

        /** Position of the next request that will be posted. */
        long tail();
    }

    private final SimHost host;
    private final int capacity;
    private final ArrayDeque<Entry> entries = new ArrayDeque<>();
    private final List<Receiver> attached = new ArrayList<>();
    private final SimCompletionChannel channel;
    private final NotificationArm arm = new NotificationArm();
    private boolean isOverrun;
    private boolean isClosed;

    /** One completion; of a receive there is no sender. */
    private record Entry(
        Receiver target,
        Sender sender,
        long wrId,
        int status,
        int opcode,
        int byteLength,
        int immediate,
        int flags,
        int sourceNumber,
        long sendPosition)
    {
    }

    /** With a channel, or null. */
    SimCompletionQueue(final SimHost host, final int capacity, final SimCompletionChannel channel)
    {
        this.host = host;
        host.childOpened();
        this.capacity = capacity;
        this.channel = channel;
        host.addObject(this);
        if (channel != null)
        {
            channel.attach();
        }
    }

    /** A completion queue of this device. */
    static SimCompletionQueue of(final SimHost host, final CompletionQueue completionQueue)
    {
        if (completionQueue instanceof SimCompletionQueue sim && sim.host == host)
        {
            return sim;
        }
        throw new RdmaException(
            "not a completion queue of this device: device=" + host.name() + ", queue=" + completionQueue);
    }

    @Override
    public int capacity()
    {
        return capacity;
    }

    @Override
    public int poll(final WorkCompletions completions)
    {
        int count = 0;
        while (count < completions.capacity() && !entries.isEmpty())
        {
            final Entry entry = entries.poll();
            release(entry);
            completions.set(
                count, entry.wrId, entry.status, entry.opcode, entry.byteLength, entry.immediate,
                entry.target.number());
            completions.setDetails(count, entry.flags, entry.sourceNumber, 0);
            count++;
        }
        if (count == 0 && isOverrun)
        {
            throw new RdmaException(
                "completion queue overrun: capacity=" + capacity +
                "; make it as deep as the send and receive queues that complete here together");
        }
        return count;
    }

    void pushSend(
        final Sender queuePair,
        final long wrId,
        final int status,
        final int opcode,
        final int byteLength,
        final long position)
    {
        push(new Entry(queuePair, queuePair, wrId, status, opcode, byteLength, 0, 0, 0, position), false);
    }

    void pushReceive(
        final Receiver target,
        final long wrId,
        final int status,
        final int opcode,
        final int byteLength,
        final int immediate,
        final int flags,
        final int sourceNumber,
        final boolean isSolicited)
    {
        push(
            new Entry(target, null, wrId, status, opcode, byteLength, immediate, flags, sourceNumber, -1), isSolicited);
    }

    /** A receive that no message will fill. */
    void pushFlushedReceive(final Receiver target, final long wrId)
    {
        pushReceive(target, wrId, WorkCompletionStatus.WR_FLUSH_ERR, 0, 0, 0, 0, 0, false);
    }

    /** Drops what is there of a queue pair that is being reset or closed. */
    void forget(final Receiver target)
    {
        for (final Entry entry : entries)
        {
            if (entry.target == target)
            {
                release(entry);
            }
        }
        entries.removeIf(entry -> entry.target == target);
    }

    @Override
    public void requestNotification(final boolean solicitedOnly)
    {
        if (channel == null)
        {
            throw new RdmaException("completion queue has no channel: give one when creating it, " + this);
        }
        arm.arm(solicitedOnly);
    }

    void attach(final Receiver target)
    {
        if (isClosed)
        {
            throw new RdmaException("completion queue is closed: device=" + host.name());
        }
        attached.add(target);
    }

    void detach(final Receiver target)
    {
        attached.remove(target);
        forget(target);
    }

    @Override
    public void close()
    {
        if (!attached.isEmpty())
        {
            throw new RdmaException(
                "completion queue is in use: close its queue pairs first, open=" + attached.size());
        }
        if (!isClosed)
        {
            isClosed = true;
            if (channel != null)
            {
                channel.detach(this);
            }
            host.events().forget(this);
            host.removeObject(this);
            host.childClosed();
        }
    }

    @Override
    public void describe(final StateWords words)
    {
        words.in(StatePart.COMPLETIONS).accept(isOverrun);
        words.accept(entries.size());
        for (final Entry entry : entries)
        {
            words.accept((long)entry.target.number() << 32 | entry.status);
            words.accept(entry.wrId);
            words.accept((long)entry.opcode << 32 | entry.byteLength);
            words.accept((long)entry.immediate << 32 | entry.flags);
            words.accept(entry.sourceNumber);
            words.accept(entry.sender == null ? -1 : entry.sender.tail() - entry.sendPosition);
        }
        words.in(StatePart.NOTIFICATIONS).accept(arm.armed());
    }

    @Override
    public String toString()
    {
        return "SimCompletionQueue{device=" + host.name() + ", capacity=" + capacity + ", completions=" +
            entries.size() + ", isOverrun=" + isOverrun + '}';
    }

    private static void release(final Entry entry)
    {
        if (entry.sender != null)
        {
            entry.sender.releaseSends(entry.sendPosition);
        }
        else
        {
            entry.target.releaseReceive();
        }
    }

    private void push(final Entry entry, final boolean isSolicited)
    {
        if (isOverrun)
        {
            return;
        }
        if (entries.size() == capacity)
        {
            isOverrun = true;
            host.events().raise(AsyncEventType.CQ_ERR, this);
            for (final Receiver target : attached.stream().distinct().toList())
            {
                host.events().raise(AsyncEventType.QP_FATAL, target);
                target.moveToError();
            }
            return;
        }
        entries.add(entry);
        if (channel != null && arm.fires(isSolicited || entry.status != WorkCompletionStatus.SUCCESS))
        {
            channel.raise(this);
        }
    }
}
