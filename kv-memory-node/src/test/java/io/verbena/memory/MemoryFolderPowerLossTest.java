package io.verbena.memory;

import io.verbena.memory.checkpoint.CheckpointStore;
import io.verbena.memory.checkpoint.StoreAccess;
import io.verbena.test.SyncCalls;
import io.verbena.test.UnsyncedLoss;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.Properties;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/** What the folder has after the host lost its power, and with it all that was not synced. */
@Timeout(120)
class MemoryFolderPowerLossTest
{
    private static final long LENGTH_BYTES = 1 << 20;

    @TempDir
    private Path disk;
    @TempDir
    private Path left;

    @BeforeAll
    static void requireSeccomp()
    {
        assumeThat(SyncCalls.isSupported()).as("the kernel shows system calls by seccomp").isTrue();
    }

    @Test
    void shouldKnowWhoTheNodeIs() throws Exception
    {
        final UnsyncedLoss loss = new UnsyncedLoss(disk);
        final long memoryId = loss.run(() ->
        {
            try (MemoryFolder folder = MemoryFolder.open(disk.resolve("nodes/memory"), 0, LENGTH_BYTES))
            {
                loss.loseHost(left.resolve("1"));
                folder.joined(5, 77, 9);
                loss.loseHost(left.resolve("2"));
                folder.joined(5, 77, 10);
                loss.loseHost(left.resolve("3"));
                return folder.memoryId();
            }
        });
        assertThat(read("1", memoryId)).isEqualTo("0/0/0");
        assertThat(read("2", memoryId)).isEqualTo("5/77/9");
        assertThat(read("3", memoryId)).isEqualTo("5/77/10");
    }

    private String read(final String moment, final long memoryId)
    {
        try (MemoryFolder folder = open(moment))
        {
            assertThat(folder.memoryId()).as("the name of its memory").isEqualTo(memoryId);
            return folder.nodeId() + "/" + folder.clusterId() + "/" + folder.incarnation();
        }
    }

    private MemoryFolder open(final String moment)
    {
        return MemoryFolder.open(left.resolve(moment).resolve("nodes/memory"), 0, 2 * LENGTH_BYTES);
    }

    @Test
    void shouldKnowWhenTheLastCheckpointWasMade() throws Exception
    {
        final UnsyncedLoss loss = new UnsyncedLoss(disk);
        loss.run(() ->
        {
            try (MemoryFolder folder = MemoryFolder.open(disk.resolve("nodes/memory"), 0, LENGTH_BYTES))
            {
                final Properties report = new Properties();
                report.setProperty("finished_ms", "123");
                folder.reportCheckpoint(report);
                loss.loseHost(left.resolve("1"));
                return null;
            }
        });
        try (MemoryFolder folder = open("1"))
        {
            assertThat(folder.lastCheckpoint()).containsEntry("finished_ms", "123");
        }
    }

    /** Batches before the last one are not synced by themselves. */
    @Test
    void shouldHaveACheckpointThatWasFinished() throws Exception
    {
        final UnsyncedLoss loss = new UnsyncedLoss(disk);
        loss.run(() ->
        {
            try (MemoryFolder folder = MemoryFolder.open(disk.resolve("nodes/memory"), 0, LENGTH_BYTES);
                CheckpointStore store = folder.openCheckpoint())
            {
                StoreAccess.putRecord(store, 4096, 7, new byte[]{1});
                StoreAccess.flush(store);
                StoreAccess.putRecord(store, 4104, 8, new byte[]{2});
                StoreAccess.finish(store);
                loss.loseHost(left.resolve("1"));
                StoreAccess.putRecord(store, 4112, 9, new byte[]{3});
                StoreAccess.finish(store);
                loss.loseHost(left.resolve("2"));
                return null;
            }
        });
        assertThat(records("1")).containsExactly(1, 2, -1);
        assertThat(records("2")).containsExactly(1, 2, 3);
    }

    private int[] records(final String moment)
    {
        try (MemoryFolder folder = open(moment))
        {
            assertThat(folder.hasCheckpoint()).as("a finished checkpoint after power loss " + moment).isTrue();
            try (CheckpointStore store = folder.openCheckpoint())
            {
                return new int[]{
                    StoreAccess.record(store, 4096, 7), StoreAccess.record(store, 4104, 8),
                    StoreAccess.record(store, 4112, 9)};
            }
        }
    }
}
