package io.verbena.load.bench;

import io.verbena.load.verbs.FencedSimRun;
import io.verbena.load.verbs.TenantsSimRun;
import org.agrona.concurrent.NanoClock;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * How much tenants that share a queue pair are in each other's way: a quiet one beside a greedy one, and a bystander
 * beside one that is fenced. In the simulator the figures are the same on every machine; on the soft fabric they are
 * times of this one.
 */
public final class TenantsBenchmark
{
    /** Slices of which the goals speak. */
    public static final int FULL_SLICES = 60;
    private static final int READS_PER_SLICE = 50;
    private static final double MOST_BESIDE_GREEDY = 3;
    private static final double MOST_BESIDE_FENCED = 2;
    private static final double HALF = 0.5;

    private final int slices;
    private final int weight;
    private final int queueSlots;
    private final NanoClock clock;
    private final Consumer<TableFigure> progress;
    private final List<TableFigure> figures = new ArrayList<>();

    /**
     * @param slices     tenths of a second measured on the soft fabric, 1 to {@link #FULL_SLICES}, and as much of the
     *                   rest.
     * @param weight     of the quiet tenant, beside the 1 of the greedy one.
     * @param queueSlots of the greedy tenant.
     * @param clock      that measures on the soft fabric.
     * @param progress   hears of each figure.
     */
    public TenantsBenchmark(
        final int slices, final int weight, final int queueSlots, final NanoClock clock,
        final Consumer<TableFigure> progress)
    {
        this.slices = slices;
        this.weight = weight;
        this.queueSlots = queueSlots;
        this.clock = clock;
        this.progress = progress;
    }

    /** @return the figures, each beside its reference. */
    public List<TableFigure> run() throws IOException
    {
        besideGreedy();
        besideFenced();
        openLoop();
        return figures;
    }

    private void besideGreedy()
    {
        final TenantsSimRun run = new TenantsSimRun(weight, queueSlots);
        final int reads = slices * READS_PER_SLICE;
        final TenantsSimRun.Latencies alone = run.quiet(reads, TenantsSimRun.Beside.NOBODY);
        final TenantsSimRun.Latencies beside = run.quiet(reads, TenantsSimRun.Beside.ANOTHER_TENANT);
        final TenantsSimRun.Latencies unfair = run.quiet(reads, TenantsSimRun.Beside.THE_SAME_TENANT);
        add(TableFigure.ratio("tenants_sim_quiet_p99_beside_greedy", beside.p99Ns(), alone.p99Ns(),
            MOST_BESIDE_GREEDY));
        add(TableFigure.reported("tenants_sim_quiet_p99_in_one_tenant", unfair.p99Ns(), alone.p99Ns()));
        add(TableFigure.of("tenants_sim_greedy_gbit_per_second", beside.greedyGigabitsPerSecond(), "Gbit/s",
            Double.NaN, false));
        add(TableFigure.of("tenants_sim_greedy_in_one_tenant", unfair.greedyGigabitsPerSecond(), "Gbit/s",
            Double.NaN, false));
    }

    private void besideFenced()
    {
        long landed = 0;
        long lost = 0;
        long unknown = 0;
        long acknowledged = 0;
        for (int seed = 1; seed <= slices; seed++)
        {
            final FencedSimRun.Outcome outcome = FencedSimRun.run(seed);
            landed += outcome.landedBytes();
            lost += outcome.lost();
            unknown += outcome.unknown();
            acknowledged += outcome.acknowledged();
        }
        add(TableFigure.of("tenants_sim_fenced_bytes_that_land", landed, "bytes", 0, true));
        add(TableFigure.of("tenants_sim_bystander_requests_lost", lost, "count", 0, true));
        add(TableFigure.of("tenants_sim_bystander_requests_unknown", unknown, "count", Double.NaN, true));
        add(TableFigure.of("tenants_sim_bystander_requests_done", acknowledged, "count", Double.NaN, false));
    }

    private void openLoop() throws IOException
    {
        final TenantsRig.Times quiet = new TenantsRig.Times();
        final TenantsRig.Times fenced = new TenantsRig.Times();
        final TenantsRig.Times broken = new TenantsRig.Times();
        final long intervalNs;
        try (TenantsRig rig = new TenantsRig(clock))
        {
            intervalNs = (long)(rig.saturationNs() / HALF);
        }
        int done = 0;
        while (done < slices)
        {
            try (TenantsRig rig = new TenantsRig(clock))
            {
                for (int i = 0; i < TenantsRig.FENCINGS && done < slices; i++, done++)
                {
                    rig.slice(intervalNs, TenantsRig.Event.NONE, quiet);
                    rig.slice(intervalNs, TenantsRig.Event.FENCE, fenced);
                }
            }
            try (TenantsRig rig = new TenantsRig(clock))
            {
                rig.slice(intervalNs, TenantsRig.Event.FENCE_WHILE_POSTING, broken);
            }
        }
        add(TableFigure.ratio("tenants_soft_p999_while_another_is_fenced", fenced.p999Ns(), quiet.p999Ns(),
            MOST_BESIDE_FENCED));
        add(TableFigure.reported("tenants_soft_most_while_another_is_fenced", fenced.mostNs(), quiet.mostNs()));
        add(TableFigure.reported("tenants_soft_p999_while_a_queue_pair_breaks", broken.p999Ns(), quiet.p999Ns()));
        add(TableFigure.reported("tenants_soft_most_while_a_queue_pair_breaks", broken.mostNs(), quiet.mostNs()));
    }

    private void add(final TableFigure figure)
    {
        figures.add(figure);
        progress.accept(figure);
    }
}
