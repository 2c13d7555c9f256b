package io.verbena.table;

import io.verbena.rdma.verbs.VerbCounters;
import io.verbena.table.check.TableCheck;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.expiry.Expiry;
import io.verbena.table.expiry.ExpiryCondition;
import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;
import io.verbena.table.scan.TableScan;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Records with deadlines at one engine, and at two whose clocks differ: what operations answer and what they cost. */
class EngineExpiryTest
{
    /** Far from the wall clock, by which nothing here is judged. */
    private static final long NOW_MS = 5_000_000;

    private EngineFixture fixture;
    private OpenTable table;
    private EngineFixture slow;
    private OpenTable slowTable;
    private long clockMs = NOW_MS;
    /** By how much the second engine's clock is behind. */
    private long skewMs = 100;
    private int clockReads;

    @BeforeEach
    void setUp()
    {
        fixture = EngineFixture.single(settings -> settings.expiryClock(() ->
        {
            clockReads++;
            return clockMs;
        }));
        table = fixture.createTable(0, 64);
        fixture.put(table, "warm", "memory is leased");
        slow = new EngineFixture(
            fixture.fabric, settings -> settings.writerNumber(2).expiryClock(() -> clockMs - skewMs));
        slow.nextBlocksAt += 1 << 20;
        slowTable = slow.engine.openTable(table.descriptor());
        slow.get(slowTable, "warm");
    }

    @AfterEach
    void tearDown()
    {
        slow.close();
        fixture.close();
    }

    private EngineFixture.Outcome run(
        final int kind, final String value, final long expiry, final int condition)
    {
        return fixture.run(kind, table, "k", value, expiry, condition, 0);
    }

    private EngineFixture.Outcome put(final String value, final long expiry)
    {
        return run(OperationKind.PUT, value, expiry, ExpiryCondition.ALWAYS);
    }

    private EngineFixture.Outcome expire(final long expiry, final int condition)
    {
        return run(OperationKind.EXPIRE, null, expiry, condition);
    }

    private EngineFixture.Outcome get()
    {
        return fixture.get(table, "k");
    }

    private EngineFixture.Outcome cost(
        final String verbs, final java.util.function.Supplier<EngineFixture.Outcome> operation)
    {
        final VerbCounters before = new VerbCounters().add(fixture.port.counters);
        final EngineFixture.Outcome outcome = operation.get();
        final VerbCounters after = fixture.port.counters;
        assertThat("r" + (after.reads - before.reads) + " w" + (after.writes - before.writes) + " c" +
            (after.compareSwaps - before.compareSwaps) + " d" + (after.doorbells - before.doorbells)).isEqualTo(verbs);
        assertThat(outcome.roundTrips()).isEqualTo((int)(after.doorbells - before.doorbells));
        return outcome;
    }

    private void coldCache()
    {
        fixture.engine.onEpoch(fixture.engine.passedEpoch() + 3, 0);
        fixture.engine.epochs().forgetLocations();
    }

    @Test
    void shouldCostARecordThatLivesNoRoundTrip()
    {
        put("v", Expiry.at(clockMs + 10));
        assertThat(cost("r2 w0 c0 d1", this::get).value()).isEqualTo("v");
        assertThat(fixture.lastExpiryMs).isEqualTo(clockMs + 10);
        cost("r2 w0 c0 d1", () -> fixture.run(OperationKind.EXISTS, table, "k", null, 0));
        assertThat(fixture.lastExpiryMs).isEqualTo(clockMs + 10);
        cost("r0 w1 c1 d1", () -> put("w", Expiry.in(10)));
        cost("r0 w1 c1 d1", () -> put("x", Expiry.KEEP));
        cost("r0 w1 c1 d1",
            () -> run(OperationKind.PUT_IF_PRESENT, "y", Expiry.in(20), ExpiryCondition.ALWAYS));
        final long version = get().version();
        cost("r0 w1 c1 d1",
            () -> fixture.run(OperationKind.REPLACE, table, "k", "z", Expiry.KEEP, ExpiryCondition.ALWAYS, version));
        cost("r0 w0 c1 d1", () -> fixture.run(OperationKind.DELETE, table, "k", null, 0));
    }

