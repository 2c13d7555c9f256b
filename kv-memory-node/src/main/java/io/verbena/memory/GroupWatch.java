package io.verbena.memory;

import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.session.MetaLink;
import io.verbena.protocol.view.RestoredGroup;
import io.verbena.protocol.view.RestoredGroupsDescriptor;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewState;
import io.verbena.raas.identity.PeerIdentity;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import java.util.function.IntSupplier;

/**
 * What a memory node with a data folder asks the meta server about groups, once it is a member: the views that the
 * checkpointer wants to know; those of a group that it has not had before; the next one of each that it has closed;
 * and, as long as there are groups that it has
 * restored, what becomes of them. While such a group names it as a member with memory that is gone, it reports what it
 * has restored, or that it has nothing. When the group has gone on without it, it gives up what it has restored. Of
 * memory that was not restored but is damaged it reports nothing. One thread; time comes in.
 */
final class GroupWatch
{
    private static final Logger LOGGER = LoggerFactory.getLogger(GroupWatch.class);
    private static final long PERIOD_NS = TimeUnit.MILLISECONDS.toNanos(500);

    private final MetaLink link;
    private final GroupCoverage coverage;
    private final RestoredGroups restored;
    private final IntConsumer giveUp;
    private final IntSupplier groupCount;
    private final long timeoutNs;
    private final long retryPauseNs;
    /** Groups that name this node as a member with memory that is gone, of those that were restored. */
    private final List<Integer> lacking = new ArrayList<>();
    private final Set<Integer> warnedOf = new HashSet<>();
    private PeerIdentity self = PeerIdentity.UNREGISTERED;
    private int memorySince;
    private int reportFrom;
    private ControlCall<Void> report;
    private ViewInquiry inquiry;
    private long question;
    private int knownGroups;
    private int askedGroups;
    private boolean hasReported;
    private long nextNs;

    /**
     * @param link         to the meta server.
     * @param coverage     gets the views.
     * @param restored     what was restored of groups.
     * @param giveUp       frees the chunks of a group; may be called again.
     * @param groupCount   of how many groups there were chunks in its memory; where there are none, and nothing was
     *                     restored of any, it asks nobody.
     * @param timeoutNs    of a call.
     * @param retryPauseNs after a call that failed.
     */
    GroupWatch(
        final MetaLink link, final GroupCoverage coverage, final RestoredGroups restored, final IntConsumer giveUp,
        final IntSupplier groupCount, final long timeoutNs, final long retryPauseNs)
    {
        this.link = link;
        this.coverage = coverage;
        this.restored = restored;
        this.giveUp = giveUp;
        this.groupCount = groupCount;
        this.timeoutNs = timeoutNs;
        this.retryPauseNs = retryPauseNs;
    }

    /**
     * The node has become a member.
     *
     * @param identity of its present registration.
     * @param since    incarnation since which its memory has everything.
     * @param nowNs    time now.
     */
    void begin(final PeerIdentity identity, final int since, final long nowNs)
    {
        self = identity;
        memorySince = since;
        knownGroups = 0;
        hasReported = false;
        lacking.clear();
        report = null;
        inquiry = null;
        nextNs = nowNs;
    }

    /** While it is a member. @return work done. */
    int poll(final long nowNs)
    {
        if (null != inquiry)
        {
            return pollInquiry(nowNs);
        }

        if (null != report)
        {
            if (!report.isDone())
            {
                return 0;
            }

            // Whatever came of it: it is repeated as long as it is wanted.
            report = null;
            ask(nowNs);
            return 1;
        }

        if (nextNs - nowNs <= 0 && !lacking.isEmpty())
        {
            report();
            return 1;
        }

        if (coverage.isAsked() || nextNs - nowNs <= 0 && isWaiting())
        {
            ask(nowNs);
            return 1;
        }

        return 0;
    }

    /** @return how long nothing is due, if no answer comes; {@link Long#MAX_VALUE}: nothing is. */
    long idleNs(final long nowNs)
    {
        return null != inquiry || null != report ? retryPauseNs : coverage.isAsked() ? 0 :
            isWaiting() ? Math.max(0, nextNs - nowNs) : Long.MAX_VALUE;
    }

    /** For what views will say. What is lacking was restored, and is in that list. */
    private boolean isWaiting()
    {
        return groupCount.getAsInt() != knownGroups || coverage.awaitsView() || !restored.all().isEmpty();
    }

    private void ask(final long nowNs)
    {
        question = coverage.question();
        askedGroups = groupCount.getAsInt();
        inquiry = new ViewInquiry(link, timeoutNs, retryPauseNs, nowNs);
    }

    private int pollInquiry(final long nowNs)
    {
        final int workCount = inquiry.poll(nowNs);

        if (inquiry.isDone())
        {
            final List<View> views = inquiry.views();
            inquiry = null;
            knownGroups = askedGroups;
            coverage.answer(question, self, views);
            onViews(views);
            nextNs = lacking.isEmpty() || hasReported ? nowNs + PERIOD_NS : nowNs;
        }

        return workCount;
    }

    private void report()
    {
        final List<RestoredGroup> reported = new ArrayList<>();

        for (int i = 0; i < Math.min(lacking.size(), RestoredGroupsDescriptor.MAX_ENTRIES); i++)
        {
            reportFrom = (reportFrom + 1) % lacking.size();
            reported.add(restored.of(lacking.get(reportFrom)));
        }

        hasReported = true;
        report = link.freshClient().reportRestored(self, reported, timeoutNs);
    }

    private void onViews(final List<View> views)
    {
        lacking.clear();
        final Set<Integer> settled = new HashSet<>();

        for (final View view : views)
        {
            final PeerIdentity named = memberOf(view);
            final boolean isMemoryGone = null != named && named.incarnation() < memorySince;
            final RestoredGroup here = restored.of(view.group());

            if (null != here && isMemoryGone)
            {
                lacking.add(view.group());
            }
            else if (null != here && isSettled(view, named, here))
            {
                settled.add(view.group());
            }
            else if (null == here && isMemoryGone && view.isDeserted() && warnedOf.add(view.group()))
            {
                // Damage was accepted: all but that is here, which is more than any checkpoint has.
                LOGGER.warn("all members of group {} are lost, and this memory node serves its memory with damage, " +
                    "or as an earlier version has restored it: the group waits for a member with its whole memory. " +
                    "To give up what this memory has instead, and go on from a checkpoint, end this memory node, " +
                    "remove its memory ({}), and start it again", view.group(), restored.memoryName());
            }
        }

        remove(settled);
    }

    /** What cannot be written now is tried again with the next answer. */
    private void remove(final Set<Integer> settled)
    {
        try
        {
            restored.removeAll(settled);
        }
        catch (final MemoryNodeException ex)
        {
            LOGGER.warn("that groups {} have gone on is not written down yet: {}", settled, ex.getMessage());
        }
    }

    /** As which incarnation a view names this node; null: it does not. */
    private PeerIdentity memberOf(final View view)
    {
        return view.members().stream().filter((member) -> member.nodeId() == self.nodeId()).findFirst().orElse(null);
    }

    /** Whether it is known what becomes of what was restored; what the group goes on without is free then. */
    private boolean isSettled(final View view, final PeerIdentity named, final RestoredGroup here)
    {
        if (null == named)
        {
            LOGGER.info("group {} is in view {} without this memory node: {} restored records of it are given up",
                view.group(), view.number(), here.records());
            giveUp.accept(view.group());
            return true;
        }

        return self.equals(named) && ViewState.ACTIVE == view.state();
    }
}
