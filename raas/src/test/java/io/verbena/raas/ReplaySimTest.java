package io.verbena.raas;

import io.verbena.raas.completion.Replays;
import io.verbena.rdma.sim.SimFaultOptions;
import io.verbena.rdma.sim.SimHunt;
import io.verbena.rdma.sim.SimWorld;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.sim.schedule.SimRepetition;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What becomes of everybody's requests when a shared queue pair breaks, at moments that seeds decide: none is executed
 * twice, none is lost without a word, and those that had no effect are posted again.
 */
class ReplaySimTest
{
    private static final int SEEDS = Integer.getInteger("verbena.replay.seeds", 60);
    private static final long RUN_NS = 400_000;
    private static final long SETTLE_NS = 10_000_000;
    private static final int SETTLINGS = 30;
    private static final int MOMENTS = Integer.getInteger("verbena.replay.moments", 200);
    private static final long MOMENTS_SEED = 7;
    private static final long REPLAY_NS = 2_000_000;

    private long unknown;
    private long replayed;
    private long replaced;
    private long refused;
    private long reads;

    private static SimFabricOptions options()
    {
        return new SimFabricOptions().retryTimeoutNs(100_000).rnrTimeoutNs(1);
    }

    private static RaasConfiguration replaying()
    {
        return new RaasConfiguration().replayTimeoutNs(REPLAY_NS);
    }

    /** Two tenants, one of which things happen to. */
    private static final class Run
    {
        private final SimWorld world;
        private final ReplayServer server;
        private final ReplayTenant tenant;
        private final ReplayTenant bystander;

        private Run(final SimWorld world, final boolean isOfThree)
        {
            this.world = world;
            final boolean isSharing = world.random().nextBoolean();
            server = new ReplayServer(world.addNode("server"), isSharing);
            tenant = new ReplayTenant(
                world, world.addNode("tenant"), server, 1, replaying().sharesReceives(isSharing));
            bystander = new ReplayTenant(
                world, world.addNode("bystander"), server, 2, replaying().sharesReceives(isSharing));
            tenant.own(isOfThree);
            bystander.own(isOfThree);
            tenant.isUsingDc = world.random().nextBoolean();
            tenant.grantNs = world.random().nextBoolean() ? REPLAY_NS : 0;
        }

        private long moment()
        {
            return 20_000 + world.random().nextLong(RUN_NS - 20_000);
        }

        private void breakConnections()
        {
            server.node.device().breakConnections(world.nodes().get(1).device());
        }

        private void finish()
        {
            world.runFor(RUN_NS);
            tenant.isStopping = true;
            bystander.isStopping = true;
            // A DC initiator gives a silent target up after 268 ms.
            for (int i = 0; i < SETTLINGS && !(tenant.isQuiet() && bystander.isQuiet()); i++)
            {
                world.runFor(SETTLE_NS);
            }
        }
    }

    private void count(final ReplayTenant tenant)
    {
        unknown += tenant.total(line -> line.unknownBatches);
        refused += tenant.total(line -> line.refusedBatches);
        reads += tenant.total(line -> line.reads);
        replayed += tenant.context.replays().requests();
        replaced += tenant.context.replays().queuePairs();
    }

    private void breaks(final int seed)
    {
        try (SimWorld world = new SimWorld(seed, options()))
        {
            final Run run = new Run(world, seed % 2 == 0);
            for (int i = 0; i < 3; i++)
            {
                world.after(run.moment(), run::breakConnections);
            }
            run.finish();
            run.tenant.judge();
            run.bystander.judge();
            assertThat(run.tenant.total(line -> line.connects)).as("all of them stay, seed %s", seed)
                .isEqualTo(ReplayTenant.LINES);
            assertThat(run.tenant.total(line -> line.flushedBatches)).as("seed %s", seed).isZero();
            assertThat(run.tenant.lines.get(ReplayTenant.READER).unknownBatches).isZero();
            assertThat(run.bystander.context.replays()).isEqualTo(Replays.NONE);
            count(run.tenant);
        }
    }

