package io.verbena.meta.store;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class MetaDataFolderTest
{
    @TempDir
    private Path path;

    /** Else another process could open the folder, too. */
    @Test
    void shouldStayLockedWhenTheSameProcessIsRefusedIt() throws IOException
    {
        final MetaDataFolder folder = MetaDataFolder.lock(path);
        final String pid = Long.toString(ProcessHandle.current().pid());
        assertThat(isLocked()).isTrue();
        for (int i = 0; i < 2; i++)
        {
            assertThatThrownBy(() -> MetaDataFolder.lock(path)).isInstanceOf(MetaStoreException.class)
                .hasMessageContaining("is in use by another meta server (process " + pid + ")");
            assertThat(isLocked()).isTrue();
        }
        folder.close();
        folder.close();
        assertThat(isLocked()).isFalse();
        assertThat(path.resolve("meta.lock")).hasContent(pid);
        MetaDataFolder.lock(path).close();
    }

    /** By the kernel's own list: a lock of this process on that file. */
    private boolean isLocked() throws IOException
    {
        final String ending = ":" + Files.getAttribute(path.resolve("meta.lock"), "unix:ino") + " 0 EOF";
        return Files.readAllLines(Path.of("/proc/locks")).stream().anyMatch((line) ->
            line.endsWith(ending) && line.contains(" WRITE " + ProcessHandle.current().pid() + " "));
    }
}
