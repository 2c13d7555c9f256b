package io.verbena.compute.catalog;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

class CallerTurnsTest
{
    private final CallerTurns<String> turns = new CallerTurns<>();

    private List<String> all()
    {
        final List<String> all = new ArrayList<>();
        turns.drain(all::add);
        return all;
    }

    @Test
    void shouldTakeOneOfEachInTheOrderOfItsCaller()
    {
        for (final String waiting : List.of("a1", "a2", "a3", "b1", "c1", "b2"))
        {
            turns.add(waiting.charAt(0), waiting);
        }
        turns.add(null, "n1");
        assertThat(turns.size()).isEqualTo(7);
        assertThat(turns.poll()).isEqualTo("a1");
        turns.add('d', "d1");
        assertThat(all()).containsExactly("b1", "c1", "n1", "a2", "d1", "b2", "a3");
        assertThat(turns.isEmpty()).isTrue();
        assertThat(turns.poll()).isNull();
    }

    /** Whoever has waited for its turn is not passed by one that comes again and again. */
    @Test
    void shouldReachWhoeverComesLateBehindOneTurnOfEach()
    {
        for (int i = 0; i < 1_000; i++)
        {
            turns.add("greedy", "g");
            turns.add("other", "o");
        }
        turns.poll();
        turns.add("quiet", "q");
        turns.add("greedy", "g");
        assertThat(List.of(turns.poll(), turns.poll(), turns.poll())).contains("q");
    }

    @Test
    void shouldForgetWhatWaitsNoLonger()
    {
        turns.add(1, "x");
        turns.add(2, "y");
        turns.add(2, "x");
        turns.removeIf("x"::equals);
        assertThat(turns.size()).isEqualTo(1);
        assertThat(all()).containsExactly("y");
    }
}
