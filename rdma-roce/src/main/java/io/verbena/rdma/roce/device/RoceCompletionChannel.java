package io.verbena.rdma.roce.device;

import io.verbena.rdma.roce.engine.CompletionListener;
import io.verbena.rdma.verbs.CompletionChannel;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.RdmaException;

import org.agrona.concurrent.SystemNanoClock;

import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;

/**
 * A completion channel whose waiting thread waits for packets of the device by itself and drives. An interrupt of that
 * thread is noticed within a tenth of a second.
 */
final class RoceCompletionChannel implements CompletionChannel, CompletionListener
{
    private static final long MAX_SLICE_NS = TimeUnit.MILLISECONDS.toNanos(100);

    private final String deviceName;
    private final DeviceDriver driver;
    private final Runnable onClosed;
    private final ChannelWait wait = new ChannelWait();
    private final SpinWait spin;
    /** Queues that have raised an event, each once; guarded by this. */
    private final ArrayDeque<CompletionQueue> raised = new ArrayDeque<>();
    private int queueCount;
    private int listenerCount;
    private volatile boolean hasRaised;
    private volatile boolean hasRequest;
    private volatile boolean isWoken;
    private volatile boolean isClosed;

    /** @param onClosed called once. */
    RoceCompletionChannel(final String deviceName, final DeviceDriver driver, final Runnable onClosed)
    {
        this.deviceName = deviceName;
        this.driver = driver;
        this.onClosed = onClosed;
        spin = new SpinWait(driver.spinNs());
    }

    DeviceDriver driver()
    {
        return driver;
    }

    synchronized void queueOpened()
    {
        checkOpen();
        queueCount++;
    }

    /** A queue that was counted was not made, after all. */
    synchronized void queueNotOpened()
    {
        queueCount--;
    }

    synchronized void listenerOpened()
    {
        checkOpen();
        listenerCount++;
    }

    synchronized void listenerClosed()
    {
        listenerCount--;
    }

    @Override
    public void onNotification(final CompletionQueue queue)
    {
        synchronized (this)
        {
            if (!raised.contains(queue))
            {
                raised.add(queue);
            }
            hasRaised = true;
        }
        wait.wake();
    }

    @Override
    public synchronized void onClosed(final CompletionQueue queue)
    {
        raised.remove(queue);
        hasRaised = !raised.isEmpty();
        queueCount--;
    }

    /** Connection service: a listener of this channel has a request. */
    void onConnectionRequest()
    {
        hasRequest = true;
        wait.wake();
    }

    @Override
    public CompletionQueue await(final long timeoutNs)
    {
        checkOpen();
        final long startNs = SystemNanoClock.INSTANCE.nanoTime();
        while (true)
        {
            driver.receive();
            final CompletionQueue queue = take();
            final long nowNs = SystemNanoClock.INSTANCE.nanoTime();
            final long leftNs = timeoutNs - (nowNs - startNs);
            if (queue != null || takeRequest() || takeWake() || leftNs <= 0 || isClosed ||
                Thread.currentThread().isInterrupted())
            {
                return queue;
            }
            if (spin.isSpinning() && spin.mayGoOn(nowNs, driver.receivedCount()))
            {
                driver.onPollingOn(nowNs);
                continue;
            }
            wait.announce();
            // Looked at again: who raised one before has not seen that this thread waits.
            if (!hasRaised && !hasRequest && !isWoken && !isClosed)
            {
                driver.await(Math.min(leftNs, MAX_SLICE_NS), wait);
            }
            wait.withdraw();
        }
    }

    private CompletionQueue take()
    {
        if (!hasRaised)
        {
            return null;
        }
        synchronized (this)
        {
            final CompletionQueue queue = raised.poll();
            hasRaised = !raised.isEmpty();
            return queue;
        }
    }

    private boolean takeRequest()
    {
        final boolean had = hasRequest;
        if (had)
        {
            hasRequest = false;
        }
        return had;
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
        wait.wake();
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

    private void checkOpen()
    {
        if (isClosed)
        {
            throw new RdmaException("completion channel is closed: device=" + deviceName);
        }
    }

    @Override
    public void close()
    {
        synchronized (this)
        {
            if (isClosed)
            {
                return;
            }
            if (queueCount + listenerCount > 0)
            {
                throw new RdmaException("completion channel is in use: close its completion queues and listeners " +
                    "first, open=" + (queueCount + listenerCount));
            }
            isClosed = true;
        }
        wait.close();
        onClosed.run();
    }
}
