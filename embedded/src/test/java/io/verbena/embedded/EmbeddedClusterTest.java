package io.verbena.embedded;

import io.verbena.client.KvEntry;
import io.verbena.client.KvCounterOverflowException;
import io.verbena.client.KvValueTooLongException;
import io.verbena.client.KvNotACounterException;
import io.verbena.client.KvOutcome;
import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.KvClosedException;
import io.verbena.client.KvInvalidRequestException;
import io.verbena.client.KvLimits;
import io.verbena.client.KvNoSuchTableException;
import io.verbena.client.KvOutOfMemoryException;
import io.verbena.client.KvTable;
import io.verbena.client.KvTableExistsException;
import io.verbena.client.KvTableFullException;
import io.verbena.client.OperationKind;
import io.verbena.client.OperationStatistics;
import io.verbena.client.PutResult;
import io.verbena.client.ReplaceResult;
import io.verbena.client.TableOptions;
import io.verbena.memory.MemoryNodeConfiguration;
import io.verbena.rdma.verbs.VerbCounters;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What a user of the store sees, on one cluster of two compute nodes that all tests share. */
@Timeout(60)
class EmbeddedClusterTest
{
    private static final byte[] KEY = bytes("key");
    private static final byte[] VALUE = bytes("value");
    private static final byte[] OTHER = bytes("another value");

    private static final long TIMEOUT_NS = 10_000_000_000L;
    private static final Duration TIMEOUT = Duration.ofNanos(TIMEOUT_NS);

    private static EmbeddedCluster cluster;
    private static KvClient client;

    @BeforeAll
    static void start()
    {
        // No probes for merges, whose READs are of no operation: one test counts all verbs.
        cluster = EmbeddedCluster.start(new EmbeddedClusterOptions().memoryBytesPerNode(48 << 20).computeNodes(2)
            .fillLookPauseNs(TimeUnit.HOURS.toNanos(1)));
        client = cluster.client();
    }

    @AfterAll
    static void stop()
    {
        cluster.close();
    }

    @Test
    void shouldStoreFindReplaceAndDelete(final TestInfo info)
    {
        final KvTable table = table(info, 100);

        assertThat(table.get(KEY)).isEmpty();
        final long first = table.put(KEY, VALUE);
        assertThat(table.get(KEY).orElseThrow().value()).isEqualTo(VALUE);
        assertThat(table.get(KEY).orElseThrow().version()).isEqualTo(first);
        assertThat(table.exists(KEY)).isTrue();

        final ReplaceResult replaced = table.replace(KEY, OTHER, first);
        assertThat(replaced.replaced()).isTrue();
        assertThat(replaced.version()).isGreaterThan(first);
        assertThat(table.replace(KEY, VALUE, first))
            .isEqualTo(new ReplaceResult(ReplaceResult.Outcome.VERSION_MISMATCH, replaced.version()));

        assertThat(table.delete(KEY, first).deleted()).isFalse();
        assertThat(table.delete(KEY, replaced.version()).deleted()).isTrue();
        assertThat(table.delete(KEY)).isFalse();
        assertThat(table.exists(KEY)).isFalse();
    }

    @Test
    void shouldPutOnlyIfAbsent(final TestInfo info)
    {
        final KvTable table = table(info, 100);

        final PutResult stored = table.putIfAbsent(KEY, VALUE);
        assertThat(stored.stored()).isTrue();
        assertThat(table.putIfAbsent(KEY, OTHER)).isEqualTo(new PutResult(false, stored.version()));
        assertThat(table.get(KEY).orElseThrow().value()).isEqualTo(VALUE);
    }

    @Test
    void shouldCountAppendAndPutIfPresent(final TestInfo info)
    {
        final KvTable table = table(info, 100);

        assertThat(table.replace(KEY, VALUE).replaced()).isFalse();
        assertThat(table.append(KEY, bytes("be"))).isPositive();
        table.append(KEY, bytes("gin"));
        assertThat(table.get(KEY).orElseThrow().value()).isEqualTo(bytes("begin"));
        assertThat(table.replace(KEY, VALUE).replaced()).isTrue();
        assertThatThrownBy(() -> table.increment(KEY, 1)).isInstanceOf(KvNotACounterException.class);
        assertThatThrownBy(() -> table.append(KEY, new byte[KvLimits.MAX_VALUE_BYTES]))
            .isInstanceOf(KvValueTooLongException.class);

        assertThat(table.increment(OTHER, 40)).isEqualTo(40);
        assertThat(table.increment(OTHER, 2)).isEqualTo(42);
        assertThat(table.get(OTHER).orElseThrow().value()).isEqualTo(new byte[]{42, 0, 0, 0, 0, 0, 0, 0});
        assertThatThrownBy(() -> table.increment(OTHER, Long.MAX_VALUE))
            .isInstanceOf(KvCounterOverflowException.class);
    }

