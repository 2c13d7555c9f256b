package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.table.check.TableCheck;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.growth.TableMerge;
import io.verbena.table.growth.TableSplit;
import io.verbena.table.operation.OperationResult;
import io.verbena.table.operation.TableMutation;
import io.verbena.table.scan.TableScan;
import io.verbena.test.Mutation;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.agrona.DirectBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Walks over a table that has been split and whose subtables are merged by another engine meanwhile, in ranges of
 * any length.
 */
class TableScanMergeTest
{
    private static final int GROUPS = 4;
    private static final int KEYS = 24;
    private static final long MEMORY_AT = 512 * 1024;
    private static final int DEPTH = 4;
    private static final int MAX_STEPS = 100_000;
    private static final int MOST_SEEDS = 200;

    private final List<String> met = new ArrayList<>();
    private long nextMemory = MEMORY_AT;
    private TableMerge merge;

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

    private void split(final EngineFixture merger, final OpenTable table, final Random random)
    {
        while (table.subtableCount() < 1 << DEPTH)
        {
            final int suffix = random.nextInt(1 << table.directory.depth());
            if (table.directory.depth(suffix) < DEPTH)
            {
                final long bytes = SubtableDescriptor.lengthBytes(GROUPS);
                final TableSplit split = merger.engine.growth().begin(
                    table, suffix, nextMemory, nextMemory + bytes, Long.MAX_VALUE / 2);
                nextMemory += 2 * bytes;
                for (int i = 0; !split.isFinished() && i < MAX_STEPS; i++)
                {
                    merger.engine.poll();
                    merger.fabric.step();
                }
                assertThat(split.state()).isEqualTo(TableSplit.State.DONE);
            }
        }
    }

    private void goOnMerging(final EngineFixture merger, final OpenTable table, final Random random)
    {
        if (merge == null || merge.isFinished())
        {
            merge = null;
            final int suffix = random.nextInt(1 << table.directory.depth());
            if (random.nextInt(3) == 0 && table.directory.depth(suffix) > 0)
            {
                merge = merger.engine.growth().beginMerge(table, suffix, nextMemory, Long.MAX_VALUE / 2);
                nextMemory += SubtableDescriptor.lengthBytes(GROUPS);
            }
        }
        merger.engine.poll();
        merger.fabric.step();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
    void shouldMeetEveryKeyWhileSubtablesAreMerged(final long seed)
    {
        assertThat(missed(seed)).isEmpty();
    }

    @Test
    void shouldLeaveKeysOutWhenAMergedSubtableIsNotWalkedAgain()
    {
        long seed = 0;
        String missed = "";
        try (Mutation.Opened _ = TableMutation.WALK_AGAIN.open())
        {
            while (missed.isEmpty() && ++seed < MOST_SEEDS)
            {
                missed = missed(seed);
            }
        }
        assertThat(missed).isNotEmpty();
    }

    /** @return keys that a walk beside merges has not met, or what else is wrong. */
    private String missed(final long seed)
    {
        final Random random = new Random(seed);
        met.clear();
        merge = null;
        nextMemory = MEMORY_AT;
        final EngineFixture fixture = EngineFixture.single();
        final EngineFixture merger = new EngineFixture(fixture.fabric, settings -> settings.writerNumber(2));
        final EngineFixture stale = new EngineFixture(fixture.fabric, settings -> settings.writerNumber(3));
        try
        {
            final OpenTable table = fixture.createTable(0, GROUPS);
            final OpenTable mergersTable = merger.engine.openTable(table.descriptor());
            // A second node, which goes on with the cursor of the first one and has met other merges.
            final OpenTable staleTable = stale.engine.openTable(table.descriptor());
            for (int i = 0; i < KEYS; i++)
            {
                fixture.put(table, "key-" + i, "v");
            }
            split(merger, mergersTable, random);
            long from = 0;
            while (from != TableScan.END)
            {
                final boolean isStale = random.nextInt(3) == 0;
                from = range(isStale ? stale : fixture, isStale ? staleTable : table, from, random,
                    () -> goOnMerging(merger, mergersTable, random));
            }
            final Set<String> missed = new TreeSet<>();
            IntStream.range(0, KEYS).forEach(i -> missed.add("key-" + i));
            missed.removeAll(met);
            final TableCheck check = fixture.check(table);
            finishMerge(merger);
            met.clear();
            for (long at = 0; at != TableScan.END;)
            {
                at = range(fixture, table, at, random, () -> { });
            }
            assertThat(mergersTable.subtableCount()).isLessThan(1 << DEPTH);
            assertThat(met).as("once each, when nothing is merged").hasSize(KEYS).doesNotHaveDuplicates();
            return missed.isEmpty() && check.isSound() ? "" : missed + " " + check;
        }
        finally
        {
            stale.close();
            merger.close();
            fixture.close();
        }
    }

    private void finishMerge(final EngineFixture merger)
    {
        for (int i = 0; merge != null && !merge.isFinished() && i < MAX_STEPS; i++)
        {
            merger.engine.poll();
            merger.fabric.step();
        }
    }

    private long range(
        final EngineFixture at, final OpenTable table, final long from, final Random random, final Runnable meanwhile)
    {
        final TableScan scan = at.engine.scan();
        final int most = met.size() + 1 + random.nextInt(4);
        scan.begin(table, from, at.nowNs + 1_000_000_000L, (block, offset, behind) -> take(block, offset, most));
        for (int i = 0; scan.isBusy(); i++)
        {
            at.engine.poll();
            at.fabric.step();
            meanwhile.run();
            assertThat(i).isLessThan(MAX_STEPS);
        }
        assertThat(OperationResult.name(scan.result())).isEqualTo("found");
        return scan.position();
    }
}
