package io.verbena.raas;

import io.verbena.rdma.sim.SimFaultOptions;
import io.verbena.rdma.sim.SimHunt;
import io.verbena.rdma.sim.SimWorld;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.sim.schedule.SimRepetition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Message endpoints of two nodes with a server, while connections break and nodes pause and die between any two verbs.
 * A message without a receive fails at once (RNR time 1 ns), so a single lapse of the credits would show.
 */
class MessageSimTest
{
    private static final int SEEDS = Integer.getInteger("verbena.messages.seeds", 3);
    private static final int MIXED_SEEDS = 2 * SEEDS;
    private static final long RUN_NS = 800_000;
    private static final long SETTLE_NS = 10_000_000;
    private static final int SETTLINGS = 10;

    private long sent;
    private long got;
    private long unknown;
    private long opened;
    private long ends;

    private static SimFabricOptions options()
    {
        return new SimFabricOptions().retryTimeoutNs(100_000).rnrTimeoutNs(1);
    }

    /** A server and two nodes that talk with it. */
    private static final class Run
    {
        private final SimWorld world;
        private final MessageSimPeer server;
        private final List<MessageSimPeer> clients = new ArrayList<>();

        private Run(final SimWorld world)
        {
            this.world = world;
            server = new MessageSimPeer(world, world.addNode("server"), null, 9, world.random().nextBoolean(), false);
            final PeerAddress address =
                new PeerAddress(server.node.device().address(), MessageSimPeer.PORT, 9, 1);
            for (int nodeId = 1; nodeId <= 2; nodeId++)
            {
                clients.add(new MessageSimPeer(world, world.addNode("client" + nodeId), address, nodeId,
                    world.random().nextBoolean(), world.random().nextBoolean()));
            }
        }

        private boolean isRunning(final int index)
        {
            return world.nodes().get(index).isRunning();
        }

        private void finish()
        {
            world.runFor(RUN_NS);
            clients.forEach(MessageSimPeer::stop);
            for (int i = 0; i < SETTLINGS && !isQuiet(); i++)
            {
                world.runFor(SETTLE_NS);
            }
            server.stop();
            for (int i = 0; i < SETTLINGS && !isQuiet(); i++)
            {
                world.runFor(SETTLE_NS);
            }
            assertThat(isQuiet()).as("what ends hold is free, but not of %s %s", server, clients).isTrue();
        }

        private boolean isQuiet()
        {
            return (!isRunning(0) || server.isQuiet()) && (!isRunning(1) || clients.get(0).isQuiet()) &&
                (!isRunning(2) || clients.get(1).isQuiet());
        }
    }

    private void judge(final Run run)
    {
        for (int i = 0; i < 2; i++)
        {
            final MessageSimPeer client = run.clients.get(i);
            for (final MessageSimPeer.Line near : client.lines.values())
            {
                final MessageSimPeer.Line far = run.server.lines.get(near.conversation);
                compare(near, far);
                if (far != null)
                {
                    compare(far, near);
                }
            }
            count(client);
        }
        count(run.server);
    }

    private void compare(final MessageSimPeer.Line from, final MessageSimPeer.Line to)
    {
        final int arrived = to == null ? 0 : to.got;
        assertThat(arrived).as("got of %s", from.conversation).isLessThanOrEqualTo(from.posted - from.withoutEffect);
        if (to != null && !to.isClosedHere)
        {
            assertThat(arrived).as("known to have arrived of %s", from.conversation)
                .isGreaterThanOrEqualTo(from.delivered);
        }
        got += arrived;
        unknown += from.unknown;
    }

    private void count(final MessageSimPeer peer)
    {
        sent += peer.sent;
        opened += peer.opened;
        ends += peer.ends;
    }

    private void run(final long seed, final String faults)
    {
        try (SimWorld world = new SimWorld(seed, options()))
        {
            final Run run = new Run(world);
            for (int i = 0; i < 4; i++)
            {
                final int victim = 1 + world.random().nextInt(2);
                final long atNs = 50_000 + world.random().nextLong(RUN_NS - 100_000);
                switch (faults)
                {
                    case "BREAKS" -> world.after(atNs, () ->
                        run.server.node.device().breakConnections(world.nodes().get(victim).device()));
                    case "PAUSES" ->
                    {
                        world.after(atNs, () -> world.nodes().get(victim).pause());
                        world.after(atNs + 60_000, () -> world.nodes().get(victim).resume());
                    }
                    default -> assertThat(faults).isEqualTo("NONE");
                }
            }
            run.finish();
            judge(run);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"NONE", "BREAKS", "PAUSES"})
    void shouldDeliverEachOnceInOrderOrReportItAndFreeEverything(final String faults)
    {
        for (int seed = 1; seed <= SEEDS; seed++)
        {
            run(seed, faults);
        }
        assertThat(sent).isGreaterThan(100L * SEEDS);
        assertThat(got).isGreaterThan(sent / 2);
        assertThat(opened).isGreaterThan(20L * SEEDS);
        assertThat(ends).isPositive();
        assertThat(unknown > 0).isEqualTo("BREAKS".equals(faults));
    }

    @Test
    void shouldHoldUnderMixedFaults()
    {
        final SimHunt.Scenario scenario = world ->
        {
            final Run run = new Run(world);
            world.injectFaults(new SimFaultOptions().victims("client1", "client2", "server")
                .peers("server").kills(1).pauses(3, 60_000).breaks(3).horizonNs(RUN_NS - 100_000));
            run.finish();
            judge(run);
        };
        new SimHunt(MessageSimTest::options, scenario).run(1, MIXED_SEEDS);
        assertThat(got).isPositive();
    }

    @Test
    void shouldDoTheSameAgain()
    {
        SimRepetition.check(() -> run(5, "BREAKS"));
    }
}
