package io.verbena.test;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

/** What a host that lost its power has, of files that were synced or not. */
@Timeout(120)
class UnsyncedLossTest
{
    @TempDir
    private Path disk;
    @TempDir
    private Path left;

    @BeforeAll
    static void requireSeccomp()
    {
        assumeThat(SyncCalls.isSupported()).as("the kernel shows system calls by seccomp").isTrue();
    }

    private static void write(final Path file, final boolean isSynced, final boolean hasMetadata) throws IOException
    {
        try (FileChannel channel =
            FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE))
        {
            channel.write(ByteBuffer.wrap(file.getFileName().toString().getBytes()));
            if (isSynced)
            {
                channel.force(hasMetadata);
            }
        }
    }

    private static void syncFolder(final Path folder) throws IOException
    {
        try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ))
        {
            channel.force(true);
        }
    }

    @Test
    void shouldKeepBytesAndNamesThatWereSynced() throws Exception
    {
        final UnsyncedLoss loss = new UnsyncedLoss(disk);
        loss.run(() ->
        {
            Files.createDirectory(disk.resolve("folder"));
            write(disk.resolve("folder/one"), true, true);
            write(disk.resolve("folder/two"), true, false);
            write(disk.resolve("bytes-lost"), false, false);
            syncFolder(disk.resolve("folder"));
            syncFolder(disk);
            write(disk.resolve("name-lost"), true, true);
            Files.move(disk.resolve("folder/two"), disk.resolve("folder/renamed"));
            return null;
        });
        loss.loseHost(left);
        assertThat(left.resolve("folder/one")).hasContent("one");
        assertThat(left.resolve("folder/two")).hasContent("two");
        assertThat(left.resolve("folder/renamed")).doesNotExist();
        assertThat(left.resolve("name-lost")).doesNotExist();
        assertThat(left.resolve("bytes-lost")).isEmptyFile();
        assertThat(loss.synced()).hasSize(5);
    }

    @Test
    void shouldFailTheSyncsOfAPath() throws Exception
    {
        final UnsyncedLoss loss = new UnsyncedLoss(disk);
        loss.fail(disk.resolve("bad"));
        assertThatThrownBy(() -> loss.run(() ->
        {
            write(disk.resolve("good"), true, true);
            write(disk.resolve("bad"), true, true);
            return null;
        })).isInstanceOf(IOException.class).hasMessageContaining("Input/output error");
        assertThat(loss.synced()).containsExactly(disk.toRealPath().resolve("good"));
    }
}
