package io.verbena.protocol.bootstrap;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class FileHoldTest
{
    @TempDir
    private Path folder;

    @Test
    void shouldLockFileOnceByWhateverName() throws IOException
    {
        final Path path = folder.resolve("lock");
        assertThatThrownBy(() -> FileHold.tryLock(path)).isInstanceOf(NoSuchFileException.class);
        assertThat(FileHold.isHeldHere(path)).isFalse();
        final FileHold hold = FileHold.tryCreate(path);
        final Path moved = Files.move(path, folder.resolve("moved"));
        final Path link = Files.createLink(folder.resolve("link"), moved);
        for (final Path name : new Path[]{moved, link})
        {
            assertThat(FileHold.tryLock(name)).isNull();
            assertThat(FileHold.tryCreate(name)).isNull();
            assertThat(FileHold.isHeldHere(name)).isTrue();
        }
        // Another file of the same name.
        FileHold.tryCreate(path).close();
        assertThat(hold.isOpen()).isTrue();
        hold.close();
        hold.close();
        assertThat(hold.isOpen()).isFalse();
        assertThat(FileHold.isHeldHere(link)).isFalse();
        FileHold.tryLock(link).close();
    }

    @Test
    void shouldReleaseWhatCouldNotBeWritten() throws IOException
    {
        final Path path = folder.resolve("lock");
        final FileHold hold = FileHold.tryCreate(path);
        Thread.currentThread().interrupt();
        try
        {
            assertThatThrownBy(() -> hold.write("17")).isInstanceOf(IOException.class);
        }
        finally
        {
            assertThat(Thread.interrupted()).isTrue();
        }
        assertThat(FileHold.isHeldHere(path)).isFalse();
        try (FileHold again = FileHold.tryLock(path))
        {
            hold.close();
            assertThat(FileHold.isHeldHere(path)).as("it is another's now").isTrue();
            again.write("18");
        }
        assertThat(path).hasContent("18");
    }

    @Test
    void shouldReplaceContent() throws IOException
    {
        final Path path = Files.writeString(folder.resolve("lock"), "much longer");
        try (FileHold hold = FileHold.tryLock(path))
        {
            hold.write("17");
            assertThat(Files.size(path)).isEqualTo(2);
        }
        assertThat(path).hasContent("17");
    }
}
