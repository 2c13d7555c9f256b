package io.verbena.embedded;

import io.verbena.client.ExpiringRecords.ExpireResult;
import io.verbena.client.Expiry;
import io.verbena.client.KvClient;
import io.verbena.client.KvEntry;
import io.verbena.client.KvInvalidRequestException;
import io.verbena.client.KvRecord;
import io.verbena.client.KvTable;
import io.verbena.client.OperationKind;
import io.verbena.client.PutResult;
import io.verbena.client.ReplaceResult;
import io.verbena.client.TableOptions;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Deadlines of records as a user sees them, by calls inside the process and by messages. */
@Timeout(60)
class ExpiringRecordsTest
{
    private static final byte[] KEY = bytes("key");
    private static final byte[] VALUE = bytes("value");
    private static final byte[] OTHER = bytes("another value");
    /** Far away: nothing here waits for it. */
    private static final Duration HOUR = Duration.ofHours(1);

    @TempDir
    Path directory;

    @Test
    void shouldLetRecordsExpire() throws InterruptedException
    {
        try (EmbeddedCluster cluster = EmbeddedCluster.start(new EmbeddedClusterOptions().memoryBytesPerNode(16 << 20)
            .computeNodes(2)))
        {
            runAll(cluster.client());
        }
    }

    @Test
    void shouldLetRecordsExpireByMessages() throws InterruptedException
    {
        try (RemoteCluster cluster = new RemoteCluster(directory, 2); KvClient client = cluster.client())
        {
            runAll(client);
        }
    }

    private void runAll(final KvClient client) throws InterruptedException
    {
        final KvTable table = client.createTable("t", new TableOptions(1_000));
        writesNameDeadlines(table);
        asyncFormsDoTheSame(table);
        recordsAreChangedOnConditions(table);
        recordsEndAtTheirDeadlines(table);
        badDeadlinesAreRefused(table);
        assertThat(client.statistics().count(OperationKind.EXPIRE)).isPositive();
    }

    private static void writesNameDeadlines(final KvTable table)
    {
        final Instant deadline = Instant.ofEpochMilli(System.currentTimeMillis() + HOUR.toMillis());
        final long version = table.put(KEY, VALUE, Expiry.at(deadline));
        assertThat(table.get(KEY)).contains(new KvEntry(VALUE, version, deadline.toEpochMilli()));
        assertThat(table.get(KEY).orElseThrow().deadline()).contains(deadline);
        assertThat(table.timeToLive(KEY).orElseThrow().deadline()).contains(deadline);
        assertThat(table.timeToLive(KEY).orElseThrow().left().orElseThrow()).isBetween(HOUR.minusSeconds(50), HOUR);
        assertThat(table.putIfAbsent(KEY, OTHER, Expiry.in(HOUR)).stored()).isFalse();
        final ReplaceResult kept = table.replace(KEY, OTHER, version, Expiry.KEEP);
        assertThat(kept.replaced()).isTrue();
        assertThat(table.get(KEY)).contains(new KvEntry(OTHER, kept.version(), deadline.toEpochMilli()));
        final Map<String, KvRecord> scanned = new HashMap<>();
        for (final KvRecord record : table.scan())
        {
            scanned.put(new String(record.key(), UTF_8), record);
        }
        assertThat(scanned.get("key").deadlineMs()).isEqualTo(deadline.toEpochMilli());
        table.put(KEY, VALUE);
        assertThat(table.timeToLive(KEY)).contains(new Expiry.TimeToLive(0, 0));
        assertThat(table.timeToLive(KEY).orElseThrow().deadline()).isEmpty();
        assertThat(table.timeToLive(KEY).orElseThrow().left()).isEmpty();
        assertThat(table.replace(KEY, VALUE, Expiry.in(HOUR)).replaced()).isTrue();
        assertThat(table.timeToLive(KEY).orElseThrow().deadlineMs()).isPositive();
        assertThat(table.put(KEY, VALUE, Expiry.NEVER)).isPositive();
        assertThat(table.get(KEY).orElseThrow().deadline()).isEmpty();
        assertThat(table.delete(KEY)).isTrue();
        assertThat(table.timeToLive(KEY)).isEmpty();
        assertThat(table.replace(KEY, VALUE, Expiry.in(HOUR)).replaced()).isFalse();
        assertThat(table.putIfAbsent(KEY, VALUE, Expiry.in(HOUR)).stored()).isTrue();
        assertThat(table.timeToLive(KEY).orElseThrow().deadlineMs()).isPositive();
    }

