package io.verbena.embedded;

import io.verbena.client.KvClient;
import io.verbena.client.KvTable;
import io.verbena.client.TableOptions;
import io.verbena.compute.ComputeNodeException;
import io.verbena.compute.StoreObserver;
import io.verbena.memory.MemoryNodeConfiguration;
import io.verbena.protocol.view.View;
import io.verbena.table.check.CopyDifference;
import io.verbena.table.check.StoreCheck;
import io.verbena.table.check.StoreChecker;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.TableDescriptor;

import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tables with two copies, checked beside their users by a node that joins for it. */
@Timeout(120)
class MirroredStoreObserverTest
{
    private static final int KEYS = 300;
    private static final int CHECKS = 3;

    @TempDir
    private Path directory;
    private RemoteCluster cluster;
    private AgentThread second;
    private KvClient client;
    private StoreObserver observer;
    private volatile boolean isStopped;

    @BeforeEach
    void start()
    {
        cluster = new RemoteCluster(directory, 1);
        second = cluster.addMemoryNode(new MemoryNodeConfiguration().regionLengthBytes(32 << 20));
        client = cluster.client();
        client.createTable("alone", new TableOptions(100));
        observer = cluster.observer();
    }

    @AfterEach
    void end()
    {
        observer.close();
        client.close();
        cluster.close();
    }

    private static byte[] bytes(final int number)
    {
        return ByteBuffer.allocate(Integer.BYTES).putInt(number).array();
    }

    private void write(final KvTable table)
    {
        final Random random = new Random(1);
        while (!isStopped)
        {
            final byte[] key = bytes(random.nextInt(KEYS));
            if (0 == random.nextInt(4))
            {
                table.delete(key);
            }
            else
            {
                table.put(key, new byte[random.nextInt(300)]);
            }
        }
    }

    private StoreCheck check()
    {
        return new StoreChecker(observer).check(observer.memoryNodeIds());
    }

    private static void assertSound(final StoreCheck check)
    {
        assertThat(check.problems()).isEmpty();
        check.tables().forEach((name, table) -> assertThat(table.problems()).as(name).isEmpty());
        assertThat(check.unjudged()).isEmpty();
    }

    /** An offset of a slot with a word of this kind, in the first bucket that has one. */
    private long slot(final int id, final TableDescriptor table, final boolean isEmpty)
    {
        final UnsafeBuffer bucket = new UnsafeBuffer(new byte[BucketDescriptor.BUCKET_BYTES]);
        long at = DirectoryEntry.subtableOffset(table.entry(0)) + SubtableDescriptor.GROUPS_OFFSET;
        while (true)
        {
            observer.read(id, at, bucket, BucketDescriptor.BUCKET_BYTES);
            for (int slot = BucketDescriptor.SLOTS_OFFSET; slot < BucketDescriptor.BUCKET_BYTES; slot += Long.BYTES)
            {
                final long word = bucket.getLong(slot, ByteOrder.LITTLE_ENDIAN);
                if (isEmpty ? SlotWord.EMPTY == word : SlotWord.isCommitted(word))
                {
                    return at + slot;
                }
            }
            at += BucketDescriptor.BUCKET_BYTES;
        }
    }

    private long word(final int id, final long offset)
    {
        final UnsafeBuffer word = new UnsafeBuffer(new byte[Long.BYTES]);
        observer.read(id, offset, word, Long.BYTES);
        return word.getLong(0, ByteOrder.LITTLE_ENDIAN);
    }

