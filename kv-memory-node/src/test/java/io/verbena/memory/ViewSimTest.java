package io.verbena.memory;

import io.verbena.test.Mutation;
import org.junit.jupiter.api.Test;

import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Views of a group change while everything may fail: nothing of a view that is over lands or is answered, no answered
 * write is lost, and in the end a view is active. {@code -Dverbena.views.seeds=1000} for more seeds.
 */
class ViewSimTest
{
    private static final int MOST_SEEDS = 1_000;

    @Test
    void shouldKeepWhatWasAnsweredAndComeToAnActiveView()
    {
        final int seeds = Integer.getInteger("verbena.views.seeds", 40);
        int views = 0;
        int attempts = 0;
        int returns = 0;
        int firstReturns = 0;
        int entries = 0;
        int failedEntries = 0;
        for (long seed = 1; seed <= seeds; seed++)
        {
            final ViewRun run = new ViewRun(seed);
            assertThat(run.run()).as("seed %s", seed).isNull();
            views += run.views;
            attempts += run.attempts;
            returns += run.returns;
            firstReturns += run.firstReturns;
            entries += run.entries;
            failedEntries += run.failedEntries;
        }
        assertThat(views).as("views begun in %s runs", seeds).isGreaterThan(seeds / 2);
        assertThat(attempts).as("attempts to end one").isGreaterThan(views);
        assertThat(firstReturns).as("members taken back where all were lost").isGreaterThan(seeds / 2);
        assertThat(returns).as("members taken back").isGreaterThan(firstReturns + seeds / 2);
        assertThat(entries).as("memory nodes that came in").isGreaterThan(seeds / 2);
        assertThat(failedEntries).as("memory nodes that were to come in, and did not").isGreaterThan(seeds / 8);
    }

    @Test
    void shouldShowWhatLandsOrIsAnsweredWhenNobodyIsWaitedFor()
    {
        assertShown(ViewMutation.HAVE_LEFT, "an answer of view");
        assertShown(ViewMutation.LEFT_FIRST, "a write of view");
        // Memory nodes refuse the key to reconcile before they have closed, so the group stays closed.
        assertShown(ViewMutation.HAVE_CLOSED, "no active view");
    }

    @Test
    void shouldShowWhatLandsWhenKeysStayOpen()
    {
        assertShown(ViewMutation.CLOSE_KEYS, "a write of view");
        assertShown(ViewMutation.NAMED_VIEW, "a write of view");
        assertShown(ViewMutation.CLOSE_ATTEMPT, "a copy of view");
    }

    @Test
    void shouldShowThatAGroupStaysClosedWhenARecordIsNotFollowed()
    {
        assertShown(ViewMutation.MEMBER_LOST, "no active view");
        assertShown(ViewMutation.RECONCILER_LIVES, "no active view");
        assertShown(ViewMutation.CONFIRM_AGAIN, "no active view");
        assertShown(ViewMutation.LARGER_COUNTS, "no active view");
    }

    @Test
    void shouldShowWhatHappensWhenNobodyLooksAtWhoComesIn()
    {
        assertShown(ViewMutation.ENTERING_COPIED, "answered writes are lost");
        assertShown(ViewMutation.ENTERING_LIVES, "no active view");
    }

    @Test
    void shouldShowWhatIsLostWhenAMemberReturnsWithoutItsMemory()
    {
        assertShown(ViewMutation.MEMORY_KEPT, "answered writes are lost");
        assertShown(ViewMutation.SINCE_THE_VIEW, "answered writes are lost");
        assertShown(ViewMutation.TAKEN_BACK, "no active view");
    }

    @Test
    void shouldShowWhatAComputeNodeHasToDo()
    {
        assertShown(null, "a write of view", ViewCompute.Flaw.LEAVE);
        assertShown(null, "a copy of view", ViewCompute.Flaw.ABANDON);
    }

    private static void assertShown(final ViewMutation left, final String symptom, final ViewCompute.Flaw... flaws)
    {
        String last = null;
        long seed = 0;
        try (Mutation.Opened _ = null == left ? () -> { } : left.open())
        {
            while ((null == last || !last.contains(symptom)) && ++seed <= MOST_SEEDS)
            {
                final String problem = new ViewRun(seed, flaws).run();
                last = null == problem ? last : problem;
            }
        }
        assertThat(last).as("%s %s in %s seeds", left, Set.of(flaws), MOST_SEEDS).contains(symptom);
        assertThat(new ViewRun(seed).run()).as("nothing left out, seed %s", seed).isNull();
    }
}
