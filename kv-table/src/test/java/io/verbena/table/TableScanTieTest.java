package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.table.directory.OpenTable;
import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.operation.OperationResult;
import io.verbena.table.scan.TableScan;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Walks over a group whose records all have one fingerprint, so that only their blocks tell their order. */
class TableScanTieTest
{
    private static final int RECORDS = 13;
    /** With it and the longest value a block takes 32 KiB, and all of them more than is else read at a time. */
    private static final String LONG_PREFIX = "k".repeat(4_200);
    private static final int SEED_OF_HASH = 42;

    private final EngineFixture fixture = EngineFixture.single();
    private final OpenTable table = fixture.createTable(0, 1);
    private final TableScan scan = fixture.engine.scan();
    private final List<String> met = new ArrayList<>();

    @AfterEach
    void close()
    {
        fixture.close();
    }

    private List<String> fill(final String prefix, final int valueLength)
    {
        final List<String> keys = TiedKeys.find(prefix, RECORDS, SEED_OF_HASH);
        keys.forEach(key -> assertThat(fixture.put(table, key, "v".repeat(valueLength)).result())
            .isEqualTo(OperationResult.STORED));
        return keys;
    }

    private void walk(final long from, final int most)
    {
        met.clear();
        scan.begin(table, from, fixture.nowNs + 1_000_000, (block, offset, behind) ->
        {
            final byte[] key = new byte[BlockDescriptor.keyLength(block, offset)];
            block.getBytes(offset + BlockDescriptor.KEY_OFFSET, key);
            return met.size() < most && met.add(new String(key, StandardCharsets.UTF_8));
        });
        while (scan.isBusy())
        {
            fixture.engine.poll();
            fixture.fabric.step();
            fixture.nowNs += 100;
        }
        assertThat(OperationResult.name(scan.result())).isEqualTo("found");
    }

    private void shouldWalkOneByOne(final List<String> keys)
    {
        walk(0, Integer.MAX_VALUE);
        assertThat(scan.position()).isEqualTo(TableScan.END);
        assertThat(scan.verbs()).isEqualTo(1 + RECORDS);
        assertThat(scan.doorbells()).isEqualTo(2);
        final List<String> all = List.copyOf(met);
        assertThat(all).containsExactlyInAnyOrderElementsOf(keys);
        final List<String> oneByOne = new ArrayList<>();
        long from = 0;
        while (from != TableScan.END)
        {
            walk(from, 1);
            oneByOne.addAll(met);
            from = scan.position();
        }
        assertThat(oneByOne).as("in the same order").isEqualTo(all);
    }

    @Test
    void shouldMeetEachOnceInOneOrder()
    {
        shouldWalkOneByOne(fill("", 1));
    }

    @Test
    void shouldMeetEachOnceThoughTheyAreMoreThanIsReadAtATime()
    {
        shouldWalkOneByOne(fill(LONG_PREFIX, 16 * 1024));
    }
}
