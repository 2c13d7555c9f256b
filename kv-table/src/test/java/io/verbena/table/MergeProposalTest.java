package io.verbena.table;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.table.allocation.EpochTracker;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.Subtable;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.TableDescriptor;
import io.verbena.table.growth.SubtableWork;
import io.verbena.table.growth.TableGrowth;
import io.verbena.table.growth.TableMerge;
import io.verbena.table.growth.TableSplit;
import io.verbena.table.operation.TableMutation;
import io.verbena.test.Mutation;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Merges that were proposed and not decided, and what is published of merges and splits that follow each other. */
class MergeProposalTest
{
    private static final long MEMORY_AT = 512 * 1024;
    private static final int MAX_STEPS = 100_000;
    private static final long LONG_NS = Long.MAX_VALUE / 2;
    private static final long PROPOSED_IN = 41;

    private final EngineFixture fixture = EngineFixture.single();
    private final OpenTable table = fixture.createTable(0, 1);
    private final long bytes = SubtableDescriptor.lengthBytes(1);
    private long nextMemory = MEMORY_AT;

    @AfterEach
    void tearDown()
    {
        fixture.close();
    }

    private long memory()
    {
        nextMemory += bytes;
        return nextMemory - bytes;
    }

    private void split()
    {
        final TableSplit split = fixture.engine.growth().begin(table, 0, memory(), memory(), LONG_NS);
        runSplit(split);
        assertThat(split.state()).as("%s", split).isEqualTo(TableSplit.State.DONE);
    }

    private TableMerge run(final TableMerge merge)
    {
        for (int i = 0; !merge.isFinished() && i < MAX_STEPS; i++)
        {
            fixture.engine.poll();
            fixture.fabric.step();
        }
        return merge;
    }

    private long linkOf(final int suffix)
    {
        return region().getLong((int)table.subtable(suffix).offset() + SubtableDescriptor.SPLIT_OFFSET, LITTLE_ENDIAN);
    }

    private UnsafeBuffer region()
    {
        return fixture.memory();
    }

    private TableMerge settle()
    {
        return fixture.engine.growth().beginMerge(table, 0, 0, LONG_NS);
    }

    /** Everybody has passed it, and so many more that nothing of it is repeated. */
    private void passEpoch(final long epoch)
    {
        final long safeEpoch = epoch + EpochTracker.REUSE_DISTANCE;
        fixture.engine.onEpoch(safeEpoch + 1, safeEpoch);
    }

    /** Ends when it has proposed. @return the proposal. */
    private long propose()
    {
        fixture.engine.onEpoch(PROPOSED_IN, PROPOSED_IN - 1);
        final TableMerge merge = fixture.engine.growth().beginMerge(table, 0, memory(), fixture.nowNs + 1_000);
        while (linkOf(0) == SplitLink.NONE)
        {
            fixture.engine.poll();
            fixture.fabric.step();
        }
        fixture.nowNs += 2_000;
        run(merge);
        assertThat(merge.usesGivenMemory()).as("%s", merge).isTrue();
        assertThat(linkOf(1)).isZero();
        return linkOf(0);
    }

    @Test
    void shouldNotDecideWhatSomebodyElseHasProposed()
    {
        split();
        final long proposal = propose();

        final TableMerge other = run(fixture.engine.growth().beginMerge(table, 1, memory(), LONG_NS));

        assertThat(other.isUndecided()).as("%s", other).isTrue();
        assertThat(other.usesGivenMemory()).isFalse();
        assertThat(linkOf(0)).isEqualTo(proposal);
        assertThat(linkOf(1)).isZero();
        final TableSplit split = fixture.engine.growth().begin(table, 0, memory(), memory(), LONG_NS);
        runSplit(split);
        assertThat(split.isMerged()).isTrue();
    }

    private void runSplit(final TableSplit split)
    {
        for (int i = 0; !split.isFinished() && i < MAX_STEPS; i++)
        {
            fixture.engine.poll();
            fixture.fabric.step();
        }
    }

    /** With one copy nobody leaves such a word: what the link led to is not given up for it. */
    @Test
    void shouldNeitherMergeNorSplitOverADamagedLink()
    {
        split();
        final long link = SplitLink.of(memory(), memory());
        for (int suffix = 0; suffix < 2; suffix++)
        {
            final int at = (int)table.subtable(suffix).offset() + SubtableDescriptor.SPLIT_OFFSET;
            region().putLong(at, link ^ 1, LITTLE_ENDIAN);
            final TableMerge merge = run(fixture.engine.growth().beginMerge(table, 0, memory(), LONG_NS));
            assertThat(merge.state()).as("%s", merge).isEqualTo(TableMerge.State.FAILED);
            final TableSplit split = fixture.engine.growth().begin(table, suffix, memory(), memory(), LONG_NS);
            runSplit(split);
            assertThat(split.state()).as("%s", split).isEqualTo(TableSplit.State.FAILED);
            assertThat(split.usesGivenMemory()).isFalse();
            assertThat(linkOf(suffix)).isEqualTo(link ^ 1);
            region().putLong(at, 0, LITTLE_ENDIAN);
        }
    }

