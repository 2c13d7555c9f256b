package io.verbena.rdma.soft;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Endpoint;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletions;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;

/** What several threads see of each other through {@code soft}. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class SoftConcurrencyTest
{
    private static final int THREADS = 3;
    private static final QueuePairCapabilities DEEP = new QueuePairCapabilities(64, 64, 0, 16);

    private final ExecutorService executor = Executors.newCachedThreadPool();
    private final List<Endpoint> endpoints = new ArrayList<>();
    private final List<Device> devices = new ArrayList<>();
    private final List<QueuePair> queuePairs = new ArrayList<>();
    private SoftFabric fabric;
    private Endpoint target;

    @BeforeEach
    void setUp()
    {
        fabric = SoftFabric.open(new SoftFabricOptions().directory(TestDirectories.next()));
        target = endpoint("target", 1024);
    }

    @AfterEach
    void tearDown()
    {
        executor.shutdownNow();
        queuePairs.forEach(QueuePair::close);
        endpoints.forEach(Endpoint::close);
        devices.forEach(Device::close);
        fabric.close();
    }

    private Endpoint endpoint(final String name, final int completions)
    {
        final Device device = fabric.openDevice(name);
        devices.add(device);
        final Endpoint endpoint = new Endpoint(device, AccessFlags.ALL_REMOTE, completions, DEEP);
        endpoints.add(endpoint);
        return endpoint;
    }

    private Endpoint connected(final String name)
    {
        final Endpoint endpoint = endpoint(name, 128);
        final QueuePair other = target.domain.createQueuePair(target.completions, target.completions, DEEP);
        queuePairs.add(other);
        SoftConnections.connect(endpoint, endpoint.queuePair, target, other);
        return endpoint;
    }

    private void runAll(final List<Callable<Void>> tasks) throws Exception
    {
        final List<Future<Void>> futures = new ArrayList<>();
        for (final Callable<Void> task : tasks)
        {
            futures.add(executor.submit(task));
        }
        for (final Future<Void> future : futures)
        {
            future.get();
        }
    }

    @Test
    void shouldLoseNoIncrementWhenThreadsCompareAndSwapOneWord() throws Exception
    {
        final int increments = 20_000;
        final List<Callable<Void>> tasks = new ArrayList<>();
        for (int t = 0; t < THREADS; t++)
        {
            final Endpoint endpoint = connected("counter-" + t);
            tasks.add(() ->
            {
                final WorkCompletions completions = new WorkCompletions(4);
                long seen = 0;
                for (int done = 0; done < increments; )
                {
                    endpoint.queuePair.begin();
                    endpoint.queuePair.compareSwap(
                        done, SendFlags.SIGNALED, endpoint.address(0), endpoint.key(), target.address(64),
                        target.key(), seen, seen + 1);
                    endpoint.queuePair.complete();
                    SoftConnections.awaitSuccess(endpoint, completions);
                    final long found = endpoint.getLong(0);
                    done += found == seen ? 1 : 0;
                    seen = found == seen ? seen + 1 : found;
                }
                return null;
            });
        }
        runAll(tasks);
        assertThat(target.getLong(64)).isEqualTo((long)THREADS * increments);
    }

    /** The publication that the table stands on: WRITE a block, CAS its word; READ the word, then READ the block. */
    @Test
    void shouldNeverShowBlockOlderThanItsPublishedWord() throws Exception
    {
        final int rounds = 30_000;
        final int words = 12;
        final Endpoint writer = connected("writer");
        final Endpoint reader = connected("reader");
        runAll(List.of(
            () ->
            {
                final WorkCompletions completions = new WorkCompletions(4);
                for (long version = 1; version <= rounds; version++)
                {
                    for (int i = 0; i < words; i++)
                    {
                        writer.putLong(1024 + i * 8, version);
                    }
                    writer.queuePair.begin();
                    writer.queuePair.write(
                        0, 0, writer.address(1024), words * 8, writer.key(), target.address(4096), target.key());
                    writer.queuePair.compareSwap(
                        0, SendFlags.SIGNALED, writer.address(0), writer.key(), target.address(128), target.key(),
                        version - 1, version);
                    writer.queuePair.complete();
                    SoftConnections.awaitSuccess(writer, completions);
                }
                return null;
            },
            () ->
            {
                final WorkCompletions completions = new WorkCompletions(4);
                long version = 0;
                while (version < rounds)
                {
                    reader.queuePair.begin();
                    reader.queuePair.read(
                        0, 0, reader.address(0), 8, reader.key(), target.address(128), target.key());
                    reader.queuePair.read(
                        0, SendFlags.SIGNALED, reader.address(1024), words * 8, reader.key(), target.address(4096),
                        target.key());
                    reader.queuePair.complete();
                    SoftConnections.awaitSuccess(reader, completions);
                    version = reader.getLong(0);
                    for (int i = 0; i < words; i++)
                    {
                        assertThat(reader.getLong(1024 + i * 8)).isGreaterThanOrEqualTo(version);
                    }
                }
                return null;
            }));
    }

    /** Aligned words of the target are whole at every length, also when the local side is not aligned. */
    @Test
    void shouldNeverTearAlignedWords() throws Exception
    {
        final int rounds = 4_000;
        final Endpoint writer = connected("writer");
        final Endpoint reader = connected("reader");
        final int[] lengths = { 64, 264, 4096 };
        runAll(List.of(
            () ->
            {
                final WorkCompletions completions = new WorkCompletions(4);
                for (int round = 1; round <= rounds; round++)
                {
                    final int shift = round % 4 == 0 ? 3 : 0;
                    writer.region.segment().asSlice(1024, 8192).fill((byte)round);
                    writer.queuePair.begin();
                    writer.queuePair.write(
                        0, SendFlags.SIGNALED, writer.address(1024 + shift), lengths[round % 3], writer.key(),
                        target.address(8192), target.key());
                    writer.queuePair.complete();
                    SoftConnections.awaitSuccess(writer, completions);
                }
                writer.putLong(0, -1);
                writer.queuePair.begin();
                writer.queuePair.write(
                    0, SendFlags.SIGNALED, writer.address(0), 8, writer.key(), target.address(0), target.key());
                writer.queuePair.complete();
                return null;
            },
            () ->
            {
                final WorkCompletions completions = new WorkCompletions(4);
                for (int round = 0; target.getLong(0) == 0; round++)
                {
                    final int shift = round % 4 == 0 ? 5 : 0;
                    final int length = lengths[round % 3];
                    reader.queuePair.begin();
                    reader.queuePair.read(
                        0, SendFlags.SIGNALED, reader.address(1024 + shift), length, reader.key(),
                        target.address(8192), target.key());
                    reader.queuePair.complete();
                    SoftConnections.awaitSuccess(reader, completions);
                    for (int i = 0; i < length; i += 8)
                    {
                        final long word = reader.region.segment().get(JAVA_LONG_UNALIGNED, 1024 + shift + i);
                        assertThat(word).isEqualTo((word & 0xFF) * 0x0101_0101_0101_0101L);
                    }
                }
                return null;
            }));
    }

    /** Dekker's test: of two threads that WRITE their own word and READ the other's, one sees the other. */
    @Test
    void shouldOrderReadAfterWrite() throws Exception
    {
        final int rounds = 20_000;
        final Endpoint[] sides = { connected("left"), connected("right") };
        final long[][] seen = new long[2][rounds];
        final AtomicIntegerArray reached = new AtomicIntegerArray(64);
        final List<Callable<Void>> tasks = new ArrayList<>();
        for (int s = 0; s < 2; s++)
        {
            final int side = s;
            tasks.add(() ->
            {
                final Endpoint endpoint = sides[side];
                final WorkCompletions completions = new WorkCompletions(4);
                for (int round = 0; round < rounds; round++)
                {
                    endpoint.putLong(0, round + 1);
                    reached.set(side * 32, round);
                    // Together, as a rule: only then is there a race to lose. Bounded, for busy machines.
                    for (int spins = 0; spins < 2_000 && reached.get((1 - side) * 32) < round; spins++)
                    {
                        Thread.onSpinWait();
                    }
                    endpoint.queuePair.begin();
                    endpoint.queuePair.write(
                        0, 0, endpoint.address(0), 8, endpoint.key(), target.address(side * 64L), target.key());
                    endpoint.queuePair.read(
                        0, SendFlags.SIGNALED, endpoint.address(8), 8, endpoint.key(),
                        target.address((1 - side) * 64L), target.key());
                    endpoint.queuePair.complete();
                    SoftConnections.awaitSuccess(endpoint, completions);
                    seen[side][round] = endpoint.getLong(8);
                }
                return null;
            });
        }
        runAll(tasks);
        // Left wrote r+1 and saw x; if x < y then right had not written y, so right's READ in round y-1 saw r+1.
        for (int round = 0; round < rounds; round++)
        {
            final int missed = (int)seen[0][round];
            if (missed < rounds)
            {
                assertThat(seen[1][missed]).isGreaterThanOrEqualTo(round + 1L);
            }
        }
    }

    /** Many peers' SENDs complete in one queue, whose owner polls and posts receives again meanwhile. */
    @Test
    void shouldDeliverEachSendOnceAndInOrderPerPeer() throws Exception
    {
        final int messages = 20_000;
        final List<Endpoint> senders = new ArrayList<>();
        for (int t = 0; t < THREADS; t++)
        {
            senders.add(connected("sender-" + t));
        }
        final List<Callable<Void>> tasks = new ArrayList<>();
        for (final Endpoint sender : senders)
        {
            tasks.add(() ->
            {
                final WorkCompletions completions = new WorkCompletions(4);
                for (int i = 0; i < messages; i++)
                {
                    sender.putLong(0, i);
                    sender.queuePair.begin();
                    sender.queuePair.sendWithImmediate(i, SendFlags.SIGNALED, sender.address(0), 8, sender.key(), i);
                    assertThat(sender.queuePair.complete()).isEqualTo(PostStatus.OK);
                    SoftConnections.awaitSuccess(sender, completions);
                }
                return null;
            });
        }
        tasks.add(() ->
        {
            receiveAll(messages);
            return null;
        });
        runAll(tasks);
    }

    private void receiveAll(final int messages)
    {
        for (int q = 0; q < THREADS; q++)
        {
            for (int slot = 0; slot < 32; slot++)
            {
                postReceive(q, slot);
            }
        }
        final WorkCompletions completions = new WorkCompletions(16);
        final int[] next = new int[THREADS];
        for (int received = 0; received < THREADS * messages; )
        {
            final int count = target.completions.poll(completions);
            for (int i = 0; i < count; i++)
            {
                final int q = (int)(completions.wrId(i) >> 32);
                final int slot = (int)completions.wrId(i);
                assertThat(completions.status(i)).isZero();
                assertThat(completions.queuePairNumber(i)).isEqualTo(queuePairs.get(q).number());
                assertThat(completions.immediate(i)).isEqualTo(next[q]);
                assertThat(target.getLong(slotOffset(q, slot))).isEqualTo(next[q]);
                next[q]++;
                postReceive(q, slot);
            }
            received += count;
        }
    }

    private void postReceive(final int queue, final int slot)
    {
        assertThat(queuePairs.get(queue).postReceive(
            (long)queue << 32 | slot, target.address(slotOffset(queue, slot)), 8, target.key()))
            .isEqualTo(PostStatus.OK);
    }

    private static long slotOffset(final int queue, final int slot)
    {
        return (queue * 32L + slot) * 64;
    }

    @Test
    void shouldConnectAndCloseWhileOthersWork() throws Exception
    {
        final Endpoint worker = connected("worker");
        final Endpoint comer = endpoint("comer", 128);
        runAll(List.of(
            () ->
            {
                final WorkCompletions completions = new WorkCompletions(4);
                for (int i = 0; i < 50_000; i++)
                {
                    worker.queuePair.begin();
                    worker.queuePair.fetchAdd(
                        0, SendFlags.SIGNALED, worker.address(0), worker.key(), target.address(0), target.key(), 1);
                    worker.queuePair.complete();
                    SoftConnections.awaitSuccess(worker, completions);
                }
                return null;
            },
            () ->
            {
                for (int i = 0; i < 500; i++)
                {
                    try (QueuePair mine = comer.domain.createQueuePair(comer.completions, comer.completions, DEEP);
                        QueuePair theirs = target.domain.createQueuePair(target.completions, target.completions, DEEP))
                    {
                        SoftConnections.connect(comer, mine, target, theirs);
                    }
                    target.domain.allocateRegistered(4096, AccessFlags.ALL_REMOTE).close();
                }
                return null;
            }));
        assertThat(target.getLong(0)).isEqualTo(50_000);
    }
}
