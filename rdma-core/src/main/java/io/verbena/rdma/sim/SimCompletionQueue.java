package io.verbena.rdma.sim;

import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.WorkCompletions;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/** A completion queue: entries appear by steps of the fabric and stay until polled. */
final class SimCompletionQueue implements CompletionQueue
{
    private final SimDevice device;
    private final int capacity;
    private final ArrayDeque<Entry> entries = new ArrayDeque<>();
    private final List<SimQueuePair> attached = new ArrayList<>();
    private boolean isOverrun;
    private boolean isClosed;

    /** One completion; sendPosition is negative for a receive. */
    private record Entry(
        SimQueuePair queuePair,
        long wrId,
        int status,
        int opcode,
        int byteLength,
        int immediate,
        long sendPosition)
    {
    }

    SimCompletionQueue(final SimDevice device, final int capacity)
    {
        this.device = device;
        this.capacity = capacity;
    }

    SimDevice device()
    {
        return device;
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
            final SimQueuePair queuePair = entry.queuePair;
            if (queuePair.isClosed())
            {
                continue;
            }
            if (entry.sendPosition >= 0)
            {
                queuePair.releaseSends(entry.sendPosition);
            }
            else
            {
                queuePair.releaseReceive();
            }
            completions.set(
                count++,
                entry.wrId,
                entry.status,
                entry.opcode,
                entry.byteLength,
                entry.immediate,
                queuePair.number());
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
        final SimQueuePair queuePair,
        final long wrId,
        final int status,
        final int opcode,
        final int byteLength,
        final long position)
    {
        push(new Entry(queuePair, wrId, status, opcode, byteLength, 0, position));
    }

    void pushReceive(
        final SimQueuePair queuePair,
        final long wrId,
        final int status,
        final int opcode,
        final int byteLength,
        final int immediate)
    {
        push(new Entry(queuePair, wrId, status, opcode, byteLength, immediate, -1));
    }

    void attach(final SimQueuePair queuePair)
    {
        if (isClosed)
        {
            throw new RdmaException("completion queue is closed: device=" + device.name());
        }
        attached.add(queuePair);
    }

    void detach(final SimQueuePair queuePair)
    {
        attached.remove(queuePair);
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
            device.childClosed();
        }
    }

    private void push(final Entry entry)
    {
        if (isOverrun)
        {
            return;
        }
        if (entries.size() == capacity)
        {
            isOverrun = true;
            List.copyOf(attached).forEach(SimQueuePair::moveToError);
            return;
        }
        entries.add(entry);
    }
}
