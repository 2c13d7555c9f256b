package io.verbena.embedded;

import io.verbena.client.KvException;
import io.verbena.client.KvTable;
import io.verbena.client.KvTableFullException;
import io.verbena.rdma.sim.SimWorld;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Puts one key after the other, each until it is told as done, so that a table grows, and perhaps deletes most of them
 * again; and knows which of them may not be missing from memory that was restored, or in the end. The first byte of
 * its keys is {@link #FIRST_BYTE}.
 */
final class SimFiller
{
    static final int FIRST_BYTE = 200;
    private static final int AT_ONCE = 4;
    /** Of so many keys one stays when the others are deleted. */
    private static final int STAYS_ONE_IN = 10;
    private static final Duration TIMEOUT = Duration.ofNanos(8_000_000);

    private final SimWorld world;
    private final KvTable table;
    private final int keyCount;
    private final long maxPauseNs;
    private final ArrayDeque<Integer> todo = new ArrayDeque<>();
    /** Told as done, of puts that began since memory was restored last; or found restored. */
    private final BitSet kept = new BitSet();
    /** Told as deleted, or found not to be restored. */
    private final BitSet gone = new BitSet();
    private final Map<String, Integer> failures = new TreeMap<>();
    private boolean isShortOfMemory;
    private boolean drains;
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

    /** Values may find no memory until the deadlines of their puts; the table is never full. */
    void expectShortage()
    {
        isShortOfMemory = true;
    }

    void start()
    {
        for (; active < AT_ONCE; active++)
        {
            world.after(world.random().nextLong(maxPauseNs), this::next);
        }
    }

    private boolean stays(final int number)
    {
        return !drains || number % STAYS_ONE_IN == 0;
    }

    /** Deletes most of them; when all are put. */
    void drain()
    {
        drains = true;
        for (int i = 0; i < keyCount; i++)
        {
            if (!stays(i))
            {
                kept.clear(i);
                todo.add(i);
            }
        }
        start();
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
        final boolean puts = stays(number);
        final CompletableFuture<?> done = puts ? table.withTimeout(TIMEOUT).putAsync(key(number), key(number)) :
            table.withTimeout(TIMEOUT).deleteAsync(key(number));
        done.whenComplete(SimCallbacks.ending(world, (result, error) ->
        {
            if (null != error)
            {
                assertThat(error).isNotInstanceOf(KvTableFullException.class);
                assertThat(((KvException)error).category()).as(error.getMessage())
                    .isNotIn(isShortOfMemory ? KvException.Category.CORRUPT : KvException.Category.NO_SPACE,
                        KvException.Category.CORRUPT, KvException.Category.INVALID_REQUEST);
                failures.merge(error.getMessage(), 1, Integer::sum);
            }
            if (null == error && began == generation)
            {
                (puts ? kept : gone).set(number);
            }
            else
            {
                todo.addFirst(number);
            }
            world.after(1 + world.random().nextLong(maxPauseNs), this::next);
        }));
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
        missing.stream().filter((number) -> !stays(number)).forEach(missing::clear);
        if (!missing.isEmpty())
        {
            throw world.failure("acknowledged before the checkpoint, and not restored: " + missing.cardinality() +
                " of " + keptBefore.cardinality() + " keys: " + missing, null);
        }
        generation++;
        final BitSet before = kept();
        kept.clear();
        gone.clear();
        present.stream().filter(this::stays).forEach(kept::set);
        before.andNot(kept);
        before.stream().forEach(todo::add);
        for (int i = 0; i < keyCount; i++)
        {
            if (!stays(i))
            {
                gone.set(i, !present.contains(i));
                todo.remove((Integer)i);
                todo.add(i);
            }
        }
        start();
    }

    boolean isFinished()
    {
        return active == 0 && kept.cardinality() + gone.cardinality() == keyCount;
    }

    /** Reads all, one after the other, and fails when one is missing, or there that was deleted. */
    void assertComplete(final long maxSteps)
    {
        for (int i = 0; i < keyCount; i++)
        {
            final int[] present = {-1};
            read(i, present);
            world.runUntil(() -> present[0] >= 0, maxSteps);
            assertThat(present[0]).as("seed %d: key %d %s", world.seed(), i, failures).isEqualTo(stays(i) ? 1 : 0);
        }
    }

    private void read(final int number, final int[] present)
    {
        table.withTimeout(TIMEOUT).getAsync(key(number)).whenComplete(SimCallbacks.ending(world, (entry, error) ->
        {
            if (null != error)
            {
                read(number, present);
            }
            else
            {
                present[0] = entry.isPresent() ? 1 : 0;
            }
        }));
    }
}
