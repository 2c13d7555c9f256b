package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.DirectoryLock;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.RdmaException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Files of a fabric: private, complete, and gone when their process is. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class FabricDirectoryTest
{
    private final Path directory = TestDirectories.next();

    private SoftFabric open()
    {
        return SoftFabric.open(new SoftFabricOptions().directory(directory));
    }

    private static List<Path> list(final Path directory) throws IOException
    {
        try (Stream<Path> files = Files.list(directory))
        {
            return files.toList();
        }
    }

    private static String mode(final Path path) throws IOException
    {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
    }

    @Test
    void shouldKeepFilesPrivateAndRemoveAllWhenClosed() throws IOException
    {
        try (SoftFabric fabric = open();
            Device device = fabric.openDevice("d");
            ProtectionDomain domain = device.allocateProtectionDomain();
            MemoryRegion region = domain.allocateRegistered(100_000, AccessFlags.ALL_REMOTE))
        {
            assertThat(fabric.directory()).isEqualTo(directory);
            assertThat(mode(directory)).isEqualTo("rwx------");
            final List<Path> files = list(directory);
            assertThat(files).hasSize(4);
            for (final Path file : files)
            {
                assertThat(mode(file)).isEqualTo("rw-------");
            }
            assertThat(region.lengthBytes()).isEqualTo(100_000);
            region.segment().set(ValueLayout.JAVA_BYTE, 99_999, (byte)1);
        }
        assertThat(directory).doesNotExist();
    }

    @Test
    void shouldUnlinkRegionWhenClosedWhileOthersStay() throws IOException
    {
        final SoftFabric other = open();
        try (SoftFabric fabric = open();
            Device device = fabric.openDevice("d");
            ProtectionDomain domain = device.allocateProtectionDomain();
            MemoryRegion stays = domain.allocateRegistered(4096, 0))
        {
            domain.allocateRegistered(4096, 0).close();
            other.close();
            assertThat(list(directory)).hasSize(4);
            assertThat(stays.segment().get(ValueLayout.JAVA_LONG, 0)).isZero();
        }
        assertThat(directory).doesNotExist();
    }

    @Test
    void shouldSayInOneLineWhatIsMissingAndLeaveNothingWhenMemoryIsShort() throws IOException
    {
        try (SoftFabric fabric = open();
            Device device = fabric.openDevice("d");
            ProtectionDomain domain = device.allocateProtectionDomain())
        {
            final long lengthBytes = 1L << 50;
            assertThatThrownBy(() -> domain.allocateRegistered(lengthBytes, 0))
                .isInstanceOf(RdmaException.class)
                .hasMessageContaining("need " + lengthBytes + " bytes")
                .hasMessageContaining("free ")
                .hasMessageContaining(directory.toString())
                .hasMessageContaining("--shm-size")
                .hasMessageNotContaining("\n");
            assertThat(list(directory)).hasSize(3);
        }
    }

    @Test
    void shouldRefuseDirectoryOfAnotherUser() throws IOException
    {
        Files.createDirectory(directory, PosixFilePermissions.asFileAttribute(
            PosixFilePermissions.fromString("rwx------")));
        try
        {
            final int userId = (int)Files.getAttribute(directory, "unix:uid");
            open().close();
            assertThatThrownBy(() -> DirectoryLock.checkPrivate(directory, userId + 1))
                .isInstanceOf(RdmaException.class).hasMessageContaining("belongs to another user: " + directory);
            // Only root can give a file away, and only root could open what then is another's.
            if (0 == userId)
            {
                Files.setAttribute(directory, "unix:uid", 12_345);
                assertThatThrownBy(this::open).isInstanceOf(RdmaException.class)
                    .hasMessageContaining("belongs to another user: " + directory + " is 12345 rwx------, and this " +
                        "process runs as user 0");
            }
        }
        finally
        {
            Files.deleteIfExists(directory);
        }
    }

    @Test
    void shouldRefuseDirectoryThatOthersCanOpen() throws IOException
    {
        Files.createDirectory(directory);
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
        try
        {
            assertThatThrownBy(this::open)
                .isInstanceOf(RdmaException.class).hasMessageContaining("chmod 700");
        }
        finally
        {
            Files.delete(directory);
        }
    }

    @Test
    void shouldKeepDirectoryThatWasThereBefore() throws IOException
    {
        Files.createDirectory(
            directory, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        open().close();
        assertThat(list(directory)).isEmpty();
        Files.delete(directory);
    }

    @Test
    void shouldNameRemedyWhenThereIsNoMemoryFileSystem()
    {
        assertThatThrownBy(() -> SoftFabric.open(new SoftFabricOptions().directory(Path.of("/no-such-place/fabric"))))
            .isInstanceOf(RdmaException.class).hasMessageContaining("/no-such-place").hasMessageContaining("tmpfs");
    }

    @Test
    void shouldRefuseToCloseFabricBeforeItsDevices()
    {
        try (SoftFabric fabric = open(); Device device = fabric.openDevice("d"))
        {
            assertThat(device.name()).isEqualTo("d");
            assertThatThrownBy(fabric::close).isInstanceOf(RdmaException.class);
        }
    }

    @Test
    void shouldRemoveWhatKilledProcessLeftAndSpareTheLiving() throws Exception
    {
        final Process killed = child("hold");
        final Process living = child("hold");
        try
        {
            awaitReady(killed);
            awaitReady(living);
            assertThat(list(directory)).hasSize(7);
            killed.destroyForcibly().waitFor();
            assertThat(list(directory)).hasSize(7);
            try (SoftFabric fabric = open())
            {
                assertThat(fabric.directory()).isEqualTo(directory);
                assertThat(list(directory)).hasSize(5);
            }
            assertThat(list(directory)).hasSize(4);
        }
        finally
        {
            killed.destroyForcibly();
            // SIGTERM: the shutdown hook removes the rest.
            living.destroy();
            living.waitFor();
        }
        assertThat(directory).doesNotExist();
    }

    @Test
    void shouldRemoveFilesWhenProcessExitsWithoutClosing() throws Exception
    {
        final Process exiting = child("exit");
        assertThat(exiting.waitFor()).isZero();
        assertThat(directory).doesNotExist();
    }

    /** Making the directory, its lock file and taking the lock are three steps: each may be another process's. */
    @Test
    void shouldRemoveDirectoryWhenProcessesComeAndGoTogether() throws Exception
    {
        final Process first = child("again");
        final Process second = child("again");
        assertThat(first.waitFor()).isZero();
        assertThat(second.waitFor()).isZero();
        assertThat(directory).doesNotExist();
    }

    private Process child(final String what) throws IOException
    {
        final List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(
            "--enable-native-access=ALL-UNNAMED", "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED",
            "-XX:+UseSerialGC", "-Xmx64m", "-cp", System.getProperty("java.class.path"),
            FabricHolder.class.getName(), directory.toString(), what));
        return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }

    private static void awaitReady(final Process process) throws IOException
    {
        assertThat(process.inputReader().readLine()).isEqualTo("ready");
    }
}
