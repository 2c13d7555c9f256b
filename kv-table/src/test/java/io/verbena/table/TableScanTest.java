package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.table.directory.OpenTable;
import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.SizeClasses;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;
import io.verbena.table.operation.TableMutation;
import io.verbena.table.scan.TableScan;
import io.verbena.test.Mutation;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.agrona.DirectBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Scans step by step: what they meet, what they cost, and how they end. */
class TableScanTest
{
    private static final int GROUPS = 50;

    private final EngineFixture fixture = EngineFixture.single();
    private final OpenTable table = fixture.createTable(1, GROUPS);
    private final List<String> met = new ArrayList<>();

    @AfterEach
    void close()
    {
        fixture.close();
    }

    private boolean take(final DirectBuffer block, final int offset, final int most)
    {
        if (met.size() == most)
        {
            return false;
        }
        final int keyLength = BlockDescriptor.keyLength(block, offset);
        final byte[] bytes = new byte[keyLength + BlockDescriptor.valueLength(block, offset)];
        block.getBytes(offset + BlockDescriptor.KEY_OFFSET, bytes);
        met.add(new String(bytes, 0, keyLength) + "=" + new String(bytes, keyLength, bytes.length - keyLength));
        return true;
    }

    private TableScan begin(final EngineFixture at, final OpenTable scanned, final long from)
    {
        final TableScan scan = at.engine.scan();
        scan.begin(scanned, from, at.nowNs + 1_000_000,
            (block, offset, behind) -> take(block, offset, Integer.MAX_VALUE));
        return scan;
    }

    private void finish(final EngineFixture at)
    {
        while (at.engine.scan().isBusy())
        {
            at.engine.poll();
            at.fabric.step();
            at.nowNs += 100;
        }
    }

    private Map<String, String> fill(final int count)
    {
        final Map<String, String> records = new TreeMap<>();
        for (int i = 0; i < count; i++)
        {
            final String value = "value".repeat(1 + i % 40);
            fixture.put(table, "key-" + i, value);
            records.put("key-" + i, value);
        }
        return records;
    }

    @Test
    void shouldMeetEachRecordOnceInStretchesOfAnyLength()
    {
        final Map<String, String> records = fill(400);
        final Map<String, String> seen = new TreeMap<>();
        final TableScan scan = fixture.engine.scan();
        for (long from = 0; from != TableScan.END; from = scan.position())
        {
            met.clear();
            scan.begin(table, from, fixture.nowNs + 1_000_000, (block, offset, behind) -> take(block, offset, 7));
            finish(fixture);
            assertThat(scan.result()).isEqualTo(OperationResult.FOUND);
            assertThat(scan.recordCount()).isEqualTo(met.size());
            assertThat(met.size()).as("a range gets on").isPositive();
            for (final String record : met)
            {
                final String[] parts = record.split("=");
                assertThat(seen.put(parts[0], parts[1])).as(parts[0]).isNull();
            }
        }
        assertThat(seen).isEqualTo(records);
    }

    @Test
    void shouldReadManyGroupsAndManyBlocksWithOneDoorbellEach()
    {
        fill(400);
        final TableScan scan = begin(fixture, table, 0);
        finish(fixture);
        assertThat(met).hasSize(400);
        assertThat(scan.position()).isEqualTo(TableScan.END);
        assertThat(scan.verbs()).as("a READ for all groups of each subtable, one for each block").isEqualTo(2 + 400);
        assertThat(scan.doorbells()).isLessThanOrEqualTo(2 + 400 / 32 + 2);
    }

    @Test
    void shouldCountWithoutReadingBlocks()
    {
        fill(100);
        final TableScan scan = fixture.engine.scan();
        scan.begin(table, 0, fixture.nowNs + 1_000_000, null);
        finish(fixture);
        assertThat(scan.recordCount()).isEqualTo(100);
        assertThat(scan.blockBytes()).isEqualTo(fixture.check(table).blockBytes);
        assertThat(scan.verbs()).isEqualTo(2);
        assertThat(scan.position()).isEqualTo(TableScan.END);
    }

