package io.verbena.rdma.sim;

import io.verbena.rdma.sim.explore.Adder;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.sim.schedule.SimFailureException;

import org.agrona.concurrent.Agent;
import org.agrona.concurrent.AgentTerminationException;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Runs of many nodes: they replay exactly, differ by seed, and fail with the seed in hand. */
class SimWorldTest
{
    private static String run(final long seed)
    {
        try (SimWorld world = new SimWorld(seed, new SimFabricOptions()))
        {
            final List<Adder> adders = Adder.addTo(world, 3);
            world.after(20_000, () -> world.nodes().get(1).pause());
            world.after(60_000, () -> world.nodes().get(1).resume());
            world.after(90_000, () -> world.nodes().get(2).kill());
            world.runFor(300_000);
            return world.traceHash() + " " + world.steps() + " " + world.clock().nanoTime() + " " +
                adders.stream().map(adder -> adder.found).toList();
        }
    }

    @Test
    void shouldReplayExactlyWhenSeedIsEqual()
    {
        final Set<String> runs = new HashSet<>();
        for (int seed = 0; seed < 50; seed++)
        {
            final String first = run(seed);
            assertThat(run(seed)).as("seed " + seed).isEqualTo(first);
            runs.add(first);
        }
        assertThat(runs).hasSize(50);
    }

    @Test
    void shouldInterleaveNodesAndGiveEachValueOnce()
    {
        for (int seed = 0; seed < 50; seed++)
        {
            try (SimWorld world = new SimWorld(seed, new SimFabricOptions()))
            {
                final List<Adder> adders = Adder.addTo(world, 3);
                world.runUntil(() -> adders.stream().allMatch(adder -> adder.found.size() >= 10), 100_000);
                final List<Long> all = new ArrayList<>();
                adders.forEach(adder -> all.addAll(adder.found));
                assertThat(all).as("seed " + seed).doesNotHaveDuplicates();
            }
        }
    }

    @Test
    void shouldCallNeitherKilledNorPausedAgents()
    {
        final List<Adder> adders;
        try (SimWorld world = new SimWorld(1, new SimFabricOptions()))
        {
            adders = Adder.addTo(world, 3);
            world.runFor(50_000);
            world.nodes().get(1).kill();
            world.nodes().get(2).pause();
            assertThat(world.nodes().get(1).isRunning()).isFalse();
            assertThat(world.nodes().get(2).isRunning()).isFalse();
            final int killed = adders.get(0).found.size();
            final int paused = adders.get(1).found.size();
            world.runFor(200_000);
            assertThat(adders.get(0).found).hasSize(killed);
            assertThat(adders.get(1).found).hasSize(paused);
            world.nodes().get(2).resume();
            world.runFor(200_000);
            assertThat(adders.get(0).found).hasSize(killed);
            assertThat(adders.get(1).found).hasSizeGreaterThan(paused);
        }
        assertThat(adders.get(0).isClosed).isFalse();
        assertThat(adders.get(1).isClosed).isTrue();
    }

    @Test
    void shouldNameSeedWhenAgentThrows()
    {
        final SimWorld world = new SimWorld(4711, new SimFabricOptions());
        world.addNode("n").addAgent(new Agent()
        {
            @Override
            public int doWork()
            {
                throw new IllegalStateException("broken");
            }

            @Override
            public String roleName()
            {
                return "culprit";
            }
        });
        assertThatThrownBy(() -> world.runFor(1_000_000))
            .isInstanceOf(SimFailureException.class)
            .hasMessageContaining("seed=4711").hasMessageContaining("culprit").hasMessageContaining("broken")
            .hasCauseInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldNameSeedWhenConditionIsNotReached()
    {
        try (SimWorld world = new SimWorld(12, new SimFabricOptions()))
        {
            assertThatThrownBy(() -> world.runUntil(() -> false, 100))
                .isInstanceOf(SimFailureException.class).hasMessageContaining("nothing is left");
            Adder.addTo(world, 3);
            assertThatThrownBy(() -> world.runUntil(() -> false, 100))
                .isInstanceOf(SimFailureException.class)
                .hasMessageContaining("seed=12").hasMessageContaining("100 steps");
        }
    }

    @Test
    void shouldCloseAgentThatTerminates()
    {
        try (SimWorld world = new SimWorld(1, new SimFabricOptions()))
        {
            final int[] calls = new int[3];
            world.addNode("n").addAgent(new Agent()
            {
                @Override
                public void onStart()
                {
                    calls[0]++;
                }

                @Override
                public int doWork()
                {
                    calls[1]++;
                    throw new AgentTerminationException();
                }

                @Override
                public void onClose()
                {
                    calls[2]++;
                }

                @Override
                public String roleName()
                {
                    return "brief";
                }
            });
            world.runFor(1_000_000);
            assertThat(calls).containsExactly(1, 1, 1);
        }
    }

    @Test
    void shouldCallIdleAgentsRarelySoThatTimersCostFewSteps()
    {
        try (SimWorld world = new SimWorld(1, new SimFabricOptions()))
        {
            world.addNode("n").addAgent(new Agent()
            {
                @Override
                public int doWork()
                {
                    return 0;
                }

                @Override
                public String roleName()
                {
                    return "idle";
                }
            });
            world.runFor(1_000_000_000);
            assertThat(world.steps()).isLessThan(120_000);
        }
    }
}
