package io.verbena.table;

import io.verbena.rdma.sim.SimExplorationReport;
import io.verbena.rdma.sim.SimExplorer;
import io.verbena.rdma.sim.SimExplorerOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every order of the verbs of two operations on one key, with engines that crash between any two verbs and whose last
 * requests land late or never. Complete for all pairs but those that may both insert, which can hinder each other for
 * ever: there every order of the first verbs, after which one runs to its end and then the other.
 */
class ExhaustiveScheduleTest
{
    private static final int MOST_STEPS = Integer.getInteger("verbena.table.mostSteps", 18);
    private static final int ALL_STEPS = 60;
    /** The last one differs only in how the location is read. */
    private static final int STATES = TableScenario.Race.STATES;
    /** Of three actors: those of the operations that race with reclamation. */
    private static final int[] TRIPLE_KINDS = {
        OperationKind.GET, OperationKind.PUT, OperationKind.PUT_IF_ABSENT, OperationKind.REPLACE, OperationKind.DELETE};
    private static final int[] THREE_KINDS = {
        OperationKind.GET, OperationKind.PUT, OperationKind.PUT_IF_ABSENT, OperationKind.PUT_IF_PRESENT,
        OperationKind.REPLACE, OperationKind.DELETE};
    private static final int THREE_STEPS = Integer.getInteger("verbena.table.threeSteps", 12);
    private static final int COMBINED = 3;
    private static final int COMBINED_STEPS = Integer.getInteger("verbena.table.combinedSteps", 14);
    private static final int[][] COMBINED_KINDS = {
        {OperationKind.PUT}, {OperationKind.INCREMENT},
        {OperationKind.PUT, OperationKind.PUT}, {OperationKind.INCREMENT, OperationKind.INCREMENT},
        {OperationKind.PUT, OperationKind.INCREMENT}};
    private static final int TRIPLE_STEPS = Integer.getInteger("verbena.table.tripleSteps", 16);

    /** Sums over many races. */
    private static final class Totals
    {
        private long races;
        private long complete;
        private long states;
        private long transitions;
        private long runs;
        private long schedules;
        private long endless;

        private void add(final SimExplorationReport report)
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
        private void report(final String what) throws IOException
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
    }

    private static boolean mayInsert(final int kind)
    {
        return kind == OperationKind.PUT || kind == OperationKind.PUT_IF_ABSENT || kind == OperationKind.INCREMENT ||
            kind == OperationKind.APPEND;
    }

    private static SimExplorationReport explore(
        final TableScenario.Race race, final int mostCrashes, final boolean weakOrder, final int mostSteps)
    {
        final Map<String, String> verdicts = new HashMap<>();
        final SimExplorerOptions options =
            new SimExplorerOptions().mostSteps(mostSteps).mostCrashes(mostCrashes).weakOrder(weakOrder);
        return new SimExplorer(options, () -> new TableScenario(race, verdicts)).explore();
    }

    private static Totals exploreAll(final int mostCrashes, final boolean weakOrder)
    {
        final Totals totals = new Totals();
        for (int one = 0; one < OperationKind.COUNT; one++)
        {
            for (int other = 0; other <= one; other++)
            {
                for (int state = 0; state < STATES; state++)
                {
                    final boolean isEndless = state == 0 && mayInsert(one) && mayInsert(other);
                    final TableScenario.Race race =
                        TableScenario.Race.of(new int[]{one, other}, state, 0);
                    final SimExplorationReport report =
                        explore(race, mostCrashes, weakOrder, isEndless ? MOST_STEPS : ALL_STEPS);
                    assertThat(report.violation()).as(race + ", crashes up to " + mostCrashes + ": " + report).isNull();
                    assertThat(report.isComplete()).as(race + ": " + report).isNotEqualTo(isEndless);
                    totals.add(report);
                }
            }
        }
        return totals;
    }

    @Test
    void shouldBeLinearizableInEverySchedule() throws IOException
    {
        final Totals totals = exploreAll(0, false);
        totals.report("pairs");
        assertThat(totals.schedules).as(totals.toString()).isGreaterThan(50_000);
    }

    @Test
    void shouldBeLinearizableWhenBothEnginesMayCrashBetweenAnyTwoVerbs() throws IOException
    {
        final Totals totals = exploreAll(2, false);
        totals.report("pairs, up to two crashes");
        assertThat(totals.schedules).as(totals.toString()).isGreaterThan(2_000_000);
    }

    @Test
    void shouldBeLinearizableWhenRequestsOvertakeWhereTheyMay() throws IOException
    {
        final Totals totals = exploreAll(1, true);
        totals.report("pairs, weak order, one crash");
        assertThat(totals.schedules).as(totals.toString()).isGreaterThan(500_000);
    }

    /** An engine is taken for ended at any moment, cut off, and its memory given away; alone and beside another one. */
    @Test
    void shouldBeLinearizableWhenAnEngineIsCutOffAndItsMemoryTakenBack() throws IOException
    {
        final Totals totals = exploreReaper(TableScenario.FENCE, 0);
        totals.report("cut off and reclaimed");
        assertThat(totals.states).as(totals.toString()).isGreaterThan(8_000);
    }

    @Test
    void shouldBeLinearizableWhileMemoryOfADeadEngineIsTakenBack() throws IOException
    {
        final Totals totals = exploreReaper(TableScenario.RECLAIM, 1);
        totals.report("reclaimed, one crash");
        assertThat(totals.states).as(totals.toString()).isGreaterThan(20_000);
    }

