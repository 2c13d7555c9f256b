package io.verbena.table;

import io.verbena.table.allocation.EpochTracker;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;
import io.verbena.table.operation.TableMutation;
import io.verbena.table.operation.Tombstones;
import io.verbena.test.Mutation;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Operations that are begun again after their outcome was told as unknown. */
class EngineRepeatTest
{
    /** Requests of a cached update of a short record: two lines and the compare-and-swap. */
    private static final int UPDATE_STEPS = 3;
    private static final int DELETE_STEPS = 1;

    private EngineFixture fixture;
    private EngineFixture other;
    private OpenTable table;
    private OpenTable otherTable;

    @BeforeEach
    void setUp()
    {
        open(false);
    }

    private void open(final boolean repeatsLost)
    {
        fixture = EngineFixture.single(settings -> settings.repeatsLostOutcomes(repeatsLost));
        table = fixture.createTable(0, 16);
        other = new EngineFixture(fixture.fabric, settings -> settings.writerNumber(2));
        other.nextBlocksAt += 1 << 20;
        otherTable = other.engine.openTable(table.descriptor());
    }

    @AfterEach
    void tearDown()
    {
        other.close();
        fixture.close();
    }

    /** Begins, executes so many requests, and loses the connection with the answers. */
    private void lose(final int kind, final String value, final int steps)
    {
        begin(kind, value);
        for (int i = 0; i < steps; i++)
        {
            fixture.fabric.step();
        }
        fixture.port.fail(true);
        fixture.connect();
        assertThat(fixture.outcome.result()).isEqualTo(OperationResult.OUTCOME_UNKNOWN);
    }

    private void begin(final int kind, final String value)
    {
        if (kind == OperationKind.INCREMENT)
        {
            fixture.beginIncrement(table, "k", 5);
        }
        else
        {
            fixture.begin(kind, table, "k", value, 0, fixture.nowNs + 1_000_000);
        }
    }

    private EngineFixture.Outcome repeat(final int kind, final String value)
    {
        fixture.engine.repeatNext(fixture.lastSequence);
        begin(kind, value);
        return fixture.finish();
    }

    @Test
    void shouldTellTheVersionOfTheFirstAttemptWhenItTookEffect()
    {
        fixture.put(table, "k", "a");
        lose(OperationKind.PUT, "b", UPDATE_STEPS);
        final long version = other.get(otherTable, "k").version();
        final EngineFixture.Outcome repeated = repeat(OperationKind.PUT, "b");
        assertThat(repeated.result()).isEqualTo(OperationResult.STORED);
        assertThat(repeated.version()).isEqualTo(version);
        assertThat(repeated.roundTrips()).isOne();
        assertThat(other.get(otherTable, "k").version()).isEqualTo(version);
    }

    @Test
    void shouldTakeEffectNowWhenTheFirstAttemptDidNot()
    {
        fixture.put(table, "k", "a");
        lose(OperationKind.PUT, "b", 1);
        assertThat(other.get(otherTable, "k").value()).isEqualTo("a");
        assertThat(repeat(OperationKind.PUT, "b").result()).isEqualTo(OperationResult.STORED);
        assertThat(other.get(otherTable, "k").value()).isEqualTo("b");
    }

    @Test
    void shouldNotUndoWhatCameAfterTheFirstAttempt()
    {
        fixture.put(table, "k", "a");
        lose(OperationKind.PUT, "b", UPDATE_STEPS);
        final long version = other.get(otherTable, "k").version();
        for (int i = 0; i < 10; i++)
        {
            other.put(otherTable, "k", "c" + i);
        }
        final EngineFixture.Outcome repeated = repeat(OperationKind.PUT, "b");
        assertThat(repeated.result()).isEqualTo(OperationResult.STORED);
        assertThat(repeated.version()).isEqualTo(version);
        // The slot, then ten blocks back.
        assertThat(repeated.roundTrips()).isEqualTo(11);
        assertThat(fixture.get(table, "k").value()).isEqualTo("c9");
    }

    @Test
    void shouldUndoWhatCameAfterTheFirstAttemptWhenItDoesNotLook()
    {
        fixture.put(table, "k", "a");
        lose(OperationKind.PUT, "b", UPDATE_STEPS);
        other.put(otherTable, "k", "c");
        try (Mutation.Opened _ = TableMutation.REPEAT_LOOKS.open())
        {
            repeat(OperationKind.PUT, "b");
        }
        assertThat(fixture.get(table, "k").value()).isEqualTo("b");
    }

