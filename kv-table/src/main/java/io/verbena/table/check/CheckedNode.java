package io.verbena.table.check;

import io.verbena.table.allocation.ChunkView;
import io.verbena.table.allocation.GranuleSet;
import io.verbena.table.allocation.HeldConsumer;
import io.verbena.table.allocation.HeldRange;
import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.SizeClasses;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.Superblock;
import java.lang.foreign.Arena;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** The memory of one node while a {@link StoreChecker} looks at it: who has which 64 bytes. Not thread-safe. */
final class CheckedNode
{
    private static final int GRANULE_BYTES = GranuleSet.GRANULE_BYTES;

    private final SpaceReport space;
    private final Superblock superblock;
    private final ChunkView view;
    private final long granulesCount;
    private final GranuleSet named;
    /** Null as long as nobody holds anything, as where one node is checked by itself. */
    private GranuleSet heldGranules;
    /** Named on another copy than the primary, where there are several. */
    private GranuleSet namedElsewhere;
    private final Set<Integer> indexChunks = new HashSet<>();
    private final Map<Integer, Long> wordOfChunk = new HashMap<>();
    /** Chunks that are checked with a group, or with the memory node that has them. */
    private final BitSet chunksOfOthers = new BitSet();

    CheckedNode(final int memoryNodeId, final Superblock superblock)
    {
        space = new SpaceReport(memoryNodeId);
        this.superblock = superblock;
        view = new ChunkView(superblock);
        granulesCount = (long)view.chunkCount() * view.chunkLengthBytes() / GRANULE_BYTES;
        named = new GranuleSet(Arena.ofAuto(), granulesCount);
    }

    /** @return the same node, of which nothing is known but its superblock. */
    CheckedNode afresh()
    {
        return new CheckedNode(id(), superblock);
    }

    int id()
    {
        return space.memoryNodeId;
    }

    SpaceReport space()
    {
        return space;
    }

    ChunkView view()
    {
        return view;
    }

    long regionLengthBytes()
    {
        return superblock.regionLengthBytes();
    }

    long headerOffset(final int chunk)
    {
        return superblock.chunkHeadersOffset() + (long)chunk * ChunkDescriptor.HEADER_BYTES;
    }

    /** A chunk is checked elsewhere: nothing of it counts here, and nothing here may name it. */
    void noteOthers(final int chunk)
    {
        chunksOfOthers.set(chunk);
    }

    private long granule(final long offset)
    {
        return (offset - view.offset(0)) / GRANULE_BYTES;
    }

    private boolean isInside(final long offset, final long lengthBytes)
    {
        return offset >= view.offset(0) && offset + lengthBytes <= view.offset(view.chunkCount()) &&
            offset % GRANULE_BYTES == 0 && view.index(offset) == view.index(offset + lengthBytes - 1);
    }

    void noteNamed(final long word, final StoreCheck check)
    {
        final long offset = SlotWord.blockOffset(word);
        final int length = lengthBytes(word);
        if (!isInside(offset, length))
        {
            check.problem(SlotWord.toString(word) + " names memory outside of a chunk");
            return;
        }
        wordOfChunk.putIfAbsent(view.index(offset), word);
        final long first = granule(offset);
        final long end = first + length / GRANULE_BYTES;
        if (named.isAnyTaken(first, end))
        {
            check.problem(SlotWord.toString(word) + " names memory that another word names");
        }
        named.add(first, end);
        space.namedBytes += length;
    }

    /** A round may be decided and not committed, or its proposer have ended: what it names is in use. */
    void noteNamedElsewhere(final long word)
    {
        final long offset = SlotWord.blockOffset(word);
        if (isInside(offset, lengthBytes(word)))
        {
            namedElsewhere = namedElsewhere == null ? new GranuleSet(Arena.ofAuto(), granulesCount) : namedElsewhere;
            namedElsewhere.add(granule(offset), granule(offset) + lengthBytes(word) / GRANULE_BYTES);
        }
    }

    /** The same of what a link on another copy leads to. */
    void noteIndexElsewhere(final long subtableOffset)
    {
        if (isInside(subtableOffset, SubtableDescriptor.HEADER_BYTES))
        {
            indexChunks.add(view.index(subtableOffset));
        }
    }

