package io.verbena.rdma.sim;

import io.verbena.rdma.sim.schedule.SeededDecisions;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.sim.schedule.SimFailureException;
import io.verbena.rdma.sim.schedule.SimFault;

import java.util.List;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * Runs a scenario under many seeds. The first run that fails is run again with ever fewer faults (kills, pauses,
 * breaks, long delays, stalls) as long as it fails in the same way, and the failure then names the smallest schedule
 * found and how to replay it: {@code -Dverbena.sim.seed=N} and {@code -Dverbena.sim.faults=...} make a hunt run just
 * that.
 */
public final class SimHunt
{
    /** System property: the only seed that is run. */
    public static final String SEED_PROPERTY = "verbena.sim.seed";
    /** System property, with the one above: the only faults that happen, as {@link SimFault#parse} reads them. */
    public static final String FAULTS_PROPERTY = "verbena.sim.faults";

    private static final int MOST_SHRINKING_RUNS = 2_000;
    private static final Pattern DETAILS = Pattern.compile(": seed=.*|[0-9]+", Pattern.DOTALL);

    private final Supplier<SimFabricOptions> options;
    private final Scenario scenario;

    /** One run: adds nodes and agents, injects faults, runs, checks. Must do the same for equal decisions. */
    @FunctionalInterface
    public interface Scenario
    {
        /**
         * Runs in a world of its own, which is closed afterwards.
         *
         * @param world empty.
         * @throws Exception or an {@link AssertionError} to fail.
         */
        void run(SimWorld world) throws Exception;
    }

    /**
     * @param options  of each run.
     * @param scenario to run.
     */
    public SimHunt(final Supplier<SimFabricOptions> options, final Scenario scenario)
    {
        this.options = options;
        this.scenario = scenario;
    }

    /**
     * Runs seeds, or what the system properties say.
     *
     * @param firstSeed first.
     * @param count     how many.
     * @throws SimFailureException for the first run that fails, with the smallest fault schedule found.
     */
    public void run(final long firstSeed, final int count)
    {
        final Long onlySeed = Long.getLong(SEED_PROPERTY);
        final String onlyFaults = System.getProperty(FAULTS_PROPERTY);
        final long first = onlySeed == null ? firstSeed : onlySeed;
        for (long seed = first; seed < first + (onlySeed == null ? count : 1); seed++)
        {
            final Outcome outcome = runOne(seed, onlyFaults == null ? null : SimFault.parse(onlyFaults));
            if (outcome.failure != null)
            {
                throw shrunk(seed, outcome);
            }
        }
    }

    /**
     * Runs one seed with given faults.
     *
     * @param seed   decides the rest.
     * @param faults exactly these; null to draw them.
     * @return what went wrong, or null.
     */
    public Throwable replay(final long seed, final List<SimFault> faults)
    {
        return runOne(seed, faults).failure;
    }

    /** How a run ended, and the faults that it had. */
    private record Outcome(Throwable failure, List<SimFault> faults)
    {
        /** What is equal for failures of one cause: numbers and the rest of a message do not count. */
        private String signature()
        {
            return failure == null ? "" : failure.getClass().getName() + ' ' +
                DETAILS.matcher(String.valueOf(failure.getMessage())).replaceAll("");
        }
    }

    private Outcome runOne(final long seed, final List<SimFault> faults)
    {
        try (SimWorld world = new SimWorld(new SeededDecisions(seed), options.get(), faults))
        {
            try
            {
                scenario.run(world);
                return new Outcome(null, world.faults());
            }
            catch (final Exception | AssertionError ex)
            {
                return new Outcome(ex, world.faults());
            }
        }
    }

    private SimFailureException shrunk(final long seed, final Outcome outcome)
    {
        final String signature = outcome.signature();
        final FaultShrinker shrinker = new FaultShrinker(
            faults -> runOne(seed, faults).signature().equals(signature), MOST_SHRINKING_RUNS);
        // The same faults, given instead of drawn, have to fail alike, or leaving some out means nothing.
        final Outcome repeated = runOne(seed, outcome.faults);
        if (!repeated.signature().equals(signature))
        {
            return failure(seed, outcome, outcome.faults, "not shrunk, because the run does not repeat exactly");
        }
        final List<SimFault> smallest = shrinker.shrink(outcome.faults);
        return failure(
            seed, runOne(seed, smallest), smallest, "the smallest of " + outcome.faults.size() + " that fails alike, " +
            (shrinker.isCutShort() ? "as far as " : "found with ") + shrinker.runs() + " runs" +
            (shrinker.isCutShort() ? " went" : ""));
    }

    private static SimFailureException failure(
        final long seed, final Outcome outcome, final List<SimFault> faults, final String remark)
    {
        final StringBuilder text = new StringBuilder("seed=").append(seed).append(", faults=").append(faults.size())
            .append(" (").append(remark).append(')');
        faults.forEach(fault -> text.append("\n  ").append(fault));
        text.append("\nreplay: -D").append(SEED_PROPERTY).append('=').append(seed).append(" '-D")
            .append(FAULTS_PROPERTY).append('=').append(SimFault.format(faults)).append("'\n")
            .append(outcome.failure.getMessage());
        return new SimFailureException(text.toString(), outcome.failure);
    }
}
