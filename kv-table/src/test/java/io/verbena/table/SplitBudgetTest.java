package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.rdma.verbs.VerbCounters;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.Subtable;
import io.verbena.table.directory.TableDirectory;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.growth.TableGrowth;
import io.verbena.table.growth.TableSplit;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a split costs those who meet it, and what it costs itself, counted at the port. */
class SplitBudgetTest
{
    private static final int GROUPS = 16;
    private static final long NEW_SUBTABLES_AT = 512 * 1024;

    private EngineFixture fixture;
    private EngineFixture splitter;
    private OpenTable table;
    private OpenTable splittersTable;

    @BeforeEach
    void setUp()
    {
        fixture = EngineFixture.single();
        table = fixture.createTable(0, GROUPS);
        splitter = new EngineFixture(fixture.fabric, settings -> settings.writerNumber(2).splitGroupsUnderWay(1));
        splitter.nextBlocksAt += 1 << 20;
        splittersTable = splitter.engine.openTable(table.descriptor());
        fixture.put(table, "k", "v");
    }

    @AfterEach
    void tearDown()
    {
        splitter.close();
        fixture.close();
    }

    private TableSplit split(final long mostGroups)
    {
        final long bytes = BucketDescriptor.GROUP_BYTES * GROUPS + 64L;
        final TableSplit split = splitter.engine.growth().begin(
            splittersTable, 0, NEW_SUBTABLES_AT, NEW_SUBTABLES_AT + bytes, Long.MAX_VALUE / 2);
        for (int i = 0; i < 100_000 && !split.isFinished() && split.groupsDone() < mostGroups; i++)
        {
            splitter.engine.poll();
            splitter.fabric.step();
        }
        return split;
    }

    private String measure(final int kind, final String key, final String value)
    {
        final VerbCounters before = new VerbCounters().add(fixture.port.counters);
        final EngineFixture.Outcome outcome = fixture.run(kind, table, key, value, 0);
        final VerbCounters after = fixture.port.counters;
        assertThat(outcome.roundTrips()).isEqualTo((int)(after.doorbells - before.doorbells));
        return OperationResult.name(outcome.result()) + " r" + (after.reads - before.reads) + " w" +
            (after.writes - before.writes) + " c" + (after.compareSwaps - before.compareSwaps) + " d" +
            outcome.roundTrips();
    }

    private void coldCache()
    {
        fixture.engine.onEpoch(fixture.engine.passedEpoch() + 3, 0);
        fixture.engine.epochs().forgetLocations();
    }

    @Test
    void shouldTakeOneMoreRoundTripForColdGetWithOldDirectory()
    {
        fixture.put(table, "other", "w");
        coldCache();
        assertThat(split(Long.MAX_VALUE).state()).isEqualTo(TableSplit.State.DONE);
        assertThat(measure(OperationKind.GET, "k", null)).isEqualTo("found r7 w0 c0 d3");
        // Once for all keys.
        assertThat(measure(OperationKind.GET, "other", null)).startsWith("found").endsWith("w0 c0 d2");
        assertThat(measure(OperationKind.GET, "absent", null)).isEqualTo("not_found r4 w0 c0 d1");
    }

    @Test
    void shouldTakeOneMoreRoundTripForGetOfAbsentKeyWithOldDirectory()
    {
        split(Long.MAX_VALUE);
        assertThat(measure(OperationKind.GET, "absent", null)).isEqualTo("not_found r6 w0 c0 d2");
        assertThat(measure(OperationKind.GET, "absent", null)).isEqualTo("not_found r4 w0 c0 d1");
        // Nobody tells it that the split is over but the next descriptor.
        table.refresh(TableGrowth.ofSplit(
            table.descriptor(), table, Subtable.of(table.descriptor()).getFirst()).descriptor());
        assertThat(measure(OperationKind.GET, "absent", null)).isEqualTo("not_found r2 w0 c0 d1");
    }

    @Test
    void shouldTakeNoMoreForColdGetWhoseSlotHasNotMoved()
    {
        coldCache();
        final TableSplit split = split(1);
        assertThat(split.state()).isEqualTo(TableSplit.State.RUNNING);
        table.directory.learn(0, 0, table.directory.groupsOffset(0), splittersTable.directory.splitLink(0),
            TableDirectory.Superseded.NONE);
        assertThat(measure(OperationKind.GET, "k", null)).isEqualTo("found r5 w0 c0 d2");
        assertThat(fixture.check(table).problems()).isEmpty();
        assertThat(fixture.check(table).splitsUnderWay).isOne();
    }

