package io.verbena.memory.checkpoint;

import io.verbena.table.allocation.GranuleSet;
import io.verbena.table.format.Superblock;

import java.lang.foreign.Arena;

/**
 * Where blocks may be put in a region that is being restored: in any chunk that holds no index, within one chunk. For
 * the thread and the life of its arena.
 */
final class FreePlaces
{
    private static final int GRANULE_BYTES = GranuleSet.GRANULE_BYTES;

    private final Superblock superblock;
    private final boolean[] isIndex;
    /** Chunks in which blocks are to have the places they had. */
    private final boolean[] isWanted;
    private final GranuleSet taken;
    private final long end;
    private long searchedFrom;
    private int searchedLength;

    FreePlaces(final Superblock superblock, final Arena arena)
    {
        this.superblock = superblock;
        isIndex = new boolean[superblock.chunkCount()];
        isWanted = new boolean[superblock.chunkCount()];
        end = firstOf(superblock.chunkCount());
        taken = new GranuleSet(arena, end);
    }

    /**
     * Takes a whole chunk.
     *
     * @param offset of a subtable in the region.
     * @return false when there is no such chunk, or it is an index already.
     */
    boolean takeIndex(final long offset)
    {
        final int chunk = (int)((offset - superblock.chunksOffset()) / superblock.chunkLengthBytes());
        if (offset < superblock.chunksOffset() || chunk >= superblock.chunkCount() || isIndex[chunk])
        {
            return false;
        }
        isIndex[chunk] = true;
        taken.add(firstOf(chunk), firstOf(chunk + 1));
        return true;
    }

    /** Says that a block is to have a place. */
    void want(final long offset)
    {
        final long chunk = (offset - superblock.chunksOffset()) / superblock.chunkLengthBytes();
        if (offset >= superblock.chunksOffset() && chunk < isWanted.length)
        {
            isWanted[(int)chunk] = true;
        }
    }

    /**
     * Takes a whole chunk in which there is nothing yet, if possible one in which no block wants a place.
     *
     * @return its offset in the region; -1 when there is none.
     */
    long takeAnyIndex()
    {
        int found = -1;
        for (int chunk = 0; chunk < isIndex.length && (found < 0 || isWanted[found]); chunk++)
        {
            final boolean isFree = !isIndex[chunk] && !taken.isAnyTaken(firstOf(chunk), firstOf(chunk + 1));
            found = isFree && (found < 0 || !isWanted[chunk]) ? chunk : found;
        }
        if (found < 0)
        {
            return -1;
        }
        final long offset = superblock.chunksOffset() + (long)found * superblock.chunkLengthBytes();
        takeIndex(offset);
        return offset;
    }

    /**
     * Takes a place that is known.
     *
     * @param offset      in the region.
     * @param lengthBytes of a block.
     * @return false when it is no place for a block, or taken.
     */
    boolean take(final long offset, final int lengthBytes)
    {
        final long first = granule(offset);
        final long behind = first + lengthBytes / GRANULE_BYTES;
        if (offset < superblock.chunksOffset() || behind > end || chunk(first) != chunk(behind - 1) ||
            taken.isAnyTaken(first, behind))
        {
            return false;
        }
        taken.add(first, behind);
        return true;
    }

    /** Gives a place back. */
    void free(final long offset, final int lengthBytes)
    {
        taken.remove(granule(offset), granule(offset + lengthBytes));
    }

    /**
     * Takes the first place there is. Nothing is given back between calls with one length, each of which goes on where
     * the one before ended.
     *
     * @param lengthBytes of a block.
     * @return its offset in the region; -1 when there is none.
     */
    long takeAny(final int lengthBytes)
    {
        final int count = lengthBytes / GRANULE_BYTES;
        long at = lengthBytes == searchedLength ? searchedFrom : 0;
        searchedLength = lengthBytes;
        while (at < end)
        {
            final long chunkEnd = firstOf(chunk(at) + 1);
            final long free = taken.freeFrom(at, Math.min(chunkEnd, at + count));
            if (free == count)
            {
                taken.add(at, at + count);
                searchedFrom = at + count;
                return superblock.chunksOffset() + at * GRANULE_BYTES;
            }
            at += free;
            at += taken.takenFrom(at, chunkEnd);
        }
        searchedFrom = end;
        return -1;
    }

    /** Tells what each chunk that is not free is used for. */
    void tell(final ChunkUse use)
    {
        for (int chunk = 0; chunk < superblock.chunkCount(); chunk++)
        {
            if (isIndex[chunk])
            {
                use.index(chunk);
            }
            else if (taken.isAnyTaken(firstOf(chunk), firstOf(chunk + 1)))
            {
                use.blocks(chunk);
            }
        }
    }

    private long granule(final long offset)
    {
        return (offset - superblock.chunksOffset()) / GRANULE_BYTES;
    }

    private long firstOf(final int chunk)
    {
        return (long)chunk * superblock.chunkLengthBytes() / GRANULE_BYTES;
    }

    private int chunk(final long granule)
    {
        return (int)(granule * GRANULE_BYTES / superblock.chunkLengthBytes());
    }
}
