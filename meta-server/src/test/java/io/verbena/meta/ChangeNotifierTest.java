package io.verbena.meta;

import org.junit.jupiter.api.Test;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

class ChangeNotifierTest
{
    @Test
    void shouldAnswerOthersWhenThereIsNoRoomOnOneConnection()
    {
        final ArrayDeque<String> due = new ArrayDeque<>(List.of("full", "first", "full too", "second"));
        final List<String> given = new ArrayList<>();

        assertThat(ChangeNotifier.give(due, (answer) -> !answer.startsWith("full") && given.add(answer))).isEqualTo(2);
        assertThat(given).containsExactly("first", "second");
        assertThat(due).containsExactly("full", "full too");

        assertThat(ChangeNotifier.give(due, given::add)).isEqualTo(2);
        assertThat(given).endsWith("full", "full too");
        assertThat(due).isEmpty();
    }
}
