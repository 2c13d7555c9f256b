package io.verbena.compute.growth;

import io.verbena.compute.group.KnownLeases;
import io.verbena.compute.group.LinkedChunks;
import io.verbena.compute.growth.GrowthWork.Kind;
import io.verbena.compute.session.SessionParts;
import io.verbena.table.directory.Subtable;

import java.util.ArrayDeque;
import java.util.List;

/**
 * Splits and merges that are complete and to be made known, one after the other, beside further ones: while the meta
 * server is away tables go on growing, for some time. What waits here others can make known as well, if this node ends:
 * whoever follows the links. Owned by the node's thread.
 */
final class Publications
{
    /** Most that wait; each keeps the memory of what was replaced, and is one more link to follow. */
    static final int MOST = 32;

    /** Takes work back whose memory node is away: what was made is in its memory, if that is the same afterwards. */
    @FunctionalInterface
    interface Returned
    {
        /** Takes it. */
        void goOnLater(GrowthWork work);
    }

    /**
     * One of them.
     *
     * @param work      that was done.
     * @param leased    what was made of memory leased for it; none if that was somebody else's.
     * @param known     leases, that one among them.
     * @param publisher makes it known.
     */
    private record Unpublished(GrowthWork work, List<Subtable> leased, KnownLeases known, GrowthPublisher publisher)
    {
    }

    private final LinkedChunks chunks;
    private final Retirement retirement;
    private final Returned returned;
    private final ArrayDeque<Unpublished> queue = new ArrayDeque<>();

    Publications(final LinkedChunks chunks, final Retirement retirement, final Returned returned)
    {
        this.chunks = chunks;
        this.retirement = retirement;
        this.returned = returned;
    }

    /**
     * Adds what was made by a piece of work.
     *
     * @param offsets of the chunks that were leased for it, and used; none if somebody else had leased them.
     * @param known   leases when these were leased.
     * @param growth  what follows from it.
     */
    void add(
        final SessionParts session, final GrowthWork work, final List<Long> offsets,
        final KnownLeases known, final GrowthPublisher.Growth growth)
    {
        final int memoryNodeId = work.subtable().memoryNodeId();
        final List<Subtable> leased =
            offsets.stream().map((offset) -> new Subtable(memoryNodeId, 0, 0, offset)).toList();
        queue.add(new Unpublished(work, leased, known, new GrowthPublisher(
            chunks, retirement, session, work.table().descriptor(), memoryNodeId, known, growth)));
    }

    int size()
    {
        return queue.size();
    }

    boolean isFull()
    {
        return MOST <= queue.size();
    }

    boolean isEmpty()
    {
        return queue.isEmpty();
    }

    /** One at a time, since each follows from the descriptor of the one before; one that pauses lets the next go on. */
    int poll(final long nowNs)
    {
        for (int i = queue.size(); i > 0; i--)
        {
            final GrowthPublisher publisher = queue.peek().publisher;
            final int workCount = publisher.poll(nowNs);
            if (GrowthPublisher.Outcome.RUNNING != publisher.outcome())
            {
                end(queue.poll());
                return 1;
            }
            if (!publisher.isPausing(nowNs))
            {
                return workCount;
            }
            queue.add(queue.poll());
        }
        return 0;
    }

    private void end(final Unpublished ended)
    {
        switch (ended.publisher.outcome())
        {
            case AWAY -> returned.goOnLater(rest(ended.work));
            case DROPPED -> onDropped(ended);
            default ->
            {
                // known to all, or never
            }
        }
        ended.publisher.end();
    }

    private static GrowthWork rest(final GrowthWork work)
    {
        return switch (work.kind())
        {
            case SPLIT, FINISH_SPLIT -> work.then(Kind.FINISH_SPLIT, work.subtable(), 0);
            default -> work.then(Kind.FINISH_MERGE, work.present(), 0);
        };
    }

    /**
     * What was made is named by nothing but the old ones, whose memory goes with the table; or a publication has named
     * it whose answer was lost, and who dropped the table returns it too. Of two returns of the same lease one is
     * nothing, and what somebody leased in between is newer.
     */
    private void onDropped(final Unpublished ended)
    {
        if (!ended.leased.isEmpty())
        {
            retirement.retire(ended.work.table().descriptor().name(), ended.leased, ended.known);
        }
    }
}