    /** Three writers of each engine that go together: one leads, two become a batch when it has ended. */
    @Test
    void shouldBeLinearizableWhenCombinedWritersCrashBetweenAnyTwoVerbs() throws IOException
    {
        final Totals totals = new Totals();
        for (final int[] kinds : COMBINED_KINDS)
        {
            for (int state = 0; state < STATES - 1; state++)
            {
                final boolean isEndless = state == 0 && mayInsert(kinds[kinds.length - 1]) && kinds.length > 1;
                final TableScenario.Race race =
                    new TableScenario.Race(kinds, state > 0, state > 1, 0, false, COMBINED, 0);
                final SimExplorationReport report =
                    explore(race, kinds.length, false, isEndless ? COMBINED_STEPS : ALL_STEPS);
                assertThat(report.violation()).as(race + ": " + report).isNull();
                totals.add(report);
            }
        }
        totals.report("combined writers, up to two crashes");
        assertThat(totals.schedules).as(totals.toString()).isGreaterThan(100_000);
    }

    /** Three engines: as far as the first verbs of those that hinder each other. */
    @Test
    void shouldBeLinearizableInEveryScheduleOfThree() throws IOException
    {
        final Totals totals = new Totals();
        for (int one = 0; one < THREE_KINDS.length; one++)
        {
            for (int two = 0; two <= one; two++)
            {
                for (int three = 0; three <= two; three++)
                {
                    for (int state = 0; state < STATES - 1; state++)
                    {
                        final TableScenario.Race race = new TableScenario.Race(
                            new int[]{THREE_KINDS[one], THREE_KINDS[two], THREE_KINDS[three]}, state > 0, state > 1, 0);
                        final SimExplorationReport report = explore(race, 0, false, THREE_STEPS);
                        assertThat(report.violation()).as(race + ": " + report).isNull();
                        totals.add(report);
                    }
                }
            }
        }
        totals.report("triples");
        assertThat(totals.schedules).as(totals.toString()).isGreaterThan(1_000_000);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({"MEMBERS_TOLD_LAST, 7, 2", "MEMBERS_TOLD_LAST, 2, 0"})
    void shouldFindViolationWhenGuardOfTheCombinerIsDropped(final String guard, final int kind, final int state)
        throws ReflectiveOperationException
    {
        final int bit = (int)CombinerGuard.class.getDeclaredField(guard).get(null);
        final TableScenario.Race broken =
            new TableScenario.Race(new int[]{kind, kind}, state > 0, state > 1, 0, false, COMBINED, bit);
        final SimExplorationReport report = explore(broken, 1, false, MOST_STEPS);
        assertThat(report.violation()).as(report.toString()).isNotNull();
    }

    private static Totals exploreReaper(final int reaper, final int mostCrashes)
    {
        final Totals totals = new Totals();
        for (int one = 0; one < OperationKind.COUNT; one++)
        {
            for (int state = 0; state < STATES; state++)
            {
                exploreReaper(new int[]{one, reaper}, state, mostCrashes, ALL_STEPS, totals);
            }
        }
        for (final int one : TRIPLE_KINDS)
        {
            for (final int other : TRIPLE_KINDS)
            {
                for (int state = 0; state < STATES; state++)
                {
                    exploreReaper(new int[]{one, other, reaper}, state, 0, TRIPLE_STEPS, totals);
                }
            }
        }
        return totals;
    }

    private static void exploreReaper(
        final int[] kinds, final int state, final int mostCrashes, final int mostSteps, final Totals totals)
    {
        final TableScenario.Race race = TableScenario.Race.of(kinds, state, 0);
        final SimExplorationReport report = explore(race, mostCrashes, false, mostSteps);
        assertThat(report.violation()).as(race + ": " + report).isNull();
        assertThat(kinds.length > 2 || report.isComplete()).as(race + ": " + report).isTrue();
        totals.add(report);
    }

    /** Rights revoked after the memory is touched: the ended engine commits a block that is somebody else's. */
    @ParameterizedTest
    @CsvSource({"2, 0", "2, 2", "3, 0", "9, 1"})
    void shouldFindViolationWhenMemoryIsTakenBackBeforeTheEngineIsCutOff(final int kind, final int state)
    {
        final TableScenario.Race broken =
            TableScenario.Race.of(new int[]{kind, TableScenario.LATE_FENCE}, state, 0);
        final SimExplorationReport report = explore(broken, 0, false, ALL_STEPS);
        assertThat(report.violation()).as(report.toString()).isNotNull();
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "RE_READ, 2, 2, 0, false",
        "SLOT_READ, 2, 0, 2, false",
        "FAILED_KILL, 2, 2, 0, false",
        "COMMIT, 3, 3, 0, false",
        "WRITE_BEFORE_CAS, 2, 0, 1, false",
        "KILL, 2, 2, 0, false",
        "NEVER_RETURNED_WORD, 2, 2, 1, false",
        "KILL_SEEN_AGAIN, 2, 2, 0, false",
        "FENCE, 2, 2, 0, true"})
    void shouldFindViolationWhenGuardIsDropped(
        final String guard, final int one, final int other, final int state, final boolean weakOrder)
        throws ReflectiveOperationException
    {
        final int bit = (int)Guard.class.getDeclaredField(guard).get(null);
        final int[] kinds = {one, other};
        final TableScenario.Race broken = TableScenario.Race.of(kinds, state, bit);
        final SimExplorationReport report = explore(broken, 0, weakOrder, MOST_STEPS);
        assertThat(report.violation()).as(report.toString()).isNotNull();
        assertThat(report.schedule()).hasSizeBetween(1, MOST_STEPS);
        final TableScenario.Race whole = TableScenario.Race.of(kinds, state, 0);
        assertThat(explore(whole, 0, weakOrder, MOST_STEPS).violation()).isNull();
    }
}
