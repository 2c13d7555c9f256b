package io.verbena.load.demo;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;

/** What a killed process leaves goes with the next one. */
class TemporaryHistoryTest
{
    /** More than any system gives. */
    private static final long NO_PROCESS = Integer.MAX_VALUE;

    @TempDir
    private Path folder;

    @Test
    void shouldRemoveHistoriesOfProcessesThatHaveEndedOnly() throws IOException
    {
        final Path left = Files.createFile(folder.resolve("verbena-history-" + NO_PROCESS + "-1.history"));
        final Path used = Files.createFile(
            folder.resolve("verbena-history-" + ProcessHandle.current().pid() + "-2.history"));
        final Path other = Files.createFile(folder.resolve("verbena-history-of-mine"));
        TemporaryHistory.removeLeft(folder);
        assertThat(left).doesNotExist();
        assertThat(used).exists();
        assertThat(other).exists();
    }

    @Test
    void shouldSayWhoseItIs() throws IOException
    {
        final Path history = TemporaryHistory.create();
        assertThat(history.getFileName().toString()).contains("-" + ProcessHandle.current().pid() + "-");
        Files.delete(history);
    }
}
