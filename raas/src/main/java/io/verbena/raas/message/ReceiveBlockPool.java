package io.verbena.raas.message;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/** Receive buffers of all physical queue pairs, registered some blocks at a time: connecting seldom registers. */
public final class ReceiveBlockPool implements AutoCloseable
{
    private static final int BLOCKS_PER_REGION = 8;

    private final ProtectionDomain protectionDomain;
    private final int slotsPerBlock;
    private final List<MemoryRegion> regions = new ArrayList<>();
    private final ArrayDeque<MessageBlock> free = new ArrayDeque<>();

    public ReceiveBlockPool(final ProtectionDomain protectionDomain, final int slotsPerBlock)
    {
        this.protectionDomain = protectionDomain;
        this.slotsPerBlock = slotsPerBlock;
        grow();
    }

    public MessageBlock acquire()
    {
        if (free.isEmpty())
        {
            grow();
        }
        return free.poll();
    }

    /** The queue pair that used the block must be closed. */
    public void release(final MessageBlock block)
    {
        free.add(block);
    }

    private void grow()
    {
        final long lengthBytes = (long)BLOCKS_PER_REGION * slotsPerBlock * MessageBlock.SLOT_LENGTH_BYTES;
        final MemoryRegion region = protectionDomain.allocateRegistered(lengthBytes, AccessFlags.LOCAL_WRITE);
        regions.add(region);
        for (int i = 0; i < BLOCKS_PER_REGION; i++)
        {
            free.add(new MessageBlock(region, i * slotsPerBlock, slotsPerBlock));
        }
    }

    @Override
    public void close()
    {
        regions.forEach(MemoryRegion::close);
        regions.clear();
        free.clear();
    }
}