    /** Where the key was peeked is a location until its slot is frozen, and no hint any more after some epochs. */
    @Test
    void shouldRememberWhereItHasPeeked()
    {
        coldCache();
        final TableSplit split = split(1);
        table.directory.learn(0, 0, table.directory.groupsOffset(0), splittersTable.directory.splitLink(0),
            TableDirectory.Superseded.NONE);
        assertThat(measure(OperationKind.GET, "k", null)).isEqualTo("found r5 w0 c0 d2");
        assertThat(measure(OperationKind.GET, "k", null)).isEqualTo("found r2 w0 c0 d1");
        assertThat(measure(OperationKind.PUT, "k", "w")).isEqualTo("stored r0 w1 c1 d1");
        fixture.engine.onEpoch(fixture.engine.passedEpoch() + 3, 0);
        assertThat(measure(OperationKind.GET, "k", null)).isEqualTo("found r5 w0 c0 d2");
        while (!split.isFinished())
        {
            splitter.engine.poll();
            splitter.fabric.step();
        }
        assertThat(measure(OperationKind.GET, "k", null)).isEqualTo("found r7 w0 c0 d3");
        assertThat(fixture.get(table, "k").value()).isEqualTo("w");
        assertThat(fixture.check(table).problems()).isEmpty();
    }

    @Test
    void shouldTakeTwoMoreWhenLocationAndDirectoryAreBothOld()
    {
        split(Long.MAX_VALUE);
        assertThat(measure(OperationKind.GET, "k", null)).isEqualTo("found r9 w0 c0 d4");
        assertThat(measure(OperationKind.GET, "k", null)).isEqualTo("found r2 w0 c0 d1");
    }

    /** A writer that finds its key moves its slot on the way; one that does not moves its pair, once. */
    @Test
    void shouldTakeOneMoreRoundTripForAnInsertWhoseSlotsHaveNotMovedAndNoneForAnUpdate()
    {
        final TableSplit split = split(1);
        table.directory.learn(0, 0, table.directory.groupsOffset(0), splittersTable.directory.splitLink(0),
            TableDirectory.Superseded.NONE);
        coldCache();
        // Words, old and new; block, and CAS of link and slot; block, and CAS of new slot from uninitialised and on.
        assertThat(measure(OperationKind.PUT, "k", "w")).isEqualTo("stored r5 w1 c4 d3");
        coldCache();
        assertThat(measure(OperationKind.PUT, "k", "x")).isEqualTo("stored r5 w1 c1 d3");
        assertThat(measure(OperationKind.DELETE, "absent", null)).isEqualTo("not_found r4 w0 c0 d1");
        // Words; CAS of links and slots; block, CAS of new slots and of its own, and words again; commit.
        assertThat(measure(OperationKind.PUT, "new", "w")).startsWith("stored r6 w1").endsWith("d4");
        assertThat(fixture.engine.counters().pairsHelped).isOne();
        coldCache();
        assertThat(measure(OperationKind.PUT, "new", "x")).isEqualTo("stored r5 w1 c1 d3");
        assertThat(split.state()).isEqualTo(TableSplit.State.RUNNING);
        assertThat(fixture.check(table).problems()).isEmpty();
        assertThat(fixture.get(table, "k").value()).isEqualTo("x");
        assertThat(fixture.get(table, "new").value()).isEqualTo("x");
    }

    @Test
    void shouldGoOnClearingMarksOutsideOfTheSubtableThatIsSplit()
    {
        final OpenTable other = fixture.createTable(
            TablePlan.ofShape("other", 0x4321, 42, 0, 1, new int[]{EngineFixture.NODE}), 256 * 1024);
        fixture.put(other, "a", "v");
        fixture.put(other, "b", "v");
        fixture.run(OperationKind.DELETE, table, "k", null, 0);
        fixture.run(OperationKind.DELETE, other, "a", null, 0);
        split(1);
        table.learn(0, 0, table.directory.groupsOffset(0), splittersTable.directory.splitLink(0));
        fixture.engine.onEpoch(10, 9);
        assertThat(fixture.run(OperationKind.DELETE, other, "b", null, 0).result()).isEqualTo(OperationResult.DELETED);
        // That of "a"; nobody could tell whether the slot of "k" is one still.
        assertThat(fixture.engine.counters().tombstonesCleared).isOne();
        assertThat(fixture.check(other).tentative).isOne();
    }

    @Test
    void shouldStayWithinBytesAndVerbsOfASplit()
    {
        int records = 0;
        for (int i = 0; fixture.put(table, "key" + i, "v").result() == OperationResult.STORED; i++)
        {
            records++;
        }
        final double fill = (records + 1) / (double)(GROUPS * BucketDescriptor.SLOTS_PER_GROUP);
        final TableSplit split = split(Long.MAX_VALUE);
        assertThat(split.state()).isEqualTo(TableSplit.State.DONE);
        assertThat(split.movedRecords()).isEqualTo(records + 1);
        final double verbsPerRecord = (double)split.verbs() / split.movedRecords();
        final double bytesPerByte = (double)split.payloadBytes() / (BucketDescriptor.GROUP_BYTES * GROUPS);
        System.out.println("split at fill " + fill + ": verbs per record " + verbsPerRecord +
            ", bytes on the wire per byte of the subtable " + bytesPerByte + ", doorbells " + split.doorbells());
        assertThat(verbsPerRecord * fill).as("verbs per slot").isLessThan(4 * 0.85);
        assertThat(bytesPerByte).isLessThan(6);
        for (int i = 0; i < records; i++)
        {
            assertThat(fixture.get(table, "key" + i).result()).isEqualTo(OperationResult.FOUND);
        }
        assertThat(fixture.check(table).committed).isEqualTo(records + 1);
    }
}
