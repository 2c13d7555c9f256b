package io.verbena.table;

import io.verbena.table.directory.OpenTable;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;
import io.verbena.table.operation.Step;
import io.verbena.table.trace.OperationTrace;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** What operations say of their steps, on a clock that moves 100 ns with each step of the fabric. */
class EngineTraceTest
{
    private EngineFixture fixture;
    private OpenTable table;

    @BeforeEach
    void setUp()
    {
        fixture = EngineFixture.single();
        table = fixture.createTable(0, 64);
        fixture.put(table, "warm", "memory is leased");
    }

    @AfterEach
    void tearDown()
    {
        fixture.close();
    }

    /** @return the entries of the last operation; times from its beginning on, or "-" where they are not known. */
    private List<String> trace(final long beganNs)
    {
        final List<String> entries = new ArrayList<>();
        for (int i = 0; i < fixture.lastTrace.length; i += OperationTrace.ENTRY_WORDS)
        {
            final long word = fixture.lastTrace[i];
            entries.add(Step.name(OperationTrace.step(word)) + (OperationTrace.isWait(word) ? " waits" : " " +
                OperationTrace.verbs(word) + " " + OperationTrace.roundTrips(word) + " at " +
                OperationTrace.memoryNodeId(word)) + " " + time(fixture.lastTrace[i + 1], beganNs) + " " +
                time(fixture.lastTrace[i + 2], beganNs));
        }
        return entries;
    }

    private static String time(final long timeNs, final long beganNs)
    {
        return OperationTrace.UNKNOWN_NS == timeNs ? "-" : Long.toString(timeNs - beganNs);
    }

    private void assertAgreesWith(final EngineFixture.Outcome outcome)
    {
        int verbs = 0;
        int roundTrips = 0;
        for (int i = 0; i < fixture.lastTrace.length; i += OperationTrace.ENTRY_WORDS)
        {
            verbs += OperationTrace.verbs(fixture.lastTrace[i]);
            roundTrips += OperationTrace.roundTrips(fixture.lastTrace[i]);
        }
        assertThat(verbs).isEqualTo(outcome.verbs());
        assertThat(roundTrips).isEqualTo(outcome.roundTrips());
    }

    @Test
    void shouldEnterEachBatchWithItsVerbsAndTimes()
    {
        long beganNs = fixture.nowNs;
        assertAgreesWith(fixture.put(table, "k", "v"));
        assertThat(trace(beganNs))
            .containsExactly("look 2 1 at 7 - 500", "claim 4 1 at 7 500 1300", "commit 1 1 at 7 1300 -");
        beganNs = fixture.nowNs;
        assertAgreesWith(fixture.get(table, "k"));
        assertThat(trace(beganNs)).containsExactly("cached_read 2 1 at 7 - -");
        beganNs = fixture.nowNs;
        assertAgreesWith(fixture.put(table, "k", "w"));
        assertThat(trace(beganNs)).containsExactly("swap 2 1 at 7 - -");
    }

    @Test
    void shouldEnterThatAnOperationWaitsForAConnection()
    {
        fixture.engine.detach(EngineFixture.NODE);
        final long beganNs = fixture.nowNs;
        fixture.begin(OperationKind.GET, table, "absent", null, 0, beganNs + 1_000_000);
        fixture.nowNs += 5_000;
        fixture.engine.poll();
        fixture.engine.poll();
        fixture.engine.attach(EngineFixture.NODE, fixture.port);
        final EngineFixture.Outcome outcome = fixture.finish();
        assertThat(outcome.result()).isEqualTo(OperationResult.NOT_FOUND);
        assertAgreesWith(outcome);
        assertThat(trace(beganNs)).containsExactly("start waits 0 5100", "look 2 1 at 7 5100 -");
    }

    @Test
    void shouldBeginEachTraceAnew()
    {
        fixture.put(table, "k", "v");
        for (int i = 0; i < 20; i++)
        {
            fixture.get(table, "k");
            assertThat(fixture.lastTraceCount).isEqualTo(1);
        }
    }
}
