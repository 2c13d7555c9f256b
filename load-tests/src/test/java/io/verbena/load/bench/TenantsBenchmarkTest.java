package io.verbena.load.bench;

import io.verbena.load.verbs.FencedSimRun;
import io.verbena.load.verbs.TenantsSimRun;
import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(120)
class TenantsBenchmarkTest
{
    private final TenantsSimRun run = new TenantsSimRun(1, 256);

    @Test
    void shouldMeasureEachFigureBesideItsReference() throws IOException
    {
        final List<TableFigure> heard = new ArrayList<>();
        final List<TableFigure> figures =
            new TenantsBenchmark(2, 1, 256, SystemNanoClock.INSTANCE, heard::add).run();
        assertThat(figures).isEqualTo(heard);
        assertThat(figures).extracting(TableFigure::name).containsExactly(
            "tenants_sim_quiet_p99_beside_greedy", "tenants_sim_quiet_p99_in_one_tenant",
            "tenants_sim_greedy_gbit_per_second", "tenants_sim_greedy_in_one_tenant",
            "tenants_sim_fenced_bytes_that_land", "tenants_sim_bystander_requests_lost",
            "tenants_sim_bystander_requests_unknown", "tenants_sim_bystander_requests_done",
            "tenants_soft_p999_while_another_is_fenced", "tenants_soft_most_while_another_is_fenced",
            "tenants_soft_p999_while_a_queue_pair_breaks", "tenants_soft_most_while_a_queue_pair_breaks");
        assertThat(figures).filteredOn(figure -> !Double.isNaN(figure.bare())).hasSize(6)
            .allMatch(figure -> figure.value() > 0 && figure.bare() > 0);
    }

    /** Virtual time: the same on every machine. */
    @Test
    void shouldKeepAGreedyTenantOutOfTheWayOfAQuietOne()
    {
        final double aloneNs = run.quiet(300, TenantsSimRun.Beside.NOBODY).p99Ns();
        final TenantsSimRun.Latencies beside = run.quiet(300, TenantsSimRun.Beside.ANOTHER_TENANT);
        final TenantsSimRun.Latencies unfair = run.quiet(300, TenantsSimRun.Beside.THE_SAME_TENANT);
        assertThat(beside.p99Ns()).isLessThanOrEqualTo(3 * aloneNs);
        assertThat(unfair.p99Ns()).isGreaterThan(10 * aloneNs);
        assertThat(beside.greedyGigabitsPerSecond()).isGreaterThan(0.75 * unfair.greedyGigabitsPerSecond());
    }

    @Test
    void shouldLandNothingOfAFencedIdentityAndLoseNothingOfTheOther()
    {
        long acknowledged = 0;
        for (int seed = 1; seed <= 20; seed++)
        {
            final FencedSimRun.Outcome outcome = FencedSimRun.run(seed);
            assertThat(outcome.landedBytes()).as("seed %s", seed).isZero();
            assertThat(outcome.lost()).as("seed %s", seed).isZero();
            acknowledged += outcome.acknowledged();
        }
        assertThat(acknowledged).isGreaterThan(1000);
    }
}
