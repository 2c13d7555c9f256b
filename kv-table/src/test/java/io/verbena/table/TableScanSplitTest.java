package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.table.directory.OpenTable;
import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.growth.TableSplit;
import io.verbena.table.operation.OperationResult;
import io.verbena.table.scan.TableScan;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.agrona.DirectBuffer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Walks over a table whose subtables are split by another engine meanwhile, in ranges of any length. */
class TableScanSplitTest
{
    private static final int GROUPS = 4;
    private static final int KEYS = 60;
    private static final long MEMORY_AT = 512 * 1024;
    private static final int DEEPEST = 6;
    private static final int MAX_STEPS = 100_000;

    private final List<String> met = new ArrayList<>();
    private long nextMemory = MEMORY_AT;
    private TableSplit split;

    private boolean take(final DirectBuffer block, final int offset, final int most)
    {
        if (met.size() >= most)
        {
            return false;
        }
        final byte[] key = new byte[BlockDescriptor.keyLength(block, offset)];
        block.getBytes(offset + BlockDescriptor.KEY_OFFSET, key);
        met.add(new String(key, StandardCharsets.UTF_8));
        return true;
    }

    private void goOnSplitting(final EngineFixture splitter, final OpenTable table, final Random random)
    {
        if (split == null || split.isFinished())
        {
            final int suffix = random.nextInt(1 << table.directory.depth());
            final long bytes = SubtableDescriptor.lengthBytes(GROUPS);
            if ((split == null || random.nextInt(4) == 0) && table.directory.depth(suffix) < DEEPEST)
            {
                split = splitter.engine.growth().begin(
                    table, suffix, nextMemory, nextMemory + bytes, Long.MAX_VALUE / 2);
                nextMemory += 2 * bytes;
            }
        }
        splitter.engine.poll();
        splitter.fabric.step();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
    void shouldMeetEveryKeyWhileSubtablesAreSplit(final long seed)
    {
        final Random random = new Random(seed);
        final EngineFixture fixture = EngineFixture.single();
        final EngineFixture splitter = new EngineFixture(fixture.fabric, settings -> settings.writerNumber(2));
        final EngineFixture stale = new EngineFixture(fixture.fabric, settings -> settings.writerNumber(3));
        try
        {
            final OpenTable table = fixture.createTable(0, GROUPS);
            final OpenTable splittersTable = splitter.engine.openTable(table.descriptor());
            // A second node, which goes on with the cursor of the first one and has met other splits.
            final OpenTable staleTable = stale.engine.openTable(table.descriptor());
            for (int i = 0; i < KEYS; i++)
            {
                fixture.put(table, "key-" + i, "v");
            }
            long from = 0;
            while (from != TableScan.END)
            {
                final boolean isStale = random.nextInt(3) == 0;
                from = range(isStale ? stale : fixture, isStale ? staleTable : table, from, random,
                    () -> goOnSplitting(splitter, splittersTable, random));
            }
            final Map<String, Integer> times = new HashMap<>();
            met.forEach((key) -> times.merge(key, 1, Integer::sum));
            assertThat(times).hasSize(KEYS);
            assertThat(splittersTable.subtableCount()).isGreaterThan(1);
            assertThat(fixture.check(table).problems()).isEmpty();
            finishSplit(splitter);
            met.clear();
            for (long at = 0; at != TableScan.END;)
            {
                at = range(fixture, table, at, random, () -> { });
            }
            assertThat(met).as("once each, when nothing is split").hasSize(KEYS).doesNotHaveDuplicates();
        }
        finally
        {
            stale.close();
            splitter.close();
            fixture.close();
        }
    }

    private void finishSplit(final EngineFixture splitter)
    {
        for (int i = 0; split != null && !split.isFinished() && i < MAX_STEPS; i++)
        {
            splitter.engine.poll();
            splitter.fabric.step();
        }
    }

    private long range(
        final EngineFixture at, final OpenTable table, final long from, final Random random, final Runnable meanwhile)
    {
        final TableScan scan = at.engine.scan();
        final int most = met.size() + 1 + random.nextInt(12);
        final int before = met.size();
        final List<Long> positions = new ArrayList<>();
        scan.begin(table, from, at.nowNs + 1_000_000_000L,
            (block, offset, behind) -> take(block, offset, most) && positions.add(behind));
        for (int i = 0; scan.isBusy(); i++)
        {
            at.engine.poll();
            at.fabric.step();
            meanwhile.run();
            assertThat(i).isLessThan(MAX_STEPS);
        }
        assertThat(OperationResult.name(scan.result())).isEqualTo("found");
        if (positions.isEmpty() || random.nextBoolean())
        {
            return scan.position();
        }
        // As if only some of the range had been used: on behind one of its records.
        final int used = 1 + random.nextInt(positions.size());
        met.subList(before + used, met.size()).clear();
        return positions.get(used - 1);
    }
}
