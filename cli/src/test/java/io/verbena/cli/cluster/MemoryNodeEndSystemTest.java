package io.verbena.cli.cluster;

import io.verbena.cli.CommandLines;
import io.verbena.cli.cluster.ProcessTable.Entry;
import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.KvException;
import io.verbena.client.KvTable;
import io.verbena.memory.MemoryFolder;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;

/** A memory node is told to end while clients write: it makes its checkpoint and ends, and loses nothing. */
@Timeout(300)
class MemoryNodeEndSystemTest
{
    private static final Duration STEP = Duration.ofSeconds(60);
    /** Shorter than the memory node is away: some operations end with an error. */
    private static final Duration WRITE = Duration.ofMillis(500);
    private static final int WRITERS = 3;
    private static final int KEYS = 20;
    private static final int ENOUGH = 10;
    private static final int VALUE_BYTES = 500;

    @TempDir
    private Path directory;
    private volatile boolean isStopped;
    private final List<Writer> writers = new ArrayList<>();

    /** Counts each of its keys up; knows what was acknowledged. Any other error than one of the client's ends it. */
    private final class Writer extends Thread
    {
        private final KvTable table;
        private final int number;
        private final AtomicIntegerArray acknowledged = new AtomicIntegerArray(KEYS);
        private final AtomicIntegerArray attempted = new AtomicIntegerArray(KEYS);
        private volatile int errors;
        private volatile Throwable failure;

        private Writer(final KvTable table, final int number)
        {
            this.table = table;
            this.number = number;
        }

        @Override
        public void run()
        {
            for (int i = 0; !isStopped && null == failure; i++)
            {
                final int key = i % KEYS;
                final int value = attempted.incrementAndGet(key);
                try
                {
                    table.withTimeout(WRITE).put(key(key), ByteBuffer.allocate(VALUE_BYTES).putInt(value).array());
                    acknowledged.set(key, value);
                }
                catch (final KvException ex)
                {
                    errors++;
                }
                catch (final RuntimeException | Error ex)
                {
                    failure = ex;
                }
            }
        }

        private byte[] key(final int key)
        {
            return new byte[]{(byte)number, (byte)key};
        }

        private int[] acknowledged()
        {
            return IntStream.range(0, KEYS).map(acknowledged::get).toArray();
        }

        private boolean hasGoneOnSince(final int[] before)
        {
            assertThat(failure).isNull();
            return IntStream.range(0, KEYS).allMatch((key) -> acknowledged.get(key) >= before[key] + ENOUGH);
        }

        private void check()
        {
            assertThat(failure).isNull();
            for (int key = 0; key < KEYS; key++)
            {
                final byte[] value = table.withTimeout(STEP).get(key(key)).orElseThrow().value();
                assertThat(ByteBuffer.wrap(value).getInt()).as("writer %d, key %d", number, key)
                    .isBetween(acknowledged.get(key), attempted.get(key));
            }
        }
    }

    private void succeed(final String... arguments)
    {
        final List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--data", directory.toString()));
        final CommandLines.Result result = CommandLines.run(all);
        assertThat(result.status()).as("%s: %s%s", all, result.out(), result.err()).isZero();
    }

    @AfterEach
    void leaveNothingBehind() throws InterruptedException
    {
        isStopped = true;
        for (final Writer writer : writers)
        {
            writer.join();
        }
        CommandLines.run(List.of("down", "--discard", "--data", directory.toString()));
        assertThat(new ProcessTable(directory.resolve("processes")).entries()).isEmpty();
    }

    @Test
    void shouldMakeItsCheckpointEndAndLoseNothingWhenItIsToldToEndUnderLoad() throws Exception
    {
        succeed("up", "--memory", "64", "--compute-nodes", "2");
        final ClusterFolder folder = ClusterFolder.of(directory);
        try (KvClient client = KvClient.connect(
            folder.address(), new KvClientOptions().tokenFile(folder.token()).timeout(STEP)))
        {
            for (int i = 0; i < WRITERS; i++)
            {
                writers.add(new Writer(client.table("default"), i));
            }
            writers.forEach(Thread::start);
            awaitProgress();

            final long toldMs = System.currentTimeMillis();
            final ProcessHandle memory = memoryNode().process().orElseThrow();
            memory.destroy();
            memory.onExit().get(STEP.toSeconds(), TimeUnit.SECONDS);
            final Properties report = MemoryFolder.lastCheckpoint(folder.memoryNode("memory-1"));
            assertThat(report).doesNotContainKey("failure");
            assertThat(Long.parseLong(report.getProperty("started_ms"))).isGreaterThanOrEqualTo(toldMs);
            assertThat(Long.parseLong(report.getProperty("records"))).isEqualTo(WRITERS * KEYS);
            awaitErrors();

            succeed("up");
            awaitProgress();
            stop();
            writers.forEach(Writer::check);
        }
    }

    private Entry memoryNode()
    {
        return new ProcessTable(directory.resolve("processes")).entries().stream()
            .filter((entry) -> entry.name().equals("memory-1")).findFirst().orElseThrow();
    }

    private void awaitProgress()
    {
        for (final Writer writer : writers)
        {
            final int[] before = writer.acknowledged();
            while (!writer.hasGoneOnSince(before))
            {
                LockSupport.parkNanos(1_000_000);
            }
        }
    }

    /** Who writes meanwhile is told. */
    private void awaitErrors()
    {
        for (final Writer writer : writers)
        {
            while (0 == writer.errors)
            {
                assertThat(writer.failure).isNull();
                LockSupport.parkNanos(1_000_000);
            }
        }
    }

    private void stop() throws InterruptedException
    {
        isStopped = true;
        for (final Writer writer : writers)
        {
            writer.join();
        }
    }
}
