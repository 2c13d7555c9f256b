package io.verbena.compute.group;

import io.verbena.compute.catalog.ViewWatch;
import io.verbena.compute.figures.UnexpectedFailures;
import io.verbena.compute.memory.MemoryLinks;
import io.verbena.compute.session.SessionParts;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewState;

import org.agrona.collections.Int2ObjectHashMap;
import org.agrona.collections.IntArrayList;
import org.agrona.collections.IntHashSet;

import java.util.ArrayList;
import java.util.List;

/**
 * The groups of memory nodes whose tables a session has open, and the views of all groups. Owned by the node's thread.
 */
public final class GroupLinks implements AutoCloseable
{
    /** Until what could not be reached for lack of memory here is tried again: 200 ms. */
    static final long RETRY_PAUSE_NS = 200_000_000;

    private final MemoryLinks memoryLinks;
    private final UnexpectedFailures failures;
    private final long fillBytesPerSecond;
    private final Int2ObjectHashMap<GroupLink> byGroup = new Int2ObjectHashMap<>();
    private final List<GroupLink> all = new ArrayList<>();
    /** Ids that open tables name, and of which it is not known whether they are groups. */
    private final IntArrayList undecided = new IntArrayList();
    /** Those of them that operations want memory of. */
    private final IntHashSet wanting = new IntHashSet();
    /** Memory nodes that the meta server has listed, also where no memory could be had for a connection. */
    private final IntHashSet memoryNodes = new IntHashSet();
    private SessionParts session;
    private Reconciler reconciler;
    private MemberFill fill;
    private long decidedFrom;
    private long decideAtNs;

    /**
     * @param memoryLinks to which members are added, and what turns out to be no group.
     * @param failures    counts what cannot be reached now: it is tried again after a pause.
     * @param fillBytesPerSecond that are copied, at most, to a memory node that comes into a group, beside the work; 1
     *                    or more.
     */
    public GroupLinks(
        final MemoryLinks memoryLinks, final UnexpectedFailures failures, final long fillBytesPerSecond)
    {
        this.fillBytesPerSecond = fillBytesPerSecond;
        this.memoryLinks = memoryLinks;
        this.failures = failures;
    }

    /** @param parts of the session; once, before anything else. */
    public void open(final SessionParts parts)
    {
        session = parts;
        decideAtNs = parts.raas().clock().nanoTime();
        reconciler = new Reconciler(parts, memoryLinks);
        fill = new MemberFill(parts, memoryLinks, fillBytesPerSecond, failures);
    }

    /** Takes a view that is later than what was known: ports of earlier ones are left when it returns. */
    public void onView(final View later)
    {
        if (memoryLinks.remove(later.group()))
        {
            // A table was read before it was heard that there is such a group.
            wanting.add(later.group());
            if (!reach(later.group()))
            {
                undecided.addInt(later.group());
            }
        }
        final GroupLink link = byGroup.get(later.group());
        if (null != link)
        {
            link.onView(later);
        }
        if (null != reconciler)
        {
            fill.onView(later);
            reconciler.onView(later);
        }
    }

    /** Has a memory node of the cluster reached. */
    public void addMemoryNode(final int memoryNodeId)
    {
        memoryNodes.add(memoryNodeId);
        memoryLinks.add(session, memoryNodeId);
    }

    /**
     * Has the memory of a memory node, or of a group, reached.
     *
     * @param id that a table names.
     */
    public void add(final int id)
    {
        if (memoryLinks.byId().containsKey(id) || byGroup.containsKey(id))
        {
            return;
        }
        if (null != session.views().views().view(id))
        {
            link(id);
        }
        else if (memoryNodes.contains(id) || session.views().isCurrent())
        {
            memoryLinks.add(session, id);
        }
        else if (!undecided.contains(id))
        {
            // A memory node that is away, or a group that was made after the last answer.
            undecided.addInt(id);
            decidedFrom = session.views().nextRound();
            session.views().askAgain();
        }
    }

