package io.verbena.raas.message;

import io.verbena.rdma.verbs.MemoryRegion;
import org.agrona.concurrent.UnsafeBuffer;

/** Some neighbouring message buffers in registered memory; one slot holds one message. */
public final class MessageBlock
{
    /** Longest payload of a request or reply. */
    public static final int MAX_MESSAGE_BYTES = 4096;
    /** Length of a slot: the longest message, rounded up to whole cache lines. */
    public static final int SLOT_LENGTH_BYTES = 64 *
        ((MessageHeaderDescriptor.HEADER_LENGTH_BYTES + MAX_MESSAGE_BYTES + 63) / 64);

    private final UnsafeBuffer buffer;
    private final long localAddress;
    private final int localKey;
    private final int slotCount;

    /**
     * @param region    long enough; outlives the block.
     * @param firstSlot first slot of the block in the region.
     * @param slotCount slots of the block.
     */
    public MessageBlock(final MemoryRegion region, final int firstSlot, final int slotCount)
    {
        final long offset = (long)firstSlot * SLOT_LENGTH_BYTES;
        this.slotCount = slotCount;
        localAddress = region.address() + offset;
        localKey = region.localKey();
        buffer = new UnsafeBuffer(region.segment().address() + offset, slotCount * SLOT_LENGTH_BYTES);
    }

    public UnsafeBuffer buffer()
    {
        return buffer;
    }

    public int offset(final int slot)
    {
        return slot * SLOT_LENGTH_BYTES;
    }

    public long localAddress(final int slot)
    {
        return localAddress + (long)slot * SLOT_LENGTH_BYTES;
    }

    public int localKey()
    {
        return localKey;
    }

    public int slotCount()
    {
        return slotCount;
    }
}
