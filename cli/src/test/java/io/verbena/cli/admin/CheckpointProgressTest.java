package io.verbena.cli.admin;

import io.verbena.cli.console.ProgressOnTerminal;

import org.junit.jupiter.api.Test;

import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

/** What 'checkpoint' shows on a terminal of what a memory node says. */
class CheckpointProgressTest
{
    private final ProgressOnTerminal terminal = new ProgressOnTerminal("memory-1", "records");

    @Test
    void shouldShowHowFarTheNodeIs()
    {
        CheckpointCommand.show(Map.of("checkpoint_started_ms", 17L, "checkpoint_fraction", 0.25,
            "checkpoint_records_read", 1_234L), terminal.progress());
        assertThat(terminal.shown()).startsWith("memory-1 ").endsWith(" 25%  1,234 records");
    }

    @Test
    void shouldShowNothingWhileNoneIsMadeOrNothingIsKnown()
    {
        CheckpointCommand.show(Map.of("checkpoint_started_ms", 0L, "checkpoint_fraction", 0.0,
            "checkpoint_records_read", 0L), terminal.progress());
        CheckpointCommand.show(Map.of(), terminal.progress());
        CheckpointCommand.show(null, terminal.progress());
        assertThat(terminal.shown()).isEmpty();
    }
}
