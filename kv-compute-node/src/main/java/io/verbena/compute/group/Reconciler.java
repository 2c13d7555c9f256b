package io.verbena.compute.group;

import io.verbena.compute.catalog.TableLister;
import io.verbena.compute.memory.MemoryLink;
import io.verbena.compute.memory.MemoryLinks;
import io.verbena.compute.session.SessionParts;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewAttempt;
import io.verbena.protocol.view.ViewState;
import io.verbena.raas.OneSidedPort;
import io.verbena.raas.ReadTargetAddress;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.VirtualQp;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.table.mirror.RemoteReconciliation;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Makes the survivors of a view equal where the meta server has named this node: it gets a key of its own from each,
 * for this attempt alone, copies, and reports. When it does not know what became of a request it gives the attempt up,
 * since that request could land in the next view. Where a memory node comes in it gets the group's leases first, and
 * what it has otherwise than the primary in the group's chunks. One view at a time. Owned by the node's thread.
 */
final class Reconciler implements AutoCloseable
{
    private enum Step
    {
        IDLE, LISTING, ASKING, CONNECTING,
        /** The memory node that comes in records the group's leases. */
        LEASING,
        /** Pages are looked for in which it differs from the primary. */
        COMPARING,
        COPYING,
        /** Requests are under way that count for nothing any more. */
        ENDING,
        REPORTING
    }

    private static final Logger LOGGER = LoggerFactory.getLogger(Reconciler.class);
    /** Pause before what was refused or not answered is asked again: 2 ms. */
    private static final long PAUSE_NS = 2_000_000;
    /** For a memory node that comes in to be connected, while nobody reads or writes: 5 s. */
    private static final long ENTER_PATIENCE_NS = 5_000_000_000L;

    private final SessionParts session;
    private final MemoryLinks links;
    private final Deque<View> waiting = new ArrayDeque<>();
    private final TableLister tables;
    private Step step = Step.IDLE;
    private View view;
    /** The members of the view, and behind them who comes in. */
    private List<PeerIdentity> nodes = List.of();
    /** By node; null where none was asked for. */
    private List<ControlCall<RemoteRegion>> keys = List.of();
    /** By node, whether it could be read since; null where that is to be asked. */
    private BooleanSupplier[] looks = {};
    /** By node, over which it was asked for its key. */
    private MemoryLink[] linked = {};
    private VirtualQp[] members = {};
    private EnteringMember entering;
    private PageComparison comparing;
    private long patienceEndsNs;
    private RemoteReconciliation copying;
    private boolean areEqual;
    private boolean isOver;
    private ControlCall<Void> report;
    private long againAtNs;

    Reconciler(final SessionParts session, final MemoryLinks links)
    {
        this.session = session;
        this.links = links;
        tables = new TableLister(session.metaLink(), session.timeoutNs(), session.raas().clock());
    }

    /** Takes a view that is later than what was known of its group. */
    void onView(final View later)
    {
        waiting.removeIf((view) -> view.group() == later.group());
        if (null != view && view.group() == later.group())
        {
            isOver = true;
        }
        if (ViewState.RECONCILING == later.state() && later.reconciler().equals(session.identity()))
        {
            waiting.add(later);
        }
    }

    void onLeaseRenewed()
    {
        for (final VirtualQp member : members)
        {
            if (null != member)
            {
                member.grantedUntil(session.leaseEndsNs().getAsLong());
            }
        }
    }

    boolean isBusy()
    {
        return Step.IDLE != step || !waiting.isEmpty();
    }

    int poll(final long nowNs)
    {
        if (isOver && Step.IDLE != step && Step.ENDING != step)
        {
            end(false);
            return 1;
        }
        if (isTooLate(nowNs))
        {
            refuse("it is not ready in time");
            return 1;
        }
        return switch (step)
        {
            case IDLE -> pollIdle();
            case LISTING -> pollListing(nowNs);
            case ASKING -> pollAsking(nowNs);
            case CONNECTING -> pollConnecting();
            case LEASING -> pollLeasing();
            case COMPARING -> pollComparing();
            case COPYING -> pollCopying();
            case ENDING -> pollEnding(nowNs);
            case REPORTING -> pollReporting(nowNs);
        };
    }

