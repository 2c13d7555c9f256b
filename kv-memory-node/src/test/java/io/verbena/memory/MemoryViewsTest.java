package io.verbena.memory;

import io.verbena.protocol.view.LeftView;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewAttempt;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.verbs.RdmaException;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class MemoryViewsTest
{
    private static final PeerIdentity NODE = new PeerIdentity(3, 5);
    private static final PeerIdentity NAMED = new PeerIdentity(4, 6);
    private static final View FIRST = View.first(7, List.of(new PeerIdentity(1, 1), new PeerIdentity(2, 2)));
    private static final View CLOSING = FIRST.closing(1, NAMED);

    private final List<String> closed = new ArrayList<>();
    private boolean isResisting;
    private final MemoryViews views = new MemoryViews(new MemoryViews.Keys()
    {
        @Override
        public void closeAll()
        {
            if (isResisting)
            {
                throw new RdmaException("inside");
            }
            closed.add("all");
        }

        @Override
        public void closeReconciler(final int group)
        {
            closed.add("reconciler " + group);
        }
    });

    @Test
    void shouldRefuseNobodyWhereThereIsNoGroup()
    {
        assertThat(views.mayHaveKey(NODE)).isTrue();
        assertThat(views.notLeft(NODE)).isEmpty();
        assertThat(views.mayReconcile(NODE, 7, 0, 0)).isFalse();
        assertThat(closed).isEmpty();
    }

    @Test
    void shouldAnswerWithTheNumberUntilANodeHasLeft()
    {
        assertThat(views.close(CLOSING)).isTrue();
        assertThat(closed).containsExactly("all", "reconciler 7");
        assertThat(views.mayHaveKey(NODE)).isFalse();
        assertThat(views.name(NODE, List.of(new LeftView(7, 0)))).containsExactly(new LeftView(7, 1));
        assertThat(views.name(NODE, List.of(new LeftView(7, 1)))).isEmpty();
        assertThat(views.mayHaveKey(NODE)).isTrue();
        assertThat(views.name(NODE, List.of(new LeftView(7, 0)))).as("a message that comes late").isEmpty();
        views.forget(NODE);
        assertThat(views.mayHaveKey(NODE)).isFalse();
    }

    @Test
    void shouldForgetEarlierLivesOfWhoWasFencedAndNobodyElse()
    {
        final PeerIdentity earlier = new PeerIdentity(NODE.nodeId(), NODE.incarnation() - 1);
        final PeerIdentity later = new PeerIdentity(NODE.nodeId(), NODE.incarnation() + 1);
        final PeerIdentity other = new PeerIdentity(NODE.nodeId() + 1, NODE.incarnation());
        views.close(CLOSING);
        for (final PeerIdentity node : List.of(earlier, NODE, later, other))
        {
            assertThat(views.name(node, List.of(new LeftView(7, 1)))).isEmpty();
        }
        views.forget(NODE);
        assertThat(List.of(earlier, NODE, later, other).stream().filter(views::mayHaveKey))
            .containsExactly(later, other);
    }

    @Test
    void shouldCloseOnlyWhoReconciledWithTheNextAttempt()
    {
        views.close(CLOSING);
        assertThat(views.mayReconcile(NAMED, 7, 1, 1)).isTrue();
        assertThat(views.mayReconcile(NODE, 7, 1, 1)).isFalse();
        closed.clear();
        assertThat(views.close(CLOSING)).as("again").isTrue();
        assertThat(closed).isEmpty();
        assertThat(views.close(CLOSING.closing(1, NODE))).isTrue();
        assertThat(closed).containsExactly("reconciler 7");
        assertThat(views.mayReconcile(NAMED, 7, 1, 1)).isFalse();
        assertThat(views.mayReconcile(NODE, 7, 1, 2)).isTrue();
        assertThat(views.close(CLOSING)).as("of a deposed leader").isFalse();
        assertThat(views.mayReconcile(NODE, 7, 1, 2)).isTrue();
    }

    /** What comes late of the view before changes nothing; what ends the view in which it is filled ends that, too. */
    @Test
    void shouldBeFilledInALaterViewThanTheOneThatIsClosed()
    {
        final View next = CLOSING.reconciling().next();
        final View filling = next.filling(new PeerIdentity(9, 9), NAMED);
        views.close(CLOSING);
        assertThat(views.fill(CLOSING)).as("it is closed").isFalse();
        assertThat(views.fill(filling)).isTrue();
        assertThat(views.close(CLOSING)).as("again").isTrue();
        assertThat(views.isFilledBy(NAMED, ViewAttempt.of(filling), 9)).isTrue();
        assertThat(views.isFilledBy(NAMED, ViewAttempt.of(filling), 8)).isFalse();
        assertThat(views.isFilledBy(NODE, ViewAttempt.of(filling), 9)).isFalse();
        assertThat(views.isFilledBy(NAMED, ViewAttempt.of(next), 9)).isFalse();
        assertThat(views.close(next.closing(0, NAMED).closing(0, NAMED))).isTrue();
        assertThat(views.isFilledBy(NAMED, ViewAttempt.of(filling), 9)).isFalse();
        assertThat(views.fill(filling)).as("late").isFalse();
        assertThat(views.isFilledBy(NAMED, ViewAttempt.of(filling), 9)).isFalse();
    }

    @Test
    void shouldLetNobodyReconcileWhileAKeyResists()
    {
        isResisting = true;
        assertThatThrownBy(() -> views.close(CLOSING)).isInstanceOf(RdmaException.class);
        assertThat(views.mayHaveKey(NODE)).isFalse();
        assertThat(views.mayReconcile(NAMED, 7, 1, 1)).isFalse();
        assertThatThrownBy(() -> views.close(CLOSING)).isInstanceOf(RdmaException.class);
        isResisting = false;
        assertThat(views.close(CLOSING)).isTrue();
        assertThat(closed).containsExactly("all", "reconciler 7");
        assertThat(views.mayReconcile(NAMED, 7, 1, 1)).isTrue();
    }
}
