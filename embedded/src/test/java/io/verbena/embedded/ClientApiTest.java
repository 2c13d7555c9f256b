package io.verbena.embedded;

import io.verbena.client.KvClient;
import io.verbena.client.KvCodec;
import io.verbena.client.KvInvalidRequestException;
import io.verbena.client.KvNoSuchTableException;
import io.verbena.client.KvOutcome;
import io.verbena.client.KvRecord;
import io.verbena.client.KvScan;
import io.verbena.client.KvTable;
import io.verbena.client.KvTypedTable;
import io.verbena.client.TableOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What people type first, of an embedded client and of one in another process. */
@Timeout(120)
class ClientApiTest
{
    private static final int KEYS = 500;
    private static final int THREADS = 100;
    private static final int ROUNDS = 10;

    @TempDir
    private Path directory;

    @Test
    void shouldServeInThisProcess() throws Exception
    {
        try (EmbeddedCluster cluster = EmbeddedCluster.start(
            new EmbeddedClusterOptions().memoryBytesPerNode(64 << 20).computeNodes(2)))
        {
            shouldServe(cluster.client());
        }
    }

    @Test
    void shouldServeFromAnotherProcess() throws Exception
    {
        try (RemoteCluster cluster = new RemoteCluster(directory, 2); KvClient client = cluster.client())
        {
            shouldServe(client);
        }
    }

    private static void shouldServe(final KvClient client) throws Exception
    {
        shouldDoEachOperationOnText(client);
        shouldDoEachOperationLater(client);
        shouldScanInLoopsStreamsAndPages(client);
        shouldKeepDeadlinesApart(client.table("text"));
        shouldNotStopWhatIsCancelledOrInterrupted(client.createTable("ends"));
        shouldServeManyThreads(client.createTable("threads"));
    }

