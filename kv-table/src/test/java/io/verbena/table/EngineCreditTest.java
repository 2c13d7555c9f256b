package io.verbena.table;

import io.verbena.table.directory.GrowthSource;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.Subtable;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Writers at an engine whose credit has come down to one: who waits for something else holds up nobody. */
class EngineCreditTest
{
    private static final long LONG_NS = 1_000_000_000L;
    private static final long SHORT_NS = 10_000_000;

    /** Promises splits, and does none. */
    private static final class NeverDone implements GrowthSource
    {
        @Override
        public boolean requestSplit(final OpenTable table, final Subtable subtable)
        {
            return true;
        }

        @Override
        public void onSplitMet(final OpenTable table, final Subtable subtable)
        {
            throw new AssertionError("nothing is split");
        }
    }

    private EngineFixture fixture;
    private EngineFixture rival;
    private OpenTable table;
    private OpenTable elsewhere;
    private boolean isMemoryRefused;
    private int stored;

    @BeforeEach
    void setUp()
    {
        fixture = EngineFixture.single(settings -> settings.locationCacheEntries(0).operationSlots(8)
            .operationListener(operation -> stored += operation.result() == OperationResult.STORED ? 1 : 0)
            .chunkSource(this::lease).growthSource(new NeverDone()));
        table = fixture.createTable(0, 16);
        elsewhere = fixture.createTable(
            TablePlan.ofShape("elsewhere", 0x77, 42, 0, 16, new int[]{EngineFixture.OTHER_NODE}), 512 * 1024);
        rival = new EngineFixture(fixture.fabric, settings -> settings.writerNumber(2));
        rival.nextBlocksAt += 1 << 20;
        loseUntilOneMayWrite();
    }

    private void lease(final int memoryNodeId)
    {
        if (memoryNodeId != EngineFixture.OTHER_NODE || !isMemoryRefused)
        {
            fixture.engine.chunkLeased(memoryNodeId, fixture.nextBlocksAt, fixture.chunkBytes);
            fixture.nextBlocksAt += fixture.chunkBytes;
        }
    }

    /** Each write loses its first compare-and-swap: somebody else writes between its look and that. */
    private void loseUntilOneMayWrite()
    {
        final OpenTable same = rival.engine.openTable(table.descriptor());
        rival.put(same, "k", "0");
        for (int i = 0; i < 100; i++)
        {
            final long swaps = fixture.engine.counters().decisiveSwaps;
            begin(table, "k", LONG_NS);
            while (fixture.engine.counters().decisiveSwaps == swaps)
            {
                fixture.fabric.step();
            }
            fixture.port.deaf = true;
            rival.put(same, "k", "r" + i);
            fixture.port.deaf = false;
            finish();
        }
        assertThat(fixture.engine.counters().retries).isGreaterThanOrEqualTo(100);
    }

    @AfterEach
    void tearDown()
    {
        rival.close();
        fixture.close();
    }

    @Test
    void shouldHoldUpOtherWritersWhileOneIsUnderWay()
    {
        fixture.port.deaf = true;
        begin(table, "k", LONG_NS);
        begin(elsewhere, "a", LONG_NS);
        work();
        assertThat(stored).isEqualTo(100);
        fixture.port.deaf = false;
        finish();
        assertThat(stored).isEqualTo(102);
    }

    @Test
    void shouldLetOthersWriteWhileOneWaitsForAConnection()
    {
        fixture.engine.detach(EngineFixture.OTHER_NODE);
        begin(elsewhere, "a", LONG_NS);
        begin(table, "k", LONG_NS);
        work();
        assertThat(stored).isEqualTo(101);
        fixture.connect();
        finish();
        assertThat(stored).isEqualTo(102);
        shouldHoldUpAgain();
    }

    @Test
    void shouldLetOthersWriteWhileOneWaitsForMemory()
    {
        isMemoryRefused = true;
        begin(elsewhere, "a", LONG_NS);
        begin(table, "k", LONG_NS);
        work();
        assertThat(stored).isEqualTo(101);
        fixture.engine.chunkLeased(EngineFixture.OTHER_NODE, fixture.nextBlocksAt, fixture.chunkBytes);
        finish();
        assertThat(stored).isEqualTo(102);
        shouldHoldUpAgain();
    }

    @Test
    void shouldLetOthersWriteWhileOneWaitsForASplit()
    {
        String noRoom = "";
        for (int i = 0; 0 == fixture.engine.active(); i++)
        {
            noRoom = "key-" + i;
            begin(elsewhere, noRoom, SHORT_NS);
            work();
        }
        finish();
        // Those that were stored have raised the credit.
        loseUntilOneMayWrite();
        final int before = stored;
        begin(elsewhere, noRoom, SHORT_NS);
        begin(table, "k", LONG_NS);
        work();
        assertThat(stored).isEqualTo(before + 1);
        assertThat(fixture.engine.active()).isOne();
        finish();
        assertThat(stored).isEqualTo(before + 1);
        shouldHoldUpAgain();
    }

    @Test
    void shouldLetOthersWriteWhenAnAnswerIsLate()
    {
        fixture.port.deaf = true;
        begin(table, "k", 10_000);
        begin(elsewhere, "a", LONG_NS);
        work();
        assertThat(stored).isEqualTo(101);
        fixture.port.deaf = false;
        finish();
        shouldHoldUpAgain();
    }

    /** Nobody's credit was given back twice: still one writer at a time. */
    private void shouldHoldUpAgain()
    {
        final int before = stored;
        fixture.port.deaf = true;
        begin(table, "k", LONG_NS);
        begin(elsewhere, "key-0", LONG_NS);
        work();
        assertThat(stored).isEqualTo(before);
        fixture.port.deaf = false;
        finish();
    }

    private void begin(final OpenTable where, final String key, final long timeoutNs)
    {
        fixture.begin(OperationKind.PUT, where, key, "v", 0, fixture.nowNs + timeoutNs);
    }

    private void work()
    {
        for (int i = 0; i < 1_000; i++)
        {
            fixture.nowNs += 100;
            fixture.fabric.step();
            fixture.engine.poll();
        }
    }

    private void finish()
    {
        while (fixture.engine.active() > 0)
        {
            fixture.nowNs += 100;
            fixture.fabric.step();
            fixture.engine.poll();
        }
    }
}