    @Test
    void shouldChangeADeadlineInTwoRoundTripsAndLeaveTheValue()
    {
        final long first = put("v".repeat(300), Expiry.NONE).version();
        final EngineFixture.Outcome expired =
            cost("r2 w1 c1 d2", () -> expire(Expiry.at(clockMs + 50), ExpiryCondition.ALWAYS));
        assertThat(expired.result()).isEqualTo(OperationResult.STORED);
        assertThat(expired.version()).isGreaterThan(first);
        assertThat(get().value()).isEqualTo("v".repeat(300));
        assertThat(get().version()).isEqualTo(expired.version());
        assertThat(fixture.lastExpiryMs).isEqualTo(clockMs + 50);
        cost("r2 w1 c1 d2", () -> expire(Expiry.NONE, ExpiryCondition.IF_SOME));
        get();
        assertThat(fixture.lastExpiryMs).isZero();
        clockMs += 1000;
        assertThat(get().value()).isEqualTo("v".repeat(300));
        coldCache();
        cost("r3 w1 c1 d3", () -> expire(Expiry.in(5), ExpiryCondition.ALWAYS));
        assertThat(fixture.run(OperationKind.EXPIRE, table, "absent", null, 0).result())
            .isEqualTo(OperationResult.NOT_FOUND);
        assertThat(fixture.engine.allocator(EngineFixture.NODE).blocksInUse()).isEqualTo(2);
    }

    @Test
    void shouldEndARecordAtItsDeadlineAndNotBefore()
    {
        put("v", Expiry.in(10));
        clockMs += 9;
        assertThat(get().value()).isEqualTo("v");
        clockMs++;
        assertThat(cost("r2 w0 c1 d2", this::get).result()).isEqualTo(OperationResult.NOT_FOUND);
        assertThat(fixture.lastExpiryMs).isZero();
        assertThat(cost("r2 w0 c0 d1", this::get).result()).isEqualTo(OperationResult.NOT_FOUND);
        assertThat(fixture.engine.counters().expiredRemoved).isOne();
        assertThat(fixture.engine.allocator(EngineFixture.NODE).blocksInUse()).isOne();
    }

    @Test
    void shouldHaveARecordGoneForAClockThatIsBehindOnceAnotherHasFoundItSo()
    {
        put("v", Expiry.at(clockMs + 10));
        assertThat(slow.get(slowTable, "k").value()).isEqualTo("v");
        clockMs += 10;
        assertThat(slow.get(slowTable, "k").value()).isEqualTo("v");
        assertThat(get().result()).isEqualTo(OperationResult.NOT_FOUND);
        assertThat(slow.get(slowTable, "k").result()).isEqualTo(OperationResult.NOT_FOUND);
        // Also if the clock that found it gone steps back.
        clockMs -= 1000;
        assertThat(get().result()).isEqualTo(OperationResult.NOT_FOUND);
        assertThat(slow.run(OperationKind.PUT_IF_ABSENT, slowTable, "k", "w", 0).result())
            .isEqualTo(OperationResult.STORED);
    }

    @Test
    void shouldEndARecordForAllClocksWhoseDeadlineHadPassedWhenItWasWritten()
    {
        for (final long pastMs : new long[]{clockMs, clockMs - 1, 1})
        {
            assertThat(put("v", Expiry.at(pastMs)).result()).isEqualTo(OperationResult.STORED);
            assertThat(slow.get(slowTable, "k").result()).isEqualTo(OperationResult.NOT_FOUND);
            fixture.put(table, "k", "v");
            assertThat(expire(Expiry.at(pastMs), ExpiryCondition.ALWAYS).result()).isEqualTo(OperationResult.STORED);
            assertThat(slow.get(slowTable, "k").result()).isEqualTo(OperationResult.NOT_FOUND);
        }
    }

    @Test
    void shouldPutItsRecordInThePlaceOfAnExpiredOneNeverBesideIt()
    {
        int round = 0;
        for (final int kind : new int[]{OperationKind.PUT, OperationKind.PUT_IF_ABSENT, OperationKind.APPEND})
        {
            for (int i = 0; i < 3; i++)
            {
                put("old", Expiry.in(10));
                clockMs += 10;
                if (i == 1)
                {
                    coldCache();
                }
                assertThat(i == 2 ? slow.get(slowTable, "k").value() : "old").isEqualTo("old");
                final String value = "new" + round++;
                assertThat(fixture.run(kind, table, "k", value, 0).result()).isEqualTo(OperationResult.STORED);
                assertThat(get().value()).isEqualTo(value);
                assertThat(fixture.lastExpiryMs).isZero();
                assertThat(slow.get(slowTable, "k").value()).isEqualTo(value);
                final TableCheck check = fixture.check(table);
                assertThat(check.problemCount).isZero();
                assertThat(check.committed).isEqualTo(2);
                assertThat(fixture.engine.allocator(EngineFixture.NODE).blocksInUse()).isEqualTo(2);
            }
        }
        put("old", Expiry.in(10));
        clockMs += 10;
        cost("r0 w1 c1 d1", () -> put("new", Expiry.in(10)));
    }

