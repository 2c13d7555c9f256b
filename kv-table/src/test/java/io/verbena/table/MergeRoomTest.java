package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.table.directory.OpenTable;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.growth.TableMerge;
import io.verbena.table.growth.TableSplit;
import io.verbena.table.operation.OperationResult;
import io.verbena.table.operation.TableMutation;
import io.verbena.test.Mutation;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Siblings that fill up while they are merged: what fits is merged, what does not stays as it is, and nobody
 * waits. {@code -Dverbena.table.roomSeeds=N} for more of them.
 */
class MergeRoomTest
{
    private static final long MEMORY_AT = 512 * 1024;
    private static final int MAX_STEPS = 100_000;
    private static final int SEEDS = Integer.getInteger("verbena.table.roomSeeds", 200);

    private int merged;
    private int full;
    private String problem;


    private void run(final long seed)
    {
        final Random random = new Random(seed);
        final EngineFixture fixture = EngineFixture.single();
        final EngineFixture merger = new EngineFixture(fixture.fabric, settings -> settings.writerNumber(2));
        try
        {
            final OpenTable table = fixture.createTable(0, 1);
            final OpenTable mergersTable = merger.engine.openTable(table.descriptor());
            final long bytes = SubtableDescriptor.lengthBytes(1);
            final TableSplit split = merger.engine.growth().begin(
                mergersTable, 0, MEMORY_AT, MEMORY_AT + bytes, Long.MAX_VALUE / 2);
            for (int i = 0; !split.isFinished() && i < MAX_STEPS; i++)
            {
                merger.engine.poll();
                merger.fabric.step();
            }
            final Map<String, String> stored = new HashMap<>();
            put(fixture, table, stored, random.nextInt(24));
            final TableMerge merge =
                merger.engine.growth().beginMerge(mergersTable, 0, MEMORY_AT + 2 * bytes, Long.MAX_VALUE / 2);
            for (int i = 0; i < 24; i++)
            {
                for (int turn = random.nextInt(6); turn > 0; turn--)
                {
                    merger.engine.poll();
                    merger.fabric.step();
                }
                put(fixture, table, stored, 1);
            }
            for (int i = 0; !merge.isFinished() && i < MAX_STEPS; i++)
            {
                merger.engine.poll();
                merger.fabric.step();
            }
            merged += merge.state() == TableMerge.State.DONE ? 1 : 0;
            full += merge.isFull() ? 1 : 0;
            final boolean isDone = merge.state() == TableMerge.State.DONE;
            note(isDone || merge.isFull() && !merge.usesGivenMemory(), merge.toString());
            stored.forEach((key, value) -> note(value.equals(fixture.get(table, key).value()), key + " is lost"));
            note(fixture.check(table).isSound(), fixture.check(table).toString());
        }
        finally
        {
            merger.close();
            fixture.close();
        }
    }

    private void note(final boolean isRight, final String otherwise)
    {
        problem = isRight || problem != null ? problem : otherwise;
    }

    private void put(
        final EngineFixture fixture, final OpenTable table, final Map<String, String> stored, final int count)
    {
        for (int i = 0; i < count; i++)
        {
            final String key = "key-" + stored.size();
            final int result = fixture.put(table, key, "v" + i).result();
            note(result == OperationResult.STORED || result == OperationResult.TABLE_FULL,
                OperationResult.name(result));
            if (result == OperationResult.STORED)
            {
                stored.put(key, "v" + i);
            }
        }
    }

    @Test
    void shouldMergeWhatFitsAndLeaveWhatDoesNot()
    {
        for (long seed = 1; seed <= SEEDS && problem == null; seed++)
        {
            run(seed);
            assertThat(problem).as("seed %d", seed).isNull();
        }
        System.out.println("merged=" + merged + " full=" + full);
        assertThat(merged).isGreaterThan(SEEDS / 10);
        assertThat(full).isGreaterThan(SEEDS / 10);
    }

    @Test
    void shouldFindViolationWhenRoomIsNotReserved()
    {
        long seed = 0;
        try (Mutation.Opened _ = TableMutation.ROOM_FIRST.open())
        {
            while (problem == null && ++seed <= SEEDS)
            {
                run(seed);
            }
        }
        System.out.println("ROOM_FIRST seed " + seed + ": " + problem);
        assertThat(problem).as("without ROOM_FIRST, seed %d", seed).isEqualTo("restructuring");
        problem = null;
        run(seed);
        assertThat(problem).as("not mutated, seed %d", seed).isNull();
    }
}
