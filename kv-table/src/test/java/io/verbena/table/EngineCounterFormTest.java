package io.verbena.table;

import io.verbena.rdma.verbs.VerbCounters;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.expiry.Expiry;
import io.verbena.table.expiry.ExpiryCondition;
import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;
import io.verbena.table.operation.TableRequest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.function.Supplier;

import static org.assertj.core.api.Assertions.assertThat;

/** Counters of 8 bytes and in digits: which values are which, what they stay, and what an increment of them costs. */
class EngineCounterFormTest
{
    private static final String UPDATE = "r0 w1 c1 d1";
    /** With one digit a record of this key fills a block of 128 bytes, with two it needs another class. */
    private static final String LONG_KEY = "k".repeat(127 - BlockDescriptor.HEADER_BYTES);
    /** Of this one eight digits, or 8 bytes, fill a block of 128 bytes. */
    private static final String EIGHT_FIT_KEY = "k".repeat(128 - Long.BYTES - BlockDescriptor.HEADER_BYTES);

    private EngineFixture fixture;
    private OpenTable table;
    private long clockMs = 1_000;

    @BeforeEach
    void setUp()
    {
        fixture = EngineFixture.single(settings -> settings.expiryClock(() -> clockMs));
        table = fixture.createTable(0, 64);
    }

    @AfterEach
    void tearDown()
    {
        fixture.close();
    }

    private long add(final String key, final long delta)
    {
        return stored(fixture.increment(table, key, delta));
    }

    private long addInDigits(final String key, final long delta)
    {
        return stored(fixture.runInDigits(OperationKind.INCREMENT, table, key, delta));
    }

    private static long stored(final EngineFixture.Outcome outcome)
    {
        assertThat(outcome.result()).isEqualTo(OperationResult.STORED);
        return outcome.counter();
    }

    private String get(final String key)
    {
        return fixture.get(table, key).value();
    }

    private String getInDigits(final String key)
    {
        return fixture.runInDigits(OperationKind.GET, table, key, 0).value();
    }

    private <R> R cost(final String verbs, final Supplier<R> operation)
    {
        final VerbCounters before = new VerbCounters().add(fixture.port.counters);
        final R result = operation.get();
        final VerbCounters after = fixture.port.counters;
        assertThat("r" + (after.reads - before.reads) + " w" + (after.writes - before.writes) + " c" +
            (after.compareSwaps - before.compareSwaps) + " d" + (after.doorbells - before.doorbells)).isEqualTo(verbs);
        return result;
    }

    private void coldCache()
    {
        fixture.engine.onEpoch(fixture.engine.passedEpoch() + 3, 0);
        fixture.engine.epochs().forgetLocations();
    }

    private long blocksInUse()
    {
        return fixture.engine.allocator(EngineFixture.NODE).blocksInUse();
    }

    @Test
    void shouldAddToDigitsInOneRoundTripAndLeaveDigits()
    {
        fixture.put(table, "k", "10");
        assertThat(cost(UPDATE, () -> add("k", 5))).isEqualTo(15);
        assertThat(get("k")).isEqualTo("15");
        assertThat(cost(UPDATE, () -> addInDigits("k", 85))).isEqualTo(100);
        assertThat(get("k")).isEqualTo("100");
        assertThat(fixture.lastIsCounter).isFalse();
        assertThat(cost(UPDATE, () -> add("k", -1100))).isEqualTo(-1000);
        coldCache();
        assertThat(cost("r3 w1 c1 d3", () -> add("k", 1))).isEqualTo(-999);
        coldCache();
        assertThat(getInDigits("k")).isEqualTo("-999");
        assertThat(cost(UPDATE, () -> addInDigits("k", 999))).isEqualTo(0);
        assertThat(get("k")).isEqualTo("0");
        assertThat(blocksInUse()).isOne();
    }

