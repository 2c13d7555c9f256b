package io.verbena.embedded;

import io.verbena.meta.MetaServerStat;
import io.verbena.rdma.sim.schedule.SimFabricOptions;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.concurrent.atomic.AtomicBoolean;

import static org.assertj.core.api.Assertions.assertThat;

/** A meta server that led a group, does not lead now, and does not know who does: it neither grants nor fences. */
class StaleLeaderSimTest
{
    private static final long MAX_STEPS = 20_000_000;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldNeitherGrantNorFence(final long seed)
    {
        final AtomicBoolean leads = new AtomicBoolean(true);
        try (SimCluster cluster = new SimCluster(seed, new SimFabricOptions(), 1, 2))
        {
            cluster.metaOptions((options) -> options.leads(leads::get));
            cluster.moveMetaServer();
            cluster.world().runUntil(() -> 2 == cluster.metaServer().stat().liveComputeNodes(), MAX_STEPS);
            cluster.runFor(2 * SimCluster.LEASE_NS);
            cluster.createTable("t", 50);

            leads.set(false);
            final SimCluster.Compute dead = cluster.computes().getFirst();
            final SimCluster.Compute alive = cluster.computes().getLast();
            cluster.forget(dead);
            dead.machine().kill();
            final MetaServerStat before = cluster.metaServer().stat();
            final SimCluster.Compute late = cluster.addComputeNode();
            cluster.runFor(5 * SimCluster.LEASE_NS);
            final MetaServerStat after = cluster.metaServer().stat();
            assertThat(after.fencingNodes()).as("seed %d: fenced", seed).isZero();
            assertThat(after.liveComputeNodes()).as("seed %d: ended or joined", seed)
                .isEqualTo(before.liveComputeNodes());
            assertThat(after.epoch()).as("seed %d", seed).isEqualTo(before.epoch());
            assertThat(alive.isServing()).as("seed %d: its lease was renewed", seed).isFalse();
            assertThat(late.isServing()).as("seed %d: it joined", seed).isFalse();

            leads.set(true);
            cluster.world().runUntil(() -> alive.isServing() && late.isServing(), MAX_STEPS);
            cluster.world().runUntil(() -> 2 == cluster.metaServer().stat().liveComputeNodes() &&
                0 == cluster.metaServer().stat().fencingNodes(), MAX_STEPS);
        }
    }
}
