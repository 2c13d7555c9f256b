package io.verbena.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.client.KvClient;
import io.verbena.client.KvTable;
import io.verbena.client.TableOptions;
import io.verbena.compute.StoreObserver;
import io.verbena.table.check.StoreCheck;
import io.verbena.table.check.StoreChecker;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.TableDescriptor;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A live cluster checked by a node that joins for it. */
@Timeout(120)
class StoreObserverTest
{
    private static final int KEYS = 500;
    private static final int LEAST_CHECKS = 5;
    private static final int LEAST_WRITES = 2 * KEYS;

    @TempDir
    private Path directory;
    private final AtomicLong written = new AtomicLong();
    private volatile boolean isStopped;

    private static byte[] bytes(final String text)
    {
        return text.getBytes(java.nio.charset.StandardCharsets.UTF_8);
    }

    private void write(final KvClient client, final int thread)
    {
        final Random random = new Random(thread);
        final KvTable table = client.table("t");
        while (!isStopped)
        {
            final byte[] key = bytes("key-" + random.nextInt(KEYS));
            switch (random.nextInt(4))
            {
                case 0 -> table.delete(key);
                case 1 -> table.putIfAbsent(key, new byte[random.nextInt(200)]);
                default -> table.put(key, new byte[random.nextInt(600)]);
            }
            written.incrementAndGet();
        }
    }

    private void createAndDrop(final KvClient client)
    {
        for (int i = 0; !isStopped; i++)
        {
            final KvTable table = client.createTable("gone-" + i, new TableOptions(1000));
            for (int key = 0; key < 100; key++)
            {
                table.put(bytes("key-" + key), new byte[key]);
            }
            client.dropTable("gone-" + i);
        }
    }

    private static StoreCheck check(final StoreObserver observer)
    {
        return new StoreChecker(observer).check(observer.memoryNodeIds());
    }

    private static void assertSound(final StoreCheck check)
    {
        assertThat(check.problems()).isEmpty();
        check.tables().forEach((name, table) -> assertThat(table.problems()).as(name).isEmpty());
        assertThat(check.unjudged()).isEmpty();
    }

    @Test
    void shouldFindNothingWhileOthersWriteAndMakeAndDropTables() throws Exception
    {
        try (RemoteCluster cluster = new RemoteCluster(directory, 2);
            KvClient client = cluster.client();
            StoreObserver observer = cluster.observer())
        {
            client.createTable("t", new TableOptions(2000));
            final CompletableFuture<?>[] writers = {
                CompletableFuture.runAsync(() -> write(client, 1)),
                CompletableFuture.runAsync(() -> write(client, 2)),
                CompletableFuture.runAsync(() -> createAndDrop(client))};
            for (int i = 0; i < LEAST_CHECKS || written.get() < LEAST_WRITES; i++)
            {
                assertSound(check(observer));
                assertThat(writers).as("ended too early").noneMatch(CompletableFuture::isDone);
            }
            isStopped = true;
            CompletableFuture.allOf(writers).get(RemoteCluster.STEP_NS, TimeUnit.NANOSECONDS);
            assertThat(check(observer).tables().get("t").committed).isBetween(1L, (long)KEYS);
        }
    }

    @Test
    void shouldFindAndUndoWhatADeadInserterLeft()
    {
        try (RemoteCluster cluster = new RemoteCluster(directory, 1);
            KvClient client = cluster.client();
            StoreObserver observer = cluster.observer())
        {
            final KvTable kv = client.createTable("t", new TableOptions(10));
            kv.put(bytes("a"), bytes("1"));
            final TableDescriptor table = observer.tables().getFirst();
            final int node = DirectoryEntry.memoryNodeId(table.entry(0));
            final long slot = emptySlot(observer, table);
            final long word = SlotWord.withKind(SlotWord.committed(1, 1, 1, 0, 1 << 16), SlotWord.KIND_TENTATIVE);
            observer.swap(node, slot, SlotWord.EMPTY, word);

            final StoreCheck found = check(observer);
            assertSound(found);
            assertThat(found.leftovers()).containsExactly(new StoreCheck.Leftover(node, "t", slot, word));
            observer.swap(node, slot, word, SlotWord.EMPTY);
            assertThat(check(observer).leftovers()).isEmpty();

            observer.swap(node, slot, SlotWord.EMPTY, SlotWord.committed(1, 1, 1, 0, 1 << 16));
            assertThat(check(observer).isSound()).isFalse();
        }
    }

    private static long emptySlot(final StoreObserver observer, final TableDescriptor table)
    {
        final UnsafeBuffer bucket = new UnsafeBuffer(new byte[BucketDescriptor.BUCKET_BYTES]);
        final long at = DirectoryEntry.subtableOffset(table.entry(0)) + SubtableDescriptor.GROUPS_OFFSET;
        observer.read(DirectoryEntry.memoryNodeId(table.entry(0)), at, bucket, BucketDescriptor.BUCKET_BYTES);
        int slot = BucketDescriptor.SLOTS_OFFSET;
        while (bucket.getLong(slot, ByteOrder.LITTLE_ENDIAN) != SlotWord.EMPTY)
        {
            slot += BucketDescriptor.SLOT_BYTES;
        }
        return at + slot;
    }
}