    /** An interval's middle in 2^21ths of all, times the slots of a subtable, and a slot: its group is walked anew. */
    @Test
    void shouldGoOnFromPositionsOfEarlierVersions()
    {
        fill(400);
        final long slots = 21L * GROUPS;
        final long quarter = slots << 19;
        begin(fixture, table, 0);
        finish(fixture);
        final List<String> all = List.copyOf(met);
        final int[] left = new int[5];
        final long[] from = {
            quarter, quarter + slots / 2, quarter + slots / 2 + 20, 3 * quarter, 3 * quarter + slots - 1};
        for (int i = 0; i < from.length; i++)
        {
            met.clear();
            begin(fixture, table, from[i]);
            finish(fixture);
            left[i] = met.size();
            assertThat(met).isEqualTo(all.subList(all.size() - met.size(), all.size()));
        }
        assertThat(left[0]).isEqualTo(400);
        assertThat(left[1]).as("half of the first subtable").isBetween(250, 350).isEqualTo(left[2]);
        assertThat(left[3]).as("the second one").isBetween(150, 250);
        assertThat(left[4]).as("its last group").isBetween(1, 20);
    }

    @Test
    void shouldEndAtOnceWhereThereIsNothing()
    {
        for (final long from : new long[]{TableScan.END, 1, 21L * GROUPS << 21, Long.MAX_VALUE, -1L << 62})
        {
            final TableScan scan = begin(fixture, table, from);
            finish(fixture);
            assertThat(scan.result()).isEqualTo(OperationResult.FOUND);
            assertThat(scan.position()).isEqualTo(TableScan.END);
            assertThat(scan.verbs()).isZero();
        }
        begin(fixture, table, 0);
        finish(fixture);
        assertThat(met).as("an empty table").isEmpty();
    }

    @Test
    void shouldMeetTheValueOfTheMomentInWhichTheSlotWasRead()
    {
        fixture.put(table, "k", "before");
        begin(fixture, table, 0);
        fixture.engine.poll(); // READ of groups posted
        while (!fixture.engine.scan().isInFlightAt(table.link(0)) || 1 == fixture.engine.scan().doorbells())
        {
            fixture.fabric.step();
            fixture.engine.poll();
        }
        fixture.put(table, "k", "after");
        finish(fixture);
        assertThat(met).hasSize(1).first().asString().isIn("k=before", "k=after");
    }

    @Test
    void shouldBelongToTheEpochInWhichItBegan()
    {
        assertThat(passedDuringScan(fixture, table)).as("epoch 4 began the scan").isEqualTo(3);
        finish(fixture);
        assertThat(fixture.engine.passedEpoch()).isEqualTo(8);
        try (Mutation.Opened _ = TableMutation.SCAN_IN_EPOCH.open(); EngineFixture mutant = EngineFixture.single())
        {
            assertThat(passedDuringScan(mutant, mutant.createTable(0, 4))).isEqualTo(8);
        }
    }

    private long passedDuringScan(final EngineFixture at, final OpenTable scanned)
    {
        at.engine.onEpoch(4, 1);
        begin(at, scanned, 0);
        at.engine.onEpoch(9, 3);
        return at.engine.passedEpoch();
    }

    /** The place of the only committed word. */
    private long slotOffset()
    {
        for (int suffix = 0; suffix < 2; suffix++)
        {
            final long entry = table.descriptor().entry(suffix);
            if (DirectoryEntry.memoryNodeId(entry) == EngineFixture.NODE)
            {
                final long groups = DirectoryEntry.subtableOffset(entry) + SubtableDescriptor.GROUPS_OFFSET;
                for (long at = groups; at < groups + GROUPS * BucketDescriptor.GROUP_BYTES; at += Long.BYTES)
                {
                    if (SlotWord.isCommitted(fixture.memory().getLong((int)at, ByteOrder.LITTLE_ENDIAN)) &&
                        at % BucketDescriptor.BUCKET_BYTES != groups % BucketDescriptor.BUCKET_BYTES)
                    {
                        return at;
                    }
                }
            }
        }
        throw new AssertionError("no record at this node");
    }

    private void putAtFirstNode()
    {
        for (int i = 0; fixture.check(table).committed == 0; i++)
        {
            fixture.put(table, "key-" + i, "v");
            try
            {
                slotOffset();
            }
            catch (final AssertionError ex)
            {
                fixture.run(OperationKind.DELETE, table, "key-" + i, null, 0);
            }
        }
    }