    private static void asyncFormsDoTheSame(final KvTable table)
    {
        final byte[] key = bytes("async");
        final PutResult stored = table.putIfAbsentAsync(key, VALUE, Expiry.in(HOUR)).join();
        assertThat(stored.stored()).isTrue();
        assertThat(table.timeToLiveAsync(key).join().orElseThrow().leftMs()).isBetween(1L, HOUR.toMillis());
        assertThat(table.persistAsync(key).join()).isTrue();
        assertThat(table.persistAsync(key).join()).isFalse();
        assertThat(table.expireAsync(key, Expiry.in(HOUR), Expiry.Condition.IF_NONE).join().changed()).isTrue();
        assertThat(table.replaceAsync(key, OTHER, Expiry.KEEP).join().replaced()).isTrue();
        final long version = table.putAsync(key, VALUE, Expiry.KEEP).join();
        assertThat(table.timeToLive(key).orElseThrow().leftMs()).isPositive();
        assertThat(table.replaceAsync(key, VALUE, version, Expiry.NEVER).join().replaced()).isTrue();
        assertThat(table.timeToLive(key)).contains(new Expiry.TimeToLive(0, 0));
    }

    private static void recordsAreChangedOnConditions(final KvTable table)
    {
        final byte[] key = bytes("conditions");
        assertThat(table.expire(key, Expiry.in(HOUR), Expiry.Condition.ALWAYS))
            .isEqualTo(new ExpireResult(ExpireResult.Outcome.NOT_FOUND, 0));
        assertThat(table.persist(key)).isFalse();
        final long version = table.put(key, VALUE);
        assertThat(table.expire(key, Expiry.in(HOUR), Expiry.Condition.IF_SOME))
            .isEqualTo(new ExpireResult(ExpireResult.Outcome.CONDITION_NOT_MET, version));
        assertThat(table.expire(key, Expiry.in(HOUR), Expiry.Condition.IF_LATER).changed()).isFalse();
        final ExpireResult changed = table.expire(key, Expiry.in(HOUR), Expiry.Condition.IF_EARLIER);
        assertThat(changed.changed()).isTrue();
        assertThat(changed.version()).isGreaterThan(version);
        assertThat(table.get(key).orElseThrow().version()).isEqualTo(changed.version());
        assertThat(table.expire(key, Expiry.in(HOUR.plusMinutes(1)), Expiry.Condition.IF_EARLIER).changed()).isFalse();
        assertThat(table.expire(key, Expiry.in(HOUR.plusMinutes(1)), Expiry.Condition.IF_LATER).changed()).isTrue();
        assertThat(table.expire(key, Expiry.in(HOUR), Expiry.Condition.IF_NONE).changed()).isFalse();
        assertThat(table.persist(key)).isTrue();
        assertThat(table.get(key).orElseThrow().value()).isEqualTo(VALUE);
        assertThat(table.get(key).orElseThrow().deadline()).isEmpty();
    }

    private static void recordsEndAtTheirDeadlines(final KvTable table) throws InterruptedException
    {
        final byte[] key = bytes("short");
        final long beginMs = System.currentTimeMillis();
        table.put(key, VALUE, Expiry.in(Duration.ofMillis(50)));
        long seenMs = beginMs;
        while (table.exists(key))
        {
            seenMs = System.currentTimeMillis();
            Thread.sleep(1);
        }
        // One process, one clock: neither before nor, as far as a read that was begun can be, behind.
        assertThat(System.currentTimeMillis()).isGreaterThanOrEqualTo(beginMs + 50);
        assertThat(seenMs).isPositive();
        assertThat(table.get(key)).isEmpty();
        assertThat(table.delete(key)).isFalse();
        table.put(key, VALUE, Expiry.at(Instant.ofEpochMilli(1)));
        assertThat(table.get(key)).isEmpty();
        assertThat(table.putIfAbsent(key, OTHER).stored()).isTrue();
        table.expire(key, Expiry.at(Instant.ofEpochMilli(beginMs)), Expiry.Condition.ALWAYS);
        assertThat(table.exists(key)).isFalse();
        table.put(key, VALUE, Expiry.in(Duration.ofNanos(1)));
        Thread.sleep(2);
        assertThat(table.exists(key)).isFalse();
    }

    private static void badDeadlinesAreRefused(final KvTable table)
    {
        assertThatThrownBy(() -> table.put(KEY, VALUE, null)).isInstanceOf(KvInvalidRequestException.class)
            .hasMessageContaining("Expiry.NEVER");
        assertThatThrownBy(() -> table.expire(KEY, Expiry.NEVER, null)).isInstanceOf(KvInvalidRequestException.class)
            .hasMessageContaining("Expiry.Condition.ALWAYS");
        for (final Duration time : new Duration[]{null, Duration.ZERO, Duration.ofMillis(-1), Duration.ofDays(3300000)})
        {
            assertThatThrownBy(() -> table.put(KEY, VALUE, Expiry.in(time)))
                .isInstanceOf(KvInvalidRequestException.class).hasMessageContaining("timeToLive=" + time);
        }
        for (final Instant deadline : new Instant[]{null, Instant.EPOCH, Instant.ofEpochMilli(-5), Instant.MAX})
        {
            assertThatThrownBy(() -> table.put(KEY, VALUE, Expiry.at(deadline)))
                .isInstanceOf(KvInvalidRequestException.class).hasMessageContaining("deadline");
        }
    }

    private static byte[] bytes(final String text)
    {
        return text.getBytes(UTF_8);
    }
}
