package io.verbena.server;

import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.KvTable;
import io.verbena.client.RemoteKvClient;
import io.verbena.client.TableOptions;
import io.verbena.control.bootstrap.BootstrapClient;
import io.verbena.control.bootstrap.BootstrapLocator;
import io.verbena.control.bootstrap.ClusterAddress;
import io.verbena.control.bootstrap.ClusterToken;
import io.verbena.control.bootstrap.MetaServerLocator;
import io.verbena.memory.MemoryFolder;
import io.verbena.memory.MemoryNodeException;
import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.Superblock;
import io.verbena.table.format.SuperblockDescriptor;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** A memory node that finds its memory again: as it was left, with planted damage, and with what dead writers leave. */
@Timeout(180)
class MemoryRestartTest
{
    private static final long STEP_NS = TimeUnit.SECONDS.toNanos(40);
    private static final byte[] KEY = {1, 2, 3};
    private static final byte[] VALUE = {42, 43, 44, 45};

    @TempDir
    private Path directory;
    private final List<RoleRunner> runners = new ArrayList<>();
    private Fabric fabric;
    private ClusterToken token;
    private MetaServerRole meta;
    private RoleRunner memory;
    private KvClient client;
    private KvTable table;

    @BeforeEach
    void open()
    {
        final String name = "soft:" + directory.resolve("fabric");
        fabric = Fabrics.open(name);
        token = ClusterToken.readOrCreate(directory.resolve("token"));
        meta = MetaServerRole.open(
            fabric, name, new ClusterAddress("127.0.0.1", 0), token, directory.resolve("data"), true);
        runners.add(start(meta));
        memory = start(openMemory());
        runners.add(start(ComputeNodeRole.open(fabric, locator())));
        final Device device = fabric.openDevice("client");
        client = RemoteKvClient.open(device, locator(), new KvClientOptions().timeoutNs(STEP_NS), device::close);
        table = client.createTable("t", new TableOptions(1_000));
        table.put(KEY, VALUE, STEP_NS);
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

    private MetaServerLocator locator()
    {
        return new BootstrapLocator(
            meta.address(), token, BootstrapClient.ask(meta.address(), token, 10_000));
    }

    private MemoryNodeRole openMemory()
    {
        return MemoryNodeRole.open(fabric, locator(), MemoryFolder.open(directory.resolve("memory"), 0, 16 << 20));
    }

    private static RoleRunner start(final Role role)
    {
        final RoleRunner runner = RoleRunner.start(role);
        assertThat(runner.awaitReady(STEP_NS)).as(runner.failure()).isTrue();
        return runner;
    }

    /** Nobody is told; connections and the device are gone, as when the process is killed. */
    private void end()
    {
        memory.stop();
        assertThat(memory.awaitEnd(STEP_NS)).isTrue();
    }

    private void change(final Consumer<MemorySegment> change) throws IOException
    {
        final Path file =
            directory.resolve("fabric").resolve(MemoryFolder.memoryName(directory.resolve("memory")) + ".memory");
        try (Arena arena = Arena.ofConfined();
            FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE))
        {
            change.accept(channel.map(FileChannel.MapMode.READ_WRITE, 0, channel.size(), arena));
        }
    }

    private static void flip(final MemorySegment region, final long offset)
    {
        region.set(ValueLayout.JAVA_BYTE, offset, (byte)~region.get(ValueLayout.JAVA_BYTE, offset));
    }

    /** Where the slot of the only record is. */
    private static long onlySlot(final MemorySegment region)
    {
        final Superblock superblock = SuperblockDescriptor.read(region);
        for (int chunk = 0; chunk < superblock.chunkCount(); chunk++)
        {
            final long header = superblock.chunkHeadersOffset() + (long)chunk * ChunkDescriptor.HEADER_BYTES;
            final long start = superblock.chunksOffset() + (long)chunk * superblock.chunkLengthBytes();
            if (ChunkDescriptor.STATE_INDEX == region.get(ValueLayout.JAVA_BYTE, header + ChunkDescriptor.STATE_OFFSET))
            {
                for (long at = start + SubtableDescriptor.GROUPS_OFFSET;
                    at <= start + superblock.chunkLengthBytes() - BucketDescriptor.BUCKET_BYTES;
                    at += Long.BYTES)
                {
                    final boolean isHeader = 0 == at % BucketDescriptor.BUCKET_BYTES;
                    if (!isHeader && SlotWord.isCommitted(region.get(ValueLayout.JAVA_LONG, at)))
                    {
                        return at;
                    }
                }
            }
        }
        throw new AssertionError("no record");
    }