    @Test
    void shouldLookAgainAtASlotWhoseBlockWasUsedAgain()
    {
        putAtFirstNode();
        final long slot = slotOffset();
        final long word = fixture.memory().getLong((int)slot, ByteOrder.LITTLE_ENDIAN);
        begin(fixture, table, 0);
        // The scan has the word; then the record moves to another block, and its old block is written over.
        while (!(fixture.engine.scan().verbs() >= 2))
        {
            fixture.engine.poll();
            if (fixture.engine.scan().verbs() < 2)
            {
                fixture.fabric.step();
            }
        }
        final int length = SizeClasses.lengthBytes(SlotWord.sizeClass(word));
        final long moved = SlotWord.blockOffset(word) + (64 << 10);
        final long newWord = word & ~((1L << SlotWord.OFFSET_BITS) - 1) | moved / SlotWord.BLOCK_ALIGNMENT_BYTES;
        fixture.memory().putBytes((int)moved, fixture.memory(), (int)SlotWord.blockOffset(word), length);
        BlockDescriptor.seal(fixture.memory(), (int)moved, newWord);
        fixture.memory().setMemory((int)SlotWord.blockOffset(word), length, (byte)7);
        fixture.memory().putLong((int)slot, newWord, ByteOrder.LITTLE_ENDIAN);
        finish(fixture);
        assertThat(fixture.engine.scan().result()).isEqualTo(OperationResult.FOUND);
        assertThat(met).hasSize(1).first().asString().endsWith("=v");
    }

    @Test
    void shouldSayThatABlockIsDamaged()
    {
        putAtFirstNode();
        final long word = fixture.memory().getLong((int)slotOffset(), ByteOrder.LITTLE_ENDIAN);
        fixture.memory().putByte((int)SlotWord.blockOffset(word) + BlockDescriptor.KEY_OFFSET, (byte)7);
        begin(fixture, table, 0);
        finish(fixture);
        assertThat(fixture.engine.scan().result()).isEqualTo(OperationResult.CORRUPT);
        assertThat(met).isEmpty();
    }

    @Test
    void shouldNotWalkWhatIsAnotherTableOrMoves()
    {
        putAtFirstNode();
        final long slot = slotOffset();
        final long word = fixture.memory().getLong((int)slot, ByteOrder.LITTLE_ENDIAN);
        fixture.memory().putLong(
            (int)slot, SlotWord.withKind(word, SlotWord.KIND_FROZEN), ByteOrder.LITTLE_ENDIAN);
        begin(fixture, table, 0);
        finish(fixture);
        assertThat(fixture.engine.scan().result()).isEqualTo(OperationResult.RESTRUCTURING);

        final int bucket = (int)(slot / BucketDescriptor.BUCKET_BYTES * BucketDescriptor.BUCKET_BYTES);
        fixture.memory().putLong(bucket, 99, ByteOrder.LITTLE_ENDIAN);
        begin(fixture, table, 0);
        finish(fixture);
        assertThat(fixture.engine.scan().result()).isEqualTo(OperationResult.TABLE_CHANGED);
    }

    @Test
    void shouldEndWithItsConnectionAndItsDeadline()
    {
        fill(50);
        begin(fixture, table, 0);
        fixture.engine.poll();
        fixture.engine.detach(EngineFixture.NODE);
        fixture.engine.detach(EngineFixture.OTHER_NODE);
        assertThat(fixture.engine.scan().result()).isEqualTo(OperationResult.NODE_UNAVAILABLE);
        assertThat(fixture.engine.scan().isBusy()).isFalse();

        begin(fixture, table, 0); // waits for a connection
        fixture.engine.poll();
        fixture.nowNs += 1_000_001;
        fixture.engine.poll();
        assertThat(fixture.engine.scan().result()).isEqualTo(OperationResult.TIMED_OUT_NOT_APPLIED);
        assertThat(fixture.engine.scan().isBusy()).isFalse();

        fixture.fabric.drain();
        fixture.connect();
        begin(fixture, table, 0);
        fixture.engine.poll();
        fixture.nowNs += 1_000_001;
        fixture.engine.poll();
        assertThat(fixture.engine.scan().isRunning()).isFalse();
        assertThat(fixture.engine.scan().isBusy()).as("a READ is under way").isTrue();
        finish(fixture);
        met.clear();
        begin(fixture, table, 0);
        finish(fixture);
        assertThat(met).hasSize(50);
    }
}