    @Test
    void shouldFindNothingBesideWriters() throws Exception
    {
        final KvTable table = client.createTable("t", new TableOptions(2_000, 2));
        final CompletableFuture<Void> writer = CompletableFuture.runAsync(() -> write(table));
        for (int i = 0; i < CHECKS; i++)
        {
            final StoreCheck check = check();
            assertSound(check);
            assertThat(check.differences()).isEmpty();
            assertThat(check.spaces()).as("two memory nodes and a group").hasSize(3);
            assertThat(writer).as("ended too early").isNotDone();
        }
        isStopped = true;
        writer.get(RemoteCluster.STEP_NS, TimeUnit.NANOSECONDS);
        final StoreCheck check = check();
        assertSound(check);
        assertThat(check.tables().get("t").committed).isBetween(1L, (long)KEYS);
        assertThat(check.spaces().getLast().namedBytes).isPositive();
        assertThat(check.spaces().stream().limit(2)).as("what a group has leased is no memory node's")
            .allMatch((space) -> 0 == space.namedBytes && 0 == space.unnamedIndexBytes);
    }

    @Test
    void shouldFindACopyThatIsNotThePrimarys()
    {
        client.createTable("t", new TableOptions(2_000, 2)).put(bytes(1), bytes(2));
        final TableDescriptor table = observer.tables().stream()
            .filter((other) -> other.name().equals("t")).findFirst().orElseThrow();
        final int group = DirectoryEntry.memoryNodeId(table.entry(0));
        assertThat(observer.groupIds()).containsExactly(group);
        assertThat(observer.copyCount(group)).isEqualTo(2);
        final View view = observer.view(group);
        final int head = view.members().getFirst().nodeId();
        assertThat(observer.view(head)).as("no group").isNull();

        final long empty = slot(group, table, true);
        final long claim = SlotWord.withKind(SlotWord.committed(1, 1, 1, 0, 1 << 16), SlotWord.KIND_TENTATIVE);
        observer.swap(head, empty, SlotWord.EMPTY, claim);
        final StoreCheck left = check();
        assertSound(left);
        assertThat(left.differences()).singleElement().matches(CopyDifference::isLeft);
        observer.swap(head, empty, claim, SlotWord.EMPTY);

        final long slot = slot(group, table, false);
        final long word = word(group, slot);
        observer.swap(head, slot, word, SlotWord.EMPTY);
        assertThat(check().problems()).singleElement().asString()
            .contains("copy 1 of 2 of group " + group).contains("damaged, or it was not written");
        observer.swap(head, slot, SlotWord.EMPTY, word);
        assertThat(check().differences()).isEmpty();

        observer.swap(group, slot, word, SlotWord.EMPTY);
        assertThat(word(group, slot)).isEqualTo(SlotWord.EMPTY);
        assertThat(word(head, slot)).as("of a group, all copies are swapped").isEqualTo(SlotWord.EMPTY);
    }

    /** Copies of two views do not belong together. */
    @Test
    void shouldReadCopiesOfOneViewOnly()
    {
        final KvTable table =
            client.createTable("t", new TableOptions(2_000, 2)).withTimeout(RemoteCluster.STEP);
        table.put(bytes(1), bytes(2));
        final int group = observer.groupIds().getFirst();
        final UnsafeBuffer word = new UnsafeBuffer(new byte[Long.BYTES]);
        assertThat(observer.copyCount(group)).isEqualTo(2);
        observer.readCopy(group, 1, 0, word, Long.BYTES);
        final long magic = word.getLong(0);

        cluster.end(second);
        assertThatThrownBy(() ->
        {
            while (true)
            {
                observer.readCopy(group, 0, 0, word, Long.BYTES);
            }
        }).isInstanceOf(ComputeNodeException.class).hasMessageContaining("the view of group " + group)
            .hasMessageContaining("look again");
        assertThat(observer.copyCount(group)).isEqualTo(1);
        assertThat(observer.view(group).number()).isEqualTo(2);
        observer.readCopy(group, 0, 0, word, Long.BYTES);
        assertThat(word.getLong(0)).isEqualTo(magic);
        table.put(bytes(2), bytes(3));
        assertThat(new StoreChecker(observer).only("t").check(List.of()).tables().get("t").committed).isEqualTo(2);
    }
}
