package io.verbena.compute.group;

import io.verbena.compute.maintenance.ShortageWatch;
import io.verbena.protocol.message.MirroredChunk;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.table.allocation.ChunkView;
import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.mirror.LeftChunk;

import org.agrona.collections.Int2ObjectHashMap;

import java.util.BitSet;
import java.util.Deque;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Which chunks of a group are to be reclaimed next: those that nodes have left, and of this node's own ones those that
 * are due, because memory was short, a table was dropped, or somebody asked. Owned by the node's thread.
 */
final class GroupSweep
{
    private final int group;
    private final PeerIdentity identity;
    private final ShortageWatch shortage;
    private final BitSet due = new BitSet();
    /** What nodes had left when indexes were judged last: what a table uses is not judged again for each change. */
    private BitSet judged = new BitSet();
    private boolean isAsked;
    private boolean areIndexesAsked;
    private long indexRefusals;

    /**
     * @param group        number.
     * @param identity     of this node.
     * @param epoch        current.
     * @param closedTables found dropped so far.
     */
    GroupSweep(
        final int group, final PeerIdentity identity, final LongSupplier epoch, final LongSupplier closedTables)
    {
        this.group = group;
        this.identity = identity;
        shortage = new ShortageWatch(epoch, closedTables);
    }

    /** All own chunks are due, as of the next {@link #find}. */
    void ask()
    {
        isAsked = true;
    }

    /** Own indexes are to be judged that are not under way. */
    void askIndexes()
    {
        areIndexesAsked = true;
    }

    /** A chunk is due, if it is this node's own; null for none. */
    void add(final MirroredChunk doubtful)
    {
        if (null != doubtful)
        {
            due.set(doubtful.index());
        }
    }

    /** There was no memory for an index. */
    void onIndexRefused()
    {
        indexRefusals++;
    }

    /** @return whether own chunks are due, or will be marked so. */
    boolean isWanted()
    {
        return isAsked || areIndexesAsked || !due.isEmpty();
    }

    /** @return whether refused requests, so many by now for blocks, lead to a sweep that was not asked for yet. */
    boolean isShort(final long refusals)
    {
        return shortage.isShort(refusals + indexRefusals);
    }

    /** @return whether memory is short, or a table was dropped, for the first time since it was noted: all are due. */
    boolean noteShortage(final long refusals)
    {
        final boolean isNew = shortage.note(refusals + indexRefusals);
        isAsked |= isNew;
        areIndexesAsked |= isNew;
        return isNew;
    }

    /**
     * Finds what is to be done, by the headers of all members. Of own chunks of blocks that are due no more than half
     * of all own ones, so that some stay in use.
     *
     * @param looks    at the members.
     * @param chunks   knows which own indexes are under way.
     * @param refusing takes leases that members do not all show.
     * @param claiming takes chunks of blocks.
     * @param indexes  takes indexes that may be unused.
     */
    void find(
        final List<ChunkView> looks, final GroupChunks chunks, final Deque<MirroredChunk> refusing,
        final Deque<MirroredChunk> claiming, final Int2ObjectHashMap<MirroredChunk> indexes)
    {
        final ChunkView any = looks.getFirst();
        final List<LeftChunk> found = LeftChunk.find(group, looks);
        noteLeft(found);
        for (final LeftChunk left : found)
        {
            final MirroredChunk lease =
                new MirroredChunk(group, left.view(), left.index(), any.chunkLengthBytes(), left.count());
            if (!left.isEverywhere())
            {
                refusing.add(lease);
            }
            else if (ChunkDescriptor.STATE_INDEX == any.state(left.index()))
            {
                if (areIndexesAsked)
                {
                    indexes.put(left.index(), lease);
                }
            }
            else if (looks.stream().allMatch((look) -> isClaimable(look, left.index())))
            {
                claiming.add(lease);
            }
        }
        findOwn(looks, chunks, claiming, indexes);
    }

    /** Whoever ended may have been about to return something, and left it, whoever had leased it. */
    private void noteLeft(final List<LeftChunk> found)
    {
        final BitSet left = new BitSet();
        found.forEach((chunk) -> left.set(chunk.index()));
        final BitSet added = (BitSet)left.clone();
        added.andNot(judged);
        areIndexesAsked |= !added.isEmpty();
        judged = left;
    }

    private void findOwn(
        final List<ChunkView> looks, final GroupChunks chunks, final Deque<MirroredChunk> claiming,
        final Int2ObjectHashMap<MirroredChunk> indexes)
    {
        final BitSet own = new BitSet();
        final ChunkView any = looks.getFirst();
        for (int i = 0; i < any.chunkCount(); i++)
        {
            if (isOwn(looks, i, ChunkDescriptor.STATE_BLOCKS))
            {
                own.set(i);
            }
            else if (areIndexesAsked && isOwn(looks, i, ChunkDescriptor.STATE_INDEX) &&
                !chunks.isUnderWay(i, any.groupCount(i)))
            {
                indexes.put(i, lease(any, i));
            }
            else if (isHalfClosed(looks, i))
            {
                claiming.add(lease(any, i));
                due.clear(i);
            }
        }
        if (isAsked)
        {
            due.or(own);
        }
        isAsked = false;
        areIndexesAsked = false;
        due.and(own);
        final int most = (own.cardinality() + 1) / 2;
        int count = 0;
        for (int i = due.nextSetBit(0); i >= 0 && count < most; i = due.nextSetBit(i + 1))
        {
            claiming.add(lease(any, i));
            due.clear(i);
            count++;
        }
    }

    private MirroredChunk lease(final ChunkView look, final int index)
    {
        return new MirroredChunk(
            group, look.groupView(index), index, look.chunkLengthBytes(), look.groupCount(index));
    }

    private boolean isClaimable(final ChunkView look, final int index)
    {
        return look.isClaimableInGroup(index, identity.nodeId(), identity.incarnation());
    }

    private boolean isOwn(final List<ChunkView> looks, final int index, final int state)
    {
        final long count = looks.getFirst().groupCount(index);
        return looks.stream().allMatch((look) -> look.isOwnedInGroup(
            index, group, count, state, identity.nodeId(), identity.incarnation()));
    }

    /** A claim, or an adoption, of this node was cut off: the chunk is its own at some members, closed at others. */
    private boolean isHalfClosed(final List<ChunkView> looks, final int index)
    {
        final long count = looks.getFirst().groupCount(index);
        return looks.stream().anyMatch((look) -> isClaimable(look, index)) &&
            looks.stream().anyMatch((look) -> look.isOwnedInGroup(
                index, group, count, ChunkDescriptor.STATE_BLOCKS, identity.nodeId(), identity.incarnation())) &&
            looks.stream().allMatch((look) -> look.group(index) == group && look.groupCount(index) == count &&
                (isClaimable(look, index) || look.isOwnedInGroup(
                index, group, count, ChunkDescriptor.STATE_BLOCKS, identity.nodeId(), identity.incarnation())));
    }

    @Override
    public String toString()
    {
        return "GroupSweep{group=" + group + ", due=" + due + '}';
    }
}
