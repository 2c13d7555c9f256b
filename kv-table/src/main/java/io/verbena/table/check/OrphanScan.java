package io.verbena.table.check;

import io.verbena.raas.OneSidedPort;
import io.verbena.table.TableEngine;
import io.verbena.table.access.RegionAccess;
import io.verbena.table.allocation.ChunkView;
import io.verbena.table.directory.Subtable;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SizeClasses;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.TableDescriptor;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.agrona.MutableDirectBuffer;
import org.agrona.collections.Int2ObjectHashMap;
import org.agrona.collections.Long2LongHashMap;
import org.agrona.collections.LongArrayQueue;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * Finds what of closed chunks no word of any table names, by reading all subtables at their memory node in bulk; kills
 * tentative words that name blocks in them first. Right only when nobody can publish a block of these chunks any more:
 * that they are closed, everybody knows it, and whoever did not is fenced; then the set of named blocks only shrinks,
 * and their tentative words are those of the dead. Owner thread only; may be thrown away at any time.
 */
public final class OrphanScan
{
    /** @param member whose groups are read; {@link #HEADER} for the header line, at the primary. */
    private record Part(TableDescriptor table, Subtable subtable, int member)
    {
    }

    private static final int HEADER = -1;

    private static final int GRANULE_BYTES = SlotWord.BLOCK_ALIGNMENT_BYTES;

    private final RegionAccess access;
    private final OneSidedPort port;
    private final ChunkView view;
    private final BooleanSupplier mayKill;
    private final LongSupplier emptiedWords;
    private final Int2ObjectHashMap<BitSet> named = new Int2ObjectHashMap<>();
    private final ArrayDeque<Part> parts = new ArrayDeque<>();
    private final LongArrayQueue kills = new LongArrayQueue(Long.MIN_VALUE);
    /** By slot the word that a kill was begun for, at another copy than the primary. */
    private final Long2LongHashMap met = new Long2LongHashMap(SlotWord.EMPTY);
    private boolean isReading;
    private boolean isKilling;
    private boolean failed;
    private Part part;
    private long killed;

    /**
     * @param access       idle.
     * @param port         to the memory node.
     * @param memoryNodeId of the node.
     * @param view         for the places of chunks.
     * @param chunks       indexes of the closed chunks.
     * @param tables       all tables there are.
     * @param mayKill      asked before each tentative word is killed: whether no table was dropped, and no subtable
     *                     replaced, since they were listed, as far as this node knows. If so it does not pass the
     *                     epoch that it knows now while {@link #isKilling}: what looked like a word stands in memory
     *                     that is the table's still. If not, the scan fails.
     * @param emptiedWords what is left in their slots, another word each time.
     */
    public OrphanScan(
        final RegionAccess access,
        final OneSidedPort port,
        final int memoryNodeId,
        final ChunkView view,
        final BitSet chunks,
        final List<TableDescriptor> tables,
        final BooleanSupplier mayKill,
        final LongSupplier emptiedWords)
    {
        this.access = access;
        this.port = port;
        this.view = view;
        this.mayKill = mayKill;
        this.emptiedWords = emptiedWords;
        chunks.stream().forEach((index) -> named.put(index, new BitSet(view.chunkLengthBytes() / GRANULE_BYTES)));
        for (final TableDescriptor table : tables)
        {
            for (final Subtable subtable : Subtable.of(table))
            {
                if (subtable.memoryNodeId() == memoryNodeId)
                {
                    parts.add(new Part(table, subtable, HEADER));
                }
            }
        }
    }

    /** @return whether it is through, or cannot go on. */
    public boolean isDone()
    {
        return failed || parts.isEmpty() && !isReading && kills.isEmpty() && !access.isBusy();
    }

    /** @return whether what it found counts: every word was seen. */
    public boolean isComplete()
    {
        return isDone() && !failed;
    }

    /** @return whether a word is being changed. */
    public boolean isKilling()
    {
        return isKilling;
    }

    /** @return tentative words removed. */
    public long killed()
    {
        return killed;
    }

    /** Goes on. @return work done. */
    public int poll()
    {
        if (isDone())
        {
            return 0;
        }
        if (access.isBusy())
        {
            return access.poll();
        }
        if (access.hasFailed() && (isReading || killed > 0) || port.isFailed())
        {
            failed = true;
            return 1;
        }
        isReading = false;
        isKilling = false;
        if (!kills.isEmpty())
        {
            return kill();
        }
        if (!parts.isEmpty())
        {
            part = parts.poll();
            isReading = true;
            final Subtable subtable = part.subtable;
            if (part.member == HEADER)
            {
                access.read(port, subtable.offset(), SubtableDescriptor.HEADER_BYTES, this::onHeader);
            }
            else
            {
                access.readAt(port, part.member, subtable.groupOffset(0),
                    (long)part.table.groupCount() * BucketDescriptor.GROUP_BYTES, this::onGroups);
            }
            return 1;
        }
        return 0;
    }

