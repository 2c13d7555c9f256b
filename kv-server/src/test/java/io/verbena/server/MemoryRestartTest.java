package io.verbena.server;

import io.verbena.client.KvCorruptException;
import io.verbena.client.KvEntry;
import io.verbena.client.KvTable;
import io.verbena.client.TableOptions;
import io.verbena.client.routing.RemoteKvClient;
import io.verbena.memory.MemoryFolder;
import io.verbena.memory.MemoryNodeException;
import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.Superblock;
import io.verbena.table.format.SuperblockDescriptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * A memory node that finds its memory again, as it was left, with planted damage, and with what dead writers leave; and
 * one that restores a checkpoint.
 */
@Timeout(180)
class MemoryRestartTest extends MemoryRestartRig
{
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

    private static long onlyBlock(final MemorySegment region)
    {
        return SlotWord.blockOffset(region.get(ValueLayout.JAVA_LONG, onlySlot(region)));
    }

    private static void flipInOnlyBlock(final MemorySegment region)
    {
        flip(region, onlyBlock(region) + 40);
    }

    @Test
    void shouldServeWhatWasThere() throws IOException
    {
        final long since = completeSince();
        end();
        final MemoryNodeRole role = openMemory();
        memory = start(role);
        assertThat(completeSince()).as("all of it is there").isEqualTo(since).isLessThan(incarnation(role));
        assertThat(table.get(KEY).orElseThrow().value()).isEqualTo(VALUE);
        table.put(KEY, KEY);
        end();
        memory = start(openMemory());
        assertThat(table.get(KEY).orElseThrow().value()).isEqualTo(KEY);
    }

    private static long incarnation(final MemoryNodeRole role)
    {
        return ((Number)role.health().get("incarnation")).longValue();
    }

    @Test
    void shouldRefuseADamagedRecord() throws IOException
    {
        end();
        change(MemoryRestartTest::flipInOnlyBlock);
        final RoleRunner refused = RoleRunner.start(openMemory(), false);
        assertThat(refused.awaitEnd(STEP_NS)).isTrue();
        assertThat(refused.failure()).hasLineCount(1).contains(
            "is damaged: 1 damaged records", "its block is damaged or was rewritten", "--accept-damage");
        change(MemoryRestartTest::flipInOnlyBlock);
        memory = start(openMemory());
        assertThat(table.get(KEY)).isPresent();
    }

    @Test
    void shouldServeAllOthersBesideADamagedRecordThatIsAccepted() throws IOException
    {
        end();
        change(MemoryRestartTest::flipInOnlyBlock);
        final MemoryNodeRole role = openMemory(true);
        memory = start(role);
        assertThat(role.health()).containsEntry("damaged_records", 1L);
        assertThat(completeSince()).as("not all of it is there").isEqualTo(incarnation(role));
        assertEachOperationFailsAsCorrupt();
        table.put(VALUE, KEY);
        assertThat(table.get(VALUE).orElseThrow().value()).isEqualTo(KEY);
        end();

        memory = RoleRunner.start(openMemory(), false);
        assertThat(memory.awaitEnd(STEP_NS)).isTrue();
        assertThat(memory.failure()).as("each time anew").contains("1 damaged records");
        memory = start(openMemory(true));
        assertThat(table.get(VALUE).orElseThrow().value()).isEqualTo(KEY);
        assertEachOperationFailsAsCorrupt();
        end();
        change(MemoryRestartTest::flipInOnlyBlock);
    }

    private void assertEachOperationFailsAsCorrupt()
    {
        final long beganNs = System.nanoTime();
        assertThatThrownBy(() -> table.get(KEY)).isInstanceOf(KvCorruptException.class);
        assertThatThrownBy(() -> table.put(KEY, KEY)).isInstanceOf(KvCorruptException.class);
        assertThatThrownBy(() -> table.putIfAbsent(KEY, KEY)).isInstanceOf(KvCorruptException.class);
        assertThatThrownBy(() -> table.delete(KEY)).isInstanceOf(KvCorruptException.class);
        assertThat(System.nanoTime() - beganNs).as("before their deadlines").isLessThan(STEP_NS / 2);
    }

    /** Where a lookup of the key might not meet the block any more, and would say that the key is absent. */
    @ParameterizedTest
    @ValueSource(ints = {BlockDescriptor.KEY_HASH_OFFSET, BlockDescriptor.KEY_HASH_OFFSET + 7})
    void shouldNotAcceptADamagedRecordWhoseHashIsDamaged(final int at) throws IOException
    {
        end();
        change((region) -> flip(region, onlyBlock(region) + at));
        memory = RoleRunner.start(openMemory(true), false);
        assertThat(memory.awaitEnd(STEP_NS)).isTrue();
        assertThat(memory.failure()).contains("1 violations", "not for this").hasLineCount(1);
    }