    @Test
    void shouldBeginFromNothingBehindADeadlineAndKeepItBefore()
    {
        assertThat(fixture.increment(table, "k", 5).counter()).isEqualTo(5);
        expire(Expiry.in(10), ExpiryCondition.ALWAYS);
        assertThat(cost("r2 w1 c1 d2", () -> fixture.increment(table, "k", 2)).counter()).isEqualTo(7);
        get();
        assertThat(fixture.lastExpiryMs).isEqualTo(clockMs + 10);
        fixture.run(OperationKind.APPEND, table, "k", "12345678", 0);
        get();
        assertThat(fixture.lastExpiryMs).isEqualTo(clockMs + 10);
        clockMs += 10;
        assertThat(fixture.increment(table, "k", 2).counter()).isEqualTo(2);
        get();
        assertThat(fixture.lastExpiryMs).isZero();
        assertThat(cost("r0 w1 c1 d1", () -> fixture.increment(table, "k", 2)).counter()).isEqualTo(4);
    }

    @Test
    void shouldFindNothingBehindADeadlineInEveryOtherWay()
    {
        final int[] kinds = {OperationKind.GET, OperationKind.EXISTS, OperationKind.PUT_IF_PRESENT,
            OperationKind.REPLACE, OperationKind.DELETE, OperationKind.DELETE_VERSION, OperationKind.EXPIRE};
        for (final int kind : kinds)
        {
            for (int i = 0; i < 2; i++)
            {
                final long version = put("v", Expiry.in(10)).version();
                clockMs += 10;
                if (i == 1)
                {
                    coldCache();
                }
                final String value = OperationKind.takesValue(kind) ? "w" : null;
                assertThat(fixture.run(kind, table, "k", value, version).result()).as(OperationKind.name(kind))
                    .isEqualTo(OperationResult.NOT_FOUND);
                assertThat(fixture.outcome.version()).isZero();
                assertThat(fixture.check(table).committed).isOne();
                assertThat(fixture.engine.allocator(EngineFixture.NODE).blocksInUse()).isOne();
            }
        }
    }

    @Test
    void shouldKeepClearAndReplaceDeadlines()
    {
        put("v", Expiry.KEEP);
        get();
        assertThat(fixture.lastExpiryMs).as("made anew").isZero();
        put("v", Expiry.at(clockMs + 10));
        assertThat(fixture.lastExpiryMs).isEqualTo(clockMs + 10);
        for (int i = 0; i < 2; i++)
        {
            put("w" + i, Expiry.KEEP);
            assertThat(get().value()).isEqualTo("w" + i);
            assertThat(fixture.lastExpiryMs).isEqualTo(clockMs + 10);
            coldCache();
        }
        run(OperationKind.PUT_IF_PRESENT, "x", Expiry.in(7), ExpiryCondition.ALWAYS);
        get();
        assertThat(fixture.lastExpiryMs).isEqualTo(clockMs + 7);
        clockMs += 7;
        put("y", Expiry.KEEP);
        assertThat(get().value()).as("the deadline had passed").isEqualTo("y");
        assertThat(fixture.lastExpiryMs).isZero();
        put("z", Expiry.in(7));
        put("z", Expiry.NONE);
        clockMs += 7;
        assertThat(get().value()).isEqualTo("z");
        put("z", Expiry.in(Expiry.MAX_MS));
        get();
        assertThat(fixture.lastExpiryMs).isEqualTo(Expiry.MAX_MS);
    }

    @Test
    void shouldChangeDeadlinesOnConditions()
    {
        final int no = OperationResult.CONDITION_NOT_MET;
        final int yes = OperationResult.STORED;
        // Conditions: always, if none, if some, if later, if earlier.
        expectConditions(Expiry.NONE, clockMs + 20, yes, yes, no, no, yes);
        expectConditions(clockMs + 10, clockMs + 20, yes, no, yes, yes, no);
        expectConditions(clockMs + 10, clockMs + 10, yes, no, yes, no, no);
        expectConditions(clockMs + 10, clockMs + 5, yes, no, yes, no, yes);
        expectConditions(clockMs + 10, Expiry.NONE, yes, no, yes, yes, no);
        expectConditions(Expiry.NONE, Expiry.NONE, yes, yes, no, no, no);
        expectConditions(clockMs + 10, clockMs - 1, yes, no, yes, no, yes);
        expectConditions(clockMs + 10, Expiry.KEEP, yes, no, yes, no, no);
        expectConditions(Expiry.NONE, Expiry.KEEP, yes, yes, no, no, no);
    }

