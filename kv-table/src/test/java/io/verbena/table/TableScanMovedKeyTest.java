package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.table.directory.OpenTable;
import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.KeyHash;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.growth.TableMerge;
import io.verbena.table.growth.TableSplit;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;
import io.verbena.table.operation.TableMutation;
import io.verbena.table.scan.TableScan;
import io.verbena.test.Mutation;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import net.openhft.hashing.LongTupleHashFunction;
import org.agrona.DirectBuffer;
import org.junit.jupiter.api.Test;

/** A walk that is cut between two records, of which a merge then moves the later one to a slot before the other one. */
class TableScanMovedKeyTest
{
    private static final int SEED_OF_HASH = 42;
    private static final long MEMORY_AT = 512 * 1024;
    private static final int MAX_STEPS = 100_000;

    private final List<String> met = new ArrayList<>();

    /** @return keys of one bucket that lie in the subtable with this split bit. */
    private static List<String> keys(final int side, final int count)
    {
        final LongTupleHashFunction function = KeyHash.function(SEED_OF_HASH);
        final KeyHash hash = new KeyHash();
        final List<String> keys = new ArrayList<>();
        try (Arena arena = Arena.ofConfined())
        {
            for (int i = 0; keys.size() < count; i++)
            {
                final byte[] key = ("key-" + i).getBytes(StandardCharsets.UTF_8);
                final MemorySegment segment = arena.allocate(key.length);
                segment.copyFrom(MemorySegment.ofArray(key));
                hash.compute(function, segment);
                if (KeyHash.suffix(hash.high(), 1) == side && KeyHash.side1(hash.low()) == 0 &&
                    KeyHash.side2(hash.low()) == 0)
                {
                    keys.add("key-" + i);
                }
            }
        }
        return keys;
    }

    private static void split(final EngineFixture fixture, final OpenTable table, final long at)
    {
        final TableSplit split = fixture.engine.growth().begin(
            table, 0, at, at + SubtableDescriptor.lengthBytes(1), Long.MAX_VALUE / 2);
        for (int i = 0; !split.isFinished() && i < MAX_STEPS; i++)
        {
            fixture.engine.poll();
            fixture.fabric.step();
        }
        assertThat(split.state()).isEqualTo(TableSplit.State.DONE);
    }

    private static void merge(final EngineFixture fixture, final OpenTable table, final long at)
    {
        final TableMerge merge = fixture.engine.growth().beginMerge(table, 0, at, Long.MAX_VALUE / 2);
        for (int i = 0; !merge.isFinished() && i < MAX_STEPS; i++)
        {
            fixture.engine.poll();
            fixture.fabric.step();
        }
        assertThat(merge.state()).isEqualTo(TableMerge.State.DONE);
    }

    private boolean take(final DirectBuffer block, final int offset, final int most)
    {
        final byte[] key = new byte[BlockDescriptor.keyLength(block, offset)];
        block.getBytes(offset + BlockDescriptor.KEY_OFFSET, key);
        return met.size() < most && met.add(new String(key, StandardCharsets.UTF_8));
    }

    private long range(final EngineFixture fixture, final OpenTable table, final long from)
    {
        final TableScan scan = fixture.engine.scan();
        final int most = met.size() + 1;
        scan.begin(table, from, fixture.nowNs + 1_000_000_000L, (block, offset, behind) -> take(block, offset, most));
        for (int i = 0; scan.isBusy(); i++)
        {
            fixture.engine.poll();
            fixture.fabric.step();
            assertThat(i).isLessThan(MAX_STEPS);
        }
        assertThat(OperationResult.name(scan.result())).isEqualTo("found");
        return scan.position();
    }

    /** @return the keys that are there throughout; what was met of them is noted. */
    private List<String> walk(final boolean isSplitAgain)
    {
        try (EngineFixture fixture = EngineFixture.single())
        {
            final OpenTable table = fixture.createTable(0, 1);
            final long bytes = SubtableDescriptor.lengthBytes(1) + 63 & -64L;
            split(fixture, table, MEMORY_AT);
            final List<String> first = keys(0, 3);
            final List<String> second = keys(1, 3);
            for (int i = 0; i < 3; i++)
            {
                fixture.put(table, first.get(i), "v");
                fixture.put(table, second.get(i), "v");
            }
            // The first slot is free in both then, and the third one taken in both.
            for (final String key : List.of(first.get(0), first.get(1), second.get(0)))
            {
                assertThat(fixture.run(OperationKind.DELETE, table, key, null, 0).result())
                    .isEqualTo(OperationResult.DELETED);
            }
            long from = range(fixture, table, range(fixture, table, 0));
            assertThat(met).hasSize(2).first().isEqualTo(first.get(2));
            merge(fixture, table, MEMORY_AT + 2 * bytes);
            if (isSplitAgain)
            {
                split(fixture, table, MEMORY_AT + 3 * bytes);
            }
            while (from != TableScan.END)
            {
                from = range(fixture, table, from);
            }
            return List.of(first.get(2), second.get(1), second.get(2));
        }
    }

    @Test
    void shouldMeetAKeyThatWasMovedBeforeTheCursor()
    {
        assertThat(walk(true)).containsExactlyInAnyOrderElementsOf(met);
    }

    @Test
    void shouldMeetAKeyThatWasMovedBeforeTheCursorInAMergedSubtable()
    {
        assertThat(walk(false)).containsExactlyInAnyOrderElementsOf(met);
    }

    @Test
    void shouldLeaveItOutWhenTheOrderIsThatOfTheSlots()
    {
        try (Mutation.Opened _ = TableMutation.HASH_ORDER.open())
        {
            assertThat(walk(true)).hasSize(3).containsAll(met);
        }
        assertThat(met).hasSize(2);
    }
}