    @Test
    void shouldSeeThatOthersReplacedWhatTheFirstAttemptExpected()
    {
        fixture.put(table, "k", "a");
        lose(OperationKind.PUT, "b", 1);
        other.put(otherTable, "k", "c");
        other.put(otherTable, "k", "d");
        assertThat(repeat(OperationKind.PUT, "b").result()).isEqualTo(OperationResult.STORED);
        assertThat(fixture.get(table, "k").value()).isEqualTo("b");
    }

    /** A node in the place of one that ended has its writer number, and counts its operations from the start, too. */
    @Test
    void shouldNotTakeBlockOfAnotherClientWithItsWriterNumberAndSequenceForItsOwn()
    {
        other.close();
        other = new EngineFixture(fixture.fabric, settings -> settings.clientId(2));
        other.nextBlocksAt += 1 << 20;
        otherTable = other.engine.openTable(table.descriptor());
        fixture.put(table, "k", "a");
        lose(OperationKind.PUT, "b", 1);
        other.put(otherTable, "k", "c");
        other.put(otherTable, "k", "d");
        assertThat(other.lastSequence).isEqualTo(fixture.lastSequence);
        assertThat(repeat(OperationKind.PUT, "b").result()).isEqualTo(OperationResult.STORED);
        assertThat(fixture.get(table, "k").value()).isEqualTo("b");
    }

    @Test
    void shouldCountOnce()
    {
        fixture.increment(table, "k", 1);
        lose(OperationKind.INCREMENT, null, UPDATE_STEPS);
        other.increment(otherTable, "k", 100);
        assertThat(repeat(OperationKind.INCREMENT, null).counter()).isEqualTo(6);
        assertThat(fixture.counter(table, "k")).isEqualTo(106);
    }

    @Test
    void shouldKnowItsOwnDelete()
    {
        fixture.put(table, "k", "a");
        lose(OperationKind.DELETE, null, DELETE_STEPS);
        // A key inserted meanwhile is not deleted by the repetition.
        other.put(otherTable, "k", "b");
        assertThat(repeat(OperationKind.DELETE, null).result()).isEqualTo(OperationResult.DELETED);
        assertThat(fixture.get(table, "k").value()).isEqualTo("b");
    }

    @Test
    void shouldKnowTheDeleteOfAnother()
    {
        fixture.put(table, "k", "a");
        lose(OperationKind.DELETE, null, 0);
        other.run(OperationKind.DELETE, otherTable, "k", null, 0);
        assertThat(repeat(OperationKind.DELETE, null).result()).isEqualTo(OperationResult.NOT_FOUND);
    }

    @Test
    void shouldFindItsValueBehindTheDeleteOfAnother()
    {
        fixture.put(table, "k", "a");
        lose(OperationKind.PUT, "b", UPDATE_STEPS);
        other.run(OperationKind.DELETE, otherTable, "k", null, 0);
        assertThat(repeat(OperationKind.PUT, "b").result()).isEqualTo(OperationResult.STORED);
        assertThat(fixture.get(table, "k").result()).isEqualTo(OperationResult.NOT_FOUND);
    }

    @Test
    void shouldTakeTheDeleteOfAnotherForItsOwnWhenDeletesLeaveNothing()
    {
        try (Mutation.Opened _ = TableMutation.TOMBSTONE.open())
        {
            fixture.put(table, "k", "a");
            lose(OperationKind.DELETE, null, 0);
            assertThat(other.run(OperationKind.DELETE, otherTable, "k", null, 0).result())
                .isEqualTo(OperationResult.DELETED);
            assertThat(repeat(OperationKind.DELETE, null).result()).isEqualTo(OperationResult.DELETED);
        }
    }

    @Test
    void shouldStayUnknownWhenTheWindowIsOver()
    {
        fixture.put(table, "k", "a");
        lose(OperationKind.PUT, "b", UPDATE_STEPS);
        fixture.engine.onEpoch(fixture.engine.passedEpoch() + 1 + EpochTracker.REPEAT_EPOCHS + 1, 0);
        assertThat(repeat(OperationKind.PUT, "b").result()).isEqualTo(OperationResult.OUTCOME_UNKNOWN);
    }

