package io.verbena.raas;

import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.rpc.RpcStatus;
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
 * Tenants over shared queue pairs while connections break and nodes pause and die, interleaved by seeds. A missing
 * receive fails at once here (RNR time 1 ns), so a single lapse of the credits would show.
 */
class RaasSimTest
{
    private static final int SEEDS = 25;
    private static final int MIXED_SEEDS = 40;
    private static final long RUN_NS = 2_000_000;
    private static final long SETTLE_NS = 60_000_000;
    /** Until an initiator gives a target up whose link broke: four times 67 ms. */
    private static final long DC_SILENCE_NS = 300_000_000;

    private enum Faults
    {
        NONE, BREAKS, PAUSES, KILL_SERVER, KILL_TENANT, FENCE
    }

    private static SimFabricOptions options()
    {
        return new SimFabricOptions().retryTimeoutNs(300_000).rnrTimeoutNs(1);
    }

    /** What a run came to. */
    private record Outcome(
        long traceHash,
        long acknowledged,
        long calls,
        long failedCalls,
        int failedBatches,
        int reconnects,
        int misuses,
        long swallowed)
    {
    }

    @ParameterizedTest
    @ValueSource(strings = {"NONE", "BREAKS", "PAUSES", "KILL_SERVER", "KILL_TENANT", "FENCE"})
    void shouldEndEachBatchAndCallOnceAndCountEveryAddition(final String name)
    {
        final Faults faults = Faults.valueOf(name);
        long calls = 0;
        long failedBatches = 0;
        long reconnects = 0;
        long misuses = 0;
        long swallowed = 0;
        for (int seed = 1; seed <= SEEDS; seed++)
        {
            final Outcome outcome = run(seed, faults);
            calls += outcome.calls;
            failedBatches += outcome.failedBatches;
            reconnects += outcome.reconnects;
            misuses += outcome.misuses;
            swallowed += outcome.swallowed;
            assertThat(outcome.acknowledged).as("seed %s", seed).isPositive();
        }
        assertThat(calls).isPositive();
        assertThat(misuses).isPositive();
        assertThat(swallowed).as("completions of closed virtual queue pairs").isPositive();
        if (faults == Faults.NONE || faults == Faults.PAUSES || faults == Faults.KILL_TENANT)
        {
            assertThat(failedBatches + reconnects).as("of tenants that nothing happened to").isZero();
        }
        else
        {
            assertThat(failedBatches).as("the faults must have hit something").isPositive();
            assertThat(reconnects).isPositive();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"NONE", "BREAKS", "PAUSES", "KILL_SERVER", "KILL_TENANT", "FENCE"})
    void shouldReplayExactlyFromTheSeed(final String name)
    {
        final Faults faults = Faults.valueOf(name);
        SimRepetition.check(() -> run(17, faults));
        assertThat(run(17, faults)).isEqualTo(run(17, faults));
        assertThat(run(17, faults)).isNotEqualTo(run(18, faults));
    }

    @Test
    void shouldHoldUnderMixedFaults()
    {
        final SimHunt.Scenario scenario = world ->
        {
            final SimServer server = new SimServer(
                world.addNode("server"), new RaasConfiguration().rpcCredits(5).sharesReceives(isSharing(world)));
            final List<SimTenant> tenants = new ArrayList<>();
            for (int nodeId = 1; nodeId <= 3; nodeId++)
            {
                tenants.add(new SimTenant(
                    world, world.addNode("tenant" + nodeId), server, nodeId, isSharing(world)));
            }
            world.injectFaults(new SimFaultOptions().victims("tenant1", "tenant2", "tenant3").peers("server")
                .kills(1).pauses(3, 150_000).breaks(3).horizonNs(RUN_NS - 200_000));
            world.runFor(RUN_NS);
            tenants.forEach(tenant -> tenant.isStopping = true);
            settle(world, tenants);
            for (int i = 0; i < tenants.size(); i++)
            {
                judge(world, tenants.get(i), !world.nodes().get(i + 1).isRunning());
            }
        };
        new SimHunt(RaasSimTest::options, scenario).run(1, MIXED_SEEDS);
    }

