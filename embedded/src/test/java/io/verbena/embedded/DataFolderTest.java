package io.verbena.embedded;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;

class DataFolderTest
{
    @TempDir
    private Path parent;

    /** Else another process takes the folder for one that a dead process has left behind, and deletes it. */
    @Test
    void shouldHoldItsLockWhileOthersAreOpenedAndClosedInTheSameProcess() throws IOException
    {
        final DataFolder first = DataFolder.openTemporary(parent);
        assertThat(isLocked(first)).isTrue();
        final DataFolder second = DataFolder.openTemporary(parent);
        assertThat(isLocked(first)).isTrue();
        assertThat(isLocked(second)).isTrue();
        second.close();
        DataFolder.openTemporary(parent).close();
        assertThat(isLocked(first)).isTrue();
        assertThat(second.path()).doesNotExist();
        first.close();
        assertThat(parent).isEmptyDirectory();
    }

    /** By the kernel's own list: a lock of this process on that file. */
    private static boolean isLocked(final DataFolder folder) throws IOException
    {
        final Object inode = Files.getAttribute(folder.path().resolve("owner.lock"), "unix:ino");
        final String ending = ":" + inode + " 0 EOF";
        return Files.readAllLines(Path.of("/proc/locks")).stream().anyMatch((line) ->
            line.endsWith(ending) && line.contains(" WRITE " + ProcessHandle.current().pid() + " "));
    }
}
