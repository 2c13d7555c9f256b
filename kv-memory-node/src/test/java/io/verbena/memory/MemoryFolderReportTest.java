package io.verbena.memory;

import io.verbena.memory.checkpoint.CheckpointStore;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The thread that makes checkpoints reports one while the node's thread writes down who the node has become, each in
 * the midst of the other, step by step.
 */
class MemoryFolderReportTest
{
    private static final long LENGTH_BYTES = 1 << 20;
    /** Bytes, their name, and the sync of names. */
    private static final int STEPS = 3;

    @TempDir
    private Path directory;
    private final Properties report = new Properties();

    /** Files of a folder in which another thread comes in between two steps. */
    private static final class ContendedFiles implements FolderFiles
    {
        private final FolderFiles disk;
        private int stepsLeft = Integer.MAX_VALUE;
        private Runnable other;

        private ContendedFiles(final FolderFiles disk)
        {
            this.disk = disk;
        }

        private void contend(final int behindStep, final Runnable otherThread)
        {
            stepsLeft = behindStep;
            other = otherThread;
        }

        private void step()
        {
            if (0 == --stepsLeft)
            {
                other.run();
            }
        }

        @Override
        public boolean exists(final String name)
        {
            return disk.exists(name);
        }

        @Override
        public byte[] read(final String name) throws IOException
        {
            return disk.read(name);
        }

        @Override
        public void write(final String name, final byte[] bytes) throws IOException
        {
            disk.write(name, bytes);
            step();
        }

        @Override
        public void rename(final String from, final String to) throws IOException
        {
            disk.rename(from, to);
            step();
        }

        @Override
        public void syncNames() throws IOException
        {
            disk.syncNames();
            step();
        }

        @Override
        public boolean delete(final String name) throws IOException
        {
            return disk.delete(name);
        }

        @Override
        public CheckpointStore openCheckpoint(final String name)
        {
            return disk.openCheckpoint(name);
        }

        @Override
        public Set<Integer> groupCheckpoints() throws IOException
        {
            return disk.groupCheckpoints();
        }

        @Override
        public void removeCheckpoint(final String name) throws IOException
        {
            disk.removeCheckpoint(name);
        }
    }

    @BeforeEach
    void fill()
    {
        report.setProperty("records", "12");
    }

    private static MemoryFolder open(final Path path, final FolderFiles files)
    {
        return MemoryFolder.open(path, files, null, 0, LENGTH_BYTES, 7);
    }

    private static void requireBoth(final Path path)
    {
        final MemoryFolder folder = open(path, new DiskFolderFiles(path));
        assertThat(folder.nodeId()).isEqualTo(3);
        assertThat(folder.incarnation()).isEqualTo(5);
        assertThat(folder.lastCheckpoint().getProperty("records")).isEqualTo("12");
        assertThat(path.toFile().list()).containsExactlyInAnyOrder("node.properties", "checkpoint.properties");
    }

    @Test
    void shouldReportACheckpointWhileTheNodeJoins() throws IOException
    {
        for (int step = 1; step <= STEPS; step++)
        {
            final Path path = Files.createDirectory(directory.resolve("joins-" + step));
            final ContendedFiles files = new ContendedFiles(new DiskFolderFiles(path));
            final MemoryFolder folder = open(path, files);
            files.contend(step, () -> folder.reportCheckpoint(report));
            folder.joined(3, 4, 5);
            requireBoth(path);
        }
    }

    @Test
    void shouldJoinWhileACheckpointIsReported() throws IOException
    {
        for (int step = 1; step <= STEPS; step++)
        {
            final Path path = Files.createDirectory(directory.resolve("reports-" + step));
            final ContendedFiles files = new ContendedFiles(new DiskFolderFiles(path));
            final MemoryFolder folder = open(path, files);
            files.contend(step, () -> folder.joined(3, 4, 5));
            folder.reportCheckpoint(report);
            requireBoth(path);
        }
    }

    @Test
    void shouldTakeAFolderWhoseProcessEndedWhileItReported() throws IOException
    {
        final Path path = Files.createDirectory(directory.resolve("ended"));
        Files.write(path.resolve("checkpoint.properties.unfinished"), new byte[3]);
        Files.write(path.resolve("node.properties.unfinished"), new byte[3]);
        try (MemoryFolder folder = MemoryFolder.open(path, 0, LENGTH_BYTES))
        {
            folder.reportCheckpoint(report);
            folder.joined(3, 4, 5);
        }
        try (MemoryFolder folder = MemoryFolder.open(path, 0, 0))
        {
            assertThat(folder.incarnation()).isEqualTo(5);
            assertThat(folder.lastCheckpoint().getProperty("records")).isEqualTo("12");
        }
    }
}
