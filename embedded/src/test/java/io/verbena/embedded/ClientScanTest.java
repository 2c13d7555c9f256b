package io.verbena.embedded;

import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.KvClosedException;
import io.verbena.client.KvInvalidRequestException;
import io.verbena.client.KvLimits;
import io.verbena.client.KvNoSuchTableException;
import io.verbena.client.KvOutcome;
import io.verbena.client.KvRecord;
import io.verbena.client.KvScan;
import io.verbena.client.KvTable;
import io.verbena.client.OperationKind;
import io.verbena.client.TableOptions;
import io.verbena.client.TableStat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Walks over tables as clients see them, embedded and from another process. */
@Timeout(120)
class ClientScanTest
{
    private static final int RECORDS = 3_000;

    @TempDir
    private Path directory;

    private static byte[] key(final int number)
    {
        return ("key-" + number).getBytes(StandardCharsets.UTF_8);
    }

    private static Map<String, KvRecord> walk(final KvScan scan)
    {
        final Map<String, KvRecord> met = new HashMap<>();
        for (final KvRecord record : scan)
        {
            assertThat(met.put(new String(record.key(), StandardCharsets.UTF_8), record)).as("met twice").isNull();
        }
        final KvScan.Records again = scan.iterator();
        again.forEachRemaining((record) -> {});
        assertThatThrownBy(again::next).isInstanceOf(NoSuchElementException.class);
        return met;
    }

    private static void shouldWalk(final KvClient client)
    {
        final KvTable table = client.createTable("scanned", new TableOptions(2 * RECORDS));
        assertThat(walk(table.scan())).isEmpty();
        final List<byte[]> keys = new ArrayList<>();
        final List<byte[]> values = new ArrayList<>();
        for (int i = 0; i < RECORDS; i++)
        {
            keys.add(key(i));
            values.add(ByteBuffer.allocate(Integer.BYTES + i % 100).putInt(i).array());
        }
        table.withTimeout(Duration.ofSeconds(20)).putAll(keys, values)
            .forEach((outcome) -> assertThat(outcome.failure()).isNull());
        final byte[] longKey = new byte[KvLimits.MAX_KEY_BYTES];
        longKey[0] = 'l';
        final long version = table.put(longKey, new byte[KvLimits.MAX_VALUE_BYTES]);

        final Map<String, KvRecord> met = walk(table.scan());
        assertThat(met).hasSize(RECORDS + 1);
        for (int i = 0; i < RECORDS; i++)
        {
            assertThat(met.get("key-" + i).value()).isEqualTo(values.get(i));
        }
        final KvRecord longest = met.get(new String(longKey, StandardCharsets.UTF_8));
        assertThat(longest).isEqualTo(new KvRecord(longKey, new byte[KvLimits.MAX_VALUE_BYTES], version));
        assertThat(client.statistics().count(OperationKind.SCAN)).isPositive();
        shouldGoOnFromACursor(table, met.keySet());
        final TableStat stat = table.stat();
        assertThat(stat.splitsUnderWay() + stat.frozen() + stat.uninitialised() + stat.pairsHelped()).isZero();
        assertThat(stat.subtables()).isLessThanOrEqualTo(1L << stat.depth());
        assertThat(stat.records()).isEqualTo(RECORDS + 1);
        assertThat(stat.slots()).isEqualTo(21 * stat.groups()).isGreaterThan(2 * RECORDS);
        assertThat(stat.fill()).as("of subtables as long as chunks").isBetween(0.02, 0.5);
        assertThat(stat.blockBytes()).isGreaterThan(64L * RECORDS);
        assertThat(stat.indexBytes()).isGreaterThan(8 * stat.slots());
    }

    /** Stretches of any length, each by a scan of its own: nothing is met twice, nothing is left out. */
    private static void shouldGoOnFromACursor(final KvTable table, final Set<String> keys)
    {
        final Set<String> met = new HashSet<>();
        String cursor = table.scan().iterator().cursor();
        for (int length = 0; met.size() < keys.size(); length = (length * 7 + 3) % 1_100)
        {
            final KvScan.Records scan = table.scanFrom(cursor).iterator();
            assertThat(scan.cursor()).isEqualTo(cursor);
            for (int i = 0; i < length && scan.hasNext(); i++)
            {
                assertThat(met.add(new String(scan.next().key(), StandardCharsets.UTF_8))).as("met twice").isTrue();
            }
            cursor = scan.cursor();
        }
        assertThat(met).isEqualTo(keys);
        final KvScan.Records rest = table.scanFrom(cursor).iterator();
        assertThat(rest.hasNext()).isFalse();
        assertThat(table.scanFrom(rest.cursor()).iterator().hasNext()).as("the end").isFalse();
        for (final String none : new String[]{"", "1", "1-2-3-4", cursor + "0", cursor.replace("1-", "2-"),
            cursor.substring(1), null})
        {
            assertThatThrownBy(() -> table.scanFrom(none)).as(none).isInstanceOf(KvInvalidRequestException.class)
                .hasMessageContaining("cursor=" + none);
        }
    }

