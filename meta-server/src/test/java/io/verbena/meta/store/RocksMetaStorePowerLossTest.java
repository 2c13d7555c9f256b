package io.verbena.meta.store;

import io.verbena.test.SyncCalls;
import io.verbena.test.UnsyncedLoss;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

/** What the store has after the host lost its power, and with it all that was not synced. */
@Timeout(120)
class RocksMetaStorePowerLossTest
{
    private static final MetaCounters FIRST = new MetaCounters(77, 5, 6, 7, 4097, 9, 10);
    private static final MetaCounters SECOND = new MetaCounters(77, 6, 7, 8, 8193, 10, 11);

    @TempDir
    private Path disk;
    @TempDir
    private Path left;

    @BeforeAll
    static void requireSeccomp()
    {
        assumeThat(SyncCalls.isSupported()).as("the kernel shows system calls by seccomp").isTrue();
    }

    @Test
    void shouldKnowEachBatchWhoseWriteReturned() throws Exception
    {
        final Path data = disk.resolve("cluster/meta");
        final UnsyncedLoss loss = new UnsyncedLoss(disk);
        loss.run(() ->
        {
            try (RocksMetaStore store = RocksMetaStore.open(data))
            {
                store.write(new MetaBatch().counters(FIRST));
                loss.loseHost(left.resolve("1"));
                store.write(new MetaBatch().counters(SECOND)
                    .table(new StoredTable("users", 5, "descriptor".getBytes(StandardCharsets.UTF_8))));
                loss.loseHost(left.resolve("2"));
            }
            try (RocksMetaStore store = RocksMetaStore.open(data))
            {
                loss.loseHost(left.resolve("3"));
                store.write(new MetaBatch().removeTable("users"));
                loss.loseHost(left.resolve("4"));
            }
            return null;
        });
        assertThat(read("1").counters()).isEqualTo(FIRST);
        assertThat(read("2").counters()).isEqualTo(SECOND);
        assertThat(read("2").tables()).hasSize(1);
        assertThat(read("3").counters()).as("nothing is lost by an end in good order").isEqualTo(SECOND);
        assertThat(read("3").tables()).hasSize(1);
        assertThat(read("4").tables()).isEmpty();
    }

    /** The record is in the log, and replayed: a failed sync does not mean that the change was not made. */
    @Test
    void shouldNotSayThatABatchWhoseSyncFailedIsNotThere() throws Exception
    {
        final Path data = disk.resolve("meta");
        final UnsyncedLoss loss = new UnsyncedLoss(disk);
        loss.run(() ->
        {
            try (RocksMetaStore store = RocksMetaStore.open(data))
            {
                store.write(new MetaBatch().counters(FIRST));
                loss.fail(disk.toRealPath().resolve("meta/rocksdb"));
                assertThatThrownBy(() -> store.write(new MetaBatch().counters(SECOND)))
                    .isInstanceOf(DurableWriteError.class).hasMessageContaining("so the meta server halts")
                    .hasMessageContaining(data.toString());
                assertThatThrownBy(() -> store.write(new MetaBatch().counters(SECOND)))
                    .as("nor does it go on").isInstanceOf(DurableWriteError.class);
            }
            return null;
        });
        try (RocksMetaStore store = RocksMetaStore.open(data))
        {
            assertThat(store.load().counters()).isEqualTo(SECOND);
        }
    }

    private MetaState read(final String moment)
    {
        try (RocksMetaStore store = RocksMetaStore.open(left.resolve(moment).resolve("cluster/meta")))
        {
            return store.load();
        }
    }
}
