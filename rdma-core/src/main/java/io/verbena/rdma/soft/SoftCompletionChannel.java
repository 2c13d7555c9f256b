package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.EventWord;
import io.verbena.rdma.verbs.CompletionChannel;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.RdmaException;

import org.agrona.concurrent.SystemNanoClock;

import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/**
 * Sleeps on an {@link EventWord} of the device file, which producers of any process signal: a futex, no core burnt, and
 * no system call for a producer unless somebody sleeps.
 *
 * <p>Requests of this thread that wait for a peer's receive go on while it sleeps, once a millisecond.
 */
final class SoftCompletionChannel implements CompletionChannel
{
    private static final long SERVE_NS = TimeUnit.MILLISECONDS.toNanos(1);
    /** A sleeper is not woken by an interrupt: it looks for one this often. */
    private static final long INTERRUPT_NS = TimeUnit.MILLISECONDS.toNanos(100);

    private final SoftDevice device;
    private final long wordOffset;
    private final long word;
    private final CopyOnWriteArrayList<SoftCompletionQueue> queues = new CopyOnWriteArrayList<>();
    private final CopyOnWriteArrayList<SoftConnectionListener> listeners = new CopyOnWriteArrayList<>();
    private int nextQueue;
    private boolean isClosed;

    SoftCompletionChannel(final SoftDevice device)
    {
        this.device = device;
        wordOffset = device.rings().allocate(EventWord.LENGTH);
        word = device.file().base() + wordOffset;
    }

    SoftDevice device()
    {
        return device;
    }

    long wordOffset()
    {
        return wordOffset;
    }

    synchronized void attach(final SoftCompletionQueue queue)
    {
        checkOpen();
        queues.add(queue);
    }

    synchronized void attach(final SoftConnectionListener listener)
    {
        checkOpen();
        listeners.add(listener);
    }

    private void checkOpen()
    {
        if (isClosed)
        {
            throw new RdmaException("completion channel is closed: device=" + device.name());
        }
    }

    void detach(final SoftConnectionListener listener)
    {
        listeners.remove(listener);
    }

    void detach(final SoftCompletionQueue queue)
    {
        queues.remove(queue);
    }

    @Override
    public CompletionQueue await(final long timeoutNs)
    {
        final long startNs = SystemNanoClock.INSTANCE.nanoTime();
        while (true)
        {
            final int seen = EventWord.signals(word);
            boolean isWaiting = false;
            for (final SoftCompletionQueue queue : queues)
            {
                isWaiting |= queue.serveWhileAsleep();
            }
            final SoftCompletionQueue raised = takeRaised();
            final long leftNs = timeoutNs - (SystemNanoClock.INSTANCE.nanoTime() - startNs);
            if (raised != null || leftNs <= 0 || hasConnectionRequest() || Thread.currentThread().isInterrupted())
            {
                return raised;
            }
            EventWord.sleep(word, seen, Math.min(leftNs, isWaiting ? SERVE_NS : INTERRUPT_NS));
        }
    }

    private boolean hasConnectionRequest()
    {
        for (final SoftConnectionListener listener : listeners)
        {
            if (listener.hasRequest())
            {
                return true;
            }
        }
        return false;
    }

    /** Round robin, so that a busy queue does not hide the others. */
    private SoftCompletionQueue takeRaised()
    {
        final Object[] snapshot = queues.toArray();
        for (int i = 0; i < snapshot.length; i++)
        {
            final SoftCompletionQueue queue = (SoftCompletionQueue)snapshot[(nextQueue + i) % snapshot.length];
            if (queue.takeEvent())
            {
                nextQueue = (nextQueue + i + 1) % snapshot.length;
                return queue;
            }
        }
        return null;
    }

    @Override
    public synchronized void close()
    {
        if (!queues.isEmpty() || !listeners.isEmpty())
        {
            throw new RdmaException("completion channel is in use: close its completion queues and listeners first, " +
                "open=" + (queues.size() + listeners.size()));
        }
        if (!isClosed)
        {
            isClosed = true;
            device.rings().free(wordOffset, EventWord.LENGTH);
            device.childClosed();
        }
    }
}