    private static Outcome run(final long seed, final Faults faults)
    {
        try (SimWorld world = new SimWorld(seed, options()))
        {
            final SimServer server = new SimServer(
                world.addNode("server"), new RaasConfiguration().rpcCredits(5).sharesReceives(isSharing(world)));
            final List<SimTenant> tenants = new ArrayList<>();
            for (int nodeId = 1; nodeId <= 3; nodeId++)
            {
                tenants.add(new SimTenant(
                    world, world.addNode("tenant" + nodeId), server, nodeId, isSharing(world)));
            }
            schedule(world, faults, server);
            world.runFor(RUN_NS);
            tenants.forEach(tenant -> tenant.isStopping = true);
            settle(world, tenants);
            for (int i = 0; i < tenants.size(); i++)
            {
                final boolean isDead = !world.nodes().get(i + 1).isRunning();
                judge(world, tenants.get(i), isDead);
            }
            assertThat(world.nodes().getFirst().isRunning()).isEqualTo(faults != Faults.KILL_SERVER);
            return outcome(world, tenants);
        }
    }

    /** Three of four contexts share receives, the others are as on a device that cannot. */
    private static void settle(final SimWorld world, final List<SimTenant> tenants)
    {
        world.runFor(SETTLE_NS);
        for (int i = 0; i < tenants.size(); i++)
        {
            if (world.nodes().get(i + 1).isRunning() && !tenants.get(i).isQuiet())
            {
                world.runFor(DC_SILENCE_NS);
            }
        }
    }

    private static boolean isSharing(final SimWorld world)
    {
        return world.random().nextInt(4) != 0;
    }

    private static void schedule(final SimWorld world, final Faults faults, final SimServer server)
    {
        for (int i = 0; i < 4 && faults != Faults.NONE; i++)
        {
            final int victim = 1 + world.random().nextInt(3);
            final long atNs = 200_000 + world.random().nextLong(RUN_NS - 400_000);
            switch (faults)
            {
                case BREAKS -> world.after(atNs, () ->
                    server.node.device().breakConnections(world.nodes().get(victim).device()));
                case PAUSES ->
                {
                    world.after(atNs, () -> world.nodes().get(victim).pause());
                    world.after(atNs + 150_000, () -> world.nodes().get(victim).resume());
                }
                case KILL_SERVER -> world.after(RUN_NS / 2, server.node::kill);
                case KILL_TENANT -> world.after(atNs, () -> world.nodes().get(1).kill());
                case FENCE -> world.after(atNs, () -> fence(world, server, victim));
                default -> throw new IllegalStateException("unknown faults " + faults);
            }
        }
    }

    private static void fence(final SimWorld world, final SimServer server, final int victim)
    {
        server.rpcServer.fence(new PeerIdentity(victim, 1));
        final long[] before = words(server, victim);
        world.after(SETTLE_NS / 2, () ->
            assertThat(words(server, victim)).as("nothing of a fenced node lands").isEqualTo(before));
    }

    private static long[] words(final SimServer server, final int nodeId)
    {
        final long[] words = new long[SimTenant.VQPS];
        for (int i = 0; i < words.length; i++)
        {
            words[i] = server.word(Long.BYTES + (nodeId * SimTenant.VQPS + i) * (long)Long.BYTES);
        }
        return words;
    }

    private static void judge(final SimWorld world, final SimTenant tenant, final boolean isDead)
    {
        if (!isDead && !tenant.isQuiet())
        {
            throw world.failure("a batch or call never ended", null);
        }
        for (int line = 0; line < SimTenant.VQPS && !isDead; line++)
        {
            final long word = tenant.word(line);
            final long least = tenant.acknowledged[line];
            if (word < least || word > least + tenant.unknown[line])
            {
                throw world.failure("word " + line + " is " + word + ", acknowledged " + least + ", unknown " +
                    tenant.unknown[line], null);
            }
        }
    }

    private static Outcome outcome(final SimWorld world, final List<SimTenant> tenants)
    {
        long acknowledged = 0;
        long calls = 0;
        long failedCalls = 0;
        int failedBatches = 0;
        int reconnects = 0;
        int misuses = 0;
        long swallowed = 0;
        for (final SimTenant tenant : tenants)
        {
            for (final long count : tenant.acknowledged)
            {
                acknowledged += count;
            }
            calls += tenant.callsEnded.stream().filter(status -> status == RpcStatus.OK).count();
            failedCalls += tenant.callsEnded.stream().filter(status -> status != RpcStatus.OK).count();
            failedBatches += tenant.failedBatches;
            reconnects += tenant.reconnects;
            misuses += tenant.misuses;
            swallowed += tenant.context.swallowedCompletions();
        }
        return new Outcome(
            world.traceHash(), acknowledged, calls, failedCalls, failedBatches, reconnects, misuses, swallowed);
    }
}
