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

    private static CheckpointPage page()
    {
        final CheckpointPage page = CheckpointPage.empty(1, 2);
        page.put(0, 3, 7);
        return page;
    }

    private void finishOne()
    {
        try (CheckpointStore store = CheckpointStore.open(directory))
        {
            store.putRecord(4096, 7, new byte[]{1});
            store.putPage(4096, page());
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
            store.putRecord(4096, 7, new byte[]{3});
            store.removePage(4096);
            store.abandon();
            assertThat(store.record(4096, 7)).containsExactly(1);
            assertThat(store.pages()).containsExactly(4096L);
        }
    }

    /** What a checkpoint that was not finished found gone goes with the next one, unless it is there again. */
    @Test
    void shouldRemoveWhatIsStaleInTheEndOfACheckpointThatIsFinished()
    {
        finishOne();
        try (CheckpointStore store = CheckpointStore.open(directory))
        {
            store.putRecord(4104, 8, new byte[]{2});
            store.removeLater(4096, 7);
            store.removeLater(4104, 8);
            store.flush();
        }
        try (CheckpointStore store = CheckpointStore.open(directory))
        {
            assertThat(store.record(4104, 8)).containsExactly(2);
            store.removeStale();
            store.finish(new Properties());
            assertThat(store.record(4096, 7)).as("the page names it").containsExactly(1);
            assertThat(store.record(4104, 8)).isNull();
        }
    }

    @Test
    void shouldRefuseAnotherFormat()
    {
        finishOne();
        try (CheckpointStore store = CheckpointStore.open(directory))
        {
            assertThat(store.state()).containsEntry("records", "1").containsEntry("format_version", "3");
        }
        assertThatThrownBy(() -> CheckpointStore.checkVersion(directory, "4"))
            .isInstanceOf(CheckpointException.class)
            .hasMessageContaining("format version 4, this build knows version 3");
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
            assertThat(store.page(4096)).isEqualTo(page());
        }
    }
}
