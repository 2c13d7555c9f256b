package io.verbena.rdma.roce.seal;

import org.junit.jupiter.api.Test;

import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;

import static org.assertj.core.api.Assertions.assertThat;

class ReplayWindowTest
{
    private static final int WINDOW = SealedPacketDescriptor.REPLAY_WINDOW;

    private final ReplayWindow window = new ReplayWindow();

    @Test
    void shouldTakeEachCountOnceInAnyOrderWithinTheWindow()
    {
        for (long seed = 0; seed < 50; seed++)
        {
            final ReplayWindow random = new ReplayWindow();
            final SplittableRandom numbers = new SplittableRandom(seed);
            final Set<Long> come = new HashSet<>();
            long latest = -1;
            for (int i = 0; i < 5_000; i++)
            {
                final long step = numbers.nextInt(200) == 0 ? numbers.nextInt(5 * WINDOW) : numbers.nextInt(3);
                final long counter = Math.max(0, latest + step - numbers.nextInt(2) * numbers.nextInt(2 * WINDOW));
                final boolean isNew = !come.contains(counter) && latest - counter < WINDOW;
                assertThat(random.isNew(counter)).as("seed %d, count %d after %d", seed, counter, latest)
                    .isEqualTo(isNew);
                if (isNew)
                {
                    random.add(counter);
                    come.add(counter);
                    latest = Math.max(latest, counter);
                }
            }
        }
    }

    @Test
    void shouldForgetNothingThatIsStillTaken()
    {
        window.add(0);
        window.add(WINDOW - 1);
        assertThat(window.isNew(0)).isFalse();
        assertThat(window.isNew(1)).isTrue();
        window.add(WINDOW);
        assertThat(window.isNew(0)).isFalse();
        assertThat(window.isNew(1)).isTrue();
        window.add(WINDOW + 1);
        assertThat(window.isNew(1)).isFalse();
        assertThat(window.isNew(2)).isTrue();
    }

    @Test
    void shouldTakeNoCountThatIsNegative()
    {
        assertThat(window.isNew(-1)).isFalse();
        assertThat(window.isNew(Long.MIN_VALUE)).isFalse();
        window.add(5);
        assertThat(window.isNew(-1)).isFalse();
        assertThat(window.isNew(Long.MIN_VALUE + 3)).isFalse();
        assertThat(window.isNew(Long.MAX_VALUE)).isTrue();
    }
}
