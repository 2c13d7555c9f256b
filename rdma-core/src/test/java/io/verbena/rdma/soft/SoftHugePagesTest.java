package io.verbena.rdma.soft;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Huge pages are given where the memory file system has them, and otherwise small ones, with the reason. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class SoftHugePagesTest
{
    private static final String MOUNT = "mount -t tmpfs -o size=64m,huge=";
    private static final Path SHARED_MEMORY = Path.of("/sys/kernel/mm/transparent_hugepage/shmem_enabled");

    private static String run(final String... command) throws IOException, InterruptedException
    {
        final Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        final String output = new String(process.getInputStream().readAllBytes());
        return process.waitFor() == 0 ? output : null;
    }

    private String onMount(final String huge, final Path directory) throws IOException, InterruptedException
    {
        final String mount = MOUNT + huge + " tmpfs " + directory;
        assumeTrue(
            run("unshare", "--map-root-user", "--mount", "sh", "-c", mount) != null,
            "no mounts in a user namespace of our own here (unshare --map-root-user --mount), or no huge pages");
        final String java = Path.of(System.getProperty("java.home"), "bin", "java") +
            " --enable-native-access=ALL-UNNAMED --add-exports=java.base/jdk.internal.misc=ALL-UNNAMED" +
            " -XX:+UseSerialGC -Xmx64m -XX:TieredStopAtLevel=1 -cp '" + System.getProperty("java.class.path") + "' " +
            HugePagesChild.class.getName() + " " + directory.resolve("fabric");
        return run("unshare", "--map-root-user", "--mount", "sh", "-c", mount + " && " + java);
    }

    @Test
    void shouldGiveHugePagesWhereMemoryFileSystemHasThem(@TempDir final Path directory) throws Exception
    {
        assumeTrue(
            Files.exists(SHARED_MEMORY) && !Files.readString(SHARED_MEMORY).contains("[deny]"),
            "this kernel gives no huge pages to memory file systems");
        assertThat(onMount("advise", directory)).contains("pages=2048 KiB sum=0 huge=true");
    }

    @Test
    void shouldFallBackAndSayWhyInOneLine(@TempDir final Path directory) throws Exception
    {
        assertThat(onMount("never", directory).lines().filter(line -> line.startsWith("pages=")).findFirst())
            .hasValueSatisfying(line -> assertThat(line)
                .contains("huge pages were asked for, but " + directory, "huge=advise", "sum=0 huge=false"));
    }

    /** Whatever the machine has. */
    @Test
    void shouldWorkWhenAskedForByName()
    {
        final Path directory = TestDirectories.next();
        try (Fabric fabric = new SoftFabricProvider().open(directory + ",huge-pages");
            Device device = fabric.openDevice("any");
            ProtectionDomain domain = device.allocateProtectionDomain();
            MemoryRegion region = domain.allocateRegistered((4L << 20) + 8, AccessFlags.ALL_REMOTE))
        {
            assertThat(device.memoryPages()).contains("KiB");
            assertThat(region.segment().get(JAVA_LONG, 4L << 20)).isZero();
            region.segment().set(JAVA_LONG, 4L << 20, 7);
            assertThat(region.segment().get(JAVA_LONG, 4L << 20)).isEqualTo(7);
        }
    }
}
