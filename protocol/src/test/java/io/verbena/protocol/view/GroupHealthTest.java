package io.verbena.protocol.view;

import io.verbena.raas.identity.PeerIdentity;

import org.junit.jupiter.api.Test;

import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Each reason for which a group of memory nodes is not healthy has a line that says what to do. */
class GroupHealthTest
{
    private static final PeerIdentity ONE = new PeerIdentity(1, 11);
    private static final PeerIdentity TWO = new PeerIdentity(2, 12);
    private static final PeerIdentity THREE = new PeerIdentity(3, 13);
    private static final PeerIdentity COMPUTE = new PeerIdentity(5, 15);
    private static final View FIRST = View.first(10, List.of(ONE, TWO, THREE));

    private static String problem(final View view)
    {
        return GroupHealth.problem(view, List.of());
    }

    @Test
    void shouldSayNothingOfAHealthyGroup()
    {
        assertThat(problem(FIRST)).isEmpty();
        assertThat(GroupHealth.problems(List.of(FIRST, View.first(11, List.of(ONE, TWO))), List.of())).isEmpty();
        assertThat(GroupHealth.problems(List.of(), List.of())).isEmpty();
    }

    @Test
    void shouldSayWhatIsWaitedForWhileAViewEnds()
    {
        final View closing = FIRST.closing(1, COMPUTE);
        assertThat(problem(closing)).isEqualTo("group 10: memory node 1 is lost; operations on its " +
            "tables wait until view 1 is closed at memory node 2, 3, and left by all compute nodes, a lease at most");
        assertThat(problem(closing.reconciling())).isEqualTo("group 10: memory node 1 is lost; " +
            "operations on its tables wait until compute node 5 has made the copies of memory node 2, 3 equal");
        assertThat(problem(FIRST.closing(6, PeerIdentity.UNREGISTERED).reconciling()))
            .contains("memory node 2, 3 are lost").contains("wait until there is a compute node to make the copies");
        assertThat(problem(closing.returned(0, new PeerIdentity(1, 21))))
            .startsWith("group 10: a memory node was away; operations");
    }

    @Test
    void shouldSayHowManyCopiesAreLeft()
    {
        assertThat(problem(FIRST.closing(4, COMPUTE).reconciling().next()))
            .isEqualTo("group 10: records have 2 copies, at memory node 1, 2 instead of 3: 'verbena node fill ID' " +
                "copies them to another memory node");
        assertThat(problem(FIRST.closing(5, COMPUTE).reconciling().next()))
            .startsWith("group 10: records have 1 copy, at memory node 2 instead of 3: ");
        assertThat(problem(new View(10, 3, ViewState.ACTIVE, 0, List.of(ONE, TWO), 0,
            PeerIdentity.UNREGISTERED, 0, PeerIdentity.UNREGISTERED))).isEqualTo("group 10: records have 2 copies, " +
            "at memory node 1, 2; with how many its tables were made is not known");
        assertThat(problem(FIRST.closing(7, COMPUTE))).isEqualTo("group 10: all its memory nodes are " +
            "lost: 1, 2, 3; reads and writes of its tables fail: start these memory nodes again");
    }

    @Test
    void shouldSayWhoComesInAndNothingAfterwards()
    {
        final View entering =
            FIRST.closing(1, COMPUTE).reconciling().next().filling(new PeerIdentity(4, 40), COMPUTE).filled();
        assertThat(problem(entering)).startsWith(
            "group 10: memory node 4 gets a copy; operations on its tables wait until view 2 is closed");
        assertThat(problem(entering.reconciling().next())).isEmpty();
    }

    @Test
    void shouldSayHowFarAMemoryNodeIsFilled()
    {
        final View filling = FIRST.closing(1, COMPUTE).reconciling().next().filling(new PeerIdentity(4, 40), COMPUTE);
        final String text = "group 10: records have 2 copies, at memory node 2, 3 instead of 3: memory node 4 gets a " +
            "copy beside the work";
        assertThat(problem(filling)).isEqualTo(text);
        final FillProgress comparing = new FillProgress(
            ViewAttempt.of(filling), 0, 0, 3L << 20, 5000L << 20, 1, FillProgress.UNKNOWN);
        assertThat(GroupHealth.problem(filling, List.of(comparing))).isEqualTo(
            text + "; pass 1: 3 of 5,000 MiB compared");
        assertThat(GroupHealth.problems(List.of(filling), List.of(new FillProgress(
            ViewAttempt.of(filling), (7L << 20) + 1, 4000L << 20, 5000L << 20, 5000L << 20, 2, 12)))).containsExactly(
            text + "; pass 2: 8 of 4,000 MiB copied, 12 s left");
        assertThat(GroupHealth.problem(filling.filling(filling.entering(), COMPUTE), List.of(comparing)))
            .as("of an earlier attempt").isEqualTo(text);
        assertThat(problem(filling.notFilling())).contains("'verbena node fill ID' copies them");
    }

    @Test
    void shouldSayOfManyGroupsThatLackTheSameInOneLine()
    {
        final View other = View.first(12, List.of(ONE, TWO, THREE)).closing(1, COMPUTE);
        final View another = View.first(13, List.of(TWO, THREE)).closing(1, COMPUTE);
        assertThat(GroupHealth.problems(List.of(FIRST.closing(1, COMPUTE), other, another), List.of())).hasSize(2)
            .anyMatch((line) -> line.startsWith("groups 10, 12: memory node 1 is lost; operations"))
            .anyMatch((line) -> line.startsWith("group 13: memory node 2 is lost; operations"));
    }
}
