package io.verbena.cli.cluster;

import io.verbena.cli.console.ProgressOnTerminal;

import org.junit.jupiter.api.Test;

import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

class RestoreProgressTest
{
    private final ProgressOnTerminal terminal = new ProgressOnTerminal("memory-1", "records");

    @Test
    void shouldShowTheLastLineThatSaysHowFarARestoreIs()
    {
        NodeLauncher.showRestored(List.of(
            "2026-11-25T15:49:25.479Z INFO MemoryReturn - restoring: 1000 of 40000 records",
            "2026-11-25T15:49:25.979Z INFO MemoryReturn - restoring: 30000 of 40000 records", "another line"),
            terminal.progress());
        assertThat(terminal.shown()).startsWith("memory-1 ").endsWith(" 75%  30,000 records");
    }

    @Test
    void shouldShowNothingOfANodeThatRestoresNothing()
    {
        NodeLauncher.showRestored(List.of("ready soon", "restoring: x of y records"), terminal.progress());
        assertThat(terminal.shown()).isEmpty();
        NodeLauncher.showRestored(List.of("restoring: 0 of 0 records"), terminal.progress());
        assertThat(terminal.shown()).endsWith("  0%  0 records");
    }
}
