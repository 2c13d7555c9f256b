package io.verbena.meta.membership;

import org.junit.jupiter.api.Test;

import java.util.HashMap;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

/** Random schedules of whole clusters around the production conductor; a failing seed is in the message. */
class MembershipPropertyTest
{
    private static final int SEEDS = Integer.getInteger("verbena.property.seeds", 300);
    private static final int STEPS = 6_000;

    @Test
    void shouldNeverReuseWhatAnUnfencedNodeReliesOnWhenAnythingIsLateLostOrRestarted()
    {
        final Map<String, Integer> events = new HashMap<>();

        for (long seed = 1; seed <= SEEDS; seed++)
        {
            final ClusterModel model = new ClusterModel(seed);

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
            "rejoin unheard", "forgotten", "forget refused", "spare");
        assertThat(events.get("reuse")).as("%s", events).isGreaterThan(SEEDS);
        assertThat(events.get("fenced")).as("%s", events).isGreaterThan(SEEDS);
    }
}
