package io.verbena.rdma.sim;

import io.verbena.rdma.sim.device.SimDevice;
import io.verbena.rdma.sim.device.SimFabric;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.sim.schedule.SimFailureException;
import io.verbena.rdma.sim.schedule.SimRepetition;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.stream.LongStream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** That runs are the same again, and that one is found which is not. */
class SimRepetitionTest
{
    private static final int STEPS = 20;

    /** Counts how often it was run, as nothing that a seed decides may. */
    private int times;

    private static void stepUntil(final long seed, final int steps, final int lateStep, final long lateNs)
    {
        try (SimWorld world = new SimWorld(seed, new SimFabricOptions()))
        {
            for (int i = 0; i < steps; i++)
            {
                world.after(i * 100 + (i == lateStep ? lateNs : 0), () -> { });
            }
            world.runFor(steps * 100);
        }
    }

    @Test
    void shouldSayNothingOfRunsThatAreAlike()
    {
        SimRepetition.check(() ->
        {
            stepUntil(1, STEPS, 3, 7);
            stepUntil(2, STEPS, 4, 7);
        });
    }

    @Test
    void shouldNameSeedWorldAndStepWhereTheSecondRunIsAnother()
    {
        assertThatThrownBy(() -> SimRepetition.check(() ->
        {
            stepUntil(1, STEPS, 0, 0);
            stepUntil(2, STEPS, 7, ++times);
        })).isInstanceOf(SimFailureException.class).hasMessageContaining("seed 2")
            .hasMessageContaining("world 2 differs by step 7").hasMessageContaining("703ns ACTION");
    }

    @Test
    void shouldNoticeARunThatIsShorterOrLonger()
    {
        assertThatThrownBy(() -> SimRepetition.check(() -> stepUntil(1, STEPS - times++, 0, 0)))
            .hasMessageContaining("ends after 19 steps, and ended after 20");
        times = 0;
        assertThatThrownBy(() -> SimRepetition.check(() -> stepUntil(1, STEPS + times++, 0, 0)))
            .hasMessageContaining("differs by step 20");
    }

    @Test
    void shouldNoticeAnotherNumberOfWorlds()
    {
        assertThatThrownBy(() -> SimRepetition.check(() ->
            LongStream.rangeClosed(0, times++).forEach((seed) -> stepUntil(seed, STEPS, 0, 0))))
            .hasMessageContaining("differs by step 0");
        times = 0;
        assertThatThrownBy(() -> SimRepetition.check(() ->
            LongStream.range(0, 2 - times++).forEach((seed) -> stepUntil(seed, STEPS, 0, 0))))
            .hasMessageContaining("there were 2 worlds, and the second time 1");
    }

    @Test
    void shouldCompareWhatIsThrownAndThrowItNoFurther()
    {
        SimRepetition.check(() ->
        {
            throw new IllegalStateException("always");
        });
        assertThatThrownBy(() -> SimRepetition.check(() ->
        {
            throw new IllegalStateException("time " + ++times);
        })).hasMessageContaining("equal steps end differently").hasMessageContaining("first thrown")
            .hasMessageContaining("time 1").hasMessageContaining("time 2");
    }

    @Test
    void shouldHaveADigestThatAnyStepChanges()
    {
        final long digest = SimRepetition.digest(() -> stepUntil(1, STEPS, 3, 7));
        assertThat(SimRepetition.digest(() -> stepUntil(1, STEPS, 3, 7))).isEqualTo(digest);
        assertThat(SimRepetition.digest(() -> stepUntil(1, STEPS, 3, 8))).isNotEqualTo(digest);
        assertThat(SimRepetition.digest(() ->
        {
            stepUntil(1, STEPS, 3, 7);
            throw new IllegalStateException("in the end");
        })).isNotEqualTo(digest);
    }

    @Test
    void shouldGiveEachDeviceNumbersOfItsOwnAndTheSameBySeed()
    {
        assertThat(numbers(1)).isEqualTo(numbers(1)).doesNotHaveDuplicates();
        assertThat(numbers(1)).doesNotContainAnyElementsOf(numbers(2));
    }

    private static List<Long> numbers(final long seed)
    {
        try (SimFabric fabric = new SimFabric(seed, new SimFabricOptions()))
        {
            final SimDevice a = fabric.openDevice("a");
            final SimDevice b = fabric.openDevice("b");
            return List.of(a.random().nextLong(), b.random().nextLong(), a.random().nextLong(), b.random().nextLong());
        }
    }
}
