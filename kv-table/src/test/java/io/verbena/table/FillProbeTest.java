package io.verbena.table;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.table.directory.GrowthSource;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.Subtable;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.growth.FillProbe;
import io.verbena.table.growth.SubtableWork;
import io.verbena.table.growth.TableGrowth;
import io.verbena.table.growth.TableSplit;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a look at siblings, or at a subtable without one, tells of records, and of what others left half done. */
class FillProbeTest
{
    private static final long MEMORY_AT = 512 * 1024;
    private static final long LONG_NS = Long.MAX_VALUE / 2;
    private static final int MAX_STEPS = 100_000;
    private static final int KEYS = 5;

    private final List<Subtable> met = new ArrayList<>();
    private final EngineFixture fixture = EngineFixture.single(settings -> settings.growthSource(new GrowthSource()
    {
        @Override
        public boolean requestSplit(final OpenTable ofTable, final Subtable subtable)
        {
            return false;
        }

        @Override
        public void onSplitMet(final OpenTable ofTable, final Subtable subtable)
        {
            met.add(subtable);
        }
    }));
    private final EngineFixture dying = new EngineFixture(fixture.fabric, settings -> settings.writerNumber(2));
    private long nextMemory = MEMORY_AT;
    private OpenTable table;

    /** Two subtables of a table that was made with one. */
    @BeforeEach
    void split()
    {
        final OpenTable made = fixture.createTable(0, 1);
        for (int i = 0; i < KEYS; i++)
        {
            fixture.put(made, "key-" + i, "v");
        }
        final TableSplit split = fixture.engine.growth().begin(made, 0, memory(), memory(), LONG_NS);
        run(split, fixture);
        table = fixture.engine.openTable(
            TableGrowth.ofSplit(made.descriptor(), made, Subtable.of(made.descriptor()).getFirst()).descriptor());
        met.clear();
    }

    @AfterEach
    void tearDown()
    {
        dying.close();
        fixture.close();
    }

    private long memory()
    {
        nextMemory += SubtableDescriptor.lengthBytes(1);
        return nextMemory - SubtableDescriptor.lengthBytes(1);
    }

    private static void run(final SubtableWork work, final EngineFixture by)
    {
        for (int i = 0; !work.isFinished() && i < MAX_STEPS; i++)
        {
            by.engine.poll();
            by.fabric.step();
        }
    }

    private FillProbe look(final OpenTable at, final int suffix)
    {
        final FillProbe look =
            fixture.engine.growth().beginLook(at, at.subtable(suffix), 0, fixture.nowNs + 1_000_000_000);
        run(look, fixture);
        return look;
    }

    /** Goes on until the header line of a subtable has a link, and no further. */
    private void leave(final OpenTable of, final int suffix)
    {
        final int at = (int)of.subtable(suffix).offset() + SubtableDescriptor.SPLIT_OFFSET;
        while (fixture.memory().getLong(at, LITTLE_ENDIAN) == SplitLink.NONE)
        {
            dying.engine.poll();
            fixture.fabric.step();
        }
    }

    @Test
    void shouldTellHowManyRecordsSiblingsHold()
    {
        final FillProbe look = look(table, 0);
        assertThat(look.isKnown()).as("%s", look).isTrue();
        assertThat(look.isLeft()).isFalse();
        assertThat(look.records()).isEqualTo(KEYS);
        assertThat(look.countedRecords()).isEqualTo(KEYS);
        assertThat(look.countedSlots()).isEqualTo(2 * look.slots()).isPositive();
        assertThat(look.doorbells()).isOne();
        assertThat(met).isEmpty();
    }

    @Test
    void shouldCountTheRecordsOfASubtableWithoutASibling()
    {
        final OpenTable mine = fixture.createTable(0, 1);
        for (int i = 0; i < KEYS + 2; i++)
        {
            fixture.put(mine, "other-" + i, "v");
        }
        final FillProbe look = look(mine, 0);
        assertThat(look.countedRecords()).as("%s", look).isEqualTo(KEYS + 2);
        assertThat(look.countedSlots()).isEqualTo(look.slots()).isPositive();
        assertThat(look.isKnown() || look.isLeft()).isFalse();
        assertThat(look.records()).isZero();
        assertThat(look.doorbells()).isOne();
    }

    /** No slot is frozen yet: only the header line tells, of either. */
    @Test
    void shouldTakeNoteOfASplitThatHasOnlyBegun()
    {
        for (int suffix = 0; suffix < 2; suffix++)
        {
            final OpenTable theirs = dying.engine.openTable(table.descriptor());
            final TableSplit split =
                dying.engine.growth().begin(theirs, suffix, memory(), memory(), dying.nowNs + 1_000);
            leave(theirs, suffix);
            dying.nowNs += 2_000;
            run(split, dying);
            final Subtable old = table.subtable(suffix);
            final FillProbe look = look(table, 0);
            assertThat(look.isKnown()).as("%s", look).isFalse();
            assertThat(look.countedSlots() + look.countedRecords()).isZero();
            assertThat(look.isLeft()).isFalse();
            assertThat(met).contains(old).hasSize(1 + suffix);
            assertThat(table.mayWaitForWords(table.subtable(suffix))).isTrue();
            met.clear();
            table = fixture.engine.openTable(table.descriptor());
        }
    }

    @Test
    void shouldTakeNoteOfASplitOfASubtableWithoutASibling()
    {
        final OpenTable mine = fixture.createTable(0, 1);
        assertThat(look(mine, 0).isLeft()).isFalse();
        final OpenTable theirs = dying.engine.openTable(mine.descriptor());
        dying.engine.growth().begin(theirs, 0, memory(), memory(), LONG_NS);
        leave(theirs, 0);
        final Subtable old = mine.subtable(0);
        final FillProbe look = look(mine, 0);
        assertThat(look.isKnown()).as("%s", look).isFalse();
        assertThat(look.isLeft()).isFalse();
        assertThat(met).containsExactly(old);
    }

    @Test
    void shouldTellThatAMergeWasProposed()
    {
        final OpenTable theirs = dying.engine.openTable(table.descriptor());
        dying.engine.growth().beginMerge(theirs, 0, memory(), LONG_NS);
        leave(theirs, 0);
        final FillProbe look = look(table, 0);
        assertThat(look.isLeft()).as("%s", look).isTrue();
        assertThat(look.isKnown()).isFalse();
        assertThat(met).isEmpty();
    }

    @Test
    void shouldTellNothingOfMemoryThatIsNotReached()
    {
        fixture.port.fail(false);
        final FillProbe look = look(table, 0);
        assertThat(look.state()).as("%s", look).isEqualTo(FillProbe.State.FAILED);
        assertThat(look.isKnown() || look.isLeft()).isFalse();
    }
}
