package io.verbena.table;

import io.verbena.table.directory.Subtable;
import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.TableDescriptor;
import io.verbena.table.growth.TableGrowth;
import io.verbena.table.growth.TableSplit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Splits the subtables of a {@link DisturbedStore}, a few requests at a time, as a compute node does: leases chunks,
 * gives some splits up half way, publishes descriptors, and returns what nobody can reach any more, to use it again at
 * once.
 */
final class SubtableSplitter
{
    private static final int MAX_DEPTH = 4;
    private static final int MOST_STEPS = 40;
    private static final int SHORT_NS = 5_000;
    private static final long LONG_NS = 1L << 40;
    private static final byte GARBAGE = (byte)0xB7;

    /** The chunk of a subtable that no descriptor names, and the epoch known when none did. */
    private record Retired(int chunk, long epoch)
    {
    }

    private final DisturbedStore store;
    private final TableEngine engine;
    private final SplittableRandom random;
    private final Deque<Integer> free = new ArrayDeque<>();
    private final List<Retired> retired = new ArrayList<>();
    private final int[] leased = new int[2];
    private TableDescriptor published;
    private TableSplit split;
    private Subtable target;
    private long splits;
    private long returned;

    SubtableSplitter(final DisturbedStore store, final long seed)
    {
        this.store = store;
        engine = store.fixture.engine;
        random = new SplittableRandom(seed);
        published = store.table.descriptor();
        for (int chunk = 1; DisturbedStore.chunkAt(chunk) < EngineFixture.BLOCKS_AT; chunk++)
        {
            free.add(chunk);
        }
    }

    TableDescriptor published()
    {
        return published;
    }

    /** Splits brought to their ends. */
    long splits()
    {
        return splits;
    }

    /** Chunks that went back. */
    long returned()
    {
        return returned;
    }

    void goOn()
    {
        giveBack();
        if (split == null)
        {
            begin();
        }
        for (int step = random.nextInt(MOST_STEPS); step > 0 && split != null && !split.isFinished(); step--)
        {
            store.fixture.nowNs += 100;
            store.fixture.fabric.step();
            engine.poll();
        }
        if (split != null && split.isFinished())
        {
            end();
        }
    }

    private void begin()
    {
        target = store.table.subtable(random.nextInt(1 << MAX_DEPTH));
        if (target.depth() < MAX_DEPTH && free.size() >= 2)
        {
            leased[0] = lease();
            leased[1] = lease();
            split = engine.growth().begin(store.table, target.suffix(), DisturbedStore.chunkAt(leased[0]),
                DisturbedStore.chunkAt(leased[1]),
                store.fixture.nowNs + (random.nextInt(3) == 0 ? random.nextInt(SHORT_NS) : LONG_NS));
        }
    }

    private int lease()
    {
        final int chunk = free.poll();
        store.state(chunk, ChunkDescriptor.STATE_INDEX);
        return chunk;
    }

    private void end()
    {
        if (!split.usesGivenMemory())
        {
            free(leased[0]);
            free(leased[1]);
        }
        if (split.state() == TableSplit.State.DONE)
        {
            splits++;
            publish();
        }
        split = null;
    }

    private void publish()
    {
        final TableGrowth growth = TableGrowth.ofSplit(published, store.table, target);
        published = growth.descriptor();
        growth.replaced().forEach((old) -> retired.add(new Retired(
            (int)((old.offset() - DisturbedStore.CHUNKS_AT) / DisturbedStore.CHUNK_BYTES), engine.epoch())));
        store.table.refresh(published);
    }

    private void giveBack()
    {
        retired.removeIf((old) ->
        {
            final boolean isReusable = engine.isReusable(old.epoch);
            if (isReusable)
            {
                free(old.chunk);
                returned++;
            }
            return isReusable;
        });
    }

    private void free(final int chunk)
    {
        store.state(chunk, ChunkDescriptor.STATE_FREE);
        store.memory().setMemory((int)DisturbedStore.chunkAt(chunk), DisturbedStore.CHUNK_BYTES, GARBAGE);
        free.addFirst(chunk);
    }
}