    @Test
    void shouldNotAcceptASlotWordWithAnotherFingerprint() throws IOException
    {
        end();
        change((region) -> flip(region, onlySlot(region) + 6));
        memory = RoleRunner.start(openMemory(true), false);
        assertThat(memory.awaitEnd(STEP_NS)).isTrue();
        assertThat(memory.failure()).contains("1 violations", "not for this").hasLineCount(1);
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
        memory = RoleRunner.start(openMemory(), false);
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
        assertThat(table.get(KEY)).as("an insert that was not decided").isEmpty();
        table.put(KEY, VALUE);
        assertThat(table.get(KEY).orElseThrow().value()).isEqualTo(VALUE);
    }

    @Test
    void shouldRestoreTheLastCheckpointWhenItsMemoryIsGone() throws IOException
    {
        final KvTable other = client.createTable("other", new TableOptions(1_000));
        for (int i = 0; i < 300; i++)
        {
            other.put(new byte[]{(byte)i, (byte)(i >> 8)}, new byte[i * 50]);
        }
        assertThat(checkpoint()).containsEntry("records", "301").containsEntry("changed_records", "301");
        other.put(KEY, VALUE);
        other.delete(new byte[]{7, 0});
        final Properties second = checkpoint();
        assertThat(second).containsEntry("records", "301").containsEntry("changed_records", "2");
        assertThat(Long.parseLong(second.getProperty("written_bytes"))).isLessThan(3 * 8192);
        client.dropTable("t");
        client.createTable("t", new TableOptions(1_000));
        end();
        loseMemory();

        final MemoryNodeRole role = openMemory();
        memory = start(role);
        assertThat(completeSince()).as("the checkpoint is older").isEqualTo(incarnation(role));
        assertThat(client.table("t").get(KEY)).as("dropped").isEmpty();
        assertThat(other.get(KEY).orElseThrow().value()).isEqualTo(VALUE);
        assertThat(other.get(new byte[]{7, 0})).isEmpty();
        for (int i = 8; i < 300; i++)
        {
            final byte[] key = {(byte)i, (byte)(i >> 8)};
            assertThat(other.get(key).orElseThrow().value()).hasSize(i * 50);
            other.put(key, key);
        }
        assertThat(checkpoint()).containsEntry("records", "300");
    }

    @Test
    void shouldRefuseACheckpointThatCannotBeReadAndGoOnAfterOneThatCannotBeWritten() throws IOException
    {
        Files.createDirectories(folder());
        Files.write(folder().resolve("checkpoint"), new byte[1]);
        assertThat(checkpoint().getProperty("failure")).contains("does not open", folder().toString()).hasLineCount(1);
        table.put(KEY, KEY);
        Files.delete(folder().resolve("checkpoint"));
        assertThat(checkpoint()).containsEntry("records", "1").doesNotContainKey("failure");
    }

    @Test
    void shouldSaveAllOthersWhenASlotNamesNoWholeRecord() throws IOException
    {
        change(MemoryRestartTest::flipInOnlyBlock);
        assertThat(checkpoint()).containsEntry("records", "0").containsEntry("damaged_records", "1");
        change(MemoryRestartTest::flipInOnlyBlock);
        assertThat(checkpoint()).containsEntry("records", "1").containsEntry("damaged_records", "0");
        change(MemoryRestartTest::flipInOnlyBlock);
        assertThat(checkpoint()).containsEntry("records", "1").containsEntry("damaged_records", "1");
        end();
        loseMemory();

        memory = start(openMemory());
        assertThat(table.get(KEY).orElseThrow().value()).as("as it was when it was whole").isEqualTo(VALUE);
    }

    /** What one thread does to its keys, of which each changes rarely during a checkpoint; each fifth time deletes. */
    private static final class Worker implements Runnable
    {
        private static final int KEYS = 150;
        private final KvTable table;
        private final byte id;
        private final AtomicIntegerArray attempted = new AtomicIntegerArray(KEYS);
        private final AtomicIntegerArray acknowledged = new AtomicIntegerArray(KEYS);
        private volatile boolean isStopped;
        private volatile RuntimeException failure;

        Worker(final KvTable table, final int id)
        {
            this.table = table;
            this.id = (byte)id;
        }

        byte[] key(final int key)
        {
            return new byte[]{id, (byte)key, (byte)(key >> 8)};
        }

        @Override
        public void run()
        {
            try
            {
                for (int i = 0; !isStopped; i++)
                {
                    change(i % KEYS);
                }
            }
            catch (final RuntimeException ex)
            {
                failure = ex;
            }
        }

        private void change(final int key)
        {
            final int number = attempted.incrementAndGet(key);
            if (0 == number % 5)
            {
                table.delete(key(key));
            }
            else
            {
                table.put(key(key), ByteBuffer.allocate(4 + number % 7 * 60).putInt(0, number).array());
            }
            acknowledged.set(key, number);
        }

        boolean hasWorked()
        {
            assertThat(failure).isNull();
            return acknowledged.get(KEYS - 1) >= 6;
        }

