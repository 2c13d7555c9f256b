package io.verbena.memory;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class MemoryFolderLockTest
{
    private static final long LENGTH = 1 << 20;

    @TempDir
    private Path parent;

    /** Else another process could open the folder, too. */
    @Test
    void shouldStayLockedWhenTheSameProcessIsRefusedIt() throws IOException
    {
        final Path path = parent.resolve("node");
        final Path alias = Files.createSymbolicLink(parent.resolve("alias"), path);
        final MemoryFolder folder = MemoryFolder.open(path, 0, LENGTH);
        assertThat(isLocked(path)).isTrue();
        for (final Path name : new Path[]{path, alias})
        {
            assertThatThrownBy(() -> MemoryFolder.open(name, 0, LENGTH)).isInstanceOf(MemoryNodeException.class)
                .hasMessageContaining("is in use by another memory node");
            assertThat(isLocked(path)).isTrue();
        }
        folder.close();
        folder.close();
        assertThat(isLocked(path)).isFalse();
        MemoryFolder.open(path, 0, LENGTH).close();
    }

    /** By the kernel's own list: a lock of this process on that file. */
    private static boolean isLocked(final Path folder) throws IOException
    {
        final String ending = ":" + Files.getAttribute(folder.resolve("node.lock"), "unix:ino") + " 0 EOF";
        return Files.readAllLines(Path.of("/proc/locks")).stream().anyMatch((line) ->
            line.endsWith(ending) && line.contains(" WRITE " + ProcessHandle.current().pid() + " "));
    }
}
