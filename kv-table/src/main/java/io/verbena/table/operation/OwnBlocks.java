package io.verbena.table.operation;

import io.verbena.table.allocation.BlockAllocator;
import io.verbena.table.allocation.ChunkSource;

/** Takes the blocks that operations write, and gives them back. Owner thread of the engine only. */
final class OwnBlocks
{
    private final ChunkSource chunkSource;

    OwnBlocks(final ChunkSource chunkSource)
    {
        this.chunkSource = chunkSource;
    }

    /**
     * Gives a block back whose word was proposed and not committed: with several copies it may stand on one of them, or
     * get there late, and so must not be proposed again while somebody may know it.
     */
    static void abandon(final Operation op)
    {
        op.request.link.allocator.retire(op.block.word);
        op.block.offset = BlockAllocator.NONE;
        op.block.isWritten = false;
        op.block.isProposed = false;
    }

    /** Takes a block of the operation's class. @return false if there is none. */
    boolean take(final Operation op)
    {
        final BlockAllocator allocator = op.request.link.allocator;
        op.block.offset = allocator.allocate(op.block.sizeClass);
        op.block.isProposed = false;
        if (op.block.offset == BlockAllocator.NONE)
        {
            return false;
        }
        if (allocator.isLow() && allocator.request())
        {
            chunkSource.requestChunk(op.request.link.memoryNodeId);
        }
        return true;
    }

    /** Sees to it that the operation has a block of a class. @return false if there is none. */
    boolean fit(final Operation op, final int sizeClass)
    {
        if (op.block.sizeClass != sizeClass)
        {
            giveBack(op);
        }
        op.block.sizeClass = sizeClass;
        return op.block.offset != BlockAllocator.NONE || take(op);
    }

    /** Gives the block that an operation has taken and not published back, if there is one. */
    static void giveBack(final Operation op)
    {
        if (op.block.offset != BlockAllocator.NONE && op.block.isProposed)
        {
            abandon(op);
        }
        else if (op.block.offset != BlockAllocator.NONE)
        {
            op.request.link.allocator.free(op.block.offset, op.block.sizeClass);
            op.block.offset = BlockAllocator.NONE;
            op.block.isWritten = false;
        }
    }
}
