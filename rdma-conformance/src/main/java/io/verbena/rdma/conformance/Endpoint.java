package io.verbena.rdma.conformance;

import io.verbena.rdma.conformance.remote.RegionMemory;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.QueuePairType;

import java.util.Arrays;

/** One side of a connection under test: everything a queue pair needs, and a region of 64 KiB. */
public final class Endpoint implements AutoCloseable
{
    public static final int REGION_BYTES = 1 << 16;
    public static final QueuePairCapabilities CAPABILITIES = new QueuePairCapabilities(16, 16, 64, 4);

    public final Device device;
    public final ProtectionDomain domain;
    public final CompletionQueue completions;
    public MemoryRegion region;
    public QueuePair queuePair;

    public Endpoint(final Device device)
    {
        this(device, AccessFlags.ALL_REMOTE, 64, capabilities(device));
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

    /** Another queue pair instead of the present one. */
    public QueuePair use(final QueuePairOptions options)
    {
        queuePair.close();
        queuePair = domain.createQueuePair(options);
        return queuePair;
    }

    /** Another region instead of the present one. */
    public void use(final MemoryRegion other)
    {
        region.close();
        region = other;
    }

    /** Options for a queue pair of a type that completes here. */
    public QueuePairOptions options(final QueuePairType type)
    {
        return new QueuePairOptions().type(type).completions(completions, completions)
            .capabilities(capabilities(device));
    }

    /** {@link #CAPABILITIES}, and up to four segments where the device has them. */
    private static QueuePairCapabilities capabilities(final Device device)
    {
        return new QueuePairCapabilities(
            CAPABILITIES.maxSendRequests(), CAPABILITIES.maxReceiveRequests(), CAPABILITIES.maxInlineBytes(),
            CAPABILITIES.maxReadAtomic(), Math.min(4, device.attributes().maxSendSegments()));
    }

    public void putLong(final long offset, final long value)
    {
        RegionMemory.putLong(region, offset, value);
    }

    public long getLong(final long offset)
    {
        return RegionMemory.getLong(region, offset);
    }

    public void putByte(final long offset, final int value)
    {
        put(offset, new byte[]{ (byte)value });
    }

    public byte getByte(final long offset)
    {
        return bytes(offset, 1)[0];
    }

    public byte[] bytes(final long offset, final int lengthBytes)
    {
        return RegionMemory.bytes(region, offset, lengthBytes);
    }

    public void put(final long offset, final byte[] bytes)
    {
        RegionMemory.put(region, offset, bytes);
    }

    public void fill(final int value)
    {
        fill(0, REGION_BYTES, value);
    }

    public void fill(final long offset, final int lengthBytes, final int value)
    {
        final byte[] bytes = new byte[lengthBytes];
        Arrays.fill(bytes, (byte)value);
        put(offset, bytes);
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
