package io.verbena.cli.cluster;

import io.verbena.cli.cluster.ProcessTable.Entry;
import io.verbena.cli.console.CommandFailedException;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(60)
class ProcessTableTest
{
    @TempDir
    private Path directory;
    private ProcessTable table;
    private Process process;

    @BeforeEach
    void start() throws IOException
    {
        table = new ProcessTable(directory.resolve("processes"));
        process = new ProcessBuilder("sleep", "300").start();
    }

    @AfterEach
    void end()
    {
        process.destroyForcibly();
    }

    private Entry entry(final String name, final long startMs)
    {
        return new Entry(name, process.pid(), startMs, 7);
    }

    @Test
    void shouldKeepWhatWasStartedAndEndIt()
    {
        assertThat(table.entries()).isEmpty();
        final Entry entry = entry("compute-1", ProcessTable.start(process.toHandle()));
        table.add(entry);
        assertThat(table.entries()).containsExactly(entry);
        assertThat(entry.isLive()).isTrue();
        assertThat(table.end(entry, 10_000)).isTrue();
        assertThat(process.onExit().join().isAlive()).isFalse();
        assertThat(table.entries()).isEmpty();
        assertThat(table.end(entry, 10_000)).as("twice").isTrue();
    }

    /** Another command looks on while one changes it. */
    @Test
    void shouldShowWholeEntriesOrNone()
    {
        final Entry entry = entry("compute-1", 5);
        final Thread writer = Thread.ofPlatform().start(() ->
        {
            for (int i = 0; i < 500; i++)
            {
                table.add(entry);
                table.add(entry);
                table.forget(entry);
            }
        });
        final ProcessTable other = new ProcessTable(directory.resolve("processes"));
        while (writer.isAlive())
        {
            assertThat(other.entries()).allMatch(entry::equals);
        }
    }

    @Test
    void shouldNotTouchAProcessThatHasGotTheNumberSince()
    {
        final Entry stranger = entry("compute-1", ProcessTable.start(process.toHandle()) - 1_000);
        table.add(stranger);
        assertThat(stranger.isLive()).isFalse();
        table.end(stranger, 1_000);
        assertThat(process.isAlive()).isTrue();
        assertThat(table.entries()).as("forgotten all the same").isEmpty();
    }

    @Test
    void shouldKillWhatDoesNotEnd() throws IOException
    {
        process.destroyForcibly();
        process = new ProcessBuilder("sh", "-c", "trap '' TERM; echo on; while :; do sleep 0.1; done").start();
        assertThat(process.getInputStream().read()).isEqualTo('o');
        final Entry entry = entry("memory-1", ProcessTable.start(process.toHandle()));
        assertThat(table.end(entry, 300)).isFalse();
        assertThat(process.onExit().join().isAlive()).isFalse();
    }

    /** As in a container whose first process asks for nobody's end: its child here stops before it could. */
    @Test
    void shouldTakeAProcessForDeadThatNobodyAsksFor() throws IOException
    {
        process.destroyForcibly();
        process = new ProcessBuilder("sh", "-c", "sleep 0 & echo $!; exec sleep 300").start();
        final long pid = Long.parseLong(process.inputReader().readLine());
        while (!ProcessTable.isZombie(pid))
        {
            Thread.onSpinWait();
        }
        final ProcessHandle zombie = ProcessHandle.of(pid).orElseThrow();
        assertThat(zombie.isAlive()).as("what the JVM says").isTrue();
        final Entry entry = new Entry("memory-1", pid, ProcessTable.start(zombie), 0);
        assertThat(entry.isLive()).isFalse();
        assertThat(table.end(entry, 300)).isTrue();
    }

    @Test
    void shouldSayWhichEntryIsNone() throws IOException
    {
        table.add(entry("compute-1", 0));
        Files.writeString(directory.resolve("processes/compute-1.properties"), "pid=x\n");
        assertThatThrownBy(table::entries).isInstanceOf(CommandFailedException.class)
            .hasMessageContaining("compute-1.properties is no entry of a process");
    }
}
