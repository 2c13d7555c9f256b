package io.verbena.compute.group;

import io.verbena.compute.figures.UnexpectedFailures;
import io.verbena.compute.memory.MemoryLink;
import io.verbena.compute.memory.MemoryLinks;
import io.verbena.compute.session.SessionParts;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.view.FillProgress;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewAttempt;
import io.verbena.raas.ReadTargetAddress;
import io.verbena.raas.VirtualQp;
import io.verbena.raas.identity.PeerIdentity;

import org.agrona.CloseHelper;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.BooleanSupplier;

/**
 * Fills a memory node that is to come into a group, beside the work, where the meta server has named this node: the
 * memory node records the group's leases, so that the chunks are its own, then pages in which it differs from the
 * primary are copied, in passes, at a bounded rate. What is copied counts for nothing: pages change meanwhile, and some
 * are torn. When few differ, or no pass brings it nearer, this node reports, the view is closed, and only then all is
 * compared once more and made equal. So it may end at any moment, and whoever begins anew copies what differs.
 *
 * <p>Nothing is written under a later view: {@link #onView} ends it before this node says that it has left the view,
 * and the memory node closes the key that is used here before it may come in. One view at a time. Owned by the node's
 * thread.
 */
final class MemberFill implements AutoCloseable
{
    private enum Step
    {
        IDLE, LINKING, CONNECTING, PASSING,
        /** Requests are under way that count for nothing any more. */
        ENDING,
        REPORTING
    }

    private static final Logger LOGGER = LoggerFactory.getLogger(MemberFill.class);
    private static final int SOURCE = 0;
    private static final int TARGET = 1;
    /** Connections that fail in a pass, as when another group's view is closed, before it is given up. */
    private static final int MAX_FAILURES = 8;
    private static final long PAUSE_NS = 2_000_000;
    private static final long REPORT_PAUSE_NS = 100_000_000;
    /** For both memory nodes to be connected, and for the memory node to hear of the attempt: 5 s. */
    static final long PATIENCE_NS = 5_000_000_000L;

    private final SessionParts session;
    private final MemoryLinks links;
    private final long bytesPerSecond;
    private final UnexpectedFailures failures;
    private final Deque<View> waiting = new ArrayDeque<>();
    private Step step = Step.IDLE;
    private View view;
    /** Of the primary and of who is filled. */
    private final MemoryLink[] linked = new MemoryLink[2];
    private final BooleanSupplier[] looks = new BooleanSupplier[2];
    private final VirtualQp[] ports = new VirtualQp[2];
    private Pace pace;
    private FillPasses passes;
    private int pass;
    private String waitsFor = "";
    private long patienceEndsNs;
    private int failedTries;
    private boolean beginsAgain;
    private boolean isFilled;
    private boolean isOver;
    private ControlCall<Void> report;
    private ControlCall<Void> progress;
    private long againAtNs;

    /**
     * @param bytesPerSecond that are copied at most, 1 or more.
     * @param failures       counts what cannot be done now.
     */
    MemberFill(
        final SessionParts session, final MemoryLinks links, final long bytesPerSecond,
        final UnexpectedFailures failures)
    {
        this.failures = failures;
        this.session = session;
        this.links = links;
        this.bytesPerSecond = bytesPerSecond;
    }

    /** Takes a view that is later than what was known of its group; no page is posted under an earlier one after it. */
    void onView(final View later)
    {
        waiting.removeIf((each) -> each.group() == later.group());
        if (null != view && view.group() == later.group())
        {
            isOver = true;
        }
        if (later.isFilling() && later.reconciler().equals(session.identity()))
        {
            waiting.add(later);
        }
    }

    void onLeaseRenewed()
    {
        for (final VirtualQp port : ports)
        {
            if (null != port)
            {
                port.grantedUntil(session.leaseEndsNs().getAsLong());
            }
        }
    }

    /** @return whether something that may go on at any moment is under way. */
    boolean isBusy()
    {
        return Step.IDLE == step ? !waiting.isEmpty() : Long.MAX_VALUE == nextAtNs();
    }

    /** @return when the next step is due, where that alone is waited for; else {@link Long#MAX_VALUE}. */
    long nextAtNs()
    {
        return switch (step)
        {
            case PASSING -> passes.nextAtNs();
            case REPORTING -> null == report ? againAtNs : Long.MAX_VALUE;
            default -> Long.MAX_VALUE;
        };
    }

    /** What fails for lack of memory or places here is tried again: it ends no node. */
    int poll(final long nowNs)
    {
        try
        {
            return pollStep(nowNs);
        }
        catch (final RuntimeException ex)
        {
            failures.onFailure("filling of memory node " + identity(TARGET).nodeId(), ex);
            beginAgain(String.valueOf(ex.getMessage()));
            return 1;
        }
    }

    private int pollStep(final long nowNs)
    {
        if (isOver && Step.IDLE != step && Step.ENDING != step)
        {
            end(false);
            return 1;
        }
        if ((Step.LINKING == step || Step.CONNECTING == step) && patienceEndsNs - nowNs <= 0)
        {
            refuse("it is not ready in time: " + waitsFor);
            return 1;
        }
        return switch (step)
        {
            case IDLE -> pollIdle(nowNs);
            case LINKING -> pollLinking();
            case CONNECTING -> pollConnecting(nowNs);
            case PASSING -> pollPassing(nowNs);
            case ENDING -> pollEnding(nowNs);
            case REPORTING -> pollReporting(nowNs);
        };
    }

