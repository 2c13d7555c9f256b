package io.verbena.memory;

import io.verbena.protocol.view.View;
import io.verbena.raas.identity.PeerIdentity;
import org.junit.jupiter.api.Test;

import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Of which groups a memory node makes checkpoints. */
class GroupCoverageTest
{
    private static final int GROUP = 9;
    private static final PeerIdentity HEAD = new PeerIdentity(1, 10);
    private static final PeerIdentity MIDDLE = new PeerIdentity(2, 20);
    private static final PeerIdentity PRIMARY = new PeerIdentity(3, 30);
    private static final PeerIdentity COMPUTE = new PeerIdentity(8, 80);
    private static final View ACTIVE = View.first(GROUP, List.of(HEAD, MIDDLE, PRIMARY));

    private final GroupCoverage coverage = new GroupCoverage();

    private boolean covers(final PeerIdentity self, final View view)
    {
        coverage.answer(coverage.ask(), self, List.of(View.first(GROUP - 1, List.of(MIDDLE, HEAD)), view));
        final View covered = coverage.covered(GROUP);
        assertThat(covered).isIn(view, null);
        return null != covered;
    }

    @Test
    void shouldCoverWhereItIsHeadOrPrimary()
    {
        assertThat(covers(HEAD, ACTIVE)).isTrue();
        assertThat(covers(MIDDLE, ACTIVE)).as("it may hold words of operations that were refused").isFalse();
        assertThat(covers(PRIMARY, ACTIVE)).isTrue();
        assertThat(covers(COMPUTE, ACTIVE)).isFalse();
        assertThat(covers(new PeerIdentity(1, 11), ACTIVE)).as("under another incarnation it is no member").isFalse();
        assertThat(covers(HEAD, View.first(GROUP, List.of(HEAD)))).isTrue();
        assertThat(coverage.covered(GROUP + 1)).isNull();
        assertThat(covers(COMPUTE, ACTIVE.filling(COMPUTE, HEAD))).as("it is filled").isFalse();
    }

    @Test
    void shouldCoverAViewThatClosesUntilCopiesAreMadeEqual()
    {
        final View closing = ACTIVE.closing(1, COMPUTE);
        assertThat(covers(PRIMARY, closing)).isTrue();
        assertThat(covers(HEAD, closing)).as("it is lost").isFalse();
        assertThat(covers(PRIMARY, closing.reconciling())).isFalse();
        coverage.changed(GROUP - 1, 7);
        assertThat(covers(PRIMARY, closing)).as("of another group").isTrue();
        coverage.changed(GROUP, closing.number());
        assertThat(covers(PRIMARY, closing.closing(0, COMPUTE))).as("the next attempt").isFalse();
        assertThat(covers(PRIMARY, closing.next())).as("the next view").isTrue();
        assertThat(covers(PRIMARY, closing.next().closing(1, COMPUTE))).isTrue();
    }

    /** An answer may be late. */
    @Test
    void shouldCoverNoActiveViewInWhichCopiesAreMadeEqual()
    {
        coverage.changed(GROUP, ACTIVE.number());
        assertThat(covers(PRIMARY, ACTIVE)).isFalse();
        assertThat(covers(PRIMARY, ACTIVE.closing(1, COMPUTE).next())).isTrue();
    }

    @Test
    void shouldWantACheckpointOfEachViewInWhichItIsHeadOrPrimary()
    {
        assertThat(covers(MIDDLE, ACTIVE)).isFalse();
        assertThat(coverage.wanted()).doesNotContainKey(GROUP);
        final View next = ACTIVE.closing(5, COMPUTE).next();
        assertThat(covers(MIDDLE, next.closing(0, COMPUTE))).isTrue();
        assertThat(coverage.wanted()).as("not active").doesNotContainKey(GROUP);
        assertThat(covers(MIDDLE, next)).isTrue();
        assertThat(coverage.wanted()).containsEntry(GROUP, 2L);
        coverage.settled(GROUP, 1);
        assertThat(coverage.wanted()).as("of an earlier view").containsEntry(GROUP, 2L);
        coverage.settled(GROUP, 2);
        assertThat(covers(MIDDLE, next)).isTrue();
        assertThat(coverage.wanted()).as("once").doesNotContainKey(GROUP);
        assertThat(covers(MIDDLE, next.closing(0, COMPUTE).next())).isTrue();
        assertThat(coverage.wanted()).containsEntry(GROUP, 3L);
    }

