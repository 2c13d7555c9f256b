package io.verbena.memory;

import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewState;
import io.verbena.raas.identity.PeerIdentity;

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
 * <p>Two threads: the checkpointer's asks, the node's answers.
 */
final class GroupCoverage
{
    /** What views were when they were asked for, and who asked. */
    private record Answer(long question, PeerIdentity self, List<View> views)
    {
    }

    private final Map<Integer, Long> changes = new ConcurrentHashMap<>();
    /** Newest view of each group in which somebody got a key to make copies equal. */
    private final Map<Integer, Long> changedViews = new ConcurrentHashMap<>();
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
        return last.views.stream().filter((view) -> view.group() == group && isCovered(view, last.self))
            .findFirst().orElse(null);
    }

    /** Until copies are made equal, a view that is closing is as it was. */
    private boolean isCovered(final View view, final PeerIdentity self)
    {
        final int place = view.members().indexOf(self);
        final boolean isHeadOrPrimary = 0 == place || view.members().size() - 1 == place;
        final boolean isUnchanged = ViewState.ACTIVE == view.state() ||
            ViewState.CLOSING == view.state() && changedViews.getOrDefault(view.group(), 0L) < view.number();
        return isHeadOrPrimary && !view.isLost(place) && isUnchanged;
    }
}
