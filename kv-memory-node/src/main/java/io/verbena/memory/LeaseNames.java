package io.verbena.memory;

import io.verbena.table.format.ChunkDescriptor;
import org.agrona.DirectBuffer;
import org.agrona.collections.Int2ObjectHashMap;

/** By which leases of groups the chunks of a memory node are had; the chunk headers show it. One thread. */
final class LeaseNames
{
    private final char[] groups;
    private final long[] views;
    /** Of the lease that stands; of a free chunk the largest. */
    private final long[] counts;
    /** Largest that was recorded: a lease that a group brought along may have a smaller one. */
    private final long[] largestCounts;
    /** Newest view that a lease recorded here was made in, by group; at most as many as there are groups. */
    private final Int2ObjectHashMap<Long> newestViews = new Int2ObjectHashMap<>();
    /** Newest view that was over when this node came into a group, by group. */
    private final Int2ObjectHashMap<Long> overViews = new Int2ObjectHashMap<>();

    LeaseNames(final int chunkCount)
    {
        groups = new char[chunkCount];
        views = new long[chunkCount];
        counts = new long[chunkCount];
        largestCounts = new long[chunkCount];
    }

    /** Takes up what the process before has left in a header. */
    void restore(final int index, final DirectBuffer header)
    {
        counts[index] = ChunkDescriptor.count(header, 0);
        largestCounts[index] = counts[index];

        if (0 != ChunkDescriptor.group(header, 0))
        {
            name(index, ChunkDescriptor.group(header, 0), ChunkDescriptor.view(header, 0), counts[index]);
        }
    }

    /** A lease of a group is recorded. */
    void name(final int index, final int group, final long view, final long count)
    {
        groups[index] = (char)group;
        views[index] = view;
        counts[index] = count;
        largestCounts[index] = Math.max(largestCounts[index], count);
        newestViews.put(group, (Long)Math.max(newestView(group), view));
    }

    /** @return the newest view that a lease recorded here was made in, or 0. */
    long newestView(final int group)
    {
        final Long view = newestViews.get(group);
        return null == view ? 0 : view;
    }

    /** @return of how many groups a lease was ever recorded, by this process or the one whose headers it has found. */
    int groupCount()
    {
        return newestViews.size();
    }

    /** This node comes into a group: no lease is made in this view of it any more, nor in those before. */
    void over(final int group, final long view)
    {
        overViews.put(group, (Long)Math.max(overView(group), view));
    }

    /** @return the newest view that was over when this node came into the group, or 0. */
    long overView(final int group)
    {
        final Long view = overViews.get(group);
        return null == view ? 0 : view;
    }

    /** The header was damaged: by which lease the chunk is had is not known until it is free; the header shows it. */
    void unread(final int index)
    {
        counts[index] = ChunkDescriptor.UNREAD_COUNT;
        largestCounts[index] = ChunkDescriptor.UNREAD_COUNT;
    }

    /** @return whether a group may have the chunk by a lease that is not known. */
    boolean isUnread(final int index)
    {
        return ChunkDescriptor.UNREAD_COUNT == counts[index] && 0 == groups[index];
    }

    /** A chunk is free: no group has it. Its largest count stays. */
    void clear(final int index)
    {
        largestCounts[index] += isUnread(index) ? 1 : 0;
        counts[index] = largestCounts[index];
        groups[index] = 0;
        views[index] = 0;
    }

    /** @return whether a lease of a group stands here; then this node alone does nothing with the chunk. */
    boolean isMirrored(final int index)
    {
        return 0 != groups[index];
    }

    /** @return group whose lease a chunk has, or 0. */
    int group(final int index)
    {
        return groups[index];
    }

    /** @return view in which the group leased it, or 0. */
    long view(final int index)
    {
        return views[index];
    }

    /** @return count of the lease of a group that a chunk has; of another chunk the largest that was recorded, or 0. */
    long count(final int index)
    {
        return counts[index];
    }

    /** @return largest count that was recorded, or 0. */
    long largestCount(final int index)
    {
        return largestCounts[index];
    }
}
