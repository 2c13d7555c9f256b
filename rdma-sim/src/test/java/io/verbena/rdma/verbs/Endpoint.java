package io.verbena.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/** One side of a connection under test: everything a queue pair needs, and a region of 64 KiB. */
public final class Endpoint implements AutoCloseable
{
    public static final int REGION_BYTES = 1 << 16;
    public static final QueuePairCapabilities CAPABILITIES = new QueuePairCapabilities(16, 16, 64, 4);

    public final Device device;
    public final ProtectionDomain domain;
    public final CompletionQueue completions;
    public final MemoryRegion region;
    public QueuePair queuePair;

    public Endpoint(final Device device)
    {
        this(device, AccessFlags.ALL_REMOTE, 64, CAPABILITIES);
    }

    public Endpoint(
        final Device device,
        final int regionFlags,
        final int completionCapacity,
        final QueuePairCapabilities capabilities)
    {
        this.device = device;
        domain = device.allocateProtectionDomain();
        completions = device.createCompletionQueue(completionCapacity);
        region = domain.allocateRegistered(REGION_BYTES, regionFlags);
        queuePair = domain.createQueuePair(completions, completions, capabilities);
    }

    public long address(final long offset)
    {
        return region.address() + offset;
    }

    public int key()
    {
        return region.localKey();
    }

    public void putLong(final long offset, final long value)
    {
        region.segment().set(JAVA_LONG, offset, value);
    }

    public long getLong(final long offset)
    {
        return region.segment().get(JAVA_LONG, offset);
    }

    public void putByte(final long offset, final int value)
    {
        region.segment().set(JAVA_BYTE, offset, (byte)value);
    }

    public byte getByte(final long offset)
    {
        return region.segment().get(JAVA_BYTE, offset);
    }

    @Override
    public void close()
    {
        queuePair.close();
        region.close();
        completions.close();
        domain.close();
    }
}
