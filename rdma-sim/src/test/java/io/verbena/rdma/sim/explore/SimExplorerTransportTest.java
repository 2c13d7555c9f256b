package io.verbena.rdma.sim.explore;

import io.verbena.rdma.sim.schedule.StatePart;
import io.verbena.rdma.verbs.QueuePairType;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;

import static org.assertj.core.api.Assertions.assertThat;

/** All orders of the messages of every transport, counted by hand; and late responses and looks. */
class SimExplorerTransportTest
{
    private static SimExplorationReport explore(
        final SimExplorerOptions options,
        final QueuePairType type,
        final int senders,
        final int receives,
        final Set<String> outcomes)
    {
        final SimExplorationReport report = new SimExplorer(
            options, () -> new MessageScenario(type, senders, receives, outcomes)).explore();
        assertThat(report.violation()).as(report.toString()).isNull();
        assertThat(report.isComplete()).as(report.toString()).isTrue();
        return report;
    }

    private static Set<String> explore(final boolean isLate, final LateScenario.Kind kind)
    {
        final Set<String> outcomes = new TreeSet<>();
        final SimExplorationReport report = new SimExplorer(
            new SimExplorerOptions().late(isLate), () -> new LateScenario(kind, outcomes)).explore();
        assertThat(report.violation()).as(report.toString()).isNull();
        assertThat(report.isComplete()).as(report.toString()).isTrue();
        return outcomes;
    }

    /** Two messages of two senders each: in order 6 ways to merge them, without order 4!. */
    @ParameterizedTest
    @CsvSource({"RC, 6", "UC, 6", "DC_INITIATOR, 6", "UD, 24"})
    void shouldBringMessagesInEveryOrderThatTheTransportAllows(final QueuePairType type, final int orders)
    {
        final Set<String> outcomes = new TreeSet<>();
        final SimExplorationReport report = explore(new SimExplorerOptions(), type, 2, 4, outcomes);
        // Unreliable senders are done at once: the end may come before anything has landed, as when they had died.
        final long whole = outcomes.stream().filter(outcome -> outcome.length() == 4 * 3 - 1).count();
        assertThat(whole).as(outcomes.toString()).isEqualTo(orders);
        assertThat(report.transitions()).isPositive();
    }

    @ParameterizedTest
    @EnumSource(QueuePairType.class)
    void shouldMissOrdersWhenCompletionsAreNotPartOfTheState(final QueuePairType type)
    {
        final Set<String> all = new TreeSet<>();
        explore(new SimExplorerOptions(), type, 2, 4, all);
        final Set<String> fewer = new TreeSet<>();
        explore(new SimExplorerOptions().without(StatePart.COMPLETIONS), type, 2, 4, fewer);
        assertThat(all).containsAll(fewer).hasSizeGreaterThan(fewer.size());
    }

    @ParameterizedTest
    @EnumSource(QueuePairType.class)
    void shouldLandWhatCrashedSendersHaveSentWhollyInPartOrNever(final QueuePairType type)
    {
        final Set<String> outcomes = new TreeSet<>();
        explore(new SimExplorerOptions().mostCrashes(1), type, 1, 2, outcomes);
        assertThat(outcomes).contains("", "a0", "a0 a1");
        assertThat(outcomes).hasSize(type == QueuePairType.UD ? 5 : 3);
    }

    @Test
    void shouldLoseUnreliableMessagesUpToTheBound()
    {
        final Set<String> outcomes = new TreeSet<>();
        explore(new SimExplorerOptions().mostLosses(1), QueuePairType.UC, 1, 2, outcomes);
        assertThat(outcomes).containsExactlyInAnyOrder("", "a0", "a1", "a0 a1");
        final Set<String> reliable = new TreeSet<>();
        explore(new SimExplorerOptions().mostLosses(1), QueuePairType.RC, 1, 2, reliable);
        assertThat(reliable).containsExactly("a0 a1");
    }

    @Test
    void shouldDropDatagramsThatMeetNoReceive()
    {
        final Set<String> outcomes = new TreeSet<>();
        explore(new SimExplorerOptions(), QueuePairType.UD, 2, 1, outcomes);
        assertThat(outcomes).containsExactlyInAnyOrder("", "a0", "a1", "b0", "b1");
    }

    @Test
    void shouldLearnOutcomesOfTwoQueuePairsInEitherOrderOnlyWhenLate()
    {
        assertThat(explore(false, LateScenario.Kind.TWO_QUEUE_PAIRS))
            .containsExactlyInAnyOrder("added read 1", "read 0 added");
        assertThat(explore(true, LateScenario.Kind.TWO_QUEUE_PAIRS))
            .containsExactlyInAnyOrder("added read 1", "read 0 added", "added read 0", "read 1 added");
    }

    @Test
    void shouldFindSeveralMessagesAtOnceOnlyWhenLate()
    {
        assertThat(explore(false, LateScenario.Kind.SERVER)).containsExactly("1 1");
        assertThat(explore(true, LateScenario.Kind.SERVER)).containsExactlyInAnyOrder("1 1", "2");
    }

    @Test
    void shouldDeliverMessageThatHasWaitedForItsReceive()
    {
        final Set<String> outcomes = new HashSet<>(explore(false, LateScenario.Kind.SLOW_SERVER));
        assertThat(outcomes).containsExactly("1");
    }
}