    /** Also where nobody else works on the table: the word may have been a link of a split. */
    @Test
    void shouldDecideNoProposalOverADamagedLink()
    {
        split();
        final long proposal = propose();
        final long damaged = SplitLink.of(memory(), memory()) ^ 1;
        region().putLong(
            (int)table.subtable(1).offset() + SubtableDescriptor.SPLIT_OFFSET, damaged, LITTLE_ENDIAN);
        final TableMerge merge = run(fixture.engine.growth().finishMergeAlone(table, 0, LONG_NS));
        assertThat(merge.state()).as("%s", merge).isEqualTo(TableMerge.State.FAILED);
        assertThat(merge.failure()).contains("damaged", Long.toHexString(damaged));
        assertThat(linkOf(0)).isEqualTo(proposal);
        assertThat(linkOf(1)).isEqualTo(damaged);
    }

    /** With one copy nothing is asked twice: three lines are read, and the link is taken back. */
    @Test
    void shouldTakeAStaleProposalBackWithOneSwap()
    {
        split();
        propose();
        passEpoch(PROPOSED_IN + EpochTracker.REPEAT_EPOCHS);
        final TableMerge withdrawn = run(settle());
        assertThat(withdrawn.isWithdrawn()).as("%s", withdrawn).isTrue();
        assertThat(withdrawn.verbs()).isEqualTo(4);
    }

    /** The one that the proposal names was split, published, and its memory is another table's by now. */
    @Test
    void shouldLeaveMemoryAloneThatWasTheSiblingOnce()
    {
        split();
        final long proposal = propose();
        final int at = (int)table.subtable(1).offset();
        SubtableDescriptor.write(region(), at, 1234, 1, 1, 1, 5, 0);

        final TableMerge other = run(settle());
        assertThat(other.isUndecided()).as("%s", other).isTrue();
        assertThat(linkOf(0)).isEqualTo(proposal);
        passEpoch(other.undecidedEpoch());
        final TableMerge withdrawn = run(settle());

        assertThat(withdrawn.isWithdrawn()).as("%s", withdrawn).isTrue();
        assertThat(linkOf(0)).isZero();
        assertThat(linkOf(1)).as("a word of another table").isZero();
    }

    /**
     * A node has met a proposal, and waited long; meanwhile that one was taken back, its memory leased again, and the
     * same two are to be merged into it: the very word stands there again, and is about to be decided.
     */
    @Test
    void shouldLeaveAProposalOfTheSameMemoryThatWasMadeSince()
    {
        try (EngineFixture proposer = new EngineFixture(fixture.fabric, settings -> settings.writerNumber(2)))
        {
            final Since since = since(fixture, table, proposer);
            final TableMerge late = run(settle());
            assertThat(late.isUndecided()).as("%s", late).isTrue();
            assertThat(late.undecidedEpoch()).isEqualTo(since.epoch + EpochTracker.REPEAT_EPOCHS);
            final TableSplit split = fixture.engine.growth().begin(table, 0, memory(), memory(), LONG_NS);
            runSplit(split);
            assertThat(split.isMerged()).as("%s", split).isTrue();
            run(since.merge, proposer);
            assertThat(since.merge.state()).as("%s", since.merge).isEqualTo(TableMerge.State.DONE);
            assertThat(linkOf(0)).isEqualTo(since.proposal);
        }
    }

    /** Taken back by who has seen one like it once, it is decided all the same: for two that were split meanwhile. */
    @Test
    void shouldMergeWhatIsSplitWhenAnyProposalIsTakenBack()
    {
        try (Mutation.Opened _ = TableMutation.STALE_ONLY.open(); EngineFixture careless = EngineFixture.single();
            EngineFixture proposer = new EngineFixture(careless.fabric, settings -> settings.writerNumber(2)))
        {
            final OpenTable known = careless.createTable(0, 1);
            final Since since = since(careless, known, proposer);
            final TableMerge late = careless.engine.growth().beginMerge(known, 0, 0, LONG_NS);
            run(late, careless);
            assertThat(late.isWithdrawn()).as("%s", late).isTrue();
            final TableSplit split = careless.engine.growth().begin(known, 0, memory(), memory(), LONG_NS);
            run(split, careless);
            run(since.merge, proposer);
            assertThat(split.state()).isEqualTo(TableSplit.State.DONE);
            assertThat(since.merge.state()).as("merged what is split: %s", since.merge)
                .isEqualTo(TableMerge.State.FAILED);
            assertThat(since.merge.usesGivenMemory()).isTrue();
            final int sibling = (int)MergeLink.sibling(since.proposal) + SubtableDescriptor.SPLIT_OFFSET;
            assertThat(MergeLink.isLink(careless.memory().getLong(sibling, LITTLE_ENDIAN))).as("decided").isTrue();
        }
    }