    @Test
    void shouldMakeANewCounterAsItsCallerHasThem()
    {
        assertThat(addInDigits("digits", -7)).isEqualTo(-7);
        assertThat(get("digits")).isEqualTo("-7");
        assertThat(fixture.lastIsCounter).isFalse();
        assertThat(add("bytes", 7)).isEqualTo(7);
        assertThat(fixture.counter(table, "bytes")).isEqualTo(7);
        assertThat(fixture.lastIsCounter).isTrue();
        assertThat(getInDigits("bytes")).isEqualTo("7");
        assertThat(fixture.lastIsCounter).isTrue();
        assertThat(cost(UPDATE, () -> addInDigits("bytes", Long.MIN_VALUE))).isEqualTo(Long.MIN_VALUE + 7);
        assertThat(fixture.counter(table, "bytes")).isEqualTo(Long.MIN_VALUE + 7);
        assertThat(getInDigits("bytes")).isEqualTo(Long.toString(Long.MIN_VALUE + 7));
        coldCache();
        assertThat(getInDigits("bytes")).isEqualTo(Long.toString(Long.MIN_VALUE + 7));
        fixture.runInDigits(OperationKind.EXISTS, table, "bytes", 0);
        assertThat(fixture.lastIsCounter).isTrue();
        fixture.get(table, "nothing");
        assertThat(fixture.lastIsCounter).isFalse();
    }

    @Test
    void shouldTakeEightBytesForANumberOnlyWhereTheCallerHasSuch()
    {
        final long version = fixture.put(table, "k", "hello123").version();
        for (int i = 0; i < 2; i++)
        {
            final EngineFixture.Outcome refused = fixture.runInDigits(OperationKind.INCREMENT, table, "k", 1);
            assertThat(refused.result()).isEqualTo(OperationResult.NOT_A_COUNTER);
            assertThat(refused.version()).isEqualTo(version);
            assertThat(refused.roundTrips()).isEqualTo(i == 0 ? 1 : 2);
            assertThat(getInDigits("k")).isEqualTo("hello123");
            assertThat(fixture.lastIsCounter).isFalse();
            coldCache();
        }
        final long number = fixture.counter(table, "k");
        assertThat(cost(UPDATE, () -> add("k", 1))).isEqualTo(number + 1);
        assertThat(getInDigits("k")).isEqualTo(Long.toString(number + 1));
        assertThat(cost(UPDATE, () -> addInDigits("k", 1))).isEqualTo(number + 2);
    }

