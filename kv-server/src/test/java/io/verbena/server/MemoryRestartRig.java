package io.verbena.server;

import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.KvTable;
import io.verbena.client.TableOptions;
import io.verbena.client.routing.RemoteKvClient;
import io.verbena.compute.ComputeNodeConfiguration;
import io.verbena.memory.MemoryFolder;
import io.verbena.meta.MetaServerConfiguration;
import io.verbena.protocol.bootstrap.BootstrapClient;
import io.verbena.protocol.bootstrap.BootstrapLocator;
import io.verbena.protocol.bootstrap.ClusterAddress;
import io.verbena.protocol.bootstrap.ClusterToken;
import io.verbena.protocol.bootstrap.MetaServerLocator;
import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.table.format.SuperblockDescriptor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import static org.assertj.core.api.Assertions.assertThat;

/** A cluster on the soft fabric whose memory node ends and starts again, on memory that a test changes meanwhile. */
abstract class MemoryRestartRig
{
    static final long STEP_NS = TimeUnit.SECONDS.toNanos(40);
    private static final Duration STEP = Duration.ofNanos(STEP_NS);
    static final byte[] KEY = {1, 2, 3};
    static final byte[] VALUE = {42, 43, 44, 45};

    @TempDir
    Path directory;
    final List<RoleRunner> runners = new ArrayList<>();
    Fabric fabric;
    ClusterToken token;
    MetaServerRole meta;
    RoleRunner memory;
    KvClient client;
    KvTable table;

    @BeforeEach
    void open()
    {
        final String name = "soft:" + directory.resolve("fabric");
        fabric = Fabrics.open(name);
        token = ClusterToken.readOrCreate(directory.resolve("token"));
        meta = MetaServerRole.open(
            fabric, name, new ClusterAddress("127.0.0.1", 0), token, directory.resolve("data"), true,
            metaServer());
        runners.add(start(meta));
        memory = start(openMemory());
        runners.add(start(ComputeNodeRole.open(
            fabric, locator(), null, computeNode(), ComputeNodeRole.DEFAULT_MAX_CLIENTS)));
        final Device device = fabric.openDevice("client");
        client = RemoteKvClient.open(device, locator(), new KvClientOptions().timeout(STEP), device::close);
        table = client.createTable("t", new TableOptions(1_000));
        table.withTimeout(STEP).put(KEY, VALUE);
    }

    /** What the meta server is like. */
    MetaServerConfiguration metaServer()
    {
        return new MetaServerConfiguration();
    }

    /** What the compute node is like. */
    ComputeNodeConfiguration computeNode()
    {
        return new ComputeNodeConfiguration();
    }

    @AfterEach
    void close()
    {
        client.close();
        memory.stop();
        assertThat(memory.awaitEnd(STEP_NS)).isTrue();
        runners.reversed().forEach((runner) ->
        {
            runner.stop();
            assertThat(runner.awaitEnd(STEP_NS)).isTrue();
        });
        fabric.close();
    }

    MetaServerLocator locator()
    {
        return new BootstrapLocator(
            meta.address(), token, BootstrapClient.ask(meta.address(), token, 10_000));
    }

    MemoryNodeRole openMemory()
    {
        return openMemory(false);
    }

    MemoryNodeRole openMemory(final boolean acceptsDamage)
    {
        return MemoryNodeRole.open(
            fabric, locator(), MemoryFolder.open(directory.resolve("memory"), 0, 16 << 20), 0, acceptsDamage);
    }

    static RoleRunner start(final Role role)
    {
        final RoleRunner runner = RoleRunner.start(role, false);
        assertThat(runner.awaitReady(STEP_NS)).as(runner.failure()).isTrue();
        return runner;
    }

    /** Nobody is told; connections and the device are gone, as when the process is killed. */
    void end()
    {
        memory.stop();
        assertThat(memory.awaitEnd(STEP_NS)).isTrue();
    }

    void change(final Consumer<MemorySegment> change) throws IOException
    {
        final Path file =
            directory.resolve("fabric").resolve(MemoryFolder.memoryName(folder()) + ".memory");
        try (Arena arena = Arena.ofConfined();
            FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE))
        {
            change.accept(channel.map(FileChannel.MapMode.READ_WRITE, 0, channel.size(), arena));
        }
    }

    /** @return incarnation since which all that was written to the memory is in it, as it says. */
    long completeSince() throws IOException
    {
        final long[] since = new long[1];
        change((region) -> since[0] = SuperblockDescriptor.complete(region));
        return since[0];
    }

    void loseMemory()
    {
        assertThat(fabric.discardNamed(MemoryFolder.memoryName(folder()))).isTrue();
    }

    /** Asks for a checkpoint, and waits for it. */
    Properties checkpoint()
    {
        final Properties before = MemoryFolder.lastCheckpoint(folder());
        MemoryFolder.requestCheckpoint(folder());
        Properties report = before;
        while (report.equals(before))
        {
            Thread.onSpinWait();
            report = MemoryFolder.lastCheckpoint(folder());
        }
        return report;
    }

    static void flip(final MemorySegment region, final long offset)
    {
        region.set(ValueLayout.JAVA_BYTE, offset, (byte)~region.get(ValueLayout.JAVA_BYTE, offset));
    }

    Path folder()
    {
        return directory.resolve("memory");
    }
}