    /** Has memory for blocks leased at a memory node, or a group, as soon as it is known which of both it is. */
    void requestBlocks(final int id)
    {
        if (byGroup.containsKey(id))
        {
            byGroup.get(id).chunks().requestBlocks();
        }
        else if (memoryLinks.byId().containsKey(id))
        {
            memoryLinks.byId().get(id).maintenance().requestChunk();
        }
        else
        {
            wanting.add(id);
        }
    }

    /** @return the way to a group of which a view is known; made if there was none. */
    public GroupLink link(final int group)
    {
        GroupLink link = byGroup.get(group);
        if (null == link)
        {
            link = new GroupLink(session, memoryLinks, session.views().views().view(group));
            byGroup.put(group, link);
            all.add(link);
        }
        return link;
    }

    /** @return the way to a group, or null when this is none, as far as is known, or none that is used here. */
    public GroupLink get(final int id)
    {
        return byGroup.get(id);
    }

    /** @return the groups that are used; live. */
    public List<GroupLink> all()
    {
        return all;
    }

    /** The lease lasts longer: so does what the members grant. */
    public void onLeaseRenewed()
    {
        all.forEach(GroupLink::onLeaseRenewed);
        if (null != reconciler)
        {
            reconciler.onLeaseRenewed();
            fill.onLeaseRenewed();
        }
    }

    /** @return whether something that may go on at any moment is under way. */
    public boolean isBusy()
    {
        boolean isBusy = session.views().isBusy() || reconciler.isBusy() || fill.isBusy();
        for (int i = 0; i < all.size() && !isBusy; i++)
        {
            isBusy = all.get(i).isWaiting();
        }
        return isBusy;
    }

    /** @return when a pause ends, or {@link Long#MAX_VALUE}. */
    public long nextAtNs()
    {
        long nextNs = Math.min(canDecide() ? decideAtNs : Long.MAX_VALUE, fill.nextAtNs());
        for (int i = 0; i < all.size(); i++)
        {
            nextNs = Math.min(nextNs, all.get(i).retryAtNs());
        }
        return nextNs;
    }

    /**
     * Goes on.
     *
     * @param nowNs time now, by the clock of the device.
     * @return work done.
     */
    public int poll(final long nowNs)
    {
        int workCount = session.views().poll(nowNs) + reconciler.poll(nowNs) + fill.poll(nowNs);
        if (canDecide() && decideAtNs - nowNs <= 0)
        {
            decide();
            workCount++;
        }
        for (int i = 0; i < all.size(); i++)
        {
            workCount += all.get(i).poll(nowNs);
        }
        return workCount;
    }

    private boolean canDecide()
    {
        return !undecided.isEmpty() && session.views().rounds() >= decidedFrom;
    }

    private void decide()
    {
        int kept = 0;
        while (kept < undecided.size())
        {
            if (reach(undecided.getInt(kept)))
            {
                undecided.removeAt(kept);
            }
            else
            {
                kept++;
            }
        }
    }

    /** Where it fails, nothing of it is kept, and it is to be tried again. */
    private boolean reach(final int id)
    {
        try
        {
            if (null == session.views().views().view(id))
            {
                memoryLinks.add(session, id);
            }
            else
            {
                link(id);
            }
        }
        catch (final RuntimeException ex)
        {
            failures.onFailure("connection to memory node or group " + id, ex);
            decideAtNs = session.raas().clock().nanoTime() + RETRY_PAUSE_NS;
            return false;
        }
        if (wanting.remove(id))
        {
            requestBlocks(id);
        }
        return true;
    }

    /** @return groups whose present view is not active, for people. */
    public List<View> changing()
    {
        return all.stream().map(GroupLink::newest).filter((view) -> ViewState.ACTIVE != view.state()).toList();
    }

    @Override
    public void close()
    {
        all.forEach(GroupLink::close);
        if (null != reconciler)
        {
            fill.close();
            reconciler.close();
        }
    }
}
