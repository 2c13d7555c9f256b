package io.verbena.compute.growth;

import io.verbena.compute.MemoryRig;
import io.verbena.compute.MetaRig;
import io.verbena.compute.catalog.TableRegistry;
import io.verbena.compute.figures.UnexpectedFailures;
import io.verbena.compute.growth.GrowthWork.Kind;
import io.verbena.protocol.message.TableEntry;
import io.verbena.table.allocation.EpochTracker;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.Subtable;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.format.TableDescriptor;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class GrowthAgendaTest
{
    private static final int NODE = MemoryRig.MEMORY_NODE;
    private static final long NOW_NS = 1_000;
    private static final long RETRY_NS = 5_000_000;

    private final MemoryRig rig = new MemoryRig();
    private final MemoryShortage shortage = new MemoryShortage((memoryNodeId) -> false);
    private final GrowthAgenda agenda = new GrowthAgenda(shortage);
    private final TableRegistry tables = new TableRegistry(rig.meta.link, rig.engine::openTable, () -> 0,
        MetaRig.TIMEOUT_NS, new UnexpectedFailures(rig.meta.world.clock()));
    private OpenTable table;
    private Subtable subtable;

    @BeforeEach
    void open()
    {
        final TablePlan plan = TablePlan.forRecords("users", 1, 1, 100, new int[]{NODE}, MemoryRig.CHUNK_BYTES);
        plan.place(NODE, MemoryRig.offset(0));
        final TableDescriptor descriptor = plan.descriptor();
        shortage.open(rig.engine);
        agenda.open(rig.engine, tables);
        tables.open(new TableEntry("users", 1, descriptor.encode()));
        table = tables.find(1);
        subtable = table.subtables().getFirst();
    }

    @AfterEach
    void close()
    {
        rig.close();
    }

    private GrowthWork work(final Kind kind, final long notBeforeNs)
    {
        return new GrowthWork(table, subtable, kind, notBeforeNs);
    }

    private GrowthWork settling(final long epoch)
    {
        return new GrowthWork(table, subtable, Kind.SETTLE, NOW_NS, false, epoch);
    }

    @Test
    void shouldHaveNothingToDoAtFirst()
    {
        assertThat(agenda.isEmpty()).isTrue();
        assertThat(agenda.nextAtNs()).isEqualTo(Long.MAX_VALUE);
        assertThat(agenda.next(NOW_NS)).isNull();
        assertThat(agenda.isFinishing()).isFalse();
        assertThat(agenda.waitsForEpochs()).isFalse();
    }

    @Test
    void shouldGiveWhatWasReportedOnceInTurnAndWhatIsToBeFinishedBehindIt()
    {
        agenda.add(GrowthWork.ofFinishing(table, subtable, NOW_NS));
        agenda.add(work(Kind.SETTLE, NOW_NS));
        agenda.add(work(Kind.SPLIT, NOW_NS));
        agenda.add(work(Kind.SETTLE, NOW_NS + 1));
        assertThat(agenda.isFinishing()).isTrue();
        assertThat(agenda.next(NOW_NS).kind()).isEqualTo(Kind.SETTLE);
        assertThat(agenda.next(NOW_NS).kind()).isEqualTo(Kind.SPLIT);
        assertThat(agenda.next(NOW_NS).isOfFinishing()).isTrue();
        assertThat(agenda.isFinishing()).isFalse();
        assertThat(agenda.isEmpty()).isTrue();
    }

    @Test
    void shouldGiveNothingBeforeItsTime()
    {
        agenda.add(work(Kind.SETTLE, NOW_NS + 2));
        agenda.add(work(Kind.SPLIT, NOW_NS + 1));
        assertThat(agenda.nextAtNs()).isEqualTo(NOW_NS + 1);
        assertThat(agenda.next(NOW_NS)).isNull();
        assertThat(agenda.next(NOW_NS + 1).kind()).isEqualTo(Kind.SPLIT);
        assertThat(agenda.next(NOW_NS + 1)).isNull();
        assertThat(agenda.nextAtNs()).isEqualTo(NOW_NS + 2);
        assertThat(agenda.next(NOW_NS + 2).kind()).isEqualTo(Kind.SETTLE);
    }

    /** Whose place another table may have by now. */
    @Test
    void shouldDropWhatIsOfATableThatIsNotOpenAnyMore()
    {
        agenda.add(work(Kind.SPLIT, NOW_NS));
        agenda.add(GrowthWork.ofFinishing(table, subtable, NOW_NS));
        tables.forget("users");
        assertThat(agenda.isKnown(work(Kind.SPLIT, NOW_NS))).isFalse();
        assertThat(agenda.next(NOW_NS)).isNull();
        assertThat(agenda.isEmpty()).isTrue();
    }

    @Test
    void shouldDropWhatNobodyWantsAnyMore()
    {
        final Subtable old = new Subtable(NODE, subtable.suffix(), subtable.depth(), subtable.offset() + 1);
        agenda.add(new GrowthWork(table, old, Kind.SPLIT, NOW_NS));
        agenda.add(work(Kind.MERGE, NOW_NS));
        agenda.add(work(Kind.FINISH_SPLIT, NOW_NS));
        assertThat(agenda.next(NOW_NS)).isNull();
        assertThat(agenda.isEmpty()).isTrue();
    }

    @Test
    void shouldAskForMemoryAgainAfterAPauseAndDoMeanwhileWhatTakesNone()
    {
        shortage.onRefused(NODE, NOW_NS);
        agenda.add(work(Kind.SPLIT, NOW_NS));
        agenda.add(work(Kind.SETTLE, NOW_NS));
        assertThat(agenda.next(NOW_NS).kind()).isEqualTo(Kind.SETTLE);
        assertThat(agenda.nextAtNs()).isEqualTo(NOW_NS + RETRY_NS);
        assertThat(agenda.next(NOW_NS + RETRY_NS - 1)).isNull();
        assertThat(agenda.next(NOW_NS + RETRY_NS).kind()).isEqualTo(Kind.SPLIT);
    }

    @Test
    void shouldDropWhatTakesMemoryWhereThereIsNone()
    {
        shortage.onRefused(NODE, NOW_NS);
        rig.pass(EpochTracker.REPEAT_EPOCHS + EpochTracker.REUSE_DISTANCE + 1);
        shortage.onRefused(NODE, NOW_NS);
        assertThat(shortage.isDenied(NODE, NOW_NS)).isTrue();
        agenda.add(work(Kind.SPLIT, NOW_NS));
        agenda.add(work(Kind.SETTLE, NOW_NS));
        assertThat(agenda.next(NOW_NS).kind()).isEqualTo(Kind.SETTLE);
        assertThat(agenda.isEmpty()).isTrue();
    }

    @Test
    void shouldWaitUntilNobodyCanDecideWhatWasMet()
    {
        final long epoch = rig.engine.epoch();
        agenda.add(settling(epoch));
        assertThat(agenda.waitsForEpochs()).isTrue();
        assertThat(agenda.next(NOW_NS)).isNull();
        assertThat(agenda.nextAtNs()).as("looked at again, not in each duty cycle").isEqualTo(NOW_NS + RETRY_NS);
        rig.pass(EpochTracker.REUSE_DISTANCE);
        assertThat(agenda.next(NOW_NS + RETRY_NS)).as("one epoch is missing").isNull();
        rig.pass(1);
        assertThat(agenda.next(NOW_NS + 2 * RETRY_NS)).isEqualTo(settling(epoch).at(NOW_NS + 2 * RETRY_NS));
        assertThat(agenda.waitsForEpochs()).isFalse();
    }
}
