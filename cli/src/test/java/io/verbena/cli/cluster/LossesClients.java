package io.verbena.cli.cluster;

import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.KvEntry;
import io.verbena.client.KvException;
import io.verbena.client.KvTable;
import io.verbena.client.TableOptions;
import io.verbena.elle.history.EventType;
import io.verbena.load.history.VersionedOutputs;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Threads that read, write, replace and delete a few records of one table all the time, and write down what was
 * answered. Half of the calls of a moment are on one key, so that they overlap. Used by one thread.
 */
final class LossesClients implements AutoCloseable
{
    static final String TABLE = "t";
    private static final int KEYS = 32;
    private static final int THREADS = 6;
    private static final int CLIENTS = 2;
    private static final int RECORDS = 2_000;
    /** Longer than any change of views on a busy machine: calls that fail would show less. */
    private static final Duration TIMEOUT = Duration.ofSeconds(90);
    private static final long JOIN_MS = 2 * TIMEOUT.toMillis();
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(4);
    /** So that the check is soon over. */
    private static final int MANY_CALLS = 40_000;
    private static final long LONG_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long HOT_NS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final int MAX_PADDING_BYTES = 1_500;
    private static final int PERCENT = 100;

    /** What no loss explains. */
    private static final Set<KvException.Category> NEVER = Set.of(
        KvException.Category.CORRUPT, KvException.Category.INVALID_REQUEST, KvException.Category.CLOSED);

    private final LossesHistory history;
    private final List<KvClient> clients = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private final AtomicLong nextValue = new AtomicLong();
    private final AtomicReference<Throwable> broken = new AtomicReference<>();
    private final Map<String, Integer> failures = new ConcurrentHashMap<>();
    private volatile boolean isOver;

    /** Connects, and creates the table. */
    LossesClients(final ClusterFolder folder, final int copies, final LossesHistory history)
    {
        this.history = history;
        for (int i = 0; i < CLIENTS; i++)
        {
            clients.add(KvClient.connect(
                folder.address(), new KvClientOptions().tokenFile(folder.token()).timeout(TIMEOUT)));
        }
        clients.getFirst().createTable(TABLE, new TableOptions(RECORDS, copies));
    }

    void start(final Random random)
    {
        for (int i = 0; i < THREADS; i++)
        {
            final One one = new One(clients.get(i % CLIENTS).table(TABLE), new Random(random.nextLong()));
            threads.add(Thread.ofPlatform().daemon().name("losses-" + i).unstarted(() -> run(one)));
        }
        threads.forEach(Thread::start);
    }

    private void run(final One one)
    {
        int calls = 0;
        try
        {
            while (!isOver)
            {
                one.step();
                LockSupport.parkNanos(++calls > MANY_CALLS / THREADS ? LONG_PAUSE_NS : PAUSE_NS);
            }
        }
        catch (final RuntimeException | AssertionError ex)
        {
            broken.compareAndSet(null, ex);
        }
    }

    /** Fails when what a client saw cannot be judged, or was not what any client had written. */
    void requireWell()
    {
        if (null != broken.get())
        {
            throw new AssertionError("client", broken.get());
        }
    }

    /** After this nothing is under way. */
    void end() throws InterruptedException
    {
        isOver = true;
        for (final Thread thread : threads)
        {
            thread.join(JOIN_MS);
            assertThat(thread.isAlive()).as("%s ends its call by its deadline", thread.getName()).isFalse();
        }
        requireWell();
    }

    /** Reads all keys, behind everything else. */
    void readAll()
    {
        final One one = new One(clients.getLast().table(TABLE), new Random(0));
        for (int i = 0; i < KEYS; i++)
        {
            final int index = i;
            assertThat(one.call("get", index, null, () -> one.outputs.ofGet(index, one.table.get(one.key(index)))))
                .as("key-%d is read: %s", index, failures).isEqualTo(EventType.OK);
        }
        requireWell();
    }

    /** What failed, by its text, and how often. */
    Map<String, Integer> failures()
    {
        return failures;
    }

    @Override
    public void close()
    {
        isOver = true;
        clients.forEach(KvClient::close);
    }

    private static byte[] bytes(final long number)
    {
        final Random random = new Random(number);
        final byte[] padding = new byte[random.nextInt(MAX_PADDING_BYTES)];
        random.nextBytes(padding);
        return ByteBuffer.allocate(Long.BYTES + padding.length).putLong(number).put(padding).array();
    }

    private static long number(final KvEntry entry)
    {
        final byte[] value = entry.value();
        assertThat(value.length).isGreaterThanOrEqualTo(Long.BYTES);
        final long number = ByteBuffer.wrap(value).getLong();
        assertThat(value).as("value %d", number).isEqualTo(bytes(number));
        return number;
    }

    /** One who calls. */
    private final class One
    {
        private final KvTable table;
        private final Random random;
        private final VersionedOutputs outputs = new VersionedOutputs(KEYS, LossesClients::number);
        private int process = history.newProcess();

        private One(final KvTable table, final Random random)
        {
            this.table = table;
            this.random = random;
        }

        private byte[] key(final int index)
        {
            return ("key-" + index).getBytes(StandardCharsets.US_ASCII);
        }

        private void step()
        {
            final int hot = Math.floorMod(System.nanoTime() / HOT_NS, KEYS);
            final int index = random.nextBoolean() ? hot : random.nextInt(KEYS);
            final byte[] key = key(index);
            final long version = outputs.lastVersion(index);
            final long value = nextValue.incrementAndGet();
            final int choice = random.nextInt(PERCENT);
            if (choice < 35)
            {
                call("get", index, null, () -> outputs.ofGet(index, table.get(key)));
            }
            else if (choice < 55)
            {
                call("put", index, value, () -> outputs.ofPut(index, table.put(key, bytes(value))));
            }
            else if (choice < 65)
            {
                call("put-if-absent", index, value,
                    () -> outputs.ofPutIfAbsent(index, table.putIfAbsent(key, bytes(value))));
            }
            else if (choice < 88)
            {
                call("replace", index, List.of(version, value),
                    () -> outputs.ofReplace(index, table.replace(key, bytes(value), version)));
            }
            else if (choice < 94)
            {
                call("delete", index, null, () -> table.delete(key));
            }
            else
            {
                call("delete-version", index, version, () -> outputs.ofDelete(index, table.delete(key, version)));
            }
        }

        private EventType call(
            final String function, final int index, final Object input, final Supplier<Object> calls)
        {
            final String key = "key-" + index;
            history.add(process, EventType.INVOKE, function, key, input);
            EventType end = EventType.OK;
            Object output;
            try
            {
                output = calls.get();
            }
            catch (final KvException ex)
            {
                final boolean isUnknown = KvException.Category.OUTCOME_UNKNOWN == ex.category();
                if (NEVER.contains(ex.category()))
                {
                    broken.compareAndSet(null, ex);
                }
                end = isUnknown ? EventType.INFO : EventType.FAIL;
                output = ex.getMessage();
                failures.merge(ex.category() + ": " + function + ' ' + key + ": " + ex.getMessage(), 1, Integer::sum);
            }
            history.add(process, end, function, key, output);
            process = EventType.INFO == end ? history.newProcess() : process;
            return end;
        }
    }
}
