package io.verbena.table;

import io.verbena.rdma.sim.explore.SimExplorationReport;
import io.verbena.rdma.sim.explore.SimExplorer;
import io.verbena.rdma.sim.explore.SimExplorerOptions;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;

/** Explores races of operations, and sums over many. */
final class ExplorationTotals
{
    static final int MOST_STEPS = Integer.getInteger("verbena.table.mostSteps", 18);
    /** Also what has no end, as long as there are states not met before. */
    static final boolean GOES_TO_THE_END = Boolean.getBoolean("verbena.table.toTheEnd");
    static final int NO_BOUND = Integer.MAX_VALUE;
    static final int ALL_STEPS = 60;

    private long races;
    private long complete;
    private long states;
    private long transitions;
    private long runs;
    private long schedules;
    private long endless;

    void add(final SimExplorationReport report)
    {
        races++;
        complete += report.isComplete() ? 1 : 0;
        states += report.states();
        transitions += report.transitions();
        runs += report.runs();
        // Where an actor can look again and again without anything happening there are endless ways.
        endless += report.schedules() == Long.MAX_VALUE ? 1 : 0;
        schedules += report.schedules() == Long.MAX_VALUE ? 0 : report.schedules();
    }

    /** For people: kv-table/target/exploration.txt. */
    void report(final String what) throws IOException
    {
        Files.writeString(Path.of("target", "exploration.txt"), what + ": " + this + "\n",
            StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    @Override
    public String toString()
    {
        return "races=" + races + ", complete=" + complete + ", states=" + states + ", transitions=" +
            transitions + ", runs=" + runs + ", schedules=" + schedules +
            (endless > 0 ? ", and endless ones in " + endless + " races" : "");
    }

    long states()
    {
        return states;
    }

    long schedules()
    {
        return schedules;
    }

    static boolean mayInsert(final int kind)
    {
        return kind == OperationKind.PUT || kind == OperationKind.PUT_IF_ABSENT || kind == OperationKind.INCREMENT ||
            kind == OperationKind.APPEND;
    }

    static SimExplorationReport explore(
        final TableScenario.Race race, final int mostCrashes, final boolean weakOrder, final int mostSteps)
    {
        // In weak order a state is looked at with every step, which costs less by what engines saw; that has no end.
        return explore(
            race, mostCrashes, weakOrder, mostSteps, !weakOrder || mostSteps == NO_BOUND, new HashMap<>());
    }

    /** @param verdicts by the outcomes that were met, filled in. */
    static SimExplorationReport explore(
        final TableScenario.Race race,
        final int mostCrashes,
        final boolean weakOrder,
        final int mostSteps,
        final boolean byState,
        final Map<String, String> verdicts)
    {
        final SimExplorerOptions options =
            new SimExplorerOptions().mostSteps(mostSteps).mostCrashes(mostCrashes).weakOrder(weakOrder);
        return new SimExplorer(options, () ->
        {
            final TableScenario scenario = new TableScenario(race, verdicts);
            scenario.byState = byState;
            return scenario;
        }).explore();
    }
}
