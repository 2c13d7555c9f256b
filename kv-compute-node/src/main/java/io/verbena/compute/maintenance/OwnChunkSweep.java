package io.verbena.compute.maintenance;

import io.verbena.protocol.message.ChunkLease;
import io.verbena.protocol.message.ChunkRun;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.table.allocation.ChunkView;
import io.verbena.table.format.ChunkDescriptor;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Which chunks of a memory node are to be reclaimed next: those of nodes that ended, and of this node's own ones those
 * that are due, because memory was short, a table was dropped, or somebody asked. Owned by the node's thread.
 */
final class OwnChunkSweep
{
    /** Most chunks at a time. */
    static final int MAX_CHUNKS = 1024;

    private final ShortageWatch shortage;
    private final PeerIdentity identity;
    private final Runnable onAsked;
    private final BitSet due = new BitSet();
    /** Own chunks that the claim under way asks for: due again if it is not answered. */
    private final BitSet claimed = new BitSet();
    private boolean isAsked;

    /**
     * @param epoch        current.
     * @param closedTables found dropped so far.
     * @param identity     of this node.
     * @param onAsked      called when all own chunks are to be swept.
     */
    OwnChunkSweep(
        final LongSupplier epoch, final LongSupplier closedTables, final PeerIdentity identity, final Runnable onAsked)
    {
        shortage = new ShortageWatch(epoch, closedTables);
        this.identity = identity;
        this.onAsked = onAsked;
    }

    /** All own chunks are due, as of the next {@link #mark}. */
    void ask()
    {
        isAsked = true;
        onAsked.run();
    }

    /** @return whether own chunks are due, or will be marked so. */
    boolean isWanted()
    {
        return isAsked || isDue();
    }

    /** @return whether own chunks are due. */
    boolean isDue()
    {
        return !due.isEmpty();
    }

    /** @return whether refused requests, so many by now, lead to a sweep that was not asked for yet. */
    boolean isShort(final long refusals)
    {
        return shortage.isShort(refusals);
    }

    /** @return whether memory is short, or a table was dropped, for the first time since it was noted: then ask. */
    boolean noteShortage(final long refusals)
    {
        return shortage.note(refusals);
    }

    /** If it was asked for, all own chunks of a view are due. */
    void mark(final ChunkView view)
    {
        if (!isAsked)
        {
            return;
        }
        isAsked = false;
        for (int i = 0; null != view && i < view.chunkCount(); i++)
        {
            if (isOwn(view, i))
            {
                due.set(i);
            }
        }
    }

    /**
     * All orphans, and of the own chunks that are due no more than half of all own ones, so that some stay in use;
     * rounded up, so that two rounds are enough where none is returned.
     */
    List<ChunkRun> wanted(final ChunkView view)
    {
        final List<ChunkRun> runs = new ArrayList<>();
        final int mostOwn = (owned(view) + 1) / 2;
        int own = 0;
        int count = 0;
        claimed.clear();
        int i = 0;
        for (; i < view.chunkCount() && runs.size() < ChunkLease.MAX_RUNS && count < MAX_CHUNKS; i++)
        {
            final boolean isOwnDue = due.get(i) && own < mostOwn && isOwn(view, i);
            if (isOwnDue || view.isClaimable(i, identity.nodeId(), identity.incarnation()))
            {
                own += isOwnDue ? 1 : 0;
                claimed.set(i, isOwnDue);
                count++;
                due.clear(i);
                runs.add(new ChunkRun(view.offset(i), 1));
            }
        }
        // A claim that is full before the last chunk leaves those behind it to the next round.
        if (0 == own && i == view.chunkCount())
        {
            due.clear();
        }
        return runs;
    }

    /** Whether what {@link #wanted} named last was claimed is unknown: it is due again. */
    void askAgain()
    {
        due.or(claimed);
    }

    private int owned(final ChunkView view)
    {
        int count = 0;
        for (int i = 0; i < view.chunkCount(); i++)
        {
            count += isOwn(view, i) ? 1 : 0;
        }
        return count;
    }

    private boolean isOwn(final ChunkView view, final int index)
    {
        return view.isOwned(index, ChunkDescriptor.STATE_BLOCKS, identity.nodeId(), identity.incarnation());
    }
}
