package io.verbena.rdma.ibverbs;

import io.verbena.rdma.ibverbs.library.DeviceFile;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;

/** Needs no device. That a file may not be opened is tried in the guest, as root may open every one here. */
class DeviceFileTest
{
    @TempDir
    private Path folder;
    private Path names;
    private Path files;

    @BeforeEach
    void setUp() throws IOException
    {
        names = Files.createDirectories(folder.resolve("class"));
        files = Files.createDirectories(folder.resolve("dev"));
        Files.writeString(names.resolve("abi_version"), "6\n");
        Files.writeString(Files.createDirectory(names.resolve("uverbs0")).resolve("ibdev"), "mlx5_0\n");
        Files.writeString(Files.createDirectory(names.resolve("uverbs1")).resolve("ibdev"), "rxe0\n");
    }

    @Test
    void shouldTellWhichFileIsMissing() throws IOException
    {
        Files.createFile(files.resolve("uverbs0"));
        assertThat(DeviceFile.problem("rxe0", names, files))
            .isEqualTo("there is no " + files.resolve("uverbs1") + ": a container has to be given it (--device=" +
                files.resolve("uverbs1") + "), elsewhere udev makes it");
        assertThat(DeviceFile.problem("mlx5_0", names, files)).isNull();
    }

    @Test
    void shouldLeaveToTheLibraryWhatItDoesNotKnow()
    {
        assertThat(DeviceFile.problem("rxe1", names, files)).isNull();
        assertThat(DeviceFile.problem("rxe0", folder.resolve("none"), files)).isNull();
    }
}
