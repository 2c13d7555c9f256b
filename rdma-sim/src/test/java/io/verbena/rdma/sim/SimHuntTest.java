package io.verbena.rdma.sim;

import io.verbena.rdma.sim.explore.Adder;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.sim.schedule.SimFailureException;
import io.verbena.rdma.sim.schedule.SimFault;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/** A failure comes with the smallest fault schedule, and that schedule alone makes the run fail again. */
class SimHuntTest
{
    private static final int SUM = 150;

    /** Fails when the first two nodes are both gone, whatever becomes of the others: two faults, and two only. */
    private static void twoNodesCarryTheService(final SimWorld world)
    {
        final List<Adder> adders = Adder.addTo(world, 4);
        world.injectFaults(new SimFaultOptions()
            .victims("compute-0", "compute-1", "compute-2", "compute-3").peers("memory")
            .kills(3).pauses(12, 30_000).breaks(3).horizonNs(300_000));
        world.runUntil(() -> adders.get(0).found.size() + adders.get(1).found.size() >= SUM, 60_000);
    }

    private static SimFailureException failureOf(final SimHunt hunt)
    {
        return catchThrowableOfType(SimFailureException.class, () -> hunt.run(1, 500));
    }

    private static List<SimFault> faultsIn(final SimFailureException failure)
    {
        final String message = failure.getMessage();
        final int start = message.indexOf(SimHunt.FAULTS_PROPERTY) + SimHunt.FAULTS_PROPERTY.length() + 1;
        return SimFault.parse(message.substring(start, message.indexOf("'\n", start)));
    }

    private static long seedIn(final SimFailureException failure)
    {
        return Long.parseLong(failure.getMessage().replaceFirst("(?s)seed=(\\d+),.*", "$1"));
    }

    @Test
    void shouldShrinkTwentyFaultsToTheTwoThatMatter()
    {
        final List<Integer> drawn = new ArrayList<>();
        final SimHunt hunt = new SimHunt(SimFabricOptions::new, world ->
        {
            try
            {
                twoNodesCarryTheService(world);
            }
            finally
            {
                drawn.add(world.faults().size());
            }
        });
        final SimFailureException failure = failureOf(hunt);
        assertThat(failure).hasMessageContaining("faults=2 (the smallest of ");
        final int most = drawn.stream().mapToInt(Integer::intValue).max().orElseThrow();
        assertThat(most).as("faults of the runs").isGreaterThanOrEqualTo(20);
        final List<SimFault> faults = faultsIn(failure);
        assertThat(faults).extracting(SimFault::node).containsExactlyInAnyOrder("compute-0", "compute-1");
        assertThat(faults).extracting(SimFault::kind)
            .doesNotContain(SimFault.Kind.PAUSE, SimFault.Kind.DELAY, SimFault.Kind.STALL);
    }

    @Test
    void shouldFailAgainWithSmallestScheduleAndNotWithLess()
    {
        final SimHunt hunt = new SimHunt(SimFabricOptions::new, SimHuntTest::twoNodesCarryTheService);
        final SimFailureException failure = failureOf(hunt);
        final List<SimFault> faults = faultsIn(failure);
        final long seed = seedIn(failure);
        assertThat(hunt.replay(seed, faults)).isInstanceOf(SimFailureException.class)
            .hasMessage(failure.getCause().getMessage());
        assertThat(hunt.replay(seed, faults.subList(0, 1))).isNull();
        assertThat(hunt.replay(seed, faults.subList(1, 2))).isNull();
        assertThat(hunt.replay(seed, List.of())).isNull();
    }

    @Test
    void shouldShortenAndRoundWhatRemains()
    {
        final SimHunt hunt = new SimHunt(SimFabricOptions::calm, world ->
        {
            final List<Adder> adders = Adder.addTo(world, 2);
            world.injectFaults(new SimFaultOptions().victims("compute-0").pauses(5, 400_000).horizonNs(100_000));
            world.runFor(500_000);
            assertThat(adders.get(0).found.size()).isGreaterThan(180);
        });
        final SimFailureException failure = failureOf(hunt);
        assertThat(faultsIn(failure)).allSatisfy(fault ->
        {
            assertThat(fault.kind()).isEqualTo(SimFault.Kind.PAUSE);
            assertThat(fault.durationNs() % 1_000).isZero();
            assertThat(fault.atNs() % 1_000).isZero();
        });
    }

    @Test
    void shouldNameNoFaultsWhenNoneAreNeeded()
    {
        final SimHunt hunt = new SimHunt(SimFabricOptions::new, world ->
        {
            Adder.addTo(world, 4);
            world.injectFaults(new SimFaultOptions().victims("compute-0").pauses(5, 40_000));
            world.runFor(50_000);
            throw new IllegalStateException("always");
        });
        assertThat(failureOf(hunt)).hasMessageStartingWith("seed=1, faults=0 (the smallest of ")
            .hasMessageContaining("always").hasCauseInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldSaySoWhenRunDoesNotRepeat()
    {
        final int[] runs = new int[1];
        final SimHunt hunt = new SimHunt(SimFabricOptions::new, world ->
        {
            world.addNode("n");
            if (runs[0]++ == 0)
            {
                throw new IllegalStateException("once");
            }
        });
        assertThat(failureOf(hunt)).hasMessageContaining("does not repeat").hasMessageContaining("once");
    }

    @Test
    void shouldRunOnlyWhatPropertiesSay()
    {
        final List<String> runs = new ArrayList<>();
        final SimHunt hunt = new SimHunt(SimFabricOptions::new, world ->
        {
            world.addNode("n");
            world.injectFaults(new SimFaultOptions());
            runs.add(world.seed() + " " + world.faults());
        });
        System.setProperty(SimHunt.SEED_PROPERTY, "42");
        System.setProperty(SimHunt.FAULTS_PROPERTY, "kill n at 10ns");
        try
        {
            hunt.run(1, 1_000);
        }
        finally
        {
            System.clearProperty(SimHunt.SEED_PROPERTY);
            System.clearProperty(SimHunt.FAULTS_PROPERTY);
        }
        assertThat(runs).containsExactly("42 [kill n at 10ns]");
        assertThatThrownBy(() -> SimFault.parse("kill n")).isInstanceOf(IllegalArgumentException.class);
    }
}
