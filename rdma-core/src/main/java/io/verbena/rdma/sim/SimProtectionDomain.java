package io.verbena.rdma.sim;

import io.verbena.rdma.spi.RegionOwner;
import io.verbena.rdma.spi.RegisteredRegion;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.UnsupportedVerbException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.IdentityHashMap;
import java.util.Map;

/** Makes regions and queue pairs of a simulated device. */
final class SimProtectionDomain implements ProtectionDomain, RegionOwner
{
    private final SimDevice device;
    private final Map<RegisteredRegion, Arena> arenas = new IdentityHashMap<>();
    private int queuePairCount;
    private int regionCount;
    private boolean isClosed;

    SimProtectionDomain(final SimDevice device)
    {
        this.device = device;
    }

    SimDevice device()
    {
        return device;
    }

    @Override
    public MemoryRegion allocateRegistered(final long lengthBytes, final int accessFlags)
    {
        RegisteredRegion.checkRequest(lengthBytes, accessFlags);
        checkOpen();
        final Arena arena = Arena.ofShared();
        final RegisteredRegion region = add(arena.allocate(lengthBytes, 4096), accessFlags);
        arenas.put(region, arena);
        return region;
    }

    @Override
    public MemoryRegion register(final MemorySegment segment, final int accessFlags)
    {
        RegisteredRegion.checkRequest(segment.byteSize(), accessFlags);
        checkOpen();
        if (!segment.isNative() || segment.isReadOnly())
        {
            throw new RdmaException("only native, writable memory can be registered: segment=" + segment);
        }
        return add(segment, accessFlags);
    }

    @Override
    public QueuePair createQueuePair(final QueuePairOptions options)
    {
        checkOpen();
        if (options.type() != QueuePairType.RC || options.sharedReceiveQueue() != null)
        {
            throw new UnsupportedVerbException(
                "queue pair of type " + options.type() + ", sharedReceiveQueue=" + options.sharedReceiveQueue(),
                device.name());
        }
        final QueuePairCapabilities capabilities = options.capabilities();
        device.checkCapabilities(capabilities);
        final SimCompletionQueue send = device.own(options.sendCompletions());
        final SimCompletionQueue receive = device.own(options.receiveCompletions());
        final SimQueuePair queuePair = device.addQueuePair(
            number -> new SimQueuePair(this, send, receive, capabilities, number));
        queuePairCount++;
        try
        {
            send.attach(queuePair);
            receive.attach(queuePair);
            return queuePair;
        }
        catch (final RdmaException ex)
        {
            queuePair.close();
            throw ex;
        }
    }

    @Override
    public void release(final RegisteredRegion region)
    {
        device.keys().remove(region);
        regionCount--;
        final Arena arena = arenas.remove(region);
        if (arena != null)
        {
            arena.close();
        }
    }

    @Override
    public void close()
    {
        if (queuePairCount + regionCount > 0)
        {
            throw new RdmaException(
                "protection domain is in use: close its children first, queuePairs=" + queuePairCount +
                ", regions=" + regionCount);
        }
        if (!isClosed)
        {
            isClosed = true;
            device.childClosed();
        }
    }

    void queuePairClosed(final SimQueuePair queuePair)
    {
        device.removeQueuePair(queuePair);
        queuePairCount--;
    }

    private RegisteredRegion add(final MemorySegment segment, final int accessFlags)
    {
        regionCount++;
        return device.keys().add(segment, device.nextAddress(segment), accessFlags, this, this);
    }

    private void checkOpen()
    {
        if (isClosed)
        {
            throw new RdmaException("protection domain is closed: device=" + device.name());
        }
    }
}
