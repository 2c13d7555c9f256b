package io.verbena.embedded;

import io.verbena.client.KvException;
import io.verbena.client.KvTable;
import io.verbena.rdma.sim.SimWorld;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Makes a table grow and shrink: puts many keys and deletes all but a few of them, each again and again until it is
 * told as done, and knows in the end which of them are there.
 */
final class SimTide
{
    /** Of so many keys one stays when they are deleted. */
    static final int STAYS_ONE_IN = 300;
    private static final int AT_ONCE = 6;
    private static final Duration TIMEOUT = Duration.ofNanos(20_000_000);
    private static final long MAX_STEPS = 200_000_000;

    private final SimWorld world;
    private final KvTable table;
    private final int keyCount;
    private final ArrayDeque<Integer> todo = new ArrayDeque<>();
    private final List<String> failures = new ArrayList<>();
    private boolean rises;
    private int active;

    SimTide(final SimWorld world, final KvTable table, final int keyCount)
    {
        this.world = world;
        this.table = table;
        this.keyCount = keyCount;
    }

    private static byte[] key(final int number)
    {
        return ("tide-" + number).getBytes(StandardCharsets.US_ASCII);
    }

    private boolean isThere(final int number)
    {
        return rises || number % STAYS_ONE_IN == 0;
    }

    /** Puts all keys. */
    void rise()
    {
        begin(true);
    }

    /** Deletes most of them. */
    void fall()
    {
        begin(false);
    }

    private void begin(final boolean isRising)
    {
        rises = isRising;
        for (int i = 0; i < keyCount; i++)
        {
            if (isRising || !isThere(i))
            {
                todo.add(i);
            }
        }
        while (active < AT_ONCE && !todo.isEmpty())
        {
            active++;
            next();
        }
    }

    boolean isDone()
    {
        return active == 0;
    }

    void finish()
    {
        world.runUntil(this::isDone, MAX_STEPS);
    }

    private void next()
    {
        final Integer number = todo.poll();
        if (null == number)
        {
            active--;
            return;
        }
        final CompletableFuture<?> done = rises ? table.withTimeout(TIMEOUT).putAsync(key(number), key(number)) :
            table.withTimeout(TIMEOUT).deleteAsync(key(number));
        done.whenComplete((result, error) ->
        {
            if (null != error)
            {
                assertThat(((KvException)error).category()).as(error.getMessage())
                    .isNotIn(KvException.Category.NO_SPACE, KvException.Category.CORRUPT,
                        KvException.Category.INVALID_REQUEST);
                failures.add(error.getMessage());
                todo.addFirst(number);
            }
            next();
        });
    }

    /** Why operations had to be made again. */
    List<String> failures()
    {
        return failures;
    }

    /** Each key is there that should be, and no other. */
    void assertRight()
    {
        for (int i = 0; i < keyCount; i++)
        {
            final int[] present = {-1};
            read(i, present);
            world.runUntil(() -> present[0] >= 0, MAX_STEPS);
            assertThat(present[0]).as("seed %d: key %d", world.seed(), i).isEqualTo(isThere(i) ? 1 : 0);
        }
    }

    private void read(final int number, final int[] present)
    {
        table.withTimeout(TIMEOUT).getAsync(key(number)).whenComplete((entry, error) ->
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