    private static void flipInOnlyBlock(final MemorySegment region)
    {
        flip(region, SlotWord.blockOffset(region.get(ValueLayout.JAVA_LONG, onlySlot(region))) + 40);
    }

    @Test
    void shouldServeWhatWasThere()
    {
        end();
        memory = start(openMemory());
        assertThat(table.get(KEY, STEP_NS).orElseThrow().value()).isEqualTo(VALUE);
        table.put(KEY, KEY, STEP_NS);
        end();
        memory = start(openMemory());
        assertThat(table.get(KEY, STEP_NS).orElseThrow().value()).isEqualTo(KEY);
    }

    @Test
    void shouldBeLetInAtOnceThoughTheLifeBeforeHasALease()
    {
        final RoleRunner first = memory;
        end();
        final long beganNs = System.nanoTime();
        memory = start(openMemory());
        assertThat(first.isReady()).isFalse();
        assertThat(System.nanoTime() - beganNs).as("less than a lease").isLessThan(TimeUnit.SECONDS.toNanos(5));
    }

    @Test
    void shouldRefuseADamagedRecord() throws IOException
    {
        end();
        change(MemoryRestartTest::flipInOnlyBlock);
        final RoleRunner refused = RoleRunner.start(openMemory());
        assertThat(refused.awaitEnd(STEP_NS)).isTrue();
        assertThat(refused.failure()).contains("is damaged", "its block is damaged or was rewritten").hasLineCount(1);
        change(MemoryRestartTest::flipInOnlyBlock);
        memory = start(openMemory());
        assertThat(table.get(KEY, STEP_NS)).isPresent();
    }

    @Test
    void shouldRefuseAWordThatNamesNoMemory() throws IOException
    {
        end();
        change((region) ->
        {
            final long slot = onlySlot(region);
            final long word = region.get(ValueLayout.JAVA_LONG, slot);
            region.set(ValueLayout.JAVA_LONG, slot, word | 0x7FFF_0000L);
        });
        memory = RoleRunner.start(openMemory());
        assertThat(memory.awaitEnd(STEP_NS)).isTrue();
        assertThat(memory.failure()).contains("names memory outside of a chunk").hasLineCount(1);
    }

    @Test
    void shouldGoOnWithWhatADeadWriterHasLeft() throws IOException
    {
        end();
        change((region) ->
        {
            final long slot = onlySlot(region);
            final long word = region.get(ValueLayout.JAVA_LONG, slot);
            region.set(ValueLayout.JAVA_LONG, slot, SlotWord.withKind(word, SlotWord.KIND_TENTATIVE));
            flip(region, SlotWord.blockOffset(word) + 40);
        });
        memory = start(openMemory());
        assertThat(table.get(KEY, STEP_NS)).as("an insert that was not decided").isEmpty();
        table.put(KEY, VALUE, STEP_NS);
        assertThat(table.get(KEY, STEP_NS).orElseThrow().value()).isEqualTo(VALUE);
    }

    @Test
    void shouldNotTakeItsFolderForThatOfANewNodeWhenItsMemoryIsGone()
    {
        end();
        fabric.discardNamed(MemoryFolder.memoryName(directory.resolve("memory")));
        assertThatThrownBy(this::openMemory).isInstanceOf(MemoryNodeException.class)
            .hasMessageContaining("memory of node 1 is gone").hasMessageContaining("empty data folder");
        fabric.discardNamed(MemoryFolder.memoryName(directory.resolve("memory")));
    }
}
