package io.verbena.cli.cluster;

import io.verbena.cli.console.CommandFailedException;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;

class TemporaryClusterTest
{
    private static final String BEFORE_PATH = "; logs of its processes: ";

    /** Of the process before, too: whoever is started again begins a new one. */
    @Test
    void shouldKeepLogsOfARunThatFailed() throws IOException
    {
        final CommandFailedException failed;
        try (TemporaryCluster temporary = TemporaryCluster.create("verbena-test-"))
        {
            final Path logs = Files.createDirectories(temporary.folder().logs());
            Files.writeString(logs.resolve("memory-1.log"), "ready\n");
            Files.writeString(logs.resolve("memory-1.log.1"), "lost\n");
            failed = temporary.withLogs(new IllegalStateException("not created"));
        }
        assertThat(failed).hasMessageStartingWith("not created" + BEFORE_PATH);
        final Path kept = Path.of(failed.getMessage().substring(failed.getMessage().indexOf(BEFORE_PATH) +
            BEFORE_PATH.length()));
        try
        {
            assertThat(kept.resolve("memory-1.log")).hasContent("ready");
            assertThat(kept.resolve("memory-1.log.1")).hasContent("lost");
        }
        finally
        {
            ProcessDemoCluster.delete(kept);
        }
    }

    @Test
    void shouldSayWhereThereAreNoLogs()
    {
        try (TemporaryCluster temporary = TemporaryCluster.create("verbena-test-"))
        {
            assertThat(temporary.withLogs(new IllegalStateException("not created")))
                .hasMessage("not created; its logs could not be copied: no such file or folder");
        }
    }
}