    private int pollIdle()
    {
        view = waiting.poll();
        if (null == view)
        {
            return 0;
        }
        LOGGER.info("makes copies equal: group {}, view={}, attempt={}", view.group(), view.number(), view.attempt());
        isOver = false;
        areEqual = false;
        tables.start();
        step = Step.LISTING;
        return 1;
    }

    private int pollListing(final long nowNs)
    {
        tables.poll();
        if (tables.isUnreadable())
        {
            end(false); // another node may be able to read it
        }
        else if (tables.isDone())
        {
            ask(nowNs);
        }
        return 0;
    }

    private void ask(final long nowNs)
    {
        nodes = new ArrayList<>(view.members());
        if (view.hasEntering())
        {
            nodes.add(view.entering());
        }
        keys = new ArrayList<>(Collections.nCopies(nodes.size(), null));
        looks = new BooleanSupplier[nodes.size()];
        againAtNs = nowNs;
        patienceEndsNs = nowNs + ENTER_PATIENCE_NS;
        step = Step.ASKING;
    }

    private boolean isTooLate(final long nowNs)
    {
        return (Step.ASKING == step || Step.CONNECTING == step) && view.hasEntering() && patienceEndsNs - nowNs <= 0;
    }

    /** The next attempt is without it. */
    private void refuse(final String why)
    {
        LOGGER.warn("memory node {} does not come into group {}: {}", view.entering().nodeId(), view.group(), why);
        end(false);
    }

    private MemoryLink link(final int node)
    {
        return links.byId().get(nodes.get(node).nodeId());
    }

    private int pollAsking(final long nowNs)
    {
        boolean haveAll = true;
        for (int member = 0; member < keys.size(); member++)
        {
            haveAll &= isLost(member) || hasKey(member, nowNs);
        }
        if (haveAll)
        {
            connect();
            return 1;
        }
        return 0;
    }

    /** Who comes in is not. */
    private boolean isLost(final int node)
    {
        return node < view.members().size() && view.isLost(node);
    }

    /** Until the view is over, which the meta server says when a survivor does not answer. */
    private boolean hasKey(final int member, final long nowNs)
    {
        final MemoryLink link = link(member);
        final boolean isConnected = isOpen(member, link) && link.identity().equals(nodes.get(member));
        if (null == keys.get(member))
        {
            links.add(session, nodes.get(member).nodeId());
            if (isConnected && againAtNs - nowNs <= 0)
            {
                keys.set(member, link.client().reconcilerKey(ViewAttempt.of(view), session.timeoutNs()));
            }
            return false;
        }
        if (!keys.get(member).isDone())
        {
            return false;
        }
        if (ControlStatus.OK != keys.get(member).status())
        {
            keys.set(member, null);
            againAtNs = nowNs + PAUSE_NS;
            return false;
        }
        return isConnected;
    }

    /**
     * Whether a memory node could be read since this was asked for. A link that is not used does not notice that it
     * leads to an earlier incarnation, or that its key was closed with the view: the first access breaks the queue
     * pair, which the connections that are made here would share.
     */
    private boolean isOpen(final int node, final MemoryLink link)
    {
        if (null == link || !link.isReady())
        {
            looks[node] = null;
            return false;
        }
        looks[node] = null == looks[node] ? link.lookAgain() : looks[node];
        return looks[node].getAsBoolean();
    }

    private void connect()
    {
        members = new VirtualQp[keys.size()];
        linked = new MemoryLink[keys.size()];
        for (int i = 0; i < keys.size(); i++)
        {
            final int member = i;
            if (!isLost(member))
            {
                final MemoryLink link = link(member);
                linked[member] = link;
                members[member] = session.raas().connect(link.record().address(), ReadTargetAddress.NONE,
                    link.record().region(), (vqp, cookie, status) -> copying.onComplete(member, status),
                    session.timeoutNs());
            }
        }
        onLeaseRenewed();
        step = Step.CONNECTING;
    }

