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