    /** A merge that another engine has proposed, and not decided; the epoch in which that began. */
    private record Since(TableMerge merge, long proposal, long epoch)
    {
    }

    /** The same proposal was made before, met, and taken back. */
    private Since since(final EngineFixture settler, final OpenTable known, final EngineFixture proposer)
    {
        run(settler.engine.growth().begin(known, 0, memory(), memory(), LONG_NS), settler);
        final long again = memory();
        settler.engine.onEpoch(PROPOSED_IN, PROPOSED_IN - 1);
        final Since left = proposeAt(settler, known, again, settler.nowNs + 1_000);
        settler.nowNs += 2_000;
        run(left.merge, settler);
        settler.engine.onEpoch(PROPOSED_IN + 6, PROPOSED_IN + 5);
        final TableMerge settled = settler.engine.growth().beginMerge(known, 0, 0, LONG_NS);
        run(settled, settler);
        assertThat(settled.isWithdrawn()).as("%s", settled).isTrue();

        final long later = PROPOSED_IN + 20;
        settler.engine.onEpoch(later, later - 1);
        proposer.engine.onEpoch(later, later - 1);
        final OpenTable proposers = proposer.engine.openTable(
            TableGrowth.ofSplit(known.descriptor(), known, Subtable.of(known.descriptor()).getFirst()).descriptor());
        final Since since = proposeAt(proposer, proposers, again, LONG_NS);
        assertThat(since.proposal).as("the very same word").isEqualTo(left.proposal);
        return new Since(since.merge, since.proposal, later);
    }

    /** Until the proposal stands; its answer is on the way. */
    private static Since proposeAt(
        final EngineFixture by, final OpenTable known, final long memory, final long deadlineNs)
    {
        final int at = (int)known.subtable(0).offset() + SubtableDescriptor.SPLIT_OFFSET;
        final TableMerge merge = by.engine.growth().beginMerge(known, 0, memory, deadlineNs);
        while (by.memory().getLong(at, LITTLE_ENDIAN) == SplitLink.NONE)
        {
            by.engine.poll();
            by.fabric.step();
        }
        return new Since(merge, by.memory().getLong(at, LITTLE_ENDIAN), 0);
    }

    private static void run(final SubtableWork work, final EngineFixture by)
    {
        for (int i = 0; !work.isFinished() && i < MAX_STEPS; i++)
        {
            by.engine.poll();
            by.fabric.step();
        }
    }

    @Test
    void shouldFinishAStaleProposalThatWasDecided()
    {
        split();
        final long proposal = propose();
        final Subtable sibling = table.subtable(1);
        final long back = MergeLink.of(
            MergeLink.merged(proposal), table.subtable(0).offset());
        region().putLong((int)sibling.offset() + SubtableDescriptor.SPLIT_OFFSET, back, LITTLE_ENDIAN);
        passEpoch(PROPOSED_IN + EpochTracker.REPEAT_EPOCHS);
        final TableMerge other = run(settle());
        assertThat(other.state()).as("%s", other).isEqualTo(TableMerge.State.DONE);
        assertThat(table.subtableCount()).isOne();
    }

    /** A merge that nobody has published yet, and a split of what it made. */
    @Test
    void shouldPublishNoSubtableThatLeadsToAReplacedOne()
    {
        split();
        final TableDescriptor published =
            TableGrowth.ofSplit(table.descriptor(), table, Subtable.of(table.descriptor()).getFirst()).descriptor();
        final Subtable old0 = table.subtable(0);
        final Subtable old1 = table.subtable(1);
        run(fixture.engine.growth().beginMerge(table, 0, memory(), LONG_NS));
        final Subtable merged = table.subtable(0);
        split();

        final TableGrowth growth = TableGrowth.ofSplit(published, table, merged);

        assertThat(growth.replaced()).containsExactlyInAnyOrder(old0, old1, merged);
        assertThat(Subtable.of(growth.descriptor())).containsExactly(table.subtable(0), table.subtable(1));
        assertThat(TableGrowth.to(published, table, merged).replaced()).isEqualTo(List.of(old0, old1));
    }
}
