package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.table.check.TableCheck;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.Subtable;
import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.growth.GrowthBatch;
import io.verbena.table.growth.TableGrowth;
import io.verbena.table.growth.TableSplit;
import org.junit.jupiter.api.Test;

/** A connection that breaks at each request of a split with several groups under way, and is made anew. */
class BrokenSplitTest
{
    /** One more than are under way at a time. */
    private static final int GROUPS = GrowthBatch.MAX_LANES + 1;
    private static final int KEYS = 24;
    /** Steps from one place to the next, while groups are moved. */
    private static final int STRIDE = 7;
    private static final long LONG_NS = 1L << 40;

    /** With answers that say so, or none at all. */
    @Test
    void shouldFinishASplitWhoseConnectionBreaksAtAnyRequest()
    {
        boolean isOver = false;
        int steps = 0;
        int runs = 0;
        int begun = 0;
        while (!isOver)
        {
            try (DisturbedStore store = new DisturbedStore(1, GROUPS, true))
            {
                final Subtable old = store.table.subtable(0);
                final TableSplit split = begin(store, 1);
                run(store, split, steps);
                isOver = split.isFinished();

                store.fixture.port.fail(runs++ % 2 == 0);
                store.fixture.engine.poll();
                store.fixture.engine.detach(EngineFixture.NODE);
                assertThat(split.isFinished()).as("steps %d: %s", steps, split).isTrue();
                assertThat(split.state()).isEqualTo(isOver ? TableSplit.State.DONE : TableSplit.State.FAILED);
                store.fixture.connect();

                begun += split.usesGivenMemory() ? 1 : 0;
                // As a node does: with other memory where no link can lead to what it had.
                finish(store, split.usesGivenMemory(), old, steps);
                steps += split.groupsDone() >= GROUPS - 1 ? 1 : STRIDE;
            }
        }
        System.out.println("broken in " + runs + " places of " + steps + ", " + begun + " times behind the link");
        assertThat(begun).isGreaterThan(runs / 2);
    }

    private static void finish(
        final DisturbedStore store, final boolean isBegun, final Subtable old, final int steps)
    {
        TableSplit again = isBegun ? finishing(store) : begin(store, 3);
        run(store, again, Integer.MAX_VALUE);
        assertThat(again.state()).as("steps %d: %s", steps, again).isEqualTo(TableSplit.State.DONE);
        if (SplitLink.NONE == store.table.splitOf(old))
        {
            // Its link had not arrived.
            again = begin(store, 3);
            run(store, again, Integer.MAX_VALUE);
        }
        final TableGrowth growth = TableGrowth.ofSplit(store.table.descriptor(), store.table, old);
        assertThat(growth.replaced()).as("steps %d", steps).containsExactly(old);
        assertReadable(store, store.fixture.engine.openTable(growth.descriptor()), steps);
    }

    private static TableSplit finishing(final DisturbedStore store)
    {
        return store.fixture.engine.growth().begin(store.table, 0, 0, 0, store.fixture.nowNs + LONG_NS);
    }

    private static TableSplit begin(final DisturbedStore store, final int chunk)
    {
        store.state(chunk, ChunkDescriptor.STATE_INDEX);
        store.state(chunk + 1, ChunkDescriptor.STATE_INDEX);
        return store.fixture.engine.growth().begin(store.table, 0, DisturbedStore.chunkAt(chunk),
            DisturbedStore.chunkAt(chunk + 1), store.fixture.nowNs + LONG_NS);
    }

    private static void run(final DisturbedStore store, final TableSplit split, final int steps)
    {
        for (int step = 0; step < steps && !split.isFinished(); step++)
        {
            store.fixture.engine.poll();
            store.fixture.fabric.step();
        }
    }

    /** By the descriptor that is published then; nothing waits for the old subtable any more. */
    private static void assertReadable(final DisturbedStore store, final OpenTable published, final int steps)
    {
        for (int i = 0; i < KEYS; i++)
        {
            assertThat(store.fixture.get(published, "key-" + i).value()).as("steps %d, key %d", steps, i)
                .isEqualTo("v");
        }
        for (final Subtable subtable : published.subtables())
        {
            assertThat(SubtableDescriptor.predecessor(store.memory(), (int)subtable.offset()))
                .as("steps %d: predecessor of %s", steps, subtable).isZero();
        }
        final TableCheck check = store.fixture.check(published);
        assertThat(check.isSound()).as("steps %d: %s", steps, check).isTrue();
        assertThat(check.committed).isEqualTo(KEYS);
    }
}
