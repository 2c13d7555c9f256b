package io.verbena.rdma.roce.device;

import io.verbena.rdma.roce.engine.CompletionListener;
import io.verbena.rdma.roce.engine.NetworkCompletionQueue;
import io.verbena.rdma.roce.engine.RoceCompletionQueue;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.WorkCompletions;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiFunction;
import java.util.function.Consumer;

/**
 * A completion queue of each lane of a device, each as deep as asked for, polled in turns. Who polls drives the first
 * lane when there is nothing; the others are driven by their own threads.
 */
final class LanedCompletionQueue implements NetworkCompletionQueue, CompletionListener
{
    private final CompletionListener listener;
    private final Consumer<LanedCompletionQueue> onClosed;
    private final RoceCompletionQueue[] parts;
    private final AtomicBoolean isArmed = new AtomicBoolean();
    private final AtomicBoolean isClosed = new AtomicBoolean();
    private int next;

    /**
     * @param lanes    of the device.
     * @param listener of the whole; null when nobody waits.
     * @param onClosed called when it closes, once or more.
     * @param factory  makes the part of a lane, which passes notifications to a listener.
     */
    LanedCompletionQueue(
        final Lane[] lanes,
        final CompletionListener listener,
        final Consumer<LanedCompletionQueue> onClosed,
        final BiFunction<Lane, CompletionListener, RoceCompletionQueue> factory)
    {
        this.listener = listener;
        this.onClosed = onClosed;
        parts = new RoceCompletionQueue[lanes.length];
        for (int i = 0; i < parts.length; i++)
        {
            parts[i] = factory.apply(lanes[i], listener == null ? null : this);
        }
    }

    RoceCompletionQueue part(final int lane)
    {
        return parts[lane];
    }

    /** Whether a queue of a lane is a part of this one. */
    boolean has(final Object part)
    {
        for (final RoceCompletionQueue own : parts)
        {
            if (own == part)
            {
                return true;
            }
        }
        return false;
    }

    @Override
    public boolean hasCompletion()
    {
        for (final RoceCompletionQueue part : parts)
        {
            if (part.hasCompletion())
            {
                return true;
            }
        }
        return false;
    }

    @Override
    public int poll(final WorkCompletions completions)
    {
        try
        {
            final int count = pollParts(completions);
            return count > 0 ? count : parts[0].poll(completions);
        }
        catch (final RdmaException overrun)
        {
            fail();
            throw overrun;
        }
    }

    private int pollParts(final WorkCompletions completions)
    {
        int index = next;
        for (int i = 0; i < parts.length; i++)
        {
            final RoceCompletionQueue part = parts[index];
            index = index + 1 == parts.length ? 0 : index + 1;
            // Also where there is nothing: a part that has overrun says so.
            final int count = part.pollUndriven(completions);
            if (count > 0)
            {
                next = index;
                return count;
            }
        }
        return 0;
    }

    /** The queue is dead, and so are all queue pairs that complete here, whatever their lane. */
    private void fail()
    {
        for (final RoceCompletionQueue part : parts)
        {
            part.fail();
        }
    }

    @Override
    public void requestNotification(final boolean solicitedOnly)
    {
        isArmed.set(true);
        for (final RoceCompletionQueue part : parts)
        {
            part.requestNotification(solicitedOnly);
        }
    }

    /** Any thread that drives a lane: the first part with a completion raises the one event. */
    @Override
    public void onNotification(final CompletionQueue part)
    {
        if (isArmed.getAndSet(false))
        {
            listener.onNotification(this);
        }
    }

    @Override
    public void onClosed(final CompletionQueue part)
    {
        // said once, of the whole
    }

    @Override
    public int capacity()
    {
        return parts[0].capacity();
    }

    @Override
    public void close()
    {
        for (final RoceCompletionQueue part : parts)
        {
            part.checkUnused();
        }
        for (final RoceCompletionQueue part : parts)
        {
            part.close();
        }
        onClosed.accept(this);
        if (listener != null && isClosed.compareAndSet(false, true))
        {
            listener.onClosed(this);
        }
    }

    @Override
    public String toString()
    {
        return "LanedCompletionQueue{capacity=" + capacity() + ", lanes=" + parts.length + '}';
    }
}