    @Test
    void shouldAwaitTheViewBehindOneThatWasClosed()
    {
        assertThat(coverage.awaitsView()).isFalse();
        coverage.closed(GROUP, 1);
        covers(MIDDLE, ACTIVE);
        assertThat(coverage.awaitsView()).as("late").isTrue();
        final View closing = ACTIVE.closing(1, COMPUTE);
        covers(MIDDLE, closing.reconciling());
        assertThat(coverage.awaitsView()).isTrue();
        covers(MIDDLE, closing.next().closing(0, COMPUTE));
        assertThat(coverage.awaitsView()).as("closing again").isTrue();
        covers(MIDDLE, closing.next().closing(0, COMPUTE).next());
        assertThat(coverage.awaitsView()).isFalse();
        coverage.closed(GROUP, 3);
        covers(MIDDLE, View.first(GROUP - 2, List.of(HEAD)));
        assertThat(coverage.awaitsView()).isTrue();
        covers(HEAD, closing.next().closing(0, COMPUTE).next().closing(2, COMPUTE).next().closing(1, COMPUTE));
        assertThat(coverage.awaitsView()).as("without it").isFalse();
        coverage.closed(GROUP, 9);
        coverage.lost();
        assertThat(coverage.awaitsView()).as("it is another member").isFalse();
    }

    @Test
    void shouldMissACheckpointThatNobodyMakesInItsPlace()
    {
        final View closing = ACTIVE.closing(1, COMPUTE);
        covers(PRIMARY, closing.reconciling());
        assertThat(coverage.isMissed(GROUP)).isTrue();
        covers(HEAD, closing.reconciling());
        assertThat(coverage.isMissed(GROUP)).as("the group goes on without it").isFalse();
        covers(MIDDLE, ACTIVE);
        assertThat(coverage.isMissed(GROUP)).as("others make one").isFalse();
        covers(MIDDLE, ACTIVE.closing(7, COMPUTE));
        assertThat(coverage.isMissed(GROUP)).as("all are lost").isTrue();
        covers(new PeerIdentity(3, 31), ACTIVE);
        assertThat(coverage.isMissed(GROUP)).as("under another incarnation").isTrue();
        covers(COMPUTE, ACTIVE);
        assertThat(coverage.isMissed(GROUP)).isFalse();
        assertThat(coverage.isMissed(GROUP + 1)).isFalse();
    }

    @Test
    void shouldCountWhatMayChangeChunks()
    {
        final long before = coverage.changes(GROUP);
        coverage.changed(GROUP - 1, 1);
        assertThat(coverage.changes(GROUP)).isEqualTo(before);
        coverage.changed(GROUP, 1);
        final long changed = coverage.changes(GROUP);
        assertThat(changed).isGreaterThan(before);
        coverage.lost();
        assertThat(coverage.changes(GROUP)).isGreaterThan(changed);
    }

    @Test
    void shouldAnswerOnlyQuestionsThatWereAskedBefore()
    {
        assertThat(coverage.isAsked()).isFalse();
        final long first = coverage.ask();
        assertThat(coverage.isAsked()).isTrue();
        final long begun = coverage.question();
        final long second = coverage.ask();
        coverage.answer(begun, HEAD, List.of(ACTIVE));
        assertThat(coverage.isAnswered(first)).isTrue();
        assertThat(coverage.isAnswered(second)).isFalse();
        assertThat(coverage.isAsked()).isTrue();
        coverage.answer(coverage.question(), HEAD, List.of(ACTIVE));
        assertThat(coverage.isAnswered(second)).isTrue();
        assertThat(coverage.isAsked()).isFalse();
    }
}