    private int pollIdle(final long nowNs)
    {
        view = waiting.poll();
        if (null == view)
        {
            return 0;
        }
        LOGGER.info("fills memory node {}: group {}, view={}, attempt={}", view.entering().nodeId(), view.group(),
            view.number(), view.attempt());
        isOver = false;
        isFilled = false;
        pass = 1;
        failedTries = 0;
        pace = new Pace(bytesPerSecond, nowNs);
        link(nowNs);
        return 1;
    }

    private void link(final long nowNs)
    {
        patienceEndsNs = nowNs + PATIENCE_NS;
        step = Step.LINKING;
    }

    private PeerIdentity identity(final int side)
    {
        return SOURCE == side ? view.members().getLast() : view.entering();
    }

    private int pollLinking()
    {
        boolean areLinked = true;
        for (int side = 0; side < linked.length; side++)
        {
            areLinked &= isLinked(side);
        }
        if (!areLinked)
        {
            return 0;
        }
        for (int i = 0; i < ports.length; i++)
        {
            final int side = i;
            ports[side] = session.raas().connect(linked[side].record().address(), ReadTargetAddress.NONE,
                linked[side].record().region(), (vqp, cookie, status) -> onComplete(side, status),
                session.timeoutNs());
        }
        onLeaseRenewed();
        step = Step.CONNECTING;
        return 1;
    }

    /** A link that is not used does not notice that it leads to an earlier incarnation: it is read, and breaks then. */
    private boolean isLinked(final int side)
    {
        links.add(session, identity(side).nodeId());
        final MemoryLink link = links.byId().get(identity(side).nodeId());
        waitsFor = "memory node " + identity(side).nodeId() + " is not connected";
        if (null == link || !link.isReady())
        {
            waitsFor += null == link ? "" : " " + link.failure();
            looks[side] = null;
            return false;
        }
        linked[side] = link;
        looks[side] = null == looks[side] ? link.lookAgain() : looks[side];
        return looks[side].getAsBoolean() && link.isReady() && link.identity().equals(identity(side));
    }

    private int pollConnecting(final long nowNs)
    {
        if (hasFailed())
        {
            beginAgain("a connection has failed");
            return 1;
        }
        if (!ports[SOURCE].carriesWrites() || !ports[TARGET].carriesWrites())
        {
            return 0;
        }
        if (ports[SOURCE].peerRegions().isEmpty() || ports[TARGET].peerRegions().isEmpty())
        {
            beginAgain("a memory node has closed a view, and gives no key yet");
            return 1;
        }
        passes = new FillPasses(session, ViewAttempt.of(view), linked[SOURCE], linked[TARGET], ports[SOURCE],
            ports[TARGET], pace, pass, nowNs);
        againAtNs = nowNs;
        step = Step.PASSING;
        return 1;
    }

    private int pollPassing(final long nowNs)
    {
        final int workCount = passes.poll(nowNs);
        switch (passes.outcome())
        {
            case GOES_ON -> sayProgress(nowNs);
            case FILLED -> end(true);
            case BROKEN -> beginAgain(passes.why());
            case REFUSED -> refuse(passes.why());
        }
        return workCount;
    }

    private boolean hasFailed()
    {
        boolean hasFailed = false;
        for (final VirtualQp port : ports)
        {
            hasFailed |= null != port && VirtualQp.State.FAILED == port.state();
        }
        return hasFailed;
    }

    private void onComplete(final int side, final int status)
    {
        if (null != passes && SOURCE == side)
        {
            passes.onRead(status);
        }
        else if (null != passes)
        {
            passes.onWritten(status);
        }
    }

    private void sayProgress(final long nowNs)
    {
        if (againAtNs - nowNs > 0 || null != progress && !progress.isDone() || !session.metaLink().isUsable())
        {
            return;
        }
        final FillProgress now = passes.progress();
        if (null != now)
        {
            againAtNs = nowNs + REPORT_PAUSE_NS;
            progress = session.metaLink().client().reportFill(now, session.timeoutNs());
        }
    }

    private void refuse(final String why)
    {
        LOGGER.warn("memory node {} is not filled for group {}: {}", view.entering().nodeId(), view.group(), why);
        end(false);
    }

    /** What was copied is found to be equal. */
    private void beginAgain(final String why)
    {
        final int reached = null == passes ? pass : passes.pass();
        failedTries = reached > pass ? 1 : failedTries + 1;
        pass = reached;
        if (failedTries > MAX_FAILURES)
        {
            refuse(why);
            return;
        }
        LOGGER.info("memory node {} is compared again: group {}, {}", view.entering().nodeId(), view.group(), why);
        end(false);
        beginsAgain = true;
    }

    private void end(final boolean isEnough)
    {
        isFilled = isEnough;
        closePorts();
        step = Step.ENDING;
    }

    private void closePorts()
    {
        CloseHelper.closeAll(ports);
    }

    private int pollEnding(final long nowNs)
    {
        for (final VirtualQp port : ports)
        {
            if (null != port && 0 != port.outstandingBatches())
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
        else if (beginsAgain)
        {
            link(nowNs);
        }
        else
        {
            againAtNs = nowNs;
            step = Step.REPORTING;
        }
        beginsAgain = false;
        return 1;
    }

    private void release()
    {
        for (int side = 0; side < ports.length; side++)
        {
            ports[side] = null;
            linked[side] = null;
            looks[side] = null;
        }
        progress = null;
        CloseHelper.close(passes);
        passes = null;
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
        if (againAtNs - nowNs > 0)
        {
            return 0;
        }
        if (!session.metaLink().isUsable())
        {
            againAtNs = nowNs + PAUSE_NS;
            return 0;
        }
        report = session.metaLink().client().reportReconciled(ViewAttempt.of(view), isFilled, session.timeoutNs());
        return 1;
    }

    /** As the session ends: queue pairs are closed next. */
    @Override
    public void close()
    {
        closePorts();
        release();
    }
}
