package io.verbena.embedded;

import io.verbena.client.KvException;
import io.verbena.client.KvTable;
import io.verbena.rdma.sim.SimWorld;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Puts one key after the other, each until it is told as done, so that a table grows; and knows which of them may not
 * be missing from memory that was restored, or in the end. The first byte of its keys is {@link #FIRST_BYTE}.
 */
final class SimFiller
{
    static final int FIRST_BYTE = 200;
    private static final int AT_ONCE = 4;
    private static final long TIMEOUT_NS = 8_000_000;

    private final SimWorld world;
    private final KvTable table;
    private final int keyCount;
    private final long maxPauseNs;
    private final ArrayDeque<Integer> todo = new ArrayDeque<>();
    /** Told as done, of puts that began since memory was restored last; or found restored. */
    private final BitSet kept = new BitSet();
    private final Map<String, Integer> failures = new TreeMap<>();
    private int generation;
    private int active;

    SimFiller(final SimWorld world, final KvTable table, final int keyCount, final long maxPauseNs)
    {
        this.world = world;
        this.table = table;
        this.keyCount = keyCount;
        this.maxPauseNs = maxPauseNs;
        for (int i = 0; i < keyCount; i++)
        {
            todo.add(i);
        }
    }

    static byte[] key(final int number)
    {
        return ByteBuffer.allocate(5).put((byte)FIRST_BYTE).putInt(number).array();
    }

    void start()
    {
        for (; active < AT_ONCE; active++)
        {
            world.after(world.random().nextLong(maxPauseNs), this::next);
        }
    }

    private void next()
    {
        final Integer number = todo.poll();
        if (null == number)
        {
            active--;
            return;
        }
        final int began = generation;
        table.putAsync(key(number), key(number), TIMEOUT_NS).whenComplete((version, error) ->
        {
            if (null != error)
            {
                assertThat(((KvException)error).category()).as(error.getMessage())
                    .isNotIn(KvException.Category.NO_SPACE, KvException.Category.CORRUPT,
                        KvException.Category.INVALID_REQUEST);
                failures.merge(error.getMessage(), 1, Integer::sum);
            }
            if (null == error && began == generation)
            {
                kept.set(number);
            }
            else
            {
                todo.addFirst(number);
            }
            world.after(1 + world.random().nextLong(maxPauseNs), this::next);
        });
    }

    /** What must not be lost from now on. */
    BitSet kept()
    {
        return (BitSet)kept.clone();
    }

    /** Memory was lost, and holds these now; those kept when the checkpoint began may not be missing. */
    void restored(final BitSet keptBefore, final Set<Integer> present)
    {
        final BitSet missing = (BitSet)keptBefore.clone();
        present.forEach(missing::clear);
        if (!missing.isEmpty())
        {
            throw world.failure("acknowledged before the checkpoint, and not restored: " + missing.cardinality() +
                " of " + keptBefore.cardinality() + " keys: " + missing, null);
        }
        generation++;
        final BitSet before = kept();
        kept.clear();
        present.forEach(kept::set);
        before.andNot(kept);
        before.stream().forEach(todo::add);
        start();
    }

    boolean isFinished()
    {
        return active == 0 && kept.cardinality() == keyCount;
    }

    /** Reads all that is kept, one after the other, and fails when one is missing. */
    void assertComplete(final long maxSteps)
    {
        for (int i = 0; i < keyCount; i++)
        {
            final int[] present = {-1};
            read(i, present);
            world.runUntil(() -> present[0] >= 0, maxSteps);
            assertThat(present[0]).as("seed %d: key %d %s", world.seed(), i, failures).isOne();
        }
    }

    private void read(final int number, final int[] present)
    {
        table.getAsync(key(number), TIMEOUT_NS).whenComplete((entry, error) ->
        {
            if (null != error)
            {
                read(number, present);
            }
            else
            {
                present[0] = entry.isPresent() ? 1 : 0;
            }
        });
    }
}
