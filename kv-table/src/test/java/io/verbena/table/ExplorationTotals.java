package io.verbena.table;

import io.verbena.rdma.sim.explore.SimExplorationReport;
import io.verbena.rdma.sim.explore.SimExplorer;
import io.verbena.rdma.sim.explore.SimExplorerOptions;
import io.verbena.table.operation.OperationKind;

import static org.assertj.core.api.Assertions.assertThat;

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
    /** Explores as far as takes minutes: more crashes, and more steps of what has no end. */
    static final boolean DEEP = Boolean.getBoolean("verbena.table.deep");
    static final int NO_BOUND = Integer.MAX_VALUE;
    static final int ALL_STEPS = 60;

    private long races;
    private long complete;
    private long states;
    private long transitions;
    private long runs;
    private long schedules;
    private long endless;

    /**
     * Adds one, which is complete or has reached its bound.
     *
     * @param mostSteps the bound.
     */
    void add(final SimExplorationReport report, final int mostSteps)
    {
        assertThat(report.violation()).as(report.toString()).isNull();
        assertThat(report.isComplete() || report.longest() == mostSteps && !report.isStateBoundHit())
            .as("at most %d steps: %s", mostSteps, report).isTrue();
        races++;
        complete += report.isComplete() ? 1 : 0;
        states += report.states();
        transitions += report.transitions();
        runs += report.runs();
        // Where an actor can look again and again without anything happening there are endless ways.
        endless += report.schedules() == Long.MAX_VALUE ? 1 : 0;
        schedules += report.schedules() == Long.MAX_VALUE ? 0 : report.schedules();
    }

    /**
     * How far explorations got.
     *
     * @param expected as {@link #reached()}. If steps of the protocol change, so do the numbers; if not, something is
     *                 explored no more, or states that differ are taken for one.
     */
    void assertReached(final String expected)
    {
        assertReached(expected, expected);
    }

    /** @param deep what is reached with {@code -Dverbena.table.deep=true}. */
    void assertReached(final String expected, final String deep)
    {
        if (isDefault())
        {
            assertThat(reached()).as(toString()).isEqualTo(DEEP ? deep : expected);
        }
    }

    /** @return races, those explored to the end, and different states. */
    private String reached()
    {
        return races + " races, " + complete + " complete, " + states + " states";
    }

    /** With other bounds than by default there are other numbers. */
    private static boolean isDefault()
    {
        return System.getProperties().stringPropertyNames().stream()
            .noneMatch(name -> name.startsWith("verbena.table.") && !name.equals("verbena.table.deep"));
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