    private void expectConditions(final long before, final long expiry, final int... results)
    {
        for (int condition = 0; condition < ExpiryCondition.COUNT; condition++)
        {
            final long version = put("v", before).version();
            final EngineFixture.Outcome outcome = expire(expiry, condition);
            assertThat(outcome.result()).as("%d to %d on %d", before, expiry, condition).isEqualTo(results[condition]);
            if (results[condition] == OperationResult.CONDITION_NOT_MET)
            {
                assertThat(outcome.version()).isEqualTo(version);
                assertThat(get().version()).isEqualTo(version);
                assertThat(fixture.lastExpiryMs).isEqualTo(before);
            }
        }
    }

    @Test
    void shouldReadNoClockForRecordsWithoutDeadlines()
    {
        clockReads = 0;
        fixture.put(table, "k", "v");
        get();
        coldCache();
        get();
        fixture.run(OperationKind.APPEND, table, "k", "w", 0);
        fixture.run(OperationKind.DELETE, table, "k", null, 0);
        fixture.increment(table, "k", 1);
        fixture.increment(table, "k", 1);
        assertThat(clockReads).isZero();
        put("v", Expiry.in(10));
        assertThat(clockReads).isOne();
        get();
        assertThat(clockReads).isEqualTo(2);
    }

    @Test
    void shouldReportTimesToLiveAboveZero()
    {
        assertThat(fixture.engine.timeToLiveMs(0)).isZero();
        assertThat(fixture.engine.timeToLiveMs(clockMs + 12)).isEqualTo(12);
        assertThat(fixture.engine.timeToLiveMs(clockMs - 12)).isOne();
    }

    @Test
    void shouldRefuseDeadlinesOfOperationsThatTakeNoneAndNumbersThatSayNothing()
    {
        for (final int kind : new int[]{OperationKind.GET, OperationKind.DELETE, OperationKind.INCREMENT})
        {
            assertThatThrownBy(() -> run(kind, null, Expiry.in(10), ExpiryCondition.ALWAYS))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("takes no expiry");
        }
        for (final long expiry : new long[]{Expiry.MAX_MS + 1, -Expiry.MAX_MS - 1, Expiry.KEEP + 1, Long.MAX_VALUE})
        {
            assertThatThrownBy(() -> put("v", expiry)).isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> Expiry.in(0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Expiry.at(Expiry.MAX_MS + 1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> expire(1, ExpiryCondition.COUNT)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void shouldTakeTheLatestDeadlineAndReportWhatWasStored()
    {
        assertThat(put("v", Expiry.at(Expiry.MAX_MS)).result()).isEqualTo(OperationResult.STORED);
        assertThat(fixture.lastExpiryMs).as("of a record that is new").isEqualTo(Expiry.MAX_MS);
        assertThat(Expiry.isDeadline(Expiry.MAX_MS)).isTrue();
        assertThat(Expiry.isDeadline(Expiry.MAX_MS + 1)).isFalse();
        assertThat(Expiry.isDeadline(Expiry.NONE)).isTrue();
        assertThat(Expiry.isDeadline(Expiry.NONE - 1)).as("of a damaged block").isFalse();
        assertThat(get().value()).isEqualTo("v");
        assertThat(fixture.check(table).problemCount).isZero();
        assertThat(fixture.run(OperationKind.DELETE, table, "k", null, 0).result()).isEqualTo(OperationResult.DELETED);
        assertThat(fixture.lastExpiryMs).as("of a record that is gone").isZero();
    }

    @Test
    void shouldLeaveExpiredRecordsOutOfScansAndCountThemInChecks()
    {
        put("v", Expiry.in(10));
        fixture.run(OperationKind.PUT, table, "long", "v", Expiry.in(20), ExpiryCondition.ALWAYS, 0);
        assertThat(scanned()).containsExactlyInAnyOrder("warm 0", "k " + (clockMs + 10), "long " + (clockMs + 20));
        clockMs += 10;
        assertThat(scanned()).containsExactlyInAnyOrder("warm 0", "long " + (clockMs + 10));
        final TableCheck check = fixture.check(table);
        assertThat(check.problemCount).isZero();
        assertThat(check.withDeadline).isEqualTo(2);
        assertThat(check.expired).as("by the wall clock").isEqualTo(2);
    }

    private List<String> scanned()
    {
        final List<String> met = new ArrayList<>();
        final TableScan scan = fixture.engine.scan();
        scan.begin(table, 0, fixture.nowNs + 1_000_000, (block, offset, behind) ->
        {
            final byte[] key = new byte[BlockDescriptor.keyLength(block, offset)];
            block.getBytes(offset + BlockDescriptor.KEY_OFFSET, key);
            return met.add(new String(key) + " " + BlockDescriptor.expiryMs(block, offset));
        });
        while (scan.isBusy())
        {
            fixture.engine.poll();
            fixture.fabric.step();
            fixture.nowNs += 100;
        }
        assertThat(scan.result()).isEqualTo(OperationResult.FOUND);
        return met;
    }
}
