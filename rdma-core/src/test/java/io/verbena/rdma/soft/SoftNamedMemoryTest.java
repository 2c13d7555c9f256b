package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.AccessMark;
import io.verbena.rdma.soft.shared.DeviceFile;
import io.verbena.rdma.soft.shared.WatchPace;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Endpoint;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.RdmaException;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Memory that outlives its process: what is there again, for whom, and who is cut off before. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class SoftNamedMemoryTest
{
    private static final String NAME = "named";
    private static final long BYTES = FabricHolder.NAMED_BYTES;

    private final Path directory = TestDirectories.next();
    private final SoftFabric fabric = SoftFabric.open(new SoftFabricOptions().directory(directory)
        .fenceTimeoutNs(TimeUnit.MILLISECONDS.toNanos(300)));
    private final Device device = fabric.openDevice("parent");
    private final ProtectionDomain domain = device.allocateProtectionDomain();
    private Process child;

    @AfterEach
    void leaveNothing() throws InterruptedException
    {
        if (child != null)
        {
            child.destroyForcibly().waitFor();
        }
        domain.close();
        device.close();
        fabric.discardNamed(NAME);
        fabric.close();
        assertThat(directory).doesNotExist();
    }

    private MemoryRegion allocate(final long lengthBytes)
    {
        return domain.allocateNamed(NAME, lengthBytes, AccessFlags.ALL_REMOTE);
    }

    /** Starts a process that fills the memory with sevens, and tells the device it did that under. */
    private long startHolder() throws IOException
    {
        child = holder().start();
        return Long.parseUnsignedLong(child.inputReader().readLine(), 16);
    }

    private ProcessBuilder holder()
    {
        return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED", "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED",
            "-XX:+UseSerialGC", "-Xmx64m", "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"),
            FabricHolder.class.getName(), directory.toString(), NAME)
            .redirectError(ProcessBuilder.Redirect.INHERIT);
    }

    private static long firstWord(final MemoryRegion region)
    {
        return region.segment().get(ValueLayout.JAVA_LONG, 0);
    }

    @Test
    void shouldFindTheBytesOfAnEarlierRegistration()
    {
        try (MemoryRegion region = allocate(BYTES))
        {
            assertThat(firstWord(region)).isZero();
            region.segment().set(ValueLayout.JAVA_LONG, 0, 42);
            assertThatThrownBy(() -> allocate(BYTES)).isInstanceOf(RdmaException.class).hasMessageContaining("is held");
            assertThatThrownBy(() -> fabric.discardNamed(NAME)).isInstanceOf(RdmaException.class);
        }
        try (MemoryRegion region = allocate(BYTES))
        {
            assertThat(firstWord(region)).isEqualTo(42);
        }
        assertThatThrownBy(() -> allocate(2 * BYTES)).isInstanceOf(RdmaException.class)
            .hasMessageContaining("with " + BYTES + " bytes, asked for are " + 2 * BYTES);
        assertThat(fabric.hasNamed(NAME)).isTrue();
        assertThat(fabric.discardNamed(NAME)).isTrue();
        assertThat(fabric.hasNamed(NAME)).isFalse();
        assertThat(fabric.discardNamed(NAME)).isFalse();
        try (MemoryRegion region = allocate(BYTES))
        {
            assertThat(firstWord(region)).isZero();
        }
        assertThatThrownBy(() -> domain.allocateNamed("../x", BYTES, AccessFlags.ALL_REMOTE))
            .isInstanceOf(RdmaException.class).hasMessageContaining("not a name");
    }

    @Test
    void shouldRegisterTheMemoryOnceMore()
    {
        try (MemoryRegion region = allocate(BYTES))
        {
            try (MemoryRegion again = domain.register(region.segment(), AccessFlags.ALL_REMOTE))
            {
                assertThat(again.remoteKey()).isNotEqualTo(region.remoteKey());
                again.segment().set(ValueLayout.JAVA_LONG, 0, 43);
            }
            assertThat(firstWord(region)).isEqualTo(43);
        }
        try (MemoryRegion region = allocate(BYTES))
        {
            assertThat(firstWord(region)).isEqualTo(43);
        }
    }

    /** Closing any channel of a file drops the locks that this process has on it. */
    @Test
    void shouldStillHoldTheMemoryAfterRefusingIt() throws Exception
    {
        try (MemoryRegion region = allocate(BYTES))
        {
            assertThatThrownBy(() -> allocate(BYTES)).isInstanceOf(RdmaException.class)
                .hasMessageContaining("held by this process");
            assertThatThrownBy(() -> fabric.discardNamed(NAME)).isInstanceOf(RdmaException.class);
            child = holder().redirectError(ProcessBuilder.Redirect.PIPE).start();
            assertThat(child.inputReader().readLine()).as("a device it holds the memory under").isNull();
            assertThat(child.errorReader().readAllAsString()).contains("held by another process that lives");
            assertThat(firstWord(region)).isZero();
        }
    }

    @Test
    void shouldGiveTheMemoryOfAKilledProcessToTheNext() throws Exception
    {
        startHolder();
        assertThatThrownBy(() -> allocate(BYTES)).isInstanceOf(RdmaException.class)
            .hasMessageContaining("another process that lives");
        child.destroyForcibly().waitFor();
        SoftFabric.open(new SoftFabricOptions().directory(directory)).close();
        try (MemoryRegion region = allocate(BYTES))
        {
            assertThat(firstWord(region)).as("removing what the dead left did not eat it")
                .isEqualTo(0x0707_0707_0707_0707L);
        }
    }

    @Test
    void shouldWaitForRequestersOfTheDeadHolder() throws Exception
    {
        final long before = startHolder();
        final Endpoint requester = new Endpoint(device);
        final AccessMark mark =
            new AccessMark(
                ((SoftDevice)device).host().file().queuePairEntry(requester.queuePair.number()), new WatchPace());
        mark.target(before);
        mark.enter();
        child.destroyForcibly().waitFor();
        assertThatThrownBy(() -> allocate(BYTES)).isInstanceOf(RdmaException.class)
            .hasMessageContaining("does not leave the memory");
        mark.leave();
        mark.target(before + 1);
        mark.enter();
        final MemoryRegion region = allocate(BYTES);
        mark.leave();
        region.close();
        requester.close();
    }

    @Test
    void shouldMarkDevicesOfTheDeadBeforeTheirFilesGo() throws Exception
    {
        final long before = startHolder();
        final Path file = fabric.files().deviceFile((int)(before >>> Integer.SIZE), (int)before);
        try (DeviceFile mapped = DeviceFile.attach(file))
        {
            child.destroyForcibly().waitFor();
            SoftFabric.open(new SoftFabricOptions().directory(directory)).close();
            assertThat(Files.exists(file)).isFalse();
            assertThat(mapped.isOpen()).as("who has it mapped, and was stopped meanwhile, must see it").isFalse();
        }
    }
}
