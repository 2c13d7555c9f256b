package io.verbena.table.check;

import io.verbena.raas.OneSidedPort;
import io.verbena.table.access.GroupPort;
import io.verbena.table.access.RegionAccess;
import io.verbena.table.allocation.ChunkView;
import io.verbena.table.directory.Subtable;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.TableDescriptor;

import org.agrona.MutableDirectBuffer;
import org.agrona.collections.LongHashSet;

import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.List;

/**
 * Finds which chunks of a memory node hold subtables that are in use, by reading the header lines of those that
 * descriptors name and of all that are linked to them, on any copy: a link that is decided at the head is committed
 * by whoever meets it, and one on a middle only counts when the others are lost. Right only for what nobody can link
 * any more. Owner thread only; may be thrown away when the access is idle.
 */
public final class IndexWalk
{
    private record Part(TableDescriptor table, Subtable subtable, int member)
    {
    }

    private final RegionAccess access;
    private final OneSidedPort port;
    private final ChunkView view;
    private final BitSet inUse = new BitSet();
    private final ArrayDeque<Part> parts = new ArrayDeque<>();
    /** Offsets of subtables, with several copies, where each link is found several times. */
    private final LongHashSet seen = new LongHashSet();
    private final int copies;
    private Part part;
    private boolean failed;

    /**
     * @param access       idle.
     * @param port         to the memory node.
     * @param memoryNodeId of the node.
     * @param view         for the places of chunks.
     * @param tables       all tables there are.
     */
    public IndexWalk(
        final RegionAccess access,
        final OneSidedPort port,
        final int memoryNodeId,
        final ChunkView view,
        final List<TableDescriptor> tables)
    {
        this.access = access;
        this.port = port;
        this.view = view;
        copies = RegionAccess.memberCount(port);
        for (final TableDescriptor table : tables)
        {
            for (final Subtable subtable : Subtable.of(table))
            {
                if (subtable.memoryNodeId() == memoryNodeId)
                {
                    add(table, subtable);
                }
            }
        }
    }

    private void add(final TableDescriptor table, final Subtable subtable)
    {
        final boolean isNew = copies == 1 || seen.add(subtable.offset());
        for (int member = 0; member < copies && isNew; member++)
        {
            parts.add(new Part(table, subtable, member));
        }
    }

    /** @return whether it is through, or cannot go on. */
    public boolean isDone()
    {
        return !access.isBusy() && (failed || parts.isEmpty() && null == part);
    }

    /** @return whether what it found counts: every header was read, and is that of its subtable. */
    public boolean isComplete()
    {
        return isDone() && !failed;
    }

    /** @return whether a chunk holds a subtable that is in use; once complete. */
    public boolean isInUse(final int chunkIndex)
    {
        return inUse.get(chunkIndex);
    }

    /** Goes on. @return work done. */
    public int poll()
    {
        if (access.isBusy())
        {
            return access.poll();
        }
        if (isDone())
        {
            return 0;
        }
        if (null != part || port.isFailed())
        {
            failed = true; // what was read last never came
            return 1;
        }
        part = parts.poll();
        access.readAt(
            port, part.member, part.subtable.offset(), SubtableDescriptor.HEADER_BYTES, this::onHeader);
        return 1;
    }

    private void onHeader(final MutableDirectBuffer buffer, final int lengthBytes, final long offset)
    {
        final Part read = part;
        part = null;
        if (SubtableDescriptor.tableId(buffer, 0) != read.table.tableId() ||
            SubtableDescriptor.depth(buffer, 0) != read.subtable.depth() ||
            SubtableDescriptor.suffix(buffer, 0) != read.subtable.suffix())
        {
            failed = true; // another subtable's by now, or damaged
            return;
        }
        mark(offset, SubtableDescriptor.lengthBytes(read.table.groupCount()));
        if (0 != SubtableDescriptor.predecessor(buffer, 0))
        {
            markOne(SubtableDescriptor.predecessor(buffer, 0));
            markOne(SubtableDescriptor.secondPredecessor(buffer, 0));
        }
        if (!GroupPort.isOne(port) && MergeLink.isWithdrawn(SubtableDescriptor.splitWord(buffer, 0)))
        {
            failed = true; // with one copy nobody leaves such a word: a damaged link, and what it led to is in use
            return;
        }
        follow(read, SubtableDescriptor.split(buffer, 0));
    }

    private void follow(final Part from, final long link)
    {
        if (MergeLink.isLink(link))
        {
            // The sibling's chunk too: its own descriptor entry may be older than this one's.
            markOne(from.subtable.sibling(link).offset());
            add(from.table, from.subtable.merged(link));
            return;
        }
        for (int side = 0; side < 2 && link != SplitLink.NONE; side++)
        {
            add(from.table, from.subtable.child(link, side));
        }
    }

    private void markOne(final long offset)
    {
        if (0 != offset)
        {
            mark(offset, 1);
        }
    }

    private void mark(final long offset, final long lengthBytes)
    {
        inUse.set(view.index(offset), view.index(offset + lengthBytes - 1) + 1);
    }
}
