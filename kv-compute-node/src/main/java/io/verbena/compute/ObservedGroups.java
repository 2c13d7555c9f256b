package io.verbena.compute;

import io.verbena.compute.catalog.ViewWatch;
import io.verbena.compute.group.GroupLink;
import io.verbena.compute.group.GroupLinks;
import io.verbena.protocol.view.View;
import io.verbena.raas.OneSidedPort;
import io.verbena.table.access.RegionAccess;
import io.verbena.table.directory.Subtable;
import io.verbena.table.format.TableDescriptor;

import org.agrona.MutableDirectBuffer;
import org.agrona.collections.Int2ObjectHashMap;
import org.agrona.concurrent.NanoClock;

import java.util.List;
import java.util.Objects;

/**
 * The groups of memory nodes that a {@link StoreObserver} reads, copy by copy. What is read of a group belongs to one
 * view: when that ends, reading fails. The observer's thread.
 */
final class ObservedGroups
{
    /** Goes on with the node until a deadline, while something is waited for. */
    @FunctionalInterface
    interface Work
    {
        /**
         * Goes on once.
         *
         * @param deadlineNs beyond which it throws.
         * @param what       is waited for.
         */
        void work(long deadlineNs, String what);
    }

    private final GroupLinks links;
    private final ViewWatch views;
    private final Work work;
    private final NanoClock clock;
    private final long timeoutNs;
    /** Views as they were when their copies were counted. */
    private final Int2ObjectHashMap<View> counted = new Int2ObjectHashMap<>();

    /** @param timeoutNs longest wait for one answer. */
    ObservedGroups(
        final GroupLinks links, final ViewWatch views, final Work work, final NanoClock clock, final long timeoutNs)
    {
        this.links = links;
        this.views = views;
        this.work = work;
        this.clock = clock;
        this.timeoutNs = timeoutNs;
    }

    /** @return groups that tables name, ascending. */
    List<Integer> of(final List<TableDescriptor> tables)
    {
        hearViews();
        return tables.stream().flatMap((table) -> Subtable.of(table).stream()).map(Subtable::memoryNodeId).distinct()
            .filter((id) -> null != views.views().view(id)).sorted().toList();
    }

    /** All views as they are now, also of a group that was just made. */
    private void hearViews()
    {
        final long from = views.nextRound();
        final long deadlineNs = clock.nanoTime() + timeoutNs;
        views.askAgain();
        while (views.rounds() < from)
        {
            work.work(deadlineNs, "the views of groups of memory nodes");
        }
    }

    boolean isGroup(final int id)
    {
        if (0 == views.rounds())
        {
            hearViews();
        }
        return null != views.views().view(id);
    }

    /** Those of its present view, of which reads are from here on. */
    int copyCount(final int group)
    {
        final View present = ready(group).view();
        counted.put(group, present);
        return present.members().size();
    }

    private GroupLink ready(final int group)
    {
        final GroupLink link = links.link(group);
        final long deadlineNs = clock.nanoTime() + timeoutNs;
        while (!link.isReady())
        {
            if (link.newest().isDeserted())
            {
                throw new ComputeNodeException("all memory nodes of group " + group + " are lost");
            }
            work.work(deadlineNs, "group " + group + " of memory nodes, which cannot be used: " + link.failure());
        }
        return link;
    }

    void read(
        final int group, final int copy, final long offset, final MutableDirectBuffer target, final int lengthBytes)
    {
        final long deadlineNs = clock.nanoTime() + timeoutNs;
        boolean isRead = false;
        while (!isRead)
        {
            final GroupLink link = ready(group);
            if (!Objects.equals(link.view(), counted.get(group)))
            {
                throw changed(group);
            }
            final RegionAccess access = link.observerAccess();
            access.readAt(link.port(), copy, offset, lengthBytes, (piece, pieceBytes, at) ->
                target.putBytes((int)(at - offset), piece, 0, pieceBytes));
            isRead = await(link, access);
            if (!isRead)
            {
                // The connection was lost: the view may have ended, or there is another port of it.
                work.work(deadlineNs, "an answer of group " + group + " of memory nodes");
            }
        }
    }

    /** As clients do: of all copies, or of none. */
    void swap(final int group, final long offset, final long expected, final long desired)
    {
        final GroupLink link = ready(group);
        final OneSidedPort port = link.port();
        final long deadlineNs = clock.nanoTime() + timeoutNs;
        while (link.isReady() && link.port() == port && port.space() < 1)
        {
            work.work(deadlineNs, "room for a request to group " + group + " of memory nodes");
        }
        if (link.port() != port)
        {
            throw changed(group);
        }
        final RegionAccess access = link.observerAccess();
        access.swap(port, offset, expected, desired);
        if (!await(link, access))
        {
            throw changed(group);
        }
    }

    /** What was posted to a port that was left is not answered. @return whether it is done. */
    private boolean await(final GroupLink link, final RegionAccess access)
    {
        final OneSidedPort port = link.port();
        final long deadlineNs = clock.nanoTime() + timeoutNs;
        while (access.isBusy())
        {
            work.work(deadlineNs, "an answer of group " + link.group() + " of memory nodes");
            if (!link.isReady() || link.port() != port)
            {
                return false;
            }
            access.poll();
        }
        return !access.hasFailed();
    }

    private static ComputeNodeException changed(final int group)
    {
        return new ComputeNodeException("the view of group " + group +
            " of memory nodes changed while it was read, so what was seen counts for nothing; look again");
    }
}
