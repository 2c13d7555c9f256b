package io.verbena.raas.identity;

import org.junit.jupiter.api.Test;

import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;

import static org.assertj.core.api.Assertions.assertThat;

class NonceWindowsTest
{
    private final NonceWindows windows = new NonceWindows();

    @Test
    void shouldTakeEachNumberOnceInAnyNearOrder()
    {
        assertThat(windows.use(3, 5, 10)).isTrue();
        assertThat(windows.use(3, 5, 9)).isTrue();
        assertThat(windows.use(3, 5, 11)).isTrue();
        assertThat(windows.use(3, 5, 10)).isFalse();
        assertThat(windows.use(3, 5, 9)).isFalse();
        assertThat(windows.use(3, 5, 11)).isFalse();
    }

    @Test
    void shouldRefuseNumbersBelowTheWindowAndZero()
    {
        assertThat(windows.use(3, 5, 0)).isFalse();
        assertThat(windows.use(3, 5, -1)).isFalse();
        assertThat(windows.use(3, 5, 100)).isTrue();
        assertThat(windows.use(3, 5, 36)).as("64 below").isFalse();
        assertThat(windows.use(3, 5, 37)).as("63 below").isTrue();
        assertThat(windows.use(3, 5, 37)).isFalse();
        assertThat(windows.use(3, 5, 164)).as("a whole window ahead").isTrue();
        assertThat(windows.use(3, 5, 101)).as("never used").isTrue();
        assertThat(windows.use(3, 5, 100)).isFalse();
    }

    /** However far the next one is ahead, within the window it makes none of those before unused. */
    @Test
    void shouldRememberANumberUntilItIsBelowTheWindow()
    {
        for (int ahead = 1; ahead <= 65; ahead++)
        {
            final int node = ahead;
            assertThat(windows.use(node, 1, 100)).isTrue();
            assertThat(windows.use(node, 1, 100 + ahead)).as("%d ahead", ahead).isTrue();
            assertThat(windows.use(node, 1, 100)).as("again, %d below", ahead).isFalse();
            assertThat(windows.use(node, 1, 100 + ahead)).as("again, %d ahead", ahead).isFalse();
        }
    }

    @Test
    void shouldRefuseAnIncarnationBeforeTheNewest()
    {
        assertThat(windows.use(3, 5, 700)).isTrue();
        assertThat(windows.use(3, 6, 1)).as("numbers begin anew").isTrue();
        assertThat(windows.use(3, 5, 701)).isFalse();
        assertThat(windows.use(4, 5, 7)).as("another node").isTrue();
    }

    @Test
    void shouldNeverTakeANumberTwice()
    {
        final SplittableRandom random = new SplittableRandom(1);
        final Set<Long> taken = new HashSet<>();
        for (int i = 0; i < 20_000; i++)
        {
            final long nonce = 1 + Math.max(0, i / 4 + random.nextInt(-90, 20));
            if (windows.use(9, 1, nonce))
            {
                assertThat(taken.add(nonce)).as("nonce " + nonce).isTrue();
            }
        }
        assertThat(taken.size()).isGreaterThan(2_000);
    }
}
