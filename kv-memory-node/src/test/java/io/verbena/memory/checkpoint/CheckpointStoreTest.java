package io.verbena.memory.checkpoint;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

/** What the database keeps when a checkpoint is not completed. */
@Timeout(120)
class CheckpointStoreTest
{
    @TempDir
    private Path directory;

    private void finishOne()
    {
        try (CheckpointStore store = CheckpointStore.open(directory))
        {
            store.putRecord(64, new byte[]{1});
            store.putPage(4096, new byte[]{2});
            final Properties state = new Properties();
            state.setProperty("records", "1");
            store.finish(state);
        }
    }

    @Test
    void shouldForgetWhatWasNotFinished()
    {
        finishOne();
        try (CheckpointStore store = CheckpointStore.open(directory))
        {
            store.putRecord(64, new byte[]{3});
            store.removePage(4096);
            store.abandon();
            assertThat(store.record(64)).containsExactly(1);
            assertThat(store.pages()).containsExactly(4096L);
        }
    }

    @Test
    void shouldRefuseAnotherFormat()
    {
        finishOne();
        try (CheckpointStore store = CheckpointStore.open(directory))
        {
            assertThat(store.state()).containsEntry("records", "1").containsEntry("format_version", "2");
        }
        assertThatThrownBy(() -> CheckpointStore.checkVersion(directory, "3"))
            .isInstanceOf(CheckpointException.class)
            .hasMessageContaining("format version 3, this build knows version 2");
    }

    @Test
    void shouldAdviseNothingThatLosesTheOnlyCopy() throws IOException
    {
        finishOne();
        Files.writeString(directory.resolve("CURRENT"), "damage");
        assertThatThrownBy(() -> CheckpointStore.open(directory)).isInstanceOf(CheckpointException.class)
            .hasMessageContaining("does not open").hasMessageContaining("may be the only copy of records")
            .hasMessageNotContaining("delete");
    }

    /** A limit on the length of files stands for a full disk: both end a write halfway. */
    @Test
    void shouldKeepTheCheckpointBeforeWhenTheDiskIsFull() throws Exception
    {
        finishOne();
        assumeThat(Path.of("/usr/bin/prlimit")).as("sets the limit").isExecutable();
        final Process process = new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(), "--enable-native-access=ALL-UNNAMED",
            "-Xmx64m", "-XX:+UseSerialGC", "-cp", System.getProperty("java.class.path"),
            CheckpointFiller.class.getName(), directory.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        assertThat(process.inputReader().readLine()).isEqualTo("ready");
        assertThat(new ProcessBuilder("/usr/bin/prlimit", "--pid", Long.toString(process.pid()), "--fsize=4194304")
            .start().waitFor()).isZero();
        process.outputWriter().append('\n').close();
        final String said = process.inputReader().readLine();
        assertThat(process.waitFor()).isZero();
        assertThat(said).contains("checkpoint cannot be written to " + directory, "free space there",
            "the checkpoint before is still good");
        try (CheckpointStore store = CheckpointStore.open(directory))
        {
            assertThat(store.state()).containsEntry("records", "1");
            assertThat(store.page(4096)).containsExactly(2);
        }
    }
}
