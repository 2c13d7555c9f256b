package io.verbena.protocol.bootstrap;

import org.agrona.concurrent.NanoClock;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Connections that have not proved anything yet: a bounded number, each for a bounded time. One more than there is room
 * for takes the place of the oldest from the address that has most. Who shakes hands at once is through before so many
 * others have come; who says nothing, or little, keeps nobody out. Thread-safe.
 */
final class PendingHandshakes
{
    /** A connection that shakes hands. */
    static final class Pending
    {
        private final Socket socket;
        private final InetAddress address;
        private final long deadlineNs;
        private volatile boolean isDisplaced;
        private boolean isChallenged;

        private Pending(final Socket socket, final long deadlineNs)
        {
            this.socket = socket;
            this.deadlineNs = deadlineNs;
            address = socket.getInetAddress();
        }

        /** @return whether it had to make room for another one: what it reads from now on is the end. */
        boolean isDisplaced()
        {
            return isDisplaced;
        }

        /** The challenge is about to be sent; by the thread of the connection, as the next one. */
        void onChallenge()
        {
            isChallenged = true;
        }

        /** @return whether the peer waits for what comes after the challenge. */
        boolean isChallenged()
        {
            return isChallenged;
        }
    }

    private final int most;
    private final long timeoutNs;
    private final NanoClock clock;
    /** In the order of their deadlines, which is that of their beginnings. */
    private final Set<Pending> all = new LinkedHashSet<>();
    private final Map<InetAddress, Integer> counts = new HashMap<>();

    /**
     * @param most      connections at once; 1 or more.
     * @param timeoutMs longest time of one, milliseconds.
     * @param clock     for these times.
     */
    PendingHandshakes(final int most, final long timeoutMs, final NanoClock clock)
    {
        this.most = most;
        timeoutNs = TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        this.clock = clock;
    }

    /**
     * Adds a connection.
     *
     * @param socket that was accepted; its owner still closes it.
     * @return to be given to {@link #end}.
     */
    Pending begin(final Socket socket)
    {
        Pending oldest = null;
        final Pending begun;
        synchronized (this)
        {
            if (all.size() == most)
            {
                oldest = oldestOfMost();
                remove(oldest);
            }
            begun = new Pending(socket, clock.nanoTime() + timeoutNs);
            all.add(begun);
            counts.merge(begun.address, 1, Integer::sum);
        }
        if (null != oldest)
        {
            oldest.isDisplaced = true;
            stopReading(oldest.socket);
        }
        return begun;
    }

    private Pending oldestOfMost()
    {
        final int highest = counts.values().stream().mapToInt(Integer::intValue).max().orElseThrow();
        return all.stream().filter((each) -> counts.get(each.address) == highest).findFirst().orElseThrow();
    }

    private void remove(final Pending pending)
    {
        all.remove(pending);
        counts.computeIfPresent(pending.address, (_, count) -> 1 == count ? null : count - 1);
    }

    /** Its thread reads the end, may still say why, and closes. */
    private static void stopReading(final Socket socket)
    {
        try
        {
            socket.shutdownInput();
        }
        catch (final IOException ignore)
        {
            // It is closed already.
        }
    }

    /** The connection has proved what it had to, or is given up; by its thread. */
    synchronized void end(final Pending pending)
    {
        if (all.contains(pending))
        {
            remove(pending);
        }
    }

    /** Closes those whose time is up; to be called often. */
    synchronized void closeOverdue()
    {
        final long nowNs = clock.nanoTime();
        final Iterator<Pending> oldestFirst = all.iterator();
        while (oldestFirst.hasNext())
        {
            final Pending pending = oldestFirst.next();
            if (pending.deadlineNs - nowNs > 0)
            {
                return;
            }
            try
            {
                pending.socket.close();
            }
            catch (final IOException ignore)
            {
                // Its thread ends all the same.
            }
        }
    }

    /** @return connections that shake hands now. */
    synchronized int count()
    {
        return all.size();
    }
}
