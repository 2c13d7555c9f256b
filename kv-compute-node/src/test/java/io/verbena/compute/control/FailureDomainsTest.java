package io.verbena.compute.control;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

class FailureDomainsTest
{
    private static final List<Integer> NODES = List.of(5, 3, 1, 2, 4);

    private static List<Integer> spread(final Map<Integer, String> labels, final int count)
    {
        return FailureDomains.spread(NODES, labels::get, count);
    }

    @Test
    void shouldTakeTheFirstWhereEachIsADomainOfItsOwn()
    {
        assertThat(spread(Map.of(), 3)).containsExactly(5, 3, 1);
        assertThat(spread(Map.of(5, "a", 3, "b"), 2)).containsExactly(5, 3);
        assertThat(spread(Map.of(), 1)).containsExactly(5);
    }

    @Test
    void shouldPassOverWhatIsInADomainThatIsTaken()
    {
        assertThat(spread(Map.of(5, "a", 3, "a", 1, "a", 2, "b"), 2)).containsExactly(5, 2);
        assertThat(spread(Map.of(5, "a", 3, "a", 1, "a", 2, "b"), 3)).containsExactly(5, 2, 4);
        assertThat(spread(Map.of(5, "a", 3, "a", 1, "b", 2, "b", 4, "c"), 3)).containsExactly(5, 1, 4);
    }

    /** In their order: the first is the head of the group. */
    @Test
    void shouldShareOutTheRestWhereThereAreFewerDomains()
    {
        final Map<Integer, String> two = Map.of(5, "a", 3, "a", 1, "a", 2, "b", 4, "b");
        assertThat(spread(two, 3)).containsExactly(5, 3, 2);
        assertThat(spread(two, 4)).containsExactly(5, 3, 2, 4);
        assertThat(spread(two, 5)).containsExactly(5, 3, 1, 2, 4);
        assertThat(spread(Map.of(5, "a", 3, "a", 1, "a", 2, "a", 4, "a"), 3)).containsExactly(5, 3, 1);
    }
}
