package io.verbena.table.check;

import io.verbena.table.check.CopyDifference.Kind;
import io.verbena.table.directory.Subtable;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SizeClasses;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.TableDescriptor;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.IntToLongFunction;
import org.agrona.concurrent.UnsafeBuffer;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * Compares the copies of a table that a group of memory nodes has with that of the primary: header lines, links, bucket
 * headers, slots, and the blocks that the primary's words name. Finds nothing where there is one copy.
 *
 * <p>Also beside writers. What a round under way explains is not reported: a word that differs is read again when all
 * that was begun before has ended, and no word comes back, so that whatever stands there still stood all the time. A
 * block is on all copies before the primary has its word, and is read while the store {@link CheckedStore#hold holds};
 * it is reported if the word stands behind that. Used by one thread.
 */
public final class CopyChecker
{
    private static final int MOST_DIFFERENCES = 1_000;
    private static final int GROUPS_PER_READ = TableWords.GROUPS_PER_READ;
    /** Words of a header line that are swapped: the link and the predecessor. */
    private static final int SWAPPED_AT = SubtableDescriptor.SPLIT_OFFSET;
    private static final int SWAPPED_END = SubtableDescriptor.PREDECESSOR_OFFSET + Long.BYTES;

    private final CheckedStore store;
    private final IntToLongFunction regionLengthBytes;
    private final List<UnsafeBuffer> pieces = new ArrayList<>();
    private final List<CopyDifference> seen = new ArrayList<>();
    private final Set<Long> reached = new HashSet<>();
    private final LeftRound.Blocks blocks = this::readBlock;
    private UnsafeBuffer block;
    private UnsafeBuffer word;
    private TableDescriptor table;
    private CopyCheck check;
    private int node;
    private int primary;
    private boolean hasMore;

    /** @param store that the tables belong to. */
    public CopyChecker(final CheckedStore store)
    {
        this(store, (nodeId) -> SlotWord.ADDRESSABLE_BYTES);
    }

    CopyChecker(final CheckedStore store, final IntToLongFunction regionLengthBytes)
    {
        this.store = store;
        this.regionLengthBytes = regionLengthBytes;
    }

    /**
     * Compares all copies of a table.
     *
     * @param of the table.
     * @return what was found.
     */
    public CopyCheck check(final TableDescriptor of)
    {
        return check(of, 0);
    }

    /** As {@link #check(TableDescriptor)}, at one memory node if an id is given. */
    CopyCheck check(final TableDescriptor of, final int onlyNodeId)
    {
        table = of;
        check = new CopyCheck();
        try (Arena arena = Arena.ofConfined())
        {
            block = buffer(arena, SizeClasses.MAX_BLOCK_BYTES);
            word = buffer(arena, Long.BYTES);
            for (final int id : Subtable.of(of).stream().mapToInt(Subtable::memoryNodeId).distinct().toArray())
            {
                if (store.copyCount(id) > 1 && (onlyNodeId == 0 || onlyNodeId == id))
                {
                    node = id;
                    primary = store.copyCount(id) - 1;
                    checkNode(arena);
                }
            }
        }
        pieces.clear();
        return check;
    }

    private static UnsafeBuffer buffer(final Arena arena, final int lengthBytes)
    {
        return new UnsafeBuffer(arena.allocate(lengthBytes, 64).address(), lengthBytes);
    }

    private void checkNode(final Arena arena)
    {
        while (pieces.size() <= primary)
        {
            pieces.add(buffer(arena, GROUPS_PER_READ * BucketDescriptor.GROUP_BYTES));
        }
        seen.clear();
        hasMore = false;
        for (int group = 0; group < table.groupCount() && !hasMore; group += GROUPS_PER_READ)
        {
            walk(group);
        }
        if (!seen.isEmpty())
        {
            keepStanding();
        }
        if (hasMore)
        {
            check.unjudged().add("copies of table " + table.name() + " in group " + node + ": more than " +
                MOST_DIFFERENCES + " words or blocks differ");
        }
    }

    /** A piece of each subtable that is there at an instant; no piece if the group given is none. */
    private void walk(final int group)
    {
        reached.clear();
        store.hold();
        try
        {
            for (final Subtable subtable : present())
            {
                if (subtable.memoryNodeId() == node)
                {
                    walk(subtable, group);
                }
            }
        }
        finally
        {
            store.release();
        }
    }

    private List<Subtable> present()
    {
        return !store.isLive() ? Subtable.of(table) : store.tables().stream()
            .filter((other) -> other.tableId() == table.tableId()).findFirst().map(Subtable::of).orElse(List.of());
    }

    /** The link is read first: who has it is split or merged, and what it leads to is on all copies. */
    private void walk(final Subtable subtable, final int group)
    {
        if (!subtable.isWithin(regionLengthBytes.applyAsLong(node), table.groupCount()) ||
            !reached.add(subtable.offset()))
        {
            return;
        }
        final long link = MergeLink.linkOf(word(primary, subtable.offset() + SubtableDescriptor.SPLIT_OFFSET));
        if (group == 0)
        {
            compareHeaderLines(subtable);
        }
        if (group >= 0 && !SplitLink.isComplete(link))
        {
            comparePiece(subtable, group);
        }
        if (MergeLink.isLink(link))
        {
            walkMerged(subtable, link, group);
            return;
        }
        for (int side = 0; side < 2 && link != SplitLink.NONE; side++)
        {
            walk(subtable.child(link, side), group);
        }
    }

    /** Behind the decision only: memory of a proposal may go to somebody else. */
    private void walkMerged(final Subtable subtable, final long link, final int group)
    {
        if (subtable.depth() > 0 && subtable.side() == 1)
        {
            walk(subtable.merged(link), group);
        }
    }

    private void compareHeaderLines(final Subtable subtable)
    {
        read(subtable.offset(), SubtableDescriptor.HEADER_BYTES);
        for (int copy = 0; copy < primary; copy++)
        {
            for (int at = 0; at < SubtableDescriptor.HEADER_BYTES; at += Long.BYTES)
            {
                final Kind kind = at < SWAPPED_AT || at >= SWAPPED_END ? Kind.HEADER :
                    at == SWAPPED_AT ? Kind.LINK : Kind.PREDECESSOR;
                compare(subtable, copy, kind, at, subtable.offset() + at);
            }
        }
    }

    private void comparePiece(final Subtable subtable, final int group)
    {
        final int buckets =
            TableWords.pieceLength(table, group) * BucketDescriptor.BUCKETS_PER_GROUP;
        final long offset = subtable.groupOffset(group);
        read(offset, buckets * BucketDescriptor.BUCKET_BYTES);
        for (int at = 0; at < buckets * BucketDescriptor.BUCKET_BYTES; at += Long.BYTES)
        {
            final boolean isHeader = at % BucketDescriptor.BUCKET_BYTES == BucketDescriptor.HEADER_OFFSET;
            for (int copy = 0; copy < primary; copy++)
            {
                compare(subtable, copy, isHeader ? Kind.BUCKET : Kind.SLOT, at, offset + at);
            }
            final long counting = at(primary, at);
            // What is frozen may have been moved, and its block be another one's by now.
            if (!isHeader && SlotWord.isCommitted(counting))
            {
                compareBlocks(subtable, offset + at, counting);
            }
        }
    }

    /** From all copies, the head first and the primary last: as words go. */
    private void read(final long offset, final int lengthBytes)
    {
        for (int copy = 0; copy <= primary; copy++)
        {
            store.readCopy(node, copy, offset, pieces.get(copy), lengthBytes);
        }
    }

    private long at(final int copy, final int at)
    {
        return pieces.get(copy).getLong(at, LITTLE_ENDIAN);
    }

    private void compare(final Subtable subtable, final int copy, final Kind kind, final int at, final long offset)
    {
        final long found = at(copy, at);
        final long counting = at(primary, at);
        if (found != counting && found == word(copy, offset) && counting == word(primary, offset))
        {
            note(subtable, copy, kind, offset, found, counting);
        }
    }

    private void compareBlocks(final Subtable subtable, final long slotOffset, final long counting)
    {
        for (int copy = 0; copy < primary; copy++)
        {
            if (readBlock(copy, counting, block) && !LeftRound.isWhole(block, counting) &&
                counting == word(primary, slotOffset))
            {
                note(subtable, copy, Kind.BLOCK, SlotWord.blockOffset(counting), counting, counting);
            }
        }
    }

    private void note(
        final Subtable subtable, final int copy, final Kind kind, final long offset, final long found,
        final long counting)
    {
        hasMore |= seen.size() == MOST_DIFFERENCES;
        if (!hasMore)
        {
            seen.add(new CopyDifference(
                node, copy, primary + 1, table.name(), subtable.suffix(), kind, offset, found, counting, false));
        }
    }

    private long word(final int copy, final long offset)
    {
        store.readCopy(node, copy, offset, word, Long.BYTES);
        return word.getLong(0, LITTLE_ENDIAN);
    }

    private boolean readBlock(final int copy, final long named, final UnsafeBuffer target)
    {
        final int lengthBytes = SizeClasses.lengthBytes(SlotWord.sizeClass(named));
        final boolean isWithin = SlotWord.blockOffset(named) + lengthBytes <= regionLengthBytes.applyAsLong(node);
        if (isWithin)
        {
            store.readCopy(node, copy, SlotWord.blockOffset(named), target, lengthBytes);
        }
        return isWithin;
    }

    /** Those that stand still when all that was begun before has ended, in subtables that the table has still. */
    private void keepStanding()
    {
        if (store.isLive() && !store.awaitOthers())
        {
            check.unjudged().add("copies of table " + table.name() + " in group " + node +
                ": operations did not end in time; check it when they write less");
            return;
        }
        final List<CopyDifference> before = List.copyOf(seen);
        walk(-1);
        final Set<Long> areThere = Set.copyOf(reached);
        store.hold();
        try
        {
            for (final CopyDifference difference : before)
            {
                if (isIn(areThere, difference) && stands(difference))
                {
                    check.differences().add(judged(difference));
                }
            }
        }
        finally
        {
            store.release();
        }
    }

    /** A block lies anywhere. */
    private boolean isIn(final Set<Long> subtables, final CopyDifference difference)
    {
        final long lengthBytes = SubtableDescriptor.lengthBytes(table.groupCount());
        return difference.kind() == Kind.BLOCK || subtables.stream().anyMatch((offset) ->
            difference.offset() >= offset && difference.offset() < offset + lengthBytes);
    }

    private boolean stands(final CopyDifference difference)
    {
        return difference.kind() == Kind.BLOCK || difference.word() == word(difference.copy(), difference.offset()) &&
            difference.atPrimary() == word(primary, difference.offset());
    }

    private CopyDifference judged(final CopyDifference found)
    {
        final boolean isLeft = switch (found.kind())
        {
            case LINK -> LeftRound.explainsLink(found.word(), found.atPrimary());
            case PREDECESSOR -> LeftRound.explainsPredecessor(found.word(), found.atPrimary());
            case BUCKET -> LeftRound.explainsHeader(found.word(), found.atPrimary());
            case SLOT -> LeftRound.explainsSlot(
                found.copy(), found.word(), found.atPrimary(), primary, blocks, block);
            default -> false;
        };
        return new CopyDifference(found.memoryNodeId(), found.copy(), found.copies(), found.table(), found.suffix(),
            found.kind(), found.offset(), found.word(), found.atPrimary(), isLeft);
    }
}
