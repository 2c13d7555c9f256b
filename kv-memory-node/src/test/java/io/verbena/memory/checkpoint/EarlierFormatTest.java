package io.verbena.memory.checkpoint;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Properties;
import java.util.function.Consumer;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** A checkpoint of the build before is the one of this build when it has been opened. */
@Timeout(120)
class EarlierFormatTest
{
    private static final int PAGES = 5;
    private static final int RECORDS_OF_PAGE = 3;

    @TempDir
    private Path directory;

    private static long slot(final int page, final int record)
    {
        return (long)page * CheckpointPage.RANGE_BYTES + record * Long.BYTES;
    }

    private static byte[] record(final int page, final int record)
    {
        return ByteBuffer.allocate(3 * Long.BYTES).order(LITTLE_ENDIAN)
            .putLong(1 + record).putLong(page).putLong(record).array();
    }

    private static long checksum(final int page, final int record)
    {
        return 1 + page * 100L + record;
    }

    private void write(final boolean isComplete)
    {
        try (CheckpointStore store = CheckpointStore.open(directory))
        {
            for (int page = 0; page < PAGES; page++)
            {
                final CheckpointPage made = CheckpointPage.empty(1, 2);
                for (int i = 0; i < RECORDS_OF_PAGE; i++)
                {
                    store.putRecord(slot(page, i), checksum(page, i), record(page, i));
                    made.put(i * Long.BYTES, 1 + i, checksum(page, i));
                }
                store.putPage(slot(page, 0), made);
            }
            store.flush();
            if (isComplete)
            {
                final Properties state = new Properties();
                state.setProperty("memory_id", "1f");
                store.finish(state);
            }
        }
        EarlierCheckpoint.make(directory);
    }

    private void assertConverted(final CheckpointStore store)
    {
        final int[] records = {0};
        store.forEachRecord((slot, checksum) -> records[0]++);
        assertThat(records[0]).isEqualTo(PAGES * RECORDS_OF_PAGE);
        for (int page = 0; page < PAGES; page++)
        {
            for (int i = 0; i < RECORDS_OF_PAGE; i++)
            {
                assertThat(store.record(slot(page, i), checksum(page, i))).isEqualTo(record(page, i));
                assertThat(store.page(slot(page, 0)).checksum(i * Long.BYTES)).isEqualTo(checksum(page, i));
            }
            assertThat(store.page(slot(page, 0)).isOfSameUse(CheckpointPage.empty(0, 1))).isFalse();
        }
    }

    @Test
    void shouldBeReadAsOneOfThisFormat()
    {
        write(true);
        try (CheckpointStore store = CheckpointStore.open(directory))
        {
            assertConverted(store);
            assertThat(store.state()).containsEntry("memory_id", "1f").containsEntry("format_version", "3");
        }
        try (CheckpointStore store = CheckpointStore.open(directory))
        {
            assertConverted(store);
        }
    }

    @Test
    void shouldStayIncompleteWhenItWas()
    {
        write(false);
        try (CheckpointStore store = CheckpointStore.open(directory))
        {
            assertConverted(store);
            assertThat(store.state()).isEmpty();
        }
    }

    @Test
    void shouldBeGoneOnWithWhereverTheProcessEnds()
    {
        write(true);
        int written = 0;
        for (boolean isThrough = false; !isThrough; written++)
        {
            final int[] left = {1 + written};
            isThrough = convertUnlessItEnds(() ->
            {
                if (0 == left[0]--)
                {
                    throw new CheckpointException("ended", null);
                }
            });
        }
        assertThat(written).isGreaterThan(2);
        try (CheckpointStore store = CheckpointStore.open(directory))
        {
            assertConverted(store);
            assertThat(store.state()).containsEntry("format_version", "3");
        }
    }

    private boolean convertUnlessItEnds(final Runnable onWrite)
    {
        try (CheckpointStore store = CheckpointStore.open(
            directory, (path) -> new WatchedDatabase(RocksCheckpointDatabase.open(path), (bytes) -> onWrite.run()), 1))
        {
            return !store.state().isEmpty();
        }
        catch (final CheckpointException ex)
        {
            assertThat(ex).hasMessage("ended");
            return false;
        }
    }

    @Test
    void shouldNotBeTakenWhenARecordIsMissing()
    {
        write(true);
        EarlierCheckpoint.loseRecord(directory, slot(2, 1));
        assertThatThrownBy(() -> CheckpointStore.open(directory)).isInstanceOf(CheckpointException.class)
            .hasMessageContaining("it has no record of slot 0x2008");
    }

    /** A batch is in memory until it is written. */
    @Test
    void shouldRemoveWhatIsStaleInBatchesOfBoundedLength()
    {
        final long[] longest = {0};
        final Consumer<Long> watch = (bytes) -> longest[0] = Math.max(longest[0], bytes);
        try (CheckpointStore store = CheckpointStore.open(
            directory, (path) -> new WatchedDatabase(RocksCheckpointDatabase.open(path), watch), 1000))
        {
            for (int i = 0; i < 1000; i++)
            {
                store.putRecord(slot(0, i), i, new byte[]{1});
                store.removeLater(slot(0, i), i);
                store.pageEnded();
            }
            store.removeStale();
            store.finish(new Properties());
            store.forEachRecord((slot, checksum) -> assertThat(slot).isNegative());
        }
        assertThat(longest[0]).isBetween(1000L, 1200L);
    }
}