    /** @return whether a subtable can lie there. */
    boolean noteIndex(final long subtableOffset, final String what, final StoreCheck check)
    {
        if (!isInside(subtableOffset, SubtableDescriptor.HEADER_BYTES))
        {
            check.problem(what + String.format(" at node %d is outside of a chunk: 0x%x", id(), subtableOffset));
            return false;
        }
        final int chunk = view.index(subtableOffset);
        final boolean isQuarantined = view.state(chunk) == ChunkDescriptor.STATE_QUARANTINED;
        if (!indexChunks.add(chunk) || chunksOfOthers.get(chunk) ||
            view.state(chunk) != ChunkDescriptor.STATE_INDEX && !isQuarantined)
        {
            check.problem(what + " at node " + id() + ": its chunk " + chunk + " is " + stateName(chunk) +
                ", or another subtable's as well");
        }
        return true;
    }

    /** Nothing is named in chunks that nobody has, or that are an index. */
    void checkStates(final StoreCheck check)
    {
        wordOfChunk.forEach((chunk, word) ->
        {
            final int state = view.state(chunk);
            if (chunksOfOthers.get(chunk) || state != ChunkDescriptor.STATE_BLOCKS &&
                state != ChunkDescriptor.STATE_ORPHAN && state != ChunkDescriptor.STATE_QUARANTINED)
            {
                check.problem(SlotWord.toString(word) + " names memory in chunk " + chunk + " of node " + id() +
                    ", which is " + stateName(chunk));
            }
        });
    }

    private String stateName(final int chunk)
    {
        final int group = view.group(chunk);
        return ChunkDescriptor.stateName(view.state(chunk)) + (!chunksOfOthers.get(chunk) ? "" :
            0 == group ? ", and no group's" : ", and of group " + group);
    }

    void noteHeld(final HeldRange range, final StoreCheck check)
    {
        if (!isInside(range.offset(), range.lengthBytes()))
        {
            check.problem(range + " is outside of a chunk");
            return;
        }
        final long first = granule(range.offset());
        final long end = first + range.lengthBytes() / GRANULE_BYTES;
        final int state = view.state(view.index(range.offset()));
        if (state != ChunkDescriptor.STATE_BLOCKS)
        {
            check.problem(range + " lies in a chunk that is " + ChunkDescriptor.stateName(state));
        }
        // An operation under way may have published its block already.
        heldGranules = heldGranules == null ? new GranuleSet(Arena.ofAuto(), granulesCount) : heldGranules;
        if (heldGranules.isAnyTaken(first, end) ||
            range.kind() != HeldConsumer.IN_FLIGHT && named.isAnyTaken(first, end))
        {
            check.problem(range + " is doubly owned");
        }
        heldGranules.add(first, end);
        switch (range.kind())
        {
            case HeldConsumer.QUARANTINED -> space.quarantinedBytes += range.lengthBytes();
            case HeldConsumer.IN_FLIGHT -> space.inFlightBytes += range.lengthBytes();
            default -> space.heldFreeBytes += range.lengthBytes();
        }
    }

    /** Adds up; what nobody owns counts as lost only where every owner is known. */
    void sum(final boolean areHandsKnown)
    {
        final int length = view.chunkLengthBytes();
        final long granules = length / GRANULE_BYTES;
        for (int i = 0; i < view.chunkCount(); i++)
        {
            if (chunksOfOthers.get(i))
            {
                continue;
            }
            final long namedHere = named.takenHereOr(namedElsewhere, i * granules, (i + 1) * granules) * GRANULE_BYTES;
            final boolean isFree = view.state(i) == ChunkDescriptor.STATE_FREE;
            space.unnamedChunks.set(i, !isFree && 0 == namedHere && !indexChunks.contains(i));
            switch (view.state(i))
            {
                case ChunkDescriptor.STATE_BLOCKS ->
                {
                    space.leasedBytes += length;
                    final long taken = named.takenHereOr(
                        heldGranules, namedElsewhere, i * granules, (i + 1) * granules);
                    space.lostBytes += areHandsKnown ? (granules - taken) * GRANULE_BYTES : 0;
                }
                case ChunkDescriptor.STATE_INDEX ->
                {
                    space.indexBytes += length;
                    space.unnamedIndexBytes += indexChunks.contains(i) ? 0 : length;
                }
                case ChunkDescriptor.STATE_ORPHAN ->
                {
                    space.orphanBytes += length;
                    space.namedInOrphansBytes += namedHere;
                }
                case ChunkDescriptor.STATE_QUARANTINED ->
                {
                    space.quarantinedChunks.set(i);
                    space.quarantinedIndexes.set(i, indexChunks.contains(i));
                    space.quarantinedChunkBytes += length;
                }
                default -> space.freeChunkBytes += length;
            }
        }
    }

    /** @return bytes of the block that a word names. */
    static int lengthBytes(final long word)
    {
        return SizeClasses.lengthBytes(SlotWord.sizeClass(word));
    }
}
