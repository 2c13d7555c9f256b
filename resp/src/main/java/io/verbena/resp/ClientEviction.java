package io.verbena.resp;

import io.netty.channel.Channel;
import io.verbena.resp.codec.MemoryBudget;

import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Closes the client that holds most when the memory for buffers gets scarce, so that those that stop in the middle of a
 * long command, or leave replies unread, do not keep it from others. Thread-safe.
 */
final class ClientEviction
{
    private final MemoryBudget budget;
    private final Map<RespConnection, Channel> connections;
    private final AtomicLong evictions = new AtomicLong();

    ClientEviction(final long limitBytes, final Map<RespConnection, Channel> connections)
    {
        budget = new MemoryBudget(limitBytes, this::evict);
        this.connections = connections;
    }

    MemoryBudget budget()
    {
        return budget;
    }

    /** One at a time is enough: nobody takes more at once than it holds then, so no more than is set free. */
    private synchronized void evict()
    {
        RespConnection largest = null;
        long largestBytes = 0;
        long returningBytes = 0;
        for (final RespConnection connection : connections.keySet())
        {
            final long heldBytes = connection.heldBytes();
            if (connection.isEvicted())
            {
                returningBytes += heldBytes;
            }
            else if (heldBytes > largestBytes)
            {
                largest = connection;
                largestBytes = heldBytes;
            }
        }
        if (null != largest && budget.isScarce(budget.takenBytes() - returningBytes))
        {
            largest.evict();
            evictions.incrementAndGet();
            final Channel channel = connections.get(largest);
            if (null != channel)
            {
                // Later, also by its own thread: that may be in the middle of taking memory for this very client.
                channel.eventLoop().execute(channel::close);
            }
        }
    }

    long evictions()
    {
        return evictions.get();
    }
}
