package io.verbena.cli.table;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

class CreatedCopiesTest
{
    @Test
    void shouldCountFailureDomainsAsPossibleCopies()
    {
        assertThat(CreatedCopies.possible(List.of(), Map.of())).isEqualTo(1);
        assertThat(CreatedCopies.possible(List.of(1), Map.of())).isEqualTo(1);
        assertThat(CreatedCopies.possible(List.of(1, 2), Map.of())).isEqualTo(2);
        assertThat(CreatedCopies.possible(List.of(1, 2, 3, 4), Map.of())).isEqualTo(3);
        assertThat(CreatedCopies.possible(List.of(1, 2, 3), Map.of(1, "a", 2, "a", 3, "a"))).isEqualTo(1);
        assertThat(CreatedCopies.possible(List.of(1, 2, 3), Map.of(1, "a", 2, "a"))).isEqualTo(2);
        assertThat(CreatedCopies.possible(List.of(1, 2), Map.of(1, "a", 3, "b"))).as("3 is gone").isEqualTo(2);
    }

    @Test
    void shouldSayWhereCopiesAre()
    {
        assertThat(CreatedCopies.text("t", List.of(1, 2, 3), Map.of(), false))
            .isEqualTo("table t has 3 copies, on memory nodes 1, 2, 3");
        assertThat(CreatedCopies.text("t", List.of(1, 3), Map.of(1, "a", 3, "b"), false))
            .isEqualTo("table t has 2 copies, on memory nodes 1 (a), 3 (b)");
        assertThat(CreatedCopies.text("t", List.of(2), Map.of(2, "a"), true)).isEqualTo(
            "table t has 1 copy, on memory node 2 (a); 3 take as many memory nodes in different failure domains");
        assertThat(CreatedCopies.text("t", List.of(1, 2, 3), Map.of(), true)).doesNotContain("take");
        assertThat(CreatedCopies.text("t", List.of(1, 2, 3), Map.of(1, "a", 2, "b", 3, "a"), false)).isEqualTo(
            "table t has 3 copies, on memory nodes 1 (a), 2 (b), 3 (a); there are fewer failure domains than copies: " +
            "what takes a down takes 2 of them");
    }
}
