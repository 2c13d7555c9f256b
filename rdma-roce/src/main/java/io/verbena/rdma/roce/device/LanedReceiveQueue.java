package io.verbena.rdma.roce.device;

import io.verbena.rdma.roce.engine.RoceSharedReceiveQueue;
import io.verbena.rdma.verbs.SharedReceiveQueue;

/** What queue pairs of each lane take receives from that another provider has; posted and limited there. */
final class LanedReceiveQueue implements SharedReceiveQueue
{
    private final RoceSharedReceiveQueue[] parts;

    LanedReceiveQueue(final RoceSharedReceiveQueue[] parts)
    {
        this.parts = parts;
    }

    RoceSharedReceiveQueue part(final int lane)
    {
        return parts[lane];
    }

    @Override
    public int postReceive(final long wrId, final long localAddress, final int lengthBytes, final int localKey)
    {
        throw new UnsupportedOperationException("receives are posted where they are");
    }

    @Override
    public void armLimit(final int receiveCount)
    {
        throw new UnsupportedOperationException("receives are limited where they are");
    }

    @Override
    public int armedLimit()
    {
        return 0;
    }

    @Override
    public int capacity()
    {
        return parts[0].capacity();
    }

    @Override
    public void close()
    {
        for (final RoceSharedReceiveQueue part : parts)
        {
            part.close();
        }
    }
}