    private int pollConnecting()
    {
        boolean areConnected = true;
        for (final VirtualQp member : members)
        {
            if (null != member && VirtualQp.State.FAILED == member.state())
            {
                end(false);
                return 1;
            }
            areConnected &= null == member || member.carriesWrites();
        }
        if (!areConnected)
        {
            return 0;
        }
        for (int member = 0; member < members.length; member++)
        {
            if (null != members[member])
            {
                members[member].reach(keys.get(member).result());
            }
        }
        if (view.hasEntering())
        {
            entering = new EnteringMember(ViewAttempt.of(view), linked[view.members().size() - 1],
                linked[view.members().size()], session.timeoutNs(), true);
            step = Step.LEASING;
        }
        else
        {
            copy();
        }
        return 1;
    }

    private int pollLeasing()
    {
        final int workCount = entering.poll();
        if (!entering.failure().isEmpty())
        {
            refuse(entering.failure());
        }
        else if (entering.isDone())
        {
            compare();
        }
        return workCount;
    }

    /** Nobody writes to either, nor can a request that lands later, until the next view begins. */
    private void compare()
    {
        LOGGER.info("memory node {} has recorded the leases of group {}", view.entering().nodeId(), view.group());
        comparing = new PageComparison(linked[view.members().size() - 1], linked[view.members().size()],
            entering.chunkOffsets(), entering.chunkLengthBytes(), session.raas().device().random().nextLong(),
            session.timeoutNs());
        step = Step.COMPARING;
    }

    private int pollComparing()
    {
        final int workCount = comparing.poll();
        if (!comparing.failure().isEmpty())
        {
            refuse(comparing.failure());
        }
        else if (comparing.isDone())
        {
            LOGGER.info("memory node {} comes into group {}, view={}: {} of {} bytes differ, in {} places",
                view.entering().nodeId(), view.group(), view.number(), comparing.differing().totalBytes(),
                comparing.bytesCompared(), comparing.differing().count());
            copy();
        }
        return workCount;
    }

    private void copy()
    {
        final int count = view.members().size();
        final OneSidedPort[] ports = Arrays.copyOf(members, count, OneSidedPort[].class);
        copying = view.hasEntering() ?
            new RemoteReconciliation(session.raas().protectionDomain(), view.group(), tables.tables(), ports,
                members[count], comparing.differing()) :
            new RemoteReconciliation(session.raas().protectionDomain(), view.group(), tables.tables(), ports);
        step = Step.COPYING;
    }

    private int pollCopying()
    {
        if (!session.holdsLease().getAsBoolean() || copying.hasFailed())
        {
            end(false);
            return 1;
        }
        final int workCount = copying.poll();
        if (copying.isDone())
        {
            LOGGER.info("copies are equal: group {}, view={}, {}", view.group(), view.number(), copying);
            end(true);
        }
        return workCount;
    }

    private void end(final boolean isEqual)
    {
        areEqual = isEqual;
        for (final VirtualQp member : members)
        {
            if (null != member)
            {
                member.close();
            }
        }
        step = Step.ENDING;
    }

    private int pollEnding(final long nowNs)
    {
        for (final VirtualQp member : members)
        {
            if (null != member && 0 != member.outstandingBatches())
            {
                return 0;
            }
        }
        release();
        if (isOver)
        {
            step = Step.IDLE;
            view = null;
        }
        else
        {
            againAtNs = nowNs;
            step = Step.REPORTING;
        }
        return 1;
    }

    private void release()
    {
        members = new VirtualQp[0];
        linked = new MemoryLink[0];
        entering = null;
        comparing = null;
        if (null != copying)
        {
            copying.close();
            copying = null;
        }
    }

    /** Until a later view is heard of: a report that is lost is made again. */
    private int pollReporting(final long nowNs)
    {
        if (null != report)
        {
            if (!report.isDone())
            {
                return 0;
            }
            report = null;
            againAtNs = nowNs + PAUSE_NS;
            session.views().askAgain();
            return 1;
        }
        if (againAtNs - nowNs > 0 || !session.metaLink().isUsable())
        {
            return 0;
        }
        report = session.metaLink().client().reportReconciled(
            ViewAttempt.of(view), areEqual, session.timeoutNs());
        return 1;
    }

    /** As the session ends: queue pairs are closed next. */
    @Override
    public void close()
    {
        end(false);
        release();
    }

    @Override
    public String toString()
    {
        return "Reconciler{step=" + step + ", view=" + view + '}';
    }
}