    private static void shouldMeetAllWhileOthersWrite(final KvClient client)
    {
        final KvTable table = client.table("scanned");
        final AtomicBoolean isOver = new AtomicBoolean();
        final CompletableFuture<Void> begun = new CompletableFuture<>();
        final CompletableFuture<Integer> writer = CompletableFuture.supplyAsync(() ->
        {
            int round = 0;
            while (!isOver.get())
            {
                final int number = round++ * 7 % RECORDS;
                table.put(key(number), ByteBuffer.allocate(Integer.BYTES + round % 300).putInt(number).array());
                table.put(key(RECORDS + number % 50), new byte[4]);
                table.delete(key(RECORDS + number % 50));
                begun.complete(null);
            }
            return round;
        });
        // The walks may take less time than a busy machine needs to start a thread.
        CompletableFuture.anyOf(begun, writer).join();
        for (int i = 0; i < 5; i++)
        {
            final Map<Integer, Integer> met = new HashMap<>();
            table.scan().forEach((record) ->
            {
                final String name = new String(record.key(), StandardCharsets.UTF_8);
                if (name.startsWith("key-"))
                {
                    met.merge(Integer.parseInt(name.substring(4)), 1, Integer::sum);
                }
            });
            for (int number = 0; number < RECORDS; number++)
            {
                assertThat(met.get(number)).as("walk %d, key-%d", i, number).isEqualTo(1);
            }
        }
        isOver.set(true);
        assertThat(writer.join()).isPositive();
        client.dropTable("scanned");
        assertThatThrownBy(() -> table.scan().iterator().hasNext()).isInstanceOf(KvNoSuchTableException.class);
        assertThatThrownBy(table::stat).isInstanceOf(KvNoSuchTableException.class);
    }

    @Test
    void shouldWalkInThisProcess()
    {
        try (EmbeddedCluster cluster = EmbeddedCluster.start(
            new EmbeddedClusterOptions().memoryNodes(2).memoryBytesPerNode(64 << 20).computeNodes(2)))
        {
            shouldWalk(cluster.client());
            shouldMeetAllWhileOthersWrite(cluster.client());
        }
    }

    @Test
    void shouldNotWaitForAnExecutorThatNeverRuns()
    {
        try (EmbeddedCluster cluster = EmbeddedCluster.start(
            new EmbeddedClusterOptions().memoryBytesPerNode(64 << 20).computeNodes(1));
            KvClient client = cluster.openClient(new KvClientOptions().completionExecutor((task) -> {})))
        {
            final KvTable table = client.createTable("busy", new TableOptions(100)).withTimeout(Duration.ofSeconds(10));
            final List<byte[]> keys = List.of(key(1), key(2));
            assertThat(table.putAll(keys, keys)).allMatch((outcome) -> null == outcome.failure());
            assertThat(table.getAll(keys)).allMatch((outcome) -> outcome.result().isPresent());
            assertThat(walk(table.scan())).hasSize(2);
            assertThat(table.deleteAll(keys)).allMatch(KvOutcome::result);
        }
    }

    /** A loop that is left early has asked for one page; a closed client ends all of them. */
    @Test
    void shouldBeLeftAtAnyTimeAndEndWithItsClient()
    {
        try (EmbeddedCluster cluster = EmbeddedCluster.start(
            new EmbeddedClusterOptions().memoryBytesPerNode(64 << 20).computeNodes(1)))
        {
            final KvClient client = cluster.openClient(new KvClientOptions());
            final KvTable table = client.createTable("left", new TableOptions(RECORDS));
            for (int i = 0; i < RECORDS; i++)
            {
                table.put(key(i), new byte[100]);
            }
            for (int i = 0; i < 100; i++)
            {
                for (final KvRecord record : table.scan())
                {
                    assertThat(record.value()).hasSize(100);
                    break;
                }
            }
            assertThat(client.statistics().count(OperationKind.SCAN)).isEqualTo(100);
            final KvScan.Records left = table.scan().iterator();
            left.next();
            final String cursor = left.cursor();
            client.close();
            assertThatThrownBy(() -> left.forEachRemaining((record) -> {})).isInstanceOf(KvClosedException.class);
            assertThat(cluster.client().table("left").scanFrom(cursor).stream()).hasSize(RECORDS - 1);
            assertThatThrownBy(() -> table.scan().iterator()).isInstanceOf(KvClosedException.class);
            assertThatThrownBy(() -> table.scan().pageAsync()).isInstanceOf(KvClosedException.class);
        }
    }

    @Test
    void shouldWalkFromAnotherProcess()
    {
        try (RemoteCluster cluster = new RemoteCluster(directory, 2); KvClient client = cluster.client())
        {
            shouldWalk(client);
            shouldMeetAllWhileOthersWrite(client);
        }
    }
}
