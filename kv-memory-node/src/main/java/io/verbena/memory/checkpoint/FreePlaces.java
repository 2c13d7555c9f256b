package io.verbena.memory.checkpoint;

import io.verbena.table.allocation.GranuleSet;
import io.verbena.table.format.Superblock;

import java.lang.foreign.Arena;
import java.util.Arrays;

/**
 * Where blocks may be put in a region that is being restored: in any chunk that holds no index, within one chunk, and
 * beside blocks of the same owner only: a group of memory nodes, by its number, or 0, this memory node alone. For the
 * thread and the life of its arena.
 */
final class FreePlaces
{
    private static final int GRANULE_BYTES = GranuleSet.GRANULE_BYTES;
    private static final int NOBODY = -1;

    private final Superblock superblock;
    private final boolean[] isIndex;
    /** Of each chunk; {@link #NOBODY} while nothing is in it. */
    private final int[] owners;
    /** Chunks in which blocks are to have the places they had. */
    private final boolean[] isWanted;
    private final GranuleSet taken;
    private final long end;
    private long searchedFrom;
    private int searchedLength;
    private int searchedOwner = NOBODY;
    private boolean isSearchedWhereEmpty;

    FreePlaces(final Superblock superblock, final Arena arena)
    {
        this.superblock = superblock;
        isIndex = new boolean[superblock.chunkCount()];
        isWanted = new boolean[superblock.chunkCount()];
        owners = new int[superblock.chunkCount()];
        Arrays.fill(owners, NOBODY);
        end = firstOf(superblock.chunkCount());
        taken = new GranuleSet(arena, end);
    }

    /**
     * Takes a whole chunk.
     *
     * @param offset of a subtable in the region.
     * @param owner  of its table.
     * @return false when there is no such chunk, or it is an index already.
     */
    boolean takeIndex(final long offset, final int owner)
    {
        if (!isFreeForIndex(offset))
        {
            return false;
        }
        final int chunk = (int)((offset - superblock.chunksOffset()) / superblock.chunkLengthBytes());
        isIndex[chunk] = true;
        owners[chunk] = owner;
        taken.add(firstOf(chunk), firstOf(chunk + 1));
        return true;
    }

    /** Whether a subtable can be at an offset in the region: there is such a chunk, and it is no index yet. */
    boolean isFreeForIndex(final long offset)
    {
        final long chunk = (offset - superblock.chunksOffset()) / superblock.chunkLengthBytes();
        return offset >= superblock.chunksOffset() && chunk < superblock.chunkCount() && !isIndex[(int)chunk];
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
     * @param owner of the table.
     * @return its offset in the region; -1 when there is none.
     */
    long takeAnyIndex(final int owner)
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
        takeIndex(offset, owner);
        return offset;
    }

    /**
     * Takes a place that is known.
     *
     * @param offset      in the region.
     * @param lengthBytes of a block.
     * @param owner       of its record.
     * @return false when it is no place for a block of this owner, or taken.
     */
    boolean take(final long offset, final int lengthBytes, final int owner)
    {
        final long first = granule(offset);
        final long behind = first + lengthBytes / GRANULE_BYTES;
        if (offset < superblock.chunksOffset() || behind > end || chunk(first) != chunk(behind - 1) ||
            !mayTake(chunk(first), owner) || taken.isAnyTaken(first, behind))
        {
            return false;
        }
        owners[chunk(first)] = owner;
        taken.add(first, behind);
        return true;
    }

    private boolean mayTake(final int chunk, final int owner)
    {
        return NOBODY == owners[chunk] || owner == owners[chunk];
    }

    /** Gives a place back. */
    void free(final long offset, final int lengthBytes)
    {
        taken.remove(granule(offset), granule(offset + lengthBytes));
    }

    /**
     * Takes the first place there is, beside blocks of the same owner where there is room: so fewer chunks are taken
     * that a group has on its other members, which would keep this node from coming into it again. Nothing is given
     * back between calls with one length and owner, each of which goes on where the one before ended.
     *
     * @param lengthBytes of a block.
     * @param owner       of its record.
     * @return its offset in the region; -1 when there is none.
     */
    long takeAny(final int lengthBytes, final int owner)
    {
        if (lengthBytes != searchedLength || owner != searchedOwner)
        {
            searchedLength = lengthBytes;
            searchedOwner = owner;
            searchedFrom = 0;
            isSearchedWhereEmpty = false;
        }
        final int count = lengthBytes / GRANULE_BYTES;
        long offset = takeFrom(count, owner);
        if (offset < 0 && !isSearchedWhereEmpty)
        {
            isSearchedWhereEmpty = true;
            searchedFrom = 0;
            offset = takeFrom(count, owner);
        }
        return offset;
    }

    private long takeFrom(final int count, final int owner)
    {
        long at = searchedFrom;
        while (at < end)
        {
            final long chunkEnd = firstOf(chunk(at) + 1);
            if (owner != owners[chunk(at)] && !(isSearchedWhereEmpty && NOBODY == owners[chunk(at)]))
            {
                at = chunkEnd;
                continue;
            }
            final long free = taken.freeFrom(at, Math.min(chunkEnd, at + count));
            if (free == count)
            {
                owners[chunk(at)] = owner;
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
                use.index(chunk, owners[chunk]);
            }
            else if (taken.isAnyTaken(firstOf(chunk), firstOf(chunk + 1)))
            {
                use.blocks(chunk, owners[chunk]);
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