    private static void shouldDoEachOperationOnText(final KvClient client)
    {
        final KvTypedTable<String, String> text =
            client.createTable("text", new TableOptions(KEYS)).as(KvCodec.UTF_8, KvCodec.UTF_8);
        final long version = text.put("ada", "Lovelace");
        assertThat(text.get("ada")).contains("Lovelace");
        assertThat(text.getEntry("ada")).contains(new KvTypedTable.Entry<>("Lovelace", version));
        assertThat(text.putIfAbsent("ada", "x").stored()).isFalse();
        assertThat(text.replace("ada", "King", version).replaced()).isTrue();
        assertThat(text.replace("ada", "x", version).replaced()).isFalse();
        assertThat(text.replace("nobody", "x").replaced()).isFalse();
        assertThat(text.append("ada", "\u00e4")).isGreaterThan(version);
        assertThat(text.get("ada")).contains("King\u00e4");
        assertThat(text.exists("ada")).isTrue();
        assertThat(text.delete("ada", version).deleted()).isFalse();
        assertThat(text.delete("ada")).isTrue();
        assertThat(text.get("ada")).isEmpty();

        text.putAll(Map.of("a", "1", "b", "2"));
        assertThat(text.getAll(List.of("b", "none", "a"))).containsExactly(Map.entry("b", "2"), Map.entry("a", "1"));
        assertThat(text.stream().collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue)))
            .isEqualTo(Map.of("a", "1", "b", "2"));

        final KvTypedTable<ByteBuffer, Long> counters = text.bytes().as(KvCodec.BYTE_BUFFER, KvCodec.LONG);
        assertThat(counters.increment(ByteBuffer.wrap(new byte[]{0, 1}), -5)).isEqualTo(-5);
        assertThat(counters.get(ByteBuffer.wrap(new byte[]{0, 1}))).contains(-5L);
        assertThatThrownBy(() -> text.get("\u0000\u0001")).isInstanceOf(KvInvalidRequestException.class)
            .hasMessageContaining("8 bytes are not text");
        assertThatThrownBy(text.getAsync("\u0000\u0001")::join)
            .hasCauseInstanceOf(KvInvalidRequestException.class);
    }

    private static void shouldDoEachOperationLater(final KvClient client)
    {
        final KvTable table = client.createTableAsync("later", new TableOptions(KEYS)).join();
        assertThat(client.tableAsync("later").join().name()).isEqualTo("later");
        assertThat(client.tablesAsync().join()).contains("later");
        final KvTypedTable<String, String> text = table.as(KvCodec.UTF_8, KvCodec.UTF_8);
        final long version = text.putAsync("k", "v").join();
        assertThat(text.getAsync("k").thenCombine(text.existsAsync("k"), (value, isThere) -> value.get() + isThere)
            .join()).isEqualTo("vtrue");
        assertThat(text.getEntryAsync("k").join().orElseThrow().version()).isEqualTo(version);
        assertThat(text.putIfAbsentAsync("k", "x").join().stored()).isFalse();
        assertThat(text.replaceAsync("k", "w", version).join().replaced()).isTrue();
        assertThat(text.replaceAsync("k", "x").join().replaced()).isTrue();
        assertThat(text.appendAsync("k", "y").join()).isPositive();
        assertThat(text.get("k")).contains("xy");
        assertThat(text.deleteAsync("k", version).join().deleted()).isFalse();
        assertThat(text.deleteAsync("k").join()).isTrue();

        final List<byte[]> keys = new ArrayList<>(List.of(new byte[]{1}, new byte[]{2}));
        final CompletableFuture<List<KvOutcome<Long>>> put = table.putAllAsync(keys, keys);
        keys.clear(); // the list is the caller's again
        assertThat(put.join()).hasSize(2).allMatch(KvOutcome::isSuccess);
        keys.addAll(List.of(new byte[]{1}, new byte[]{3}));
        assertThat(table.getAllAsync(keys).join()).extracting((outcome) -> outcome.get().isPresent())
            .containsExactly(true, false);
        assertThat(table.statAsync().join().records()).isEqualTo(2);
        assertThat(table.deleteAllAsync(keys).join()).extracting(KvOutcome::get).containsExactly(true, false);
        assertThatThrownBy(() -> table.getAllAsync(List.of(new byte[0])))
            .isInstanceOf(KvInvalidRequestException.class);

        client.dropTableAsync("later").join();
        assertThatThrownBy(client.tableAsync("later")::join).isInstanceOf(CompletionException.class)
            .hasCauseInstanceOf(KvNoSuchTableException.class);
        assertThat(client.reclaimAsync().join()).isEmpty();
    }

    private static void shouldScanInLoopsStreamsAndPages(final KvClient client)
    {
        final KvTable table = client.createTable("scanned", new TableOptions(KEYS));
        final Map<Integer, KvRecord> expected = new TreeMap<>();
        for (int i = 0; i < KEYS; i++)
        {
            final byte[] key = ByteBuffer.allocate(Integer.BYTES).putInt(i).array();
            expected.put(i, new KvRecord(key, new byte[i * 2], table.put(key, new byte[i * 2])));
        }
        final KvScan scan = table.scan();
        for (int round = 0; round < 2; round++) // a scan can be used again
        {
            final Map<Integer, KvRecord> found = new TreeMap<>();
            for (final KvRecord record : scan)
            {
                assertThat(found.put(ByteBuffer.wrap(record.key()).getInt(), record)).isNull();
            }
            assertThat(found).isEqualTo(expected);
        }
        assertThat(scan.stream().limit(7)).hasSize(7);
        assertThat(scan.stream().collect(Collectors.toSet())).isEqualTo(new HashSet<>(expected.values()));

        final Set<KvRecord> paged = new HashSet<>();
        int pages = 1;
        KvScan.Page page = scan.pageAsync().join();
        while (!page.isLast())
        {
            assertThat(paged.addAll(page.records()) || page.records().isEmpty()).isTrue();
            page = table.scanFrom(page.cursor()).pageAsync().join();
            pages++;
        }
        paged.addAll(page.records());
        assertThat(pages).isGreaterThan(2);
        assertThat(paged).isEqualTo(new HashSet<>(expected.values()));
        final KvScan.Page behind = table.scanFrom(page.cursor()).pageAsync().join();
        assertThat(behind.records()).isEmpty();
        assertThat(behind.isLast()).isTrue();

        client.dropTable("scanned");
        assertThatThrownBy(scan.pageAsync()::join).hasCauseInstanceOf(KvNoSuchTableException.class);
        assertThatThrownBy(() -> scan.iterator().hasNext()).isInstanceOf(KvNoSuchTableException.class);
    }

    private static void shouldKeepDeadlinesApart(final KvTable table)
    {
        final Duration usual = table.timeout();
        final KvTable patient = table.withTimeout(Duration.ofSeconds(Long.MAX_VALUE));
        assertThat(patient.timeout()).isEqualTo(Duration.ofDays(30));
        assertThat(patient.get(new byte[]{'a'})).isPresent();
        assertThat(table.withTimeout(Duration.ofNanos(1)).timeout()).isEqualTo(Duration.ofNanos(1));
        assertThat(table.timeout()).isEqualTo(usual);
        assertThat(table.as(KvCodec.UTF_8, KvCodec.UTF_8).withTimeout(Duration.ofMillis(9)).bytes().timeout())
            .isEqualTo(Duration.ofMillis(9));
        for (final Duration none : new Duration[]{null, Duration.ZERO, Duration.ofNanos(-1)})
        {
            assertThatThrownBy(() -> table.withTimeout(none)).isInstanceOf(KvInvalidRequestException.class)
                .hasMessageContaining("timeout=" + none);
        }
    }

    private static void shouldNotStopWhatIsCancelledOrInterrupted(final KvTable table) throws Exception
    {
        for (int i = 0; i < KEYS; i++)
        {
            final byte[] key = {(byte)i, (byte)(i >> 8)};
            final CompletableFuture<Long> put = table.putAsync(key, key);
            put.cancel(false);
            // A later operation on the key is ordered behind it, whatever its future says.
            final AtomicReference<byte[]> seen = new AtomicReference<>();
            for (int attempt = 0; attempt < 1_000 && null == seen.get(); attempt++)
            {
                table.get(key).ifPresent((entry) -> seen.set(entry.value()));
            }
            assertThat(seen.get()).isEqualTo(key);
        }
        final CompletableFuture<Boolean> keptStatus = new CompletableFuture<>();
        Thread.ofVirtual().start(() ->
        {
            Thread.currentThread().interrupt();
            try
            {
                table.put(new byte[]{1}, new byte[]{7});
                assertThat(table.get(new byte[]{1}).orElseThrow().value()).containsExactly(7);
                assertThat(table.scan().stream().count()).isEqualTo(KEYS + 1);
                assertThat(table.getAll(List.of(new byte[]{1}))).hasSize(1);
                keptStatus.complete(Thread.currentThread().isInterrupted());
            }
            catch (final Throwable ex)
            {
                keptStatus.completeExceptionally(ex);
            }
        });
        assertThat(keptStatus.get()).isTrue();
    }

    /** One client, one handle, handles made on the way, scans and batches, from virtual threads and from platform's. */
    private static void shouldServeManyThreads(final KvTable table) throws InterruptedException, ExecutionException
    {
        final byte[] sum = {0};
        final List<Future<?>> ends = new ArrayList<>();
        try (ExecutorService virtual = Executors.newVirtualThreadPerTaskExecutor();
            ExecutorService platform = Executors.newFixedThreadPool(8))
        {
            for (int thread = 0; thread < THREADS; thread++)
            {
                final byte[] own = {1, (byte)thread, (byte)(thread >> 8)};
                ends.add((thread % 10 == 0 ? platform : virtual).submit(() ->
                {
                    for (int round = 0; round < ROUNDS; round++)
                    {
                        work(table.withTimeout(Duration.ofSeconds(60)), sum, own, round);
                    }
                }));
            }
        }
        for (final Future<?> end : ends)
        {
            end.get();
        }
        assertThat(table.increment(sum, 0)).isEqualTo((long)THREADS * ROUNDS);
        assertThat(table.stat().records()).isEqualTo(THREADS + 1);
    }

    private static void work(final KvTable table, final byte[] sum, final byte[] own, final int round)
    {
        final byte[] value = {(byte)round};
        table.increment(sum, 1);
        final long version = round % 2 == 0 ? table.put(own, value) : table.putAsync(own, value).join();
        assertThat(table.get(own).orElseThrow().version()).isEqualTo(version);
        switch (round % 10)
        {
            case 3 -> assertThat(table.getAllAsync(List.of(own, sum)).join())
                .allMatch((outcome) -> outcome.get().isPresent());
            case 6 -> assertThat(table.scan().stream().filter((record) -> record.key().length == 1)).hasSize(1);
            case 9 -> assertThat(table.replaceAsync(own, value, version).join().replaced()).isTrue();
            default -> assertThat(table.existsAsync(own).join()).isTrue();
        }
    }
}
