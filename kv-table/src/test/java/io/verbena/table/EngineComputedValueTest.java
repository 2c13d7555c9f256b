package io.verbena.table;

import io.verbena.table.directory.OpenTable;
import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Increments, appends and puts of present keys: what they store, and what they refuse. */
class EngineComputedValueTest
{
    private EngineFixture fixture;
    private OpenTable table;

    @BeforeEach
    void setUp()
    {
        fixture = EngineFixture.single();
        table = fixture.createTable(0, 64);
    }

    @AfterEach
    void tearDown()
    {
        fixture.close();
    }

    private EngineFixture.Outcome append(final String key, final String suffix)
    {
        return fixture.run(OperationKind.APPEND, table, key, suffix, 0);
    }

    private void coldCache()
    {
        fixture.engine.onEpoch(fixture.engine.passedEpoch() + 3, 0);
    }

    @Test
    void shouldCountFromNothingUpAndDownWithAscendingVersions()
    {
        long version = 0;
        long sum = 0;
        for (int i = 0; i < 100; i++)
        {
            final long delta = i % 7 - 4;
            sum += delta;
            final EngineFixture.Outcome outcome = fixture.increment(table, "n", delta);
            assertThat(outcome.result()).isEqualTo(OperationResult.STORED);
            assertThat(outcome.counter()).isEqualTo(sum);
            assertThat(outcome.version()).isGreaterThan(version);
            version = outcome.version();
            if (i % 10 == 9)
            {
                coldCache();
            }
        }
        assertThat(fixture.counter(table, "n")).isEqualTo(sum);
    }

    @Test
    void shouldCountOnWhatAnotherEngineMadeOfTheCounter()
    {
        try (EngineFixture other = new EngineFixture(fixture.fabric, settings -> settings.writerNumber(2)))
        {
            other.nextBlocksAt += 1 << 20;
            final OpenTable same = other.engine.openTable(table.descriptor());
            fixture.increment(table, "n", 1);
            assertThat(other.increment(same, "n", 10).counter()).isEqualTo(11);
            // Its cached value is stale by now, and so is the other's after it.
            final EngineFixture.Outcome stale = fixture.increment(table, "n", 100);
            assertThat(stale.counter()).isEqualTo(111);
            assertThat(stale.roundTrips()).isEqualTo(3);
            other.put(same, "n", "not a counter");
            assertThat(fixture.increment(table, "n", 1).result()).isEqualTo(OperationResult.NOT_A_COUNTER);
        }
    }

    @Test
    void shouldRefuseToIncrementWhatIsNoCounter()
    {
        final long version = fixture.put(table, "text", "seven..").version();
        final EngineFixture.Outcome refused = fixture.increment(table, "text", 1);
        assertThat(refused.result()).isEqualTo(OperationResult.NOT_A_COUNTER);
        assertThat(refused.version()).isEqualTo(version);
        coldCache();
        assertThat(fixture.increment(table, "text", 1).result()).isEqualTo(OperationResult.NOT_A_COUNTER);
        assertThat(fixture.get(table, "text").value()).isEqualTo("seven..");
        assertThat(fixture.engine.allocator(EngineFixture.NODE).blocksInUse()).isOne();
    }

    @Test
    void shouldRefuseSumsThatDoNotFit()
    {
        fixture.increment(table, "n", Long.MAX_VALUE);
        final EngineFixture.Outcome refused = fixture.increment(table, "n", 1);
        assertThat(refused.result()).isEqualTo(OperationResult.COUNTER_OVERFLOW);
        // Told by a read, never by the cache.
        assertThat(refused.roundTrips()).isOne();
        assertThat(fixture.counter(table, "n")).isEqualTo(Long.MAX_VALUE);
        assertThat(fixture.increment(table, "n", Long.MIN_VALUE).counter()).isEqualTo(-1);
        assertThat(fixture.increment(table, "n", Long.MIN_VALUE).result())
            .isEqualTo(OperationResult.COUNTER_OVERFLOW);
    }