    /** What was read may have been somebody else's memory, which a scan would not notice before its end. */
    private int kill()
    {
        if (!port.isReady() || port.space() == 0)
        {
            return 0;
        }
        if (mayKill.getAsBoolean())
        {
            killed++;
            isKilling = true;
            access.kill(port, kills.pollLong(), kills.pollLong(), emptiedWords.getAsLong());
        }
        else
        {
            failed = true;
        }
        return 1;
    }

    /**
     * A subtable that is split or merged, and those that take its place, are read all: words of the closed chunks are
     * not made any more, so those that move while this goes on are frozen in the old subtable, and seen there. What a
     * merge makes is read when it is decided, as the descriptor with split bit 1 shows: memory of a proposal may go
     * to somebody else at any moment.
     */
    private void onHeader(final MutableDirectBuffer buffer, final int lengthBytes, final long offset)
    {
        final long link = SubtableDescriptor.split(buffer, 0);
        if (SubtableDescriptor.tableId(buffer, 0) != part.table.tableId() ||
            SubtableDescriptor.depth(buffer, 0) != part.subtable.depth())
        {
            // Another table's by now; the cluster's version has changed, which shows it.
            return;
        }
        for (int member = firstMember(); member < RegionAccess.memberCount(port); member++)
        {
            parts.add(new Part(part.table, part.subtable, member));
        }
        if (MergeLink.isLink(link))
        {
            if (part.subtable.side() == 1)
            {
                parts.add(new Part(part.table, part.subtable.merged(link), HEADER));
            }
            return;
        }
        for (int side = 0; side < 2 && link != SplitLink.NONE; side++)
        {
            parts.add(new Part(part.table, part.subtable.child(link, side), HEADER));
        }
    }

    /**
     * With several copies claims stand at the head only, and what is decided stands there before it is on the others;
     * what has lost stands on a middle until somebody takes it away, and counts when the others are lost. So the head
     * is read first and the primary last: a word that has gone from one of them is on the next, or was replaced.
     */
    private static int firstMember()
    {
        return 0;
    }

    private void onGroups(final MutableDirectBuffer buffer, final int lengthBytes, final long offset)
    {
        for (int bucket = 0; bucket < lengthBytes; bucket += BucketDescriptor.BUCKET_BYTES)
        {
            for (int slot = 0; slot < BucketDescriptor.SLOTS_PER_BUCKET; slot++)
            {
                final int at = bucket + BucketDescriptor.SLOTS_OFFSET + slot * BucketDescriptor.SLOT_BYTES;
                onWord(offset + at, buffer.getLong(at, LITTLE_ENDIAN));
            }
        }
    }

    private void onWord(final long slotOffset, final long word)
    {
        if (!SlotWord.isTentative(word) && !SlotWord.namesBlock(word))
        {
            return;
        }
        final BitSet granules = named.get(view.index(SlotWord.blockOffset(word)));
        if (granules == null)
        {
            return;
        }
        if (SlotWord.isTentative(word))
        {
            noteTentative(slotOffset, word);
            return;
        }
        final int first = granule(SlotWord.blockOffset(word));
        granules.set(first, first + SizeClasses.lengthBytes(SlotWord.sizeClass(word)) / GRANULE_BYTES);
    }

    /**
     * The mark of a delete that is decided and not committed cannot be killed, and may stand on several copies: one
     * kill for all of them. At the primary it counts, and goes whatever was tried before.
     */
    private void noteTentative(final long slotOffset, final long word)
    {
        final boolean isPrimary = part.member == RegionAccess.memberCount(port) - 1;
        if (!isPrimary && met.put(slotOffset, word) == word)
        {
            return;
        }
        kills.addLong(slotOffset);
        kills.addLong(word);
    }

    /** @return whether no word names anything in a chunk; once complete. */
    public boolean isUnnamed(final int chunkIndex)
    {
        return named.get(chunkIndex).isEmpty();
    }

    /** Gives the ranges of a chunk that no word names to the engine; once complete. */
    public long takeOver(final int chunkIndex, final TableEngine engine, final int memoryNodeId)
    {
        final BitSet granules = named.get(chunkIndex);
        final int end = view.chunkLengthBytes() / GRANULE_BYTES;
        final long offset = view.offset(chunkIndex);
        long taken = 0;
        for (int start = granules.nextClearBit(0); start < end;)
        {
            final int next = granules.nextSetBit(start);
            final int stop = next < 0 ? end : next;
            engine.allocator(memoryNodeId).takeOver(
                offset + (long)start * GRANULE_BYTES, offset + (long)stop * GRANULE_BYTES);
            taken += (long)(stop - start) * GRANULE_BYTES;
            start = granules.nextClearBit(stop);
        }
        return taken;
    }

    private int granule(final long offset)
    {
        return (int)((offset - view.offset(view.index(offset))) / GRANULE_BYTES);
    }
}
