package io.verbena.memory;

import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewState;
import io.verbena.raas.identity.PeerIdentity;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Of which groups this memory node makes checkpoints: those in whose view it is the head or the primary. Words of a
 * middle may be those of operations that were refused; a member that is made equal to the others, or filled, has words
 * of two states. So the checkpointer asks for the views when a checkpoint has begun, and drops what it has read when
 * the {@linkplain #changes count of changes} has grown since: the node's thread raises it before anybody may write to
 * the group's chunks but by the rules of the view.
 *
 * <p>And when it makes one at once: a middle has none, and a head of long ago an old one, so whoever has become head or
 * primary makes one of the new view as soon as that is known.
 *
 * <p>Two threads: the checkpointer's asks, the node's answers.
 */
class GroupCoverage
{
    /** What views were when they were asked for, and who asked. */
    private record Answer(long question, PeerIdentity self, List<View> views)
    {
    }

    private final Map<Integer, Long> changes = new ConcurrentHashMap<>();
    /** Newest view of each group in which somebody got a key to make copies equal. */
    private final Map<Integer, Long> changedViews = new ConcurrentHashMap<>();
    /** The node's thread: views that were closed here, by group, until a later one is known to be active. */
    private final Map<Integer, Long> closed = new HashMap<>();
    /** The node's thread: newest view of each group in which this node was seen to be head or primary. */
    private final Map<Integer, Long> seen = new HashMap<>();
    /** Views of which a checkpoint is to be made at once, by group. */
    private final Map<Integer, Long> wanted = new ConcurrentHashMap<>();
    private volatile long allChanges;
    private volatile long question;
    private volatile Answer answer = new Answer(0, PeerIdentity.UNREGISTERED, List.of());

    /**
     * The node's thread: from now on the chunks of a group may be written to otherwise than by the rules of its view.
     *
     * @param group  which.
     * @param number of the view that ends with it, or in which this node is filled.
     */
    void changed(final int group, final long number)
    {
        changedViews.merge(group, number, Math::max);
        changes.merge(group, 1L, Long::sum);
    }

    /** The node's thread: it has lost its lease, and is a member of no view any more. */
    @SuppressWarnings("NonAtomicOperationOnVolatileField")
    void lost()
    {
        allChanges++; // by one thread
        closed.clear();
        wanted.clear();
    }

    /**
     * The node's thread: a view is closed here, so that this node may be head or primary of the next one.
     *
     * @param group  which.
     * @param number of the view.
     */
    void closed(final int group, final long number)
    {
        closed.merge(group, number, Math::max);
    }

    /** The node's thread: whether a view was closed here and a later one is not known to be active. */
    boolean awaitsView()
    {
        return !closed.isEmpty();
    }

    /** The checkpointer: views of which a checkpoint is to be made at once, by group; a copy. */
    Map<Integer, Long> wanted()
    {
        return Map.copyOf(wanted);
    }

    /**
     * The checkpointer: no checkpoint is to be made at once any more.
     *
     * @param group  which.
     * @param number of the view that it was to be made of, or of a later one.
     */
    void settled(final int group, final long number)
    {
        wanted.computeIfPresent(group, (_, view) -> view <= number ? null : view);
    }

    /**
     * @param group which.
     * @return grows with each change. Any thread.
     */
    long changes(final int group)
    {
        return allChanges + changes.getOrDefault(group, 0L);
    }

    /** The checkpointer: asks for the views as of now. @return what {@link #isAnswered} takes. */
    @SuppressWarnings("NonAtomicOperationOnVolatileField")
    long ask()
    {
        return ++question; // by one thread
    }

    /** The checkpointer: whether the views are known as of the question, or later. */
    boolean isAnswered(final long asked)
    {
        return answer.question >= asked;
    }

    /** The node's thread: the newest question; an answer to it has to begin after this call. */
    long question()
    {
        return question;
    }

    /** The node's thread: whether the newest question is to be answered. */
    boolean isAsked()
    {
        return question > answer.question;
    }

    /**
     * The node's thread: answers.
     *
     * @param asked the question that was the newest one when the views were asked for.
     * @param self  this node, as it has been registered since then.
     * @param views of all groups.
     */
    void answer(final long asked, final PeerIdentity self, final List<View> views)
    {
        answer = new Answer(asked, self, views);
        views.forEach((view) -> see(view, self));
    }

    private void see(final View view, final PeerIdentity self)
    {
        final int group = view.group();
        final boolean isActive = ViewState.ACTIVE == view.state();

        if (view.number() > closed.getOrDefault(group, Long.MAX_VALUE) && (isActive || !view.members().contains(self)))
        {
            closed.remove(group);
        }

        if (isActive && isCovered(view, self) && view.number() > seen.getOrDefault(group, 0L))
        {
            seen.put(group, view.number());
            wanted.put(group, view.number());
        }
    }

    /**
     * The checkpointer: the view of a group of which it may make a checkpoint now, as of the last answer.
     *
     * @param group which.
     * @return the view; null: none, it is no head or primary, or copies are being made equal.
     */
    View covered(final int group)
    {
        final Answer last = answer;
        final View view = view(last, group);
        return null != view && isCovered(view, last.self) ? view : null;
    }

    /** The checkpointer: whether this node is the primary of a view of which it may make a checkpoint. */
    boolean isPrimary(final View view)
    {
        return view.members().getLast().nodeId() == answer.self.nodeId();
    }

    private static View view(final Answer last, final int group)
    {
        return last.views.stream().filter((view) -> view.group() == group).findFirst().orElse(null);
    }

    /** Until copies are made equal, a view that is closing is as it was. */
    private boolean isCovered(final View view, final PeerIdentity self)
    {
        final int place = view.members().indexOf(self);
        return isHeadOrPrimary(view, place) && !view.isLost(place) && ViewState.RECONCILING != view.state() &&
            changedViews.getOrDefault(view.group(), 0L) < view.number();
    }

    private static boolean isHeadOrPrimary(final View view, final int place)
    {
        return 0 == place || view.members().size() - 1 == place;
    }

    /**
     * The checkpointer: whether nobody else makes a checkpoint of a group in the place of this node, as of the last
     * answer; where it makes none either, that is worth a message.
     *
     * @param group which.
     * @return false for a middle, for one whose group goes on without it, and for one that the view does not name.
     */
    boolean isMissed(final int group)
    {
        final View view = view(answer, group);
        final int place = null == view ? -1 : place(view, answer.self.nodeId());
        return place >= 0 && (view.isDeserted() || isHeadOrPrimary(view, place) && !view.isLost(place));
    }

    private static int place(final View view, final int nodeId)
    {
        return view.members().stream().map(PeerIdentity::nodeId).toList().indexOf(nodeId);
    }

    /**
     * The checkpointer: the view in which a group goes on without this node, as of the last answer.
     *
     * @param group which.
     * @return number of the view that names this node neither as a member nor as one that comes in; 0: there is none.
     */
    long without(final int group)
    {
        final Answer last = answer;
        final View view = view(last, group);
        final boolean isNamed = null == view || place(view, last.self.nodeId()) >= 0 ||
            view.entering().nodeId() == last.self.nodeId();
        return isNamed ? 0 : view.number();
    }
}
