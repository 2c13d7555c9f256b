package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.table.directory.OpenTable;
import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.SlotWord;
import io.verbena.table.mirror.SlotReconciliation;
import java.nio.ByteBuffer;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * What equal words say of blocks that were copied long before: nothing. A word has 8 bits of its record's version, and
 * comes back where a block is used again for its key. So decision 0024 has to tell more by than words; this shows why.
 */
class CopiedWordTest
{
    private static final int MOST_PUTS = 1 << 16;
    private static final long TICK_NS = 70_000;

    @Test
    void shouldTakeAnOldBlockForThatOfAWordThatCameBack()
    {
        try (EngineFixture fixture = EngineFixture.single())
        {
            final OpenTable table = fixture.createTable(0, 1);
            final UnsafeBuffer entering = new UnsafeBuffer(ByteBuffer.allocateDirect(EngineFixture.MEMORY_BYTES));
            fixture.put(table, "key", "first");
            final int slotAt = EnteringRun.slotOf(fixture.memory());
            final long word = fixture.memory().getLong(slotAt, LITTLE_ENDIAN);
            new SlotReconciliation(List.of(new MemoryCopy(entering), new MemoryCopy(fixture.memory())),
                new boolean[]{true, true}).reconcile(slotAt);
            int puts = 0;
            do
            {
                fixture.nowNs += TICK_NS;
                fixture.engine.onEpoch(puts + 10, puts + 9);
                fixture.put(table, "key", "later");
            }
            while (fixture.memory().getLong(slotAt, LITTLE_ENDIAN) != word && ++puts < MOST_PUTS);

            final SlotReconciliation words = new SlotReconciliation(List.of(new MemoryCopy(fixture.memory())),
                new boolean[]{true}, List.of(new MemoryCopy(entering)));
            words.reconcile(slotAt);
            assertThat(words.wordsChanged() + words.blocksCopied()).as("after %d PUTs", puts).isZero();
            final int block = (int)SlotWord.blockOffset(word);
            assertThat(BlockDescriptor.version(entering, block))
                .isLessThan(BlockDescriptor.version(fixture.memory(), block));
        }
    }
}
