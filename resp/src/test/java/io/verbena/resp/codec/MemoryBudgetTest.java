package io.verbena.resp.codec;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;

class MemoryBudgetTest
{
    private static final int SMALL = MemoryBudget.SMALL_SHARE_BYTES;
    private static final long LIMIT = 8L * SMALL;

    private final AtomicInteger calls = new AtomicInteger();
    private final MemoryBudget whole = new MemoryBudget(LIMIT, calls::incrementAndGet);

    @Test
    void shouldGiveNoMoreThanItsLimit()
    {
        final MemoryBudget alone = new MemoryBudget(100);
        assertThat(alone.take(101)).isFalse();
        assertThat(alone.take(100)).isTrue();
        assertThat(alone.take(1)).isFalse();
        assertThat(alone.takenBytes()).isEqualTo(100);
        alone.giveBack(1);
        assertThat(alone.take(1)).isTrue();
    }

    /** A large share gets nothing of the last quarter, small ones get all of it. */
    @Test
    void shouldKeepTheLastQuarterForSmallShares()
    {
        final MemoryBudget large = whole.share();
        assertThat(large.take(6L * SMALL)).isTrue();
        assertThat(calls).hasValue(0);
        assertThat(large.take(1)).isFalse();
        assertThat(calls).hasValue(1);
        final MemoryBudget small = whole.share();
        final MemoryBudget other = whole.share();
        assertThat(small.take(SMALL)).isTrue();
        assertThat(small.take(1)).isFalse();
        assertThat(other.take(SMALL)).isTrue();
        assertThat(whole.share().take(1)).isFalse();
        assertThat(calls).hasValue(5);
        assertThat(whole.takenBytes()).isEqualTo(LIMIT);
        assertThat(List.of(large.takenBytes(), small.takenBytes(), other.takenBytes()))
            .containsExactly(6L * SMALL, (long)SMALL, (long)SMALL);
        large.giveBack(SMALL);
        large.giveBack(SMALL);
        assertThat(other.take(1)).as("6 of 8 are taken, and one byte").isFalse();
        other.giveBack(1);
        assertThat(other.take(1)).isTrue();
        assertThat(calls).hasValue(6);
    }

    @Test
    void shouldCountForBothFromManyThreads() throws InterruptedException
    {
        final List<MemoryBudget> shares = new ArrayList<>();
        final List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++)
        {
            final MemoryBudget share = whole.share();
            final int seed = i;
            shares.add(share);
            threads.add(new Thread(() -> takeAndGiveBack(share, new Random(seed))));
            threads.getLast().start();
        }
        for (final Thread thread : threads)
        {
            thread.join();
        }
        assertThat(whole.takenBytes()).isEqualTo(shares.stream().mapToLong(MemoryBudget::takenBytes).sum());
        assertThat(whole.takenBytes()).isBetween(1L, LIMIT);
    }

    private static void takeAndGiveBack(final MemoryBudget share, final Random random)
    {
        long held = 0;
        for (int i = 0; i < 100_000; i++)
        {
            final int bytes = 1 + random.nextInt(SMALL);
            if (share.take(bytes))
            {
                held += bytes;
            }
            if (held >= bytes && random.nextBoolean())
            {
                share.giveBack(bytes);
                held -= bytes;
            }
        }
        share.take(1);
        share.giveBack(held - 1);
    }
}
