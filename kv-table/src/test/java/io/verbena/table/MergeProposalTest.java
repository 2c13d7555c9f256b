package io.verbena.table;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.TableDescriptor;
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
        final TableSplit split = fixture.engine.splits().begin(table, 0, memory(), memory(), LONG_NS);
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

    /** Ends when it has proposed. @return the proposal. */
    private long propose()
    {
        final TableMerge merge = fixture.engine.splits().beginMerge(table, 0, memory(), fixture.nowNs + 1_000);
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

        final TableMerge other = run(fixture.engine.splits().beginMerge(table, 1, memory(), LONG_NS));

        assertThat(other.proposal()).isEqualTo(proposal);
        assertThat(other.usesGivenMemory()).isFalse();
        assertThat(linkOf(1)).isZero();
        final TableSplit split = fixture.engine.splits().begin(table, 0, memory(), memory(), LONG_NS);
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

    /** The one that the proposal names was split, published, and its memory is another table's by now. */
    @Test
    void shouldLeaveMemoryAloneThatWasTheSiblingOnce()
    {
        split();
        final long proposal = propose();
        final int at = (int)table.subtable(1).offset();
        SubtableDescriptor.write(region(), at, 1234, 1, 1, 1, 5, 0);

        final TableMerge other = run(fixture.engine.splits().beginMerge(table, 0, 0, LONG_NS));
        assertThat(other.proposal()).isEqualTo(proposal);
        final TableMerge withdrawn = run(fixture.engine.splits().withdrawMerge(table, 0, proposal, LONG_NS));

        assertThat(withdrawn.isWithdrawn()).as("%s", withdrawn).isTrue();
        assertThat(linkOf(0)).isZero();
        assertThat(linkOf(1)).as("a word of another table").isZero();
    }

    @Test
    void shouldTakeBackOnlyTheProposalThatItKnows()
    {
        split();
        final long proposal = propose();
        final TableMerge other = run(fixture.engine.splits().withdrawMerge(table, 0, proposal + 4, LONG_NS));
        assertThat(other.proposal()).isEqualTo(proposal);
        assertThat(linkOf(0)).isEqualTo(proposal);
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
        final TableMerge other = run(fixture.engine.splits().withdrawMerge(table, 0, proposal, LONG_NS));
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
        run(fixture.engine.splits().beginMerge(table, 0, memory(), LONG_NS));
        final Subtable merged = table.subtable(0);
        split();

        final TableGrowth growth = TableGrowth.ofSplit(published, table, merged);

        assertThat(growth.replaced()).containsExactlyInAnyOrder(old0, old1, merged);
        assertThat(Subtable.of(growth.descriptor())).containsExactly(table.subtable(0), table.subtable(1));
        assertThat(TableGrowth.to(published, table, merged).replaced()).isEqualTo(List.of(old0, old1));
    }
}