    @Test
    void shouldWorkOnManyKeysAtOnce(final TestInfo info)
    {
        final KvTable table = table(info, 2000);
        final List<byte[]> keys = new ArrayList<>();
        for (int i = 0; i < 500; i++)
        {
            keys.add(bytes("key" + i));
        }
        table.withTimeout(TIMEOUT).putAll(keys, keys).forEach((outcome) -> assertThat(outcome.get()).isPositive());
        final List<KvOutcome<Optional<KvEntry>>> found = table.withTimeout(TIMEOUT).getAll(keys);
        for (int i = 0; i < keys.size(); i++)
        {
            assertThat(found.get(i).get().orElseThrow().value()).isEqualTo(keys.get(i));
        }
        table.withTimeout(TIMEOUT).deleteAll(keys).forEach((outcome) -> assertThat(outcome.get()).isTrue());
        assertThat(table.withTimeout(TIMEOUT).getAll(keys)).allMatch((outcome) -> outcome.get().isEmpty());
    }

    @Test
    void shouldTakeLongestAndShortestKeysAndValues(final TestInfo info)
    {
        final KvTable table = table(info, 100);
        final byte[] longKey = new byte[KvLimits.MAX_KEY_BYTES];
        final byte[] longValue = new byte[KvLimits.MAX_VALUE_BYTES];
        longValue[longValue.length - 1] = 7;

        table.put(longKey, longValue);
        table.put(new byte[] {1}, new byte[0]);

        assertThat(table.get(longKey).orElseThrow().value()).isEqualTo(longValue);
        assertThat(table.get(new byte[] {1}).orElseThrow().value()).isEmpty();
        assertThatThrownBy(() -> table.put(new byte[KvLimits.MAX_KEY_BYTES + 1], VALUE))
            .isInstanceOf(KvInvalidRequestException.class);
    }

    @Test
    void shouldKeepTablesApart(final TestInfo info)
    {
        final KvTable one = table(info, 100);
        final KvTable other = client.createTable(info.getDisplayName().replaceAll("\\W", "") + ".2",
            new TableOptions(100));

        one.put(KEY, VALUE);

        assertThat(other.get(KEY)).isEmpty();
    }

    @Test
    void shouldFindListAndDropTables()
    {
        assertThatThrownBy(() -> client.table("unknown")).isInstanceOf(KvNoSuchTableException.class)
            .hasMessageContaining("unknown");
        final KvTable made = client.createTable("made", new TableOptions(100));
        made.put(KEY, VALUE);
        assertThat(client.tables()).contains("made").isSorted();
        assertThatThrownBy(() -> client.createTable("made", new TableOptions(100)))
            .isInstanceOf(KvTableExistsException.class).hasMessageContaining("made");
        assertThat(client.table("made").get(KEY)).isPresent();

        client.dropTable("made");

        assertThat(client.tables()).doesNotContain("made");
        assertThatThrownBy(() -> made.get(KEY)).isInstanceOf(KvNoSuchTableException.class);
        assertThatThrownBy(() -> client.dropTable("made")).isInstanceOf(KvNoSuchTableException.class);

        final KvTable again = client.createTable("made", new TableOptions(100));
        assertThat(again.get(KEY)).isEmpty();
        assertThatThrownBy(() -> made.get(KEY)).as("the handle of the dropped table")
            .isInstanceOf(KvNoSuchTableException.class);
    }

    @Test
    void shouldSayThatATableIsTooLarge()
    {
        assertThatThrownBy(() -> client.createTable("large", new TableOptions(50_000_000)))
            .isInstanceOfAny(KvInvalidRequestException.class, KvOutOfMemoryException.class)
            .hasMessageContaining("expect");
        assertThat(client.tables()).doesNotContain("large");
    }

    /** Each control call brings at least one chunk, so that chunks bound the calls. */
    @Test
    void shouldAskForMemoryAtMostOncePerThousandSmallPuts(final TestInfo info)
    {
        final int puts = 12_000;
        final KvTable table = table(info, puts);
        final long chunks = leasedChunks();
        final byte[] value = new byte[100];
        for (int i = 0; i < puts; i++)
        {
            table.put(String.format("key-%012d", i).getBytes(UTF_8), value);
        }
        assertThat(leasedChunks() - chunks).isPositive().isLessThanOrEqualTo(puts / 1000);
    }

    private static long leasedChunks()
    {
        final MemoryCheck check = cluster.check(false, TIMEOUT_NS);
        assertThat(check.problems()).isEmpty();
        return check.leasedBytes() / new MemoryNodeConfiguration().chunkLengthBytes();
    }

    @Test
    void shouldSayThatATableIsFullWhereTablesDoNotGrow()
    {
        try (EmbeddedCluster fixed = EmbeddedCluster.start(
            new EmbeddedClusterOptions().growingTables(false).memoryBytesPerNode(64L << 20)))
        {
            final KvTable table = fixed.client().createTable("t", new TableOptions(10));

            assertThatThrownBy(() ->
            {
                for (int i = 0; i < 100_000; i++)
                {
                    table.put(bytes("key" + i), new byte[0]);
                }
            }).isInstanceOf(KvTableFullException.class).hasMessageContaining("expectedRecords");

            assertThat(table.get(bytes("key0"))).as("what was stored stays").isPresent();
        }
    }

