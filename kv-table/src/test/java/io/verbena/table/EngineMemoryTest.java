package io.verbena.table;

import io.verbena.table.directory.OpenTable;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;
import io.verbena.table.operation.TableMutation;
import io.verbena.test.Mutation;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Writers for which there is no memory. */
class EngineMemoryTest
{
    private EngineFixture fixture;
    private OpenTable table;

    @BeforeEach
    void setUp()
    {
        fixture = EngineFixture.single();
        table = fixture.createTable(0, 1);
    }

    @AfterEach
    void tearDown()
    {
        fixture.close();
    }

    @Test
    void shouldSayNoMemoryAtOnceWhenNothingIsToComeBack()
    {
        fixture.chunksLeft = 0;
        assertThat(fixture.put(table, "k", "v").result()).isEqualTo(OperationResult.NO_MEMORY);
        assertThat(fixture.outcome.verbs()).isZero();
        fixture.chunksLeft = 1;
        assertThat(fixture.put(table, "k", "v").result()).isEqualTo(OperationResult.STORED);
    }

    @Test
    void shouldSayNoMemoryWhenChunksAreTooShortForTheRecord()
    {
        fixture.chunkBytes = 4096;
        assertThat(fixture.put(table, "k", "v".repeat(5000)).result()).isEqualTo(OperationResult.NO_MEMORY);
        assertThat(fixture.put(table, "k", "v").result()).isEqualTo(OperationResult.STORED);
        assertThat(fixture.chunksLeft).isGreaterThan(5);
    }

    @Test
    void shouldWaitForTheEpochWhenOnlyRetiredBlocksAreLeft()
    {
        fixture.chunksLeft = 1;
        fixture.chunkBytes = 256;
        fixture.put(table, "k", "1");
        fixture.put(table, "k", "2");
        // One block holds the record, the other one waits.
        fixture.begin(OperationKind.PUT, table, "k", "3", 0, fixture.nowNs + 1_000_000);
        fixture.engine.poll();
        assertThat(fixture.outcome).isNull();
        // The operation that waits for memory does not hold up the epoch.
        fixture.engine.onEpoch(2, 0);
        assertThat(fixture.engine.passedEpoch()).isEqualTo(1);
        fixture.engine.onEpoch(5, 3);
        fixture.engine.poll();
        assertThat(fixture.outcome).isNull();
        fixture.engine.onEpoch(6, 4);
        assertThat(fixture.finish().result()).isEqualTo(OperationResult.STORED);
        assertThat(fixture.get(table, "k").value()).isEqualTo("3");
    }

    @Test
    void shouldHoldUpTheEpochItWaitsForWhenWaitingCountsAsWorking()
    {
        try (Mutation.Opened _ = TableMutation.WAIT_OUTSIDE_EPOCH.open(); EngineFixture mutant = EngineFixture.single())
        {
            final OpenTable other = mutant.createTable(0, 1);
            mutant.chunksLeft = 1;
            mutant.chunkBytes = 256;
            mutant.put(other, "k", "1");
            mutant.put(other, "k", "2");
            mutant.begin(OperationKind.PUT, other, "k", "3", 0, mutant.nowNs + 1_000_000);
            mutant.engine.onEpoch(2, 0);
            assertThat(mutant.engine.passedEpoch()).isZero();
        }
        // Not mutated it is 1: see the test before.
    }

    /** Chunks are left, but so much waits for the epoch that no more may. */
    @Test
    void shouldWaitForTheEpochAtTheBoundOfWhatMayWaitForIt()
    {
        try (EngineFixture bounded = EngineFixture.single(s -> s.maxQuarantineBytes(256)))
        {
            final OpenTable other = bounded.createTable(0, 1);
            int stored = 0;
            while (stored < 10 && bounded.run(OperationKind.PUT, other, "k", "v" + stored, 0, 1_000_000).result() ==
                OperationResult.STORED)
            {
                stored++;
            }
            assertThat(bounded.outcome.result()).isEqualTo(OperationResult.NO_MEMORY);
            assertThat(stored).isBetween(2, 6);
            assertThat(bounded.engine.allocator(EngineFixture.NODE).quarantinedBytes()).isLessThanOrEqualTo(256 + 128);
            assertThat(bounded.chunksLeft).isPositive();
            assertThat(bounded.engine.wantsEpochs()).isTrue();
            bounded.engine.onEpoch(9, 8);
            assertThat(bounded.put(other, "k", "after").result()).isEqualTo(OperationResult.STORED);
        }
    }

    @Test
    void shouldSayNoMemoryAtTheDeadlineWhenTheEpochStandsStill()
    {
        fixture.chunksLeft = 1;
        fixture.chunkBytes = 256;
        fixture.put(table, "k", "1");
        fixture.put(table, "k", "2");
        fixture.begin(OperationKind.PUT, table, "k", "3", 0, fixture.nowNs + 10_000);
        fixture.nowNs += 20_000;
        fixture.engine.poll();
        assertThat(fixture.outcome.result()).isEqualTo(OperationResult.NO_MEMORY);
        assertThat(fixture.get(table, "k").value()).isEqualTo("2");
    }

    /** The caller waits no longer than until the deadline: a refusal at it may come too late. */
    @Test
    void shouldSayNoMemoryBeforeTheDeadlineSoThatTheAnswerIsThereInTime()
    {
        fixture.chunksLeft = 1;
        fixture.chunkBytes = 256;
        fixture.put(table, "k", "1");
        fixture.put(table, "k", "2");
        assertRefusedAfter(8_000, 7_000);
        assertRefusedAfter(1_600_000_000L, 1_400_000_000L);
        assertRefusedAfter(60_000_000_000L, 59_800_000_000L);
    }

    private void assertRefusedAfter(final long timeoutNs, final long refusedAfterNs)
    {
        fixture.begin(OperationKind.PUT, table, "k", "3", 0, fixture.nowNs + timeoutNs);
        fixture.nowNs += refusedAfterNs - 1;
        fixture.engine.poll();
        assertThat(fixture.outcome).as("may come yet").isNull();
        fixture.nowNs++;
        fixture.engine.poll();
        assertThat(fixture.outcome.result()).isEqualTo(OperationResult.NO_MEMORY);
    }
}
