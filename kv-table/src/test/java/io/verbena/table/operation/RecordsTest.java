package io.verbena.table.operation;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.table.EngineFixture;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.scan.TableScan;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A whole block whose word has the fingerprint of a key is its block only if table, length and all bytes of the key are
 * the same. Each block here differs in one of them, and has the right checksum.
 */
class RecordsTest
{
    private static final int TABLE_AT = 4096;
    /** More than a word, and not whole words. */
    private static final String KEY = "twelve bytes";

    private EngineFixture fixture;
    private OpenTable table;
    private long word;
    private int block;

    @BeforeEach
    void setUp()
    {
        // Without a cache every operation compares the block by what it finds in the table.
        fixture = EngineFixture.single(settings -> settings.locationCacheEntries(0));
        table = fixture.createTable(0, 1);
    }

    @AfterEach
    void tearDown()
    {
        fixture.close();
    }

    private void put(final String key, final String value)
    {
        assertThat(fixture.put(table, key, value).result()).isEqualTo(OperationResult.STORED);
        for (int slot = 0; slot < BucketDescriptor.SLOTS_PER_GROUP; slot++)
        {
            final int at = TABLE_AT + SubtableDescriptor.GROUPS_OFFSET + BucketDescriptor.SLOTS_OFFSET +
                slot / BucketDescriptor.SLOTS_PER_BUCKET * BucketDescriptor.BUCKET_BYTES +
                slot % BucketDescriptor.SLOTS_PER_BUCKET * BucketDescriptor.SLOT_BYTES;
            final long found = fixture.memory().getLong(at, LITTLE_ENDIAN);
            word = found == SlotWord.EMPTY ? word : found;
        }
        block = (int)SlotWord.blockOffset(word);
    }

    private void rewriteHeader(final int tableId, final int keyLength, final int valueLength)
    {
        final UnsafeBuffer memory = fixture.memory();
        BlockDescriptor.writeHeader(memory, block, tableId, keyLength, valueLength,
            BlockDescriptor.version(memory, block), BlockDescriptor.clientId(memory, block),
            BlockDescriptor.sequence(memory, block), BlockDescriptor.keyHash(memory, block),
            BlockDescriptor.predecessor(memory, block), 0, 0);
        seal();
    }

    private void seal()
    {
        BlockDescriptor.seal(fixture.memory(), block, word);
    }

    private void assertAbsent(final String key)
    {
        assertThat(fixture.get(table, key).result()).isEqualTo(OperationResult.NOT_FOUND);
        assertThat(table.falseMatches).isPositive();
    }

    @Test
    void shouldFindBlockThatWasSealedAgain()
    {
        put(KEY, "value");
        rewriteHeader(table.tableId, KEY.length(), 5);
        assertThat(fixture.get(table, KEY).value()).isEqualTo("value");
        assertThat(table.falseMatches).isZero();
    }

    /** Its memory may be another table's index by now, or the scan's table was dropped and made again. */
    @Test
    void shouldNotScanBlockOfAnotherTable()
    {
        put(KEY, "value");
        assertThat(countByScan()).isOne();
        rewriteHeader(table.tableId + 1, KEY.length(), 5);
        assertThat(countByScan()).isZero();
    }

    private int countByScan()
    {
        final int[] records = {0};
        final TableScan scan = fixture.engine.scan();
        scan.begin(table, 0, fixture.nowNs + 1_000_000, (block, offset, behind) ->
        {
            records[0]++;
            return true;
        });
        for (int i = 0; scan.isBusy() && i < 100_000; i++)
        {
            fixture.engine.poll();
            fixture.fabric.step();
        }
        return records[0];
    }

    @Test
    void shouldNotTakeBlockOfAnotherTable()
    {
        put(KEY, "value");
        rewriteHeader(table.tableId + 1, KEY.length(), 5);
        assertAbsent(KEY);
    }

    /** The same bytes, of which one more belongs to the key. */
    @Test
    void shouldNotTakeBlockOfLongerKey()
    {
        put(KEY, "+value");
        rewriteHeader(table.tableId, KEY.length() + 1, 5);
        assertAbsent(KEY);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 7, 8, 11})
    void shouldNotTakeBlockOfKeyThatDiffersInOneByte(final int at)
    {
        put(KEY, "value");
        final int byteAt = block + BlockDescriptor.KEY_OFFSET + at;
        fixture.memory().putByte(byteAt, (byte)(fixture.memory().getByte(byteAt) ^ 1));
        seal();
        assertAbsent(KEY);
    }
}
