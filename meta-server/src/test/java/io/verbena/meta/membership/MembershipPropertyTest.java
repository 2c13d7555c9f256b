package io.verbena.meta.membership;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

import java.util.HashMap;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Random schedules of whole clusters around the production conductor; a failing seed is in the message. */
class MembershipPropertyTest
{
    private static final int SEEDS = Integer.getInteger("verbena.property.seeds", 300);
    private static final int DISOBEDIENT_SEEDS = 300;
    private static final int STEPS = 8_000;

    @Test
    void shouldNeverReuseWhatAnUnfencedNodeReliesOnWhenAnythingIsLateLostOrRestarted()
    {
        final Map<String, Integer> events = new HashMap<>();

        for (long seed = 1; seed <= SEEDS; seed++)
        {
            final ClusterModel model = new ClusterModel(seed, Disobedience.NONE);

            try
            {
                model.run(STEPS);
            }
            catch (final AssertionError | IllegalStateException ex)
            {
                throw new AssertionError("seed " + seed + ": " + ex.getMessage(), ex);
            }

            model.events().forEach((event, count) -> events.merge(event, count, Integer::sum));
        }

        // A schedule in which nothing happens proves nothing.
        assertThat(events).containsKeys(
            "reuse", "restart", "refused", "fenced", "ended FENCING", "ended LOST", "memory node rejoined",
            "rejoin unheard", "forgotten", "forget refused", "spare", "passed over");
        assertThat(events.get("reuse")).as("%s", events).isGreaterThan(SEEDS);
        assertThat(events.get("fenced")).as("%s", events).isGreaterThan(SEEDS);
        assertThat(events.get("reuse with somebody passed over")).as("%s", events).isGreaterThan(SEEDS);
    }

    @ParameterizedTest
    @EnumSource(value = Disobedience.class, names = "NONE", mode = Mode.EXCLUDE)
    void shouldReuseWhatANodeReliesOnWhenNodesDoNotLeaveLostMemoryNodes(final Disobedience disobedience)
    {
        assertThatThrownBy(() ->
        {
            for (long seed = 1; seed <= DISOBEDIENT_SEEDS; seed++)
            {
                new ClusterModel(seed, disobedience).run(STEPS);
            }
        }).isInstanceOf(AssertionError.class).hasMessageContaining("step");
    }
}