    @Test
    void shouldStayUnknownWhenTheAttemptIsNotRemembered()
    {
        fixture.put(table, "k", "a");
        lose(OperationKind.PUT, "b", UPDATE_STEPS);
        fixture.lastSequence += 1000;
        assertThat(repeat(OperationKind.PUT, "b").result()).isEqualTo(OperationResult.OUTCOME_UNKNOWN);
    }

    @Test
    void shouldWaitForTheFirstAttemptThatIsUnderWayStill()
    {
        fixture.put(table, "k", "a");
        fixture.port.deaf = true;
        begin(OperationKind.PUT, "b");
        fixture.nowNs += 2_000_000;
        fixture.engine.poll();
        assertThat(fixture.outcome.result()).isEqualTo(OperationResult.OUTCOME_UNKNOWN);
        fixture.engine.repeatNext(fixture.lastSequence);
        begin(OperationKind.PUT, "b");
        fixture.engine.poll();
        assertThat(fixture.outcome).isNull();
        fixture.port.deaf = false;
        fixture.finish();
        assertThat(fixture.outcome.result()).isEqualTo(OperationResult.STORED);
        assertThat(fixture.outcome.verbs()).isZero();
        assertThat(fixture.get(table, "k").version()).isEqualTo(fixture.get(table, "k").version());
    }

    @Test
    void shouldFindOutByItselfWhenTheNextConnectionComes()
    {
        tearDown();
        open(true);
        fixture.put(table, "k", "a");
        begin(OperationKind.PUT, "b");
        for (int i = 0; i < UPDATE_STEPS; i++)
        {
            fixture.fabric.step();
        }
        fixture.port.fail(true);
        fixture.engine.poll();
        assertThat(fixture.outcome).isNull();
        other.put(otherTable, "k", "c");
        fixture.connect();
        assertThat(fixture.finish().result()).isEqualTo(OperationResult.STORED);
        assertThat(fixture.get(table, "k").value()).isEqualTo("c");
    }

    @Test
    void shouldEndUnknownAtItsDeadlineWhenNoConnectionComes()
    {
        tearDown();
        open(true);
        fixture.put(table, "k", "a");
        begin(OperationKind.PUT, "b");
        fixture.port.fail(true);
        fixture.nowNs += 2_000_000;
        fixture.engine.poll();
        assertThat(fixture.outcome.result()).isEqualTo(OperationResult.OUTCOME_UNKNOWN);
    }

    @Test
    void shouldClearWhatDeletesLeftWhenTheEpochsHavePassed()
    {
        for (int i = 0; i < 40; i++)
        {
            fixture.put(table, "key" + i, "v");
            fixture.run(OperationKind.DELETE, table, "key" + i, null, 0);
        }
        assertThat(fixture.check(table).tentative).isEqualTo(40);
        for (int i = 0; i < 6; i++)
        {
            final long passed = fixture.engine.passedEpoch();
            fixture.engine.onEpoch(passed + 2, passed);
        }
        for (int i = 0; i < 40; i++)
        {
            fixture.put(table, "other" + i, "v");
            final EngineFixture.Outcome deleted = fixture.run(OperationKind.DELETE, table, "other" + i, null, 0);
            assertThat(deleted.roundTrips()).isOne();
            assertThat(deleted.verbs()).isEqualTo(i < 40 / Tombstones.CLEARED_BY_DELETE ? 3 : 1);
        }
        // The old ones are gone, the new ones wait.
        assertThat(fixture.check(table).tentative).isEqualTo(40);
    }

    @Test
    void shouldTakeTheSlotsOfDeletesWhenThePairIsFull()
    {
        final OpenTable small = fixture.createTable(
            TablePlan.ofShape("small", 0x77, 42, 0, 1, new int[]{EngineFixture.NODE}), 512 * 1024);
        for (int i = 0; i < 200; i++)
        {
            assertThat(fixture.put(small, "key" + i, "v").result()).isEqualTo(OperationResult.STORED);
            assertThat(fixture.run(OperationKind.DELETE, small, "key" + i, null, 0).result())
                .isEqualTo(OperationResult.DELETED);
        }
    }
}