    @Test
    void shouldGrowValuesThroughEverySizeClassUpToTheLongest()
    {
        fixture.chunkBytes = 256 * 1024;
        final StringBuilder expected = new StringBuilder();
        int number = 0;
        while (expected.length() < BlockDescriptor.MAX_VALUE_BYTES)
        {
            final int length = Math.min(1 + number * 3, BlockDescriptor.MAX_VALUE_BYTES - expected.length());
            final String suffix = String.valueOf((char)('a' + number % 26)).repeat(length);
            expected.append(suffix);
            assertThat(append("a", suffix).result()).isEqualTo(OperationResult.STORED);
            if (number++ % 5 == 4)
            {
                coldCache();
            }
            assertThat(fixture.get(table, "a").value()).isEqualTo(expected.toString());
        }
        final long version = fixture.get(table, "a").version();
        final EngineFixture.Outcome refused = append("a", "x");
        assertThat(refused.result()).isEqualTo(OperationResult.VALUE_TOO_LONG);
        assertThat(refused.version()).isEqualTo(version);
        assertThat(append("a", "").result()).isEqualTo(OperationResult.STORED);
        assertThat(fixture.get(table, "a").value()).isEqualTo(expected.toString());
        assertThat(fixture.engine.allocator(EngineFixture.NODE).blocksInUse()).isOne();
    }

    @Test
    void shouldAppendToTheLongestKey()
    {
        fixture.chunkBytes = 256 * 1024;
        final String key = "k".repeat(BlockDescriptor.MAX_KEY_BYTES);
        final String half = "v".repeat(BlockDescriptor.MAX_VALUE_BYTES / 2);
        append(key, half);
        append(key, half);
        assertThat(fixture.get(table, key).value()).isEqualTo(half + half);
    }

    @Test
    void shouldWaitOutsideTheEpochWhenAnAppendFindsNoBlock()
    {
        fixture.chunkBytes = 16 * 1024;
        fixture.chunksLeft = 2;
        append("a", "x".repeat(50));
        append("b", "x".repeat(50));
        fixture.put(table, "b", "so that something waits in quarantine");
        fixture.put(table, "c", "z".repeat(300));
        // Each chunk is one slab of a short class; the longer record waits for memory, as one that has not begun.
        fixture.begin(OperationKind.APPEND, table, "a", "y".repeat(15_000), 0, fixture.nowNs + 1_000_000);
        for (int i = 0; i < 20; i++)
        {
            fixture.fabric.step();
            fixture.engine.poll();
        }
        assertThat(fixture.outcome).isNull();
        fixture.engine.onEpoch(3, 0);
        assertThat(fixture.engine.passedEpoch()).isEqualTo(2);
        fixture.engine.chunkLeased(EngineFixture.NODE, fixture.nextBlocksAt, 64 * 1024);
        fixture.finish();
        assertThat(fixture.outcome.result()).isEqualTo(OperationResult.STORED);
        assertThat(fixture.get(table, "a").value()).hasSize(50 + 15_000);
    }

    @Test
    void shouldSayNoMemoryWhenAnAppendFindsNoBlockAndNoneCanBeHad()
    {
        fixture.chunkBytes = 256;
        append("a", "x".repeat(50));
        fixture.chunksLeft = 0;
        assertThat(append("a", "y".repeat(400)).result()).isEqualTo(OperationResult.NO_MEMORY);
        assertThat(fixture.get(table, "a").value()).isEqualTo("x".repeat(50));
    }

    @Test
    void shouldPutOnlyWhatIsPresent()
    {
        assertThat(fixture.run(OperationKind.PUT_IF_PRESENT, table, "k", "v", 0).result())
            .isEqualTo(OperationResult.NOT_FOUND);
        assertThat(fixture.get(table, "k").result()).isEqualTo(OperationResult.NOT_FOUND);
        fixture.put(table, "k", "v");
        assertThat(fixture.run(OperationKind.PUT_IF_PRESENT, table, "k", "w", 0).result())
            .isEqualTo(OperationResult.STORED);
        assertThat(fixture.get(table, "k").value()).isEqualTo("w");
        fixture.run(OperationKind.DELETE, table, "k", null, 0);
        assertThat(fixture.run(OperationKind.PUT_IF_PRESENT, table, "k", "x", 0).result())
            .isEqualTo(OperationResult.NOT_FOUND);
        assertThat(fixture.engine.allocator(EngineFixture.NODE).blocksInUse()).isZero();
    }

    @Test
    void shouldRefuseValuesThatAreNotTakenAndTheLackOfThoseThatAre()
    {
        assertThatThrownBy(() -> fixture.run(OperationKind.INCREMENT, table, "k", "v", 0))
            .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> fixture.run(OperationKind.GET, table, "k", "v", 0))
            .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> fixture.run(OperationKind.APPEND, table, "k", null, 0))
            .isInstanceOf(IllegalArgumentException.class);
    }
}
