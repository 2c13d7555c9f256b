package io.verbena.table;

import io.verbena.rdma.sim.explore.SimExplorationReport;
import io.verbena.table.operation.OperationKind;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.util.Arrays;

import static io.verbena.table.ExplorationTotals.DEEP;
import static io.verbena.table.ExplorationTotals.GOES_TO_THE_END;
import static io.verbena.table.ExplorationTotals.NO_BOUND;
import static io.verbena.table.ExplorationTotals.explore;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every order of the verbs of three operations on one key: to the end, but where two of them may insert a key that is
 * absent, and hinder each other for ever. There every order of the first verbs, and with {@code
 * -Dverbena.table.toTheEnd=true} to the end, if it is not all three. Of four kinds, and of six with {@code
 * -Dverbena.table.deep=true}.
 */
class ExhaustiveTripleTest
{
    private static final int[] THREE_KINDS = DEEP ?
        new int[]{OperationKind.GET, OperationKind.PUT, OperationKind.PUT_IF_ABSENT, OperationKind.PUT_IF_PRESENT,
            OperationKind.REPLACE, OperationKind.DELETE} :
        new int[]{OperationKind.GET, OperationKind.PUT, OperationKind.REPLACE, OperationKind.DELETE};
    private static final int THREE_STEPS = Integer.getInteger("verbena.table.threeSteps", 12);

    private static int inserts(final int... kinds)
    {
        return (int)Arrays.stream(kinds).filter(ExplorationTotals::mayInsert).count();
    }

    /** Three engines: as far as the first verbs of those that hinder each other. */
    @Test
    void shouldBeLinearizableInEveryScheduleOfThree() throws IOException
    {
        final ExplorationTotals totals = new ExplorationTotals();
        for (int one = 0; one < THREE_KINDS.length; one++)
        {
            for (int two = 0; two <= one; two++)
            {
                for (int three = 0; three <= two; three++)
                {
                    for (int state = 0; state < TableScenario.Race.STATES - 1; state++)
                    {
                        final TableScenario.Race race = new TableScenario.Race(
                            new int[]{THREE_KINDS[one], THREE_KINDS[two], THREE_KINDS[three]}, state > 0, state > 1);
                        final int inserts = state > 0 ? 0 : inserts(race.kinds());
                        final boolean isCutShort = inserts == 3 || inserts == 2 && !GOES_TO_THE_END;
                        final int mostSteps = isCutShort ? THREE_STEPS : NO_BOUND;
                        final SimExplorationReport report = explore(race, 0, false, mostSteps);
                        assertThat(report.violation()).as(race + ": " + report).isNull();
                        assertThat(report.isComplete()).as(race + ": " + report).isEqualTo(!isCutShort);
                        totals.add(report, mostSteps);
                    }
                }
            }
        }
        totals.report("triples");
        totals.assertReached("60 races, 56 complete, 36970 states", "168 races, 152 complete, 106487 states");
    }
}
