package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.EventWord;
import io.verbena.rdma.verbs.CompletionChannel;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.RdmaException;

import org.agrona.concurrent.SystemNanoClock;

import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Sleeps on an {@link EventWord} of the device file, which producers of any process signal: a futex, no core burnt, and
 * no system call for a producer unless somebody sleeps.
 *
 * <p>Requests of this thread that wait for a peer's receive go on while it sleeps, once a millisecond.
 */
public final class SoftCompletionChannel implements CompletionChannel
{
    /** A queue that raises events here. */
    interface Queue extends CompletionQueue
    {
        /** Waiting thread: whether it raised an event since; takes it. */
        boolean takeEvent();

        /** Waiting thread, which is the polling thread: tries what waits for peers; whether some still waits. */
        boolean serveWhileAsleep();
    }

    /** A listener whose requests wake a sleeper. */
    interface Listener
    {
        /** Whether a request waits to be handed out. */
        boolean hasRequest();
    }

    private static final long SERVE_NS = TimeUnit.MILLISECONDS.toNanos(1);
    /** A sleeper is not woken by an interrupt: it looks for one this often. */
    private static final long INTERRUPT_NS = TimeUnit.MILLISECONDS.toNanos(100);

    private final SoftHost device;
    private final long wordOffset;
    private final long word;
    private final CopyOnWriteArrayList<Queue> queues = new CopyOnWriteArrayList<>();
    private final CopyOnWriteArrayList<Listener> listeners = new CopyOnWriteArrayList<>();
    private final BooleanSupplier isWanted;
    private volatile boolean isWoken;
    /** Set before the sleeper reads the count of signals, and read after an own completion has changed that. */
    private volatile boolean isAwaited;
    private int nextQueue;
    private boolean isClosed;

    /** @param isWanted whether something else ends a wait. */
    SoftCompletionChannel(final SoftHost device, final BooleanSupplier isWanted)
    {
        this.isWanted = isWanted;
        this.device = device;
        wordOffset = device.rings().allocate(EventWord.LENGTH);
        word = device.file().base() + wordOffset;
    }

    SoftHost host()
    {
        return device;
    }

    long wordOffset()
    {
        return wordOffset;
    }

    synchronized void attach(final Queue queue)
    {
        checkOpen();
        queues.add(queue);
    }

    synchronized void attach(final Listener listener)
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

    void detach(final Listener listener)
    {
        listeners.remove(listener);
    }

    void detach(final Queue queue)
    {
        queues.remove(queue);
    }

    /** Whether a thread may sleep in {@link #await}, beside those that {@link #watch}. Any thread. */
    boolean isAwaited()
    {
        return isAwaited;
    }

    @Override
    public CompletionQueue await(final long timeoutNs)
    {
        if (timeoutNs <= 0)
        {
            return look(0);
        }
        isAwaited = true;
        try
        {
            return look(timeoutNs);
        }
        finally
        {
            isAwaited = false;
        }
    }

    private CompletionQueue look(final long timeoutNs)
    {
        final long startNs = SystemNanoClock.INSTANCE.nanoTime();
        while (true)
        {
            final int seen = EventWord.signals(word);
            final boolean isWaiting = serveQueues();
            final Queue raised = takeRaised();
            final long leftNs = timeoutNs - (SystemNanoClock.INSTANCE.nanoTime() - startNs);
            if (raised != null || leftNs <= 0 || takeWake() || isWanted.getAsBoolean() || hasConnectionRequest() ||
                Thread.currentThread().isInterrupted())
            {
                return raised;
            }
            EventWord.sleep(word, seen, Math.min(leftNs, isWaiting ? SERVE_NS : INTERRUPT_NS));
        }
    }

    private boolean serveQueues()
    {
        boolean isWaiting = false;
        for (final Queue queue : queues)
        {
            isWaiting |= queue.serveWhileAsleep();
        }
        return isWaiting;
    }

    /** Has the waiting thread ask anew whether its wait is to end. Any thread, until the channel is closed. */
    public void askAnew()
    {
        EventWord.signal(word);
    }

    @Override
    public boolean canWake()
    {
        return true;
    }

    @Override
    public void wake()
    {
        isWoken = true;
        EventWord.signal(word);
    }

    @Override
    public boolean canWatch()
    {
        return true;
    }

    @Override
    public int signals()
    {
        return EventWord.signals(word);
    }

    @Override
    public void watch(final int seen, final long timeoutNs)
    {
        EventWord.sleep(word, seen, timeoutNs);
    }

    @Override
    public long sleepLimitNs()
    {
        return serveQueues() ? SERVE_NS : Long.MAX_VALUE;
    }

    private boolean takeWake()
    {
        final boolean was = isWoken;
        if (was)
        {
            isWoken = false;
        }
        return was;
    }

    private boolean hasConnectionRequest()
    {
        for (final Listener listener : listeners)
        {
            if (listener.hasRequest())
            {
                return true;
            }
        }
        return false;
    }

    /** Round robin, so that a busy queue does not hide the others. */
    private Queue takeRaised()
    {
        final Object[] snapshot = queues.toArray();
        for (int i = 0; i < snapshot.length; i++)
        {
            final Queue queue = (Queue)snapshot[(nextQueue + i) % snapshot.length];
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