    @Test
    void shouldTakeEightDigitsForDigits()
    {
        fixture.put(table, "k", "12345678");
        assertThat(add("k", 1)).isEqualTo(12345679);
        assertThat(get("k")).isEqualTo("12345679");
        assertThat(addInDigits("k", 90_000_000)).isEqualTo(102345679);
        // A counter of 8 bytes that look like digits is one all the same.
        assertThat(add("n", 0x3131313131313130L)).isEqualTo(0x3131313131313130L);
        assertThat(add("n", 1)).isEqualTo(0x3131313131313131L);
        assertThat(get("n")).isEqualTo("11111111");
        assertThat(getInDigits("n")).isEqualTo(Long.toString(0x3131313131313131L));
        coldCache();
        assertThat(addInDigits("n", 1)).isEqualTo(0x3131313131313132L);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-", "007", "+5", " 5", "5 ", "-0", "1.5", "ten", "9223372036854775808"})
    void shouldRefuseWhatIsNoNumber(final String value)
    {
        final long version = fixture.put(table, "k", value).version();
        for (int i = 0; i < 2; i++)
        {
            final EngineFixture.Outcome refused = i == 0 ?
                fixture.increment(table, "k", 1) : fixture.runInDigits(OperationKind.INCREMENT, table, "k", 1);
            assertThat(refused.result()).isEqualTo(OperationResult.NOT_A_COUNTER);
            assertThat(refused.version()).isEqualTo(version);
        }
        assertThat(get("k")).isEqualTo(value);
        assertThat(blocksInUse()).isOne();
    }

    @Test
    void shouldRefuseSumsInDigitsThatDoNotFit()
    {
        fixture.put(table, "k", "9223372036854775807");
        final EngineFixture.Outcome refused = fixture.increment(table, "k", 1);
        assertThat(refused.result()).isEqualTo(OperationResult.COUNTER_OVERFLOW);
        assertThat(refused.roundTrips()).as("answered from a read").isOne();
        assertThat(get("k")).isEqualTo("9223372036854775807");
        assertThat(add("k", Long.MIN_VALUE)).isEqualTo(-1);
        assertThat(add("k", -Long.MAX_VALUE)).isEqualTo(Long.MIN_VALUE);
        assertThat(get("k")).isEqualTo("-9223372036854775808");
        assertThat(fixture.runInDigits(OperationKind.INCREMENT, table, "k", -1).result())
            .isEqualTo(OperationResult.COUNTER_OVERFLOW);
        assertThat(blocksInUse()).isOne();
    }

    @Test
    void shouldTakeABlockOfAnotherClassWhereTheDigitsNeedIt()
    {
        fixture.put(table, LONG_KEY, "9");
        fixture.put(table, "other" + LONG_KEY, "a block of the greater class, so that there is memory for it");
        assertThat(cost(UPDATE, () -> add(LONG_KEY, 1))).isEqualTo(10);
        assertThat(get(LONG_KEY)).isEqualTo("10");
        assertThat(cost(UPDATE, () -> add(LONG_KEY, -1))).isEqualTo(9);
        assertThat(get(LONG_KEY)).isEqualTo("9");
        coldCache();
        assertThat(cost("r3 w1 c1 d3", () -> addInDigits(LONG_KEY, 99_999_999_990L))).isEqualTo(99_999_999_999L);
        assertThat(get(LONG_KEY)).isEqualTo("99999999999");
        assertThat(blocksInUse()).isEqualTo(2);
        assertThat(fixture.check(table).problems()).isEmpty();
        // An absent key as well, from whose 8 bytes it goes to the shorter digits.
        assertThat(addInDigits(LONG_KEY.replace('k', 'n'), 1)).isOne();
        assertThat(get(LONG_KEY.replace('k', 'n'))).isEqualTo("1");
        assertThat(fixture.check(table).problems()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldWaitOutsideTheEpochWhenThereIsNoBlockForAnotherDigit(final boolean isCached)
    {
        fixture.chunkBytes = 16 * 1024;
        fixture.chunksLeft = 1;
        fixture.put(table, EIGHT_FIT_KEY, "99999999");
        fixture.put(table, EIGHT_FIT_KEY, "99999999");
        if (!isCached)
        {
            coldCache();
        }
        final long passed = fixture.engine.passedEpoch();
        fixture.beginIncrement(table, EIGHT_FIT_KEY, 1);
        for (int i = 0; i < 20; i++)
        {
            fixture.fabric.step();
            fixture.engine.poll();
        }
        assertThat(fixture.outcome).isNull();
        fixture.engine.onEpoch(passed + 4, 0);
        assertThat(fixture.engine.passedEpoch()).isEqualTo(passed + 3);
        fixture.engine.chunkLeased(EngineFixture.NODE, fixture.nextBlocksAt, 64 * 1024);
        fixture.finish();
        assertThat(stored(fixture.outcome)).isEqualTo(100_000_000);
        assertThat(get(EIGHT_FIT_KEY)).isEqualTo("100000000");
        assertThat(blocksInUse()).isOne();
    }

    @Test
    void shouldSayNoMemoryWhenThereIsNoBlockForAnotherDigitAndNoneCanBeHad()
    {
        fixture.chunkBytes = 512;
        fixture.chunksLeft = 1;
        fixture.put(table, EIGHT_FIT_KEY, "99999999");
        assertThat(fixture.increment(table, EIGHT_FIT_KEY, 1).result()).isEqualTo(OperationResult.NO_MEMORY);
        assertThat(get(EIGHT_FIT_KEY)).isEqualTo("99999999");
        assertThat(add(EIGHT_FIT_KEY, -1)).isEqualTo(99_999_998);
    }

    @Test
    void shouldStayACounterUntilAnotherValueIsWritten()
    {
        add("k", 5);
        assertThat(fixture.run(OperationKind.APPEND, table, "k", "", 0).result()).isEqualTo(OperationResult.STORED);
        assertThat(getInDigits("k")).isEqualTo("5");
        fixture.run(OperationKind.EXPIRE, table, "k", null, Expiry.at(2_000), ExpiryCondition.ALWAYS, 0);
        assertThat(getInDigits("k")).isEqualTo("5");
        assertThat(fixture.lastExpiryMs).isEqualTo(2_000);
        assertThat(addInDigits("k", 1)).isEqualTo(6);
        assertThat(getInDigits("k")).isEqualTo("6");
        assertThat(fixture.lastExpiryMs).as("the deadline stays").isEqualTo(2_000);
        fixture.run(OperationKind.APPEND, table, "k", "x", 0);
        get("k");
        assertThat(fixture.lastIsCounter).isFalse();
        assertThat(getInDigits("k")).hasSize(9);
        add("n", 5);
        fixture.put(table, "n", "12345678");
        assertThat(getInDigits("n")).isEqualTo("12345678");
        assertThat(fixture.lastIsCounter).isFalse();
    }

    @Test
    void shouldAppendToDigits()
    {
        addInDigits("k", 1);
        fixture.run(OperationKind.APPEND, table, "k", "0", 0);
        assertThat(get("k")).isEqualTo("10");
        assertThat(add("k", 1)).isEqualTo(11);
        fixture.run(OperationKind.APPEND, table, "nothing", "", 0);
        fixture.get(table, "nothing");
        assertThat(fixture.lastIsCounter).isFalse();
        fixture.run(OperationKind.APPEND, table, "new", "12345678", 0);
        fixture.get(table, "new");
        assertThat(fixture.lastIsCounter).isFalse();
    }

    /** Requests are filled in again and again. */
    @Test
    void shouldForgetWhatTheRequestBeforeSaidOfNumbers()
    {
        final TableRequest request = new TableRequest();
        for (int i = 0; i < 4; i++)
        {
            fixture.outcome = null;
            request.of(OperationKind.INCREMENT, table, fixture.nowNs + 1_000_000_000L, i).key(new byte[]{(byte)i})
                .delta(7);
            fixture.engine.begin(i % 2 == 0 ? request.inDigits(true) : request);
            assertThat(stored(fixture.finish())).isEqualTo(7);
            fixture.get(table, String.valueOf((char)i));
            assertThat(fixture.lastIsCounter).isEqualTo(i % 2 != 0);
        }
    }

    /** What a batch makes of nothing has one form: so it goes with callers who have the same. */
    @Test
    void shouldCountForCallersOfBothKindsAtOnce()
    {
        final int[] ended = new int[8];
        final EngineFixture many = EngineFixture.single(settings -> settings.operationListener(operation ->
        {
            assertThat(operation.result()).isEqualTo(OperationResult.STORED);
            ended[(int)operation.correlationId()] = (int)operation.counter();
        }));
        try (many)
        {
            final OpenTable there = many.createTable(0, 64);
            for (int i = 0; i < ended.length; i++)
            {
                many.engine.begin(new TableRequest().of(OperationKind.INCREMENT, there, Long.MAX_VALUE / 2, i)
                    .key(new byte[]{1}).delta(1).inDigits(i < 5));
            }
            while (many.engine.active() > 0)
            {
                many.nowNs += 100;
                many.fabric.step();
                many.engine.poll();
            }
            assertThat(ended).containsExactly(1, 2, 3, 4, 5, 6, 7, 8);
            // Of the first five, four were one batch; the others were not of it.
            assertThat(many.engine.counters().combined).isEqualTo(3 + 2);
        }
    }

    @Test
    void shouldBeginAnewBehindADeadlineInTheFormOfTheCaller()
    {
        add("k", 5);
        fixture.run(OperationKind.EXPIRE, table, "k", null, Expiry.at(2_000), ExpiryCondition.ALWAYS, 0);
        fixture.run(OperationKind.PUT, table, "d", "5", Expiry.at(2_000), ExpiryCondition.ALWAYS, 0);
        fixture.get(table, "k");
        assertThat(fixture.lastIsCounter).isTrue();
        clockMs = 2_000;
        assertThat(addInDigits("k", 1)).isOne();
        assertThat(get("k")).isEqualTo("1");
        assertThat(fixture.lastIsCounter).isFalse();
        assertThat(add("d", 2)).isEqualTo(2);
        assertThat(fixture.counter(table, "d")).isEqualTo(2);
        assertThat(fixture.lastIsCounter).isTrue();
        assertThat(fixture.lastExpiryMs).isZero();
        fixture.run(OperationKind.EXPIRE, table, "d", null, Expiry.at(3_000), ExpiryCondition.ALWAYS, 0);
        clockMs = 3_000;
        assertThat(fixture.get(table, "d").result()).isEqualTo(OperationResult.NOT_FOUND);
        assertThat(fixture.lastIsCounter).as("of a record that has ended").isFalse();
    }
}