        static int[] copy(final AtomicIntegerArray numbers)
        {
            return IntStream.range(0, KEYS).map(numbers::get).toArray();
        }

        void check(final int[] least, final int[] most)
        {
            for (int key = 0; key < KEYS; key++)
            {
                final Optional<KvEntry> found = table.get(key(key));
                if (found.isPresent())
                {
                    assertThat(ByteBuffer.wrap(found.get().value()).getInt(0)).as("key %d", key)
                        .isBetween(least[key], most[key]);
                }
                else
                {
                    assertThat(IntStream.rangeClosed(least[key], most[key]).anyMatch((number) -> 0 == number % 5))
                        .as("key %d was absent at a moment from number %d to %d", key, least[key], most[key]).isTrue();
                }
            }
        }
    }

    @Test
    void shouldHoldEachKeyAsItWasAtAMomentOfTheCheckpointWhileWritersGoOn() throws Exception
    {
        final KvTable many = client.createTable("many", new TableOptions(10_000));
        final List<Worker> workers = List.of(new Worker(many, 1), new Worker(many, 2));
        final List<Thread> threads = workers.stream().map(Thread::new).toList();
        threads.forEach(Thread::start);
        while (!workers.stream().allMatch(Worker::hasWorked))
        {
            Thread.yield();
        }
        checkpoint();
        final List<int[]> least = workers.stream().map((worker) -> Worker.copy(worker.acknowledged)).toList();
        assertThat(checkpoint()).doesNotContainKey("failure");
        final List<int[]> most = workers.stream().map((worker) -> Worker.copy(worker.attempted)).toList();
        final Path saved = directory.resolve("saved");
        copy(folder().resolve("checkpoint"), saved);
        workers.forEach((worker) -> worker.isStopped = true);
        for (final Thread thread : threads)
        {
            thread.join();
        }
        assertThat(workers).allMatch(Worker::hasWorked);
        end();
        loseMemory();
        delete(folder().resolve("checkpoint"));
        copy(saved, folder().resolve("checkpoint"));

        memory = start(openMemory());
        for (int i = 0; i < workers.size(); i++)
        {
            workers.get(i).check(least.get(i), most.get(i));
        }
    }

    private static void copy(final Path from, final Path to) throws IOException
    {
        Files.createDirectory(to);
        try (Stream<Path> files = Files.list(from))
        {
            for (final Path file : files.toList())
            {
                Files.copy(file, to.resolve(file.getFileName()));
            }
        }
    }

    private static void delete(final Path path) throws IOException
    {
        try (Stream<Path> files = Files.list(path))
        {
            for (final Path file : files.toList())
            {
                Files.delete(file);
            }
        }
        Files.delete(path);
    }

    @Test
    void shouldComeUpWhenItsFirstProcessEndedBeforeItWroteDownWhoItIs() throws IOException
    {
        end();
        final Path second = directory.resolve("second");
        MemoryFolder.open(second, 0, 16 << 20).close();
        final Path inTheWay = Files.createDirectory(second.resolve("node.properties.unfinished"));
        final RoleRunner first =
            RoleRunner.start(MemoryNodeRole.open(fabric, locator(), MemoryFolder.open(second, 0, 0), 0, false), false);
        assertThat(first.awaitEnd(STEP_NS)).isTrue();
        assertThat(first.failure()).contains("cannot be read and written").hasLineCount(1);
        assertThat(directory.resolve("fabric").resolve(MemoryFolder.memoryName(second) + ".memory"))
            .as("its superblock was written before").exists();
        Files.delete(inTheWay);
        memory = start(MemoryNodeRole.open(fabric, locator(), MemoryFolder.open(second, 0, 0), 0, false));
    }

    @Test
    void shouldRestoreIntoMoreMemoryThanThereWas()
    {
        checkpoint();
        end();
        assertThatThrownBy(() -> MemoryNodeRole.open(
            fabric, locator(), MemoryFolder.open(folder(), 32 << 20, 0), 0, false))
            .as("as long as it is there").isInstanceOf(MemoryNodeException.class)
            .hasMessageContaining("is there already with 16777216 bytes, asked for are 33554432: ask for as many");
        loseMemory();
        memory = start(MemoryNodeRole.open(fabric, locator(), MemoryFolder.open(folder(), 32 << 20, 0), 0, false));
        assertThat(table.get(KEY).orElseThrow().value()).isEqualTo(VALUE);
        end();
        memory = start(openMemory());
        assertThat(table.get(KEY).orElseThrow().value()).isEqualTo(VALUE);
    }

    @Test
    void shouldNotTakeItsFolderForThatOfANewNodeWhenItsMemoryIsGone() throws IOException
    {
        end();
        loseMemory();
        delete(folder().resolve("checkpoint"));
        memory = RoleRunner.start(openMemory(), false);
        assertThat(memory.awaitReady(STEP_NS)).isFalse();
        assertThat(memory.failure()).contains("memory of node 1 is gone", "empty data folder", ": t");
    }
}