    @Test
    void shouldPostReadsAgainAndReportWhatMayHaveHappenedWhenConnectionsBreak()
    {
        for (int seed = 1; seed <= SEEDS; seed++)
        {
            breaks(seed);
        }
        assertThat(unknown).isGreaterThan(SEEDS);
        assertThat(replayed).isGreaterThan(SEEDS);
        assertThat(replaced).isGreaterThan(SEEDS);
        assertThat(refused).isZero();
    }

    private void refuses(final int seed)
    {
        try (SimWorld world = new SimWorld(seed, options()))
        {
            final Run run = new Run(world, seed % 2 == 0);
            for (int i = 0; i < 3; i++)
            {
                world.after(run.moment(), run.server::closeTrap);
            }
            run.finish();
            run.tenant.judge();
            run.bystander.judge();
            assertThat(run.tenant.total(line -> line.connects - (line == run.tenant.lines.get(ReplayTenant.OFFENDER) ?
                line.connects : 0))).as("bystanders stay, seed %s", seed).isEqualTo(ReplayTenant.LINES - 1);
            assertThat(run.tenant.total(line -> line.unknown)).as("seed %s", seed).isZero();
            assertThat(run.tenant.total(line -> line.unknownBatches)).as("seed %s", seed).isZero();
            count(run.tenant);
        }
    }

    @Test
    void shouldLoseNothingOfBystandersWhenRequestsAreRefused()
    {
        for (int seed = 1; seed <= SEEDS; seed++)
        {
            refuses(seed);
        }
        assertThat(refused).isGreaterThan(SEEDS);
        assertThat(replayed).isGreaterThan(SEEDS);
        assertThat(reads).isGreaterThan(SEEDS);
    }

    /** The same run, broken at each of many moments: between any two requests, and while it is being replaced. */
    @Test
    void shouldHoldWhicheverMomentItBreaks()
    {
        for (long atNs = 10_000; atNs < 10_000 + MOMENTS * 150L; atNs += 150)
        {
            final long firstNs = atNs;
            try (SimWorld world = new SimWorld(MOMENTS_SEED, options()))
            {
                final Run run = new Run(world, firstNs / 150 % 2 == 0);
                run.tenant.isUsingDc = true;
                world.after(firstNs, run.server::closeTrap);
                world.after(2 * firstNs, run::breakConnections);
                world.after(2 * firstNs + 5_000, run::breakConnections);
                run.finish();
                run.tenant.judge();
                run.bystander.judge();
                assertThat(run.tenant.lines.get(ReplayTenant.READER).connects).as("broken at %s ns", firstNs)
                    .isEqualTo(1);
                count(run.tenant);
            }
        }
        assertThat(unknown).isPositive();
        assertThat(replayed).isPositive();
        assertThat(refused).isPositive();
    }

    @Test
    void shouldHoldUnderMixedFaults()
    {
        final SimHunt.Scenario scenario = world ->
        {
            final Run run = new Run(world, world.random().nextBoolean());
            for (int i = 0; i < 2; i++)
            {
                world.after(run.moment(), run.server::closeTrap);
            }
            world.injectFaults(new SimFaultOptions().victims("tenant", "bystander", "server")
                .peers("server").kills(1).pauses(3, 150_000).breaks(3).horizonNs(RUN_NS - 50_000));
            run.finish();
            judge(run.tenant, world, 1);
            judge(run.bystander, world, 2);
        };
        new SimHunt(ReplaySimTest::options, scenario).run(1, 2 * SEEDS);
    }

    private static void judge(final ReplayTenant tenant, final SimWorld world, final int index)
    {
        if (world.nodes().get(index).isRunning())
        {
            tenant.judge();
        }
    }

    @Test
    void shouldDoTheSameAgain()
    {
        SimRepetition.check(() -> breaks(3));
        SimRepetition.check(() -> refuses(4));
    }
}
