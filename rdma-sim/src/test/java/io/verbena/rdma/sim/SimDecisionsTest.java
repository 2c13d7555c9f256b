package io.verbena.rdma.sim;

import io.verbena.rdma.sim.explore.Adder;
import io.verbena.rdma.sim.schedule.SeededDecisions;
import io.verbena.rdma.sim.schedule.SimDecision;
import io.verbena.rdma.sim.schedule.SimDecisions;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.sim.schedule.SimFailureException;
import io.verbena.rdma.sim.schedule.SimFault;
import io.verbena.rdma.sim.schedule.SimRecording;

import org.junit.jupiter.api.Test;

import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Where decisions come from makes no difference to the run; a recording says when it does not fit. */
class SimDecisionsTest
{
    private static String run(final SimDecisions decisions, final List<SimFault> faults)
    {
        try (SimWorld world = new SimWorld(decisions, new SimFabricOptions(), faults))
        {
            final List<Adder> adders = Adder.addTo(world, 3);
            world.injectFaults(faultOptions());
            world.runFor(300_000);
            return world.traceHash() + " " + world.steps() + " " + world.faults() + " " +
                adders.stream().map(adder -> adder.found).toList();
        }
    }

    private static SimFaultOptions faultOptions()
    {
        return new SimFaultOptions().victims("compute-0", "compute-1").peers("memory")
            .kills(1).pauses(2, 50_000).breaks(1).horizonNs(200_000);
    }

    @Test
    void shouldRepeatRecordedRunWithoutSeed()
    {
        for (int seed = 0; seed < 20; seed++)
        {
            final SimRecording recording = new SimRecording(new SeededDecisions(seed));
            final String recorded = run(recording, null);
            assertThat(recorded).isEqualTo(run(new SeededDecisions(seed), null));
            assertThat(recording.size()).isGreaterThan(100);
            final SimRecording read = SimRecording.parse(99, recording.toText());
            assertThat(run(recording.replay(), null)).isEqualTo(recorded);
            assertThat(run(read.replay(), null)).isEqualTo(recorded);
        }
    }

    @Test
    void shouldSayWhereRunDiffersFromRecording()
    {
        final SimRecording recording = new SimRecording(new SeededDecisions(1));
        run(recording, null);
        final String text = recording.toText();
        final String shorter = text.substring(0, text.lastIndexOf('\n', text.length() / 2) + 1);
        assertThatThrownBy(() -> run(SimRecording.parse(1, shorter).replay(), null))
            .isInstanceOf(SimFailureException.class).hasMessageContaining("recording ends after");
        final String other = text.replaceFirst(" 451 ", " 452 ");
        assertThat(other).isNotEqualTo(text);
        assertThatThrownBy(() -> run(SimRecording.parse(1, other).replay(), null))
            .isInstanceOf(SimFailureException.class).hasMessageContaining("differs from its recording at decision");
        assertThatThrownBy(() -> SimRecording.parse(1, "TIE 1"))
            .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("'TIE 1'");
    }

    @Test
    void shouldRunAlikeWhenDrawnFaultsAreGivenInstead()
    {
        for (int seed = 0; seed < 50; seed++)
        {
            final List<SimFault> faults;
            final long hash;
            try (SimWorld world = new SimWorld(seed, new SimFabricOptions()))
            {
                Adder.addTo(world, 3);
                world.injectFaults(faultOptions());
                world.runFor(300_000);
                faults = world.faults();
                hash = world.traceHash();
            }
            final List<SimFault> read = SimFault.parse(SimFault.format(faults));
            assertThat(read).isEqualTo(faults);
            try (SimWorld world = new SimWorld(new SeededDecisions(seed), new SimFabricOptions(), read))
            {
                Adder.addTo(world, 3);
                world.injectFaults(faultOptions());
                world.runFor(300_000);
                assertThat(world.traceHash()).as("seed " + seed + " " + faults).isEqualTo(hash);
                assertThat(world.faults()).containsExactlyInAnyOrderElementsOf(faults);
            }
        }
    }

    @Test
    void shouldDrawEachKindOfFault()
    {
        final Set<SimFault.Kind> kinds = new HashSet<>();
        for (int seed = 0; seed < 50; seed++)
        {
            try (SimWorld world = new SimWorld(seed, new SimFabricOptions()))
            {
                Adder.addTo(world, 3);
                world.injectFaults(faultOptions());
                world.runFor(300_000);
                world.faults().forEach(fault -> kinds.add(fault.kind()));
            }
        }
        assertThat(kinds).containsExactlyInAnyOrder(SimFault.Kind.values());
    }

    @Test
    void shouldRefuseTextThatIsNoFault()
    {
        assertThat(SimFault.parse(" \n ; ")).isEmpty();
        for (final String text : List.of("kill", "kill a at 5", "pause a at 5ns", "explode a at 5ns", "break a at 5ns"))
        {
            assertThatThrownBy(() -> SimFault.parse(text)).as(text)
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining(text);
        }
    }

    @Test
    void shouldNameNodesWhenFaultNamesAnother()
    {
        try (SimWorld world = new SimWorld(
            new SeededDecisions(1), new SimFabricOptions(), SimFault.parse("kill nobody at 5ns")))
        {
            world.addNode("somebody");
            world.injectFaults(new SimFaultOptions());
            assertThatThrownBy(() -> world.runFor(10)).hasMessageContaining("nobody").hasMessageContaining("somebody");
        }
    }

    @Test
    void shouldDecideWithinBoundsAndUseThemAll()
    {
        final SimDecisions decisions = new SeededDecisions(7);
        final int[] counts = new int[10];
        for (int i = 0; i < 10_000; i++)
        {
            counts[(int)decisions.next(SimDecision.WORKLOAD, 3, counts.length)]++;
        }
        assertThat(Arrays.stream(counts)).allMatch(count -> count > 800 && count < 1_200);
        assertThat(decisions.next(SimDecision.TEAR, 3, 1)).isZero();
    }
}
