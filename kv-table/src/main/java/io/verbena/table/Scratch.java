package io.verbena.table;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.DeviceAttributes;
import io.verbena.rdma.verbs.DeviceCapability;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.SizeClasses;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.agrona.concurrent.UnsafeBuffer;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * Registered memory of all operation slots, one stretch each. Only the owner thread and the device touch it; the device
 * only between posting and completion.
 *
 * <pre>
 *  +-----------+-------+-----------------------+-----------------+------------------+---------+
 *  | CAS words | slot  | two combined buckets  | own block       | blocks read      | stagger |
 *  +-----------+-------+-----------------------+-----------------+------------------+---------+
 *     256         64       2 * 128               98,304            98,304              320
 * </pre>
 */
final class Scratch implements AutoCloseable
{
    /** Results of compare-and-swaps, 8 bytes each; more than a pair of combined buckets has slots. */
    static final int SWAPS_OFFSET = 0;
    static final int MAX_SWAPS = 32;
    static final int SLOT_OFFSET = SWAPS_OFFSET + MAX_SWAPS * Long.BYTES;
    static final int BUCKETS_OFFSET = SLOT_OFFSET + 64;
    static final int OWN_BLOCK_OFFSET = BUCKETS_OFFSET + 2 * BucketDescriptor.COMBINED_BYTES;
    static final int BLOCKS_OFFSET = OWN_BLOCK_OFFSET + SizeClasses.MAX_BLOCK_BYTES;
    static final int BLOCKS_CAPACITY = SizeClasses.MAX_BLOCK_BYTES;
    // Odd in lines, so that the same field of many slots does not fall into the same set of the CPU's caches.
    private static final int STAGGER_BYTES = 5 * 64;
    static final int SLOT_STRIDE = BLOCKS_OFFSET + BLOCKS_CAPACITY + STAGGER_BYTES;

    final MemoryRegion region;
    final UnsafeBuffer buffer;
    final MemorySegment segment;
    private final Arena arena;

    Scratch(final ProtectionDomain protectionDomain, final DeviceAttributes attributes, final long lengthBytes)
    {
        if (attributes.supports(DeviceCapability.REGISTER_ANY_MEMORY))
        {
            arena = Arena.ofShared();
            region = protectionDomain.register(arena.allocate(lengthBytes, 4096), AccessFlags.LOCAL_WRITE);
        }
        else
        {
            arena = null;
            region = protectionDomain.allocateRegistered(lengthBytes, AccessFlags.LOCAL_WRITE);
        }
        segment = region.segment();
        buffer = new UnsafeBuffer(segment.address(), Math.toIntExact(lengthBytes));
    }

    long word(final int offset)
    {
        return buffer.getLong(offset, LITTLE_ENDIAN);
    }

    @Override
    public void close()
    {
        region.close();
        if (arena != null)
        {
            arena.close();
        }
    }
}
