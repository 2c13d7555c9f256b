package io.verbena.server;

import io.verbena.rdma.verbs.CompletionChannel;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.resp.RespServer;

import java.util.concurrent.TimeUnit;

/**
 * The sleep of a thread that serves sockets and a device: it sleeps on the sockets, and a thread that watches the
 * channel of the device wakes it. Used by that thread; it closes it, too, before the server and the channel.
 *
 * <p>No wake-up is lost. What ends a wait changes the channel's number. The sleeper notes the number before it polls
 * everything, announces that it sleeps, then compares; the watcher sees each change, then looks whether the sleeper has
 * announced it. Both words are volatile: one of the two sees the other.
 */
final class SocketWait implements CompletionChannel
{
    /** Polls without anything from the sockets until the next ones are left out. */
    private static final int MAX_SKIPPED = 16;
    private static final long WATCH_NS = TimeUnit.SECONDS.toNanos(1);
    private static final long CLOSE_MS = 5_000;

    private final CompletionChannel channel;
    private final RespServer server;
    private final Thread watcher = new Thread(this::watch, "verbena-resp-watch");
    private volatile boolean isAsleep;
    private volatile boolean isClosed;
    private int signals;
    private int skipped;
    private int skips;

    /**
     * @param channel that can be watched; closed by the caller.
     * @param server  that the thread drives; closed by the caller.
     */
    SocketWait(final CompletionChannel channel, final RespServer server)
    {
        this.channel = channel;
        this.server = server;
        watcher.setDaemon(true);
        watcher.start();
    }

    /**
     * Serves the sockets, if it is their turn: each poll is a system call, and there are fewer of them while nothing
     * arrives. First in a duty cycle.
     *
     * @return work done.
     */
    int poll()
    {
        signals = channel.signals();
        if (skipped < skips)
        {
            skipped++;
            return 0;
        }
        skipped = 0;
        final int work = server.poll();
        skips = work > 0 ? 0 : Math.min(MAX_SKIPPED, 2 * skips + 1);
        return work;
    }

    @Override
    public CompletionQueue await(final long timeoutNs)
    {
        isAsleep = true;
        CompletionQueue raised = channel.await(0);
        final long limitNs = Math.min(timeoutNs, channel.sleepLimitNs());
        if (null == raised && limitNs > 0 && channel.signals() == signals)
        {
            skips = server.await(limitNs) > 0 ? 0 : skips;
            raised = channel.await(0);
        }
        isAsleep = false;
        return raised;
    }

    private void watch()
    {
        int seen = channel.signals();
        while (!isClosed)
        {
            channel.watch(seen, WATCH_NS);
            final int now = channel.signals();
            if (now != seen && isAsleep)
            {
                server.wakeup();
            }
            seen = now;
        }
    }

    /** Ends the thread that watches. */
    @Override
    public void close()
    {
        isClosed = true;
        channel.wake();
        try
        {
            watcher.join(CLOSE_MS);
        }
        catch (final InterruptedException ex)
        {
            Thread.currentThread().interrupt();
        }
    }
}