    @Test
    void shouldRunAsynchronously(final TestInfo info)
    {
        final KvTable table = table(info, 2000);
        final List<CompletableFuture<Long>> puts = new ArrayList<>();
        for (int i = 0; i < 1000; i++)
        {
            puts.add(table.putAsync(bytes("key" + i), bytes("value" + i)));
        }
        puts.forEach((put) -> assertThat(put.join()).isPositive());

        for (int i = 0; i < 1000; i++)
        {
            assertThat(table.getAsync(bytes("key" + i)).join().orElseThrow().value()).isEqualTo(bytes("value" + i));
        }
    }

    /** A stage that blocks on the same client must not block the node that would have to answer it. */
    @Test
    void shouldAllowDependentStagesToBlock(final TestInfo info)
    {
        final KvTable table = table(info, 100);

        assertThat(table.putAsync(KEY, VALUE).thenApply((version) -> table.get(KEY).orElseThrow().version()).join())
            .isPositive();
    }

    /** A node reads the list of nodes once more, up to 200 ms after a table was made. */
    private void awaitListsOfNodes() throws InterruptedException
    {
        long before = -1;
        long now = oneSided(cluster.computeVerbCounters());
        while (now != before)
        {
            before = now;
            TimeUnit.MILLISECONDS.sleep(500);
            now = oneSided(cluster.computeVerbCounters());
        }
    }

    @Test
    void shouldAgreeWithTheFabricOnEveryVerb(final TestInfo info) throws InterruptedException
    {
        final KvTable table = table(info, 1000);
        table.put(bytes("warm"), VALUE);
        awaitListsOfNodes();
        final OperationStatistics before = client.statistics();
        final VerbCounters fabricBefore = cluster.computeVerbCounters();

        for (int i = 0; i < 300; i++)
        {
            table.put(bytes("key" + i % 100), bytes("value" + i));
            table.get(bytes("key" + i % 100));
            table.get(bytes("absent" + i));
            table.putIfAbsent(bytes("new" + i), VALUE);
            table.delete(bytes("new" + i));
        }

        final OperationStatistics operations = client.statistics().since(before);
        final VerbCounters fabric = cluster.computeVerbCounters();
        assertThat(oneSided(fabric) - oneSided(fabricBefore)).isEqualTo(operations.verbs());
        assertThat(operations.count()).isEqualTo(1500);
        assertThat(operations.meanRoundTrips(OperationKind.GET)).as("cached by its own put").isEqualTo(1.0);
        assertThat(operations.meanRoundTrips(OperationKind.GET_ABSENT)).isBetween(1.0, 1.1);
        assertThat(operations.meanRoundTrips(OperationKind.PUT_IF_ABSENT)).isBetween(3.0, 3.1);
        // One more where epochs have passed since the insert, as on a busy machine.
        assertThat(operations.meanRoundTrips(OperationKind.DELETE)).isBetween(1.0, 1.1);
    }

    @Test
    void shouldGiveEachClientItsOwnStatisticsAndEnd(final TestInfo info)
    {
        final String name = table(info, 100).name();
        final KvClient other = cluster.openClient(new KvClientOptions());
        final KvTable table = other.table(name);
        table.put(KEY, VALUE);
        assertThat(other.statistics().count()).isEqualTo(1);

        other.close();

        assertThatThrownBy(() -> table.get(KEY)).isInstanceOf(KvClosedException.class);
        assertThat(client.table(name).get(KEY)).isPresent();
    }

    @Test
    void shouldDescribeItsComputeNodes(final TestInfo info)
    {
        table(info, 100).put(KEY, VALUE);

        assertThat(cluster.computeNodes()).hasSize(2).allSatisfy((node) ->
        {
            assertThat(node.isServing()).isTrue();
            assertThat(node.nodeId()).isPositive();
            assertThat(node.incarnation()).isPositive();
            assertThat(node.joinToReadyNs()).isPositive();
            assertThat(node.joinBreakdown()).contains("register=");
        });
        assertThat(cluster.computeNodes()).extracting(ComputeNodeHandle::nodeId).doesNotHaveDuplicates();
    }

    @Test
    void shouldRefuseToRemoveWhatIsNotThere()
    {
        assertThatThrownBy(() -> cluster.removeComputeNode(60_000))
            .isInstanceOf(EmbeddedClusterException.class).hasMessageContaining("60000");
        assertThatThrownBy(() -> cluster.killComputeNode(60_000)).isInstanceOf(EmbeddedClusterException.class);
    }

    private static long oneSided(final VerbCounters counters)
    {
        return counters.reads + counters.writes + counters.compareSwaps + counters.fetchAdds;
    }

    private static KvTable table(final TestInfo info, final long expectedRecords)
    {
        return client.createTable(info.getTestMethod().orElseThrow().getName(), new TableOptions(expectedRecords));
    }

    private static byte[] bytes(final String text)
    {
        return text.getBytes(UTF_8);
    }
}
