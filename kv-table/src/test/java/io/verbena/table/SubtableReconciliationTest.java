package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.table.directory.Subtable;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.mirror.SlotReconciliation;
import io.verbena.table.mirror.SubtableReconciliation;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.stream.IntStream;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/** Which words of a header line survivors are made equal in. */
class SubtableReconciliationTest
{
    private static final int AT = 4096;
    private static final int PREDECESSOR_AT = AT + SubtableDescriptor.PREDECESSOR_OFFSET;

    /**
     * That a subtable is whole was decided at the head, and no other copy has it when the primary is lost, whose memory
     * is that of the middle, word for word: it is left alone.
     */
    @Test
    void shouldMakePredecessorsEqual()
    {
        final List<UnsafeBuffer> memories =
            IntStream.range(0, 3).mapToObj(i -> new UnsafeBuffer(ByteBuffer.allocateDirect(2 * AT))).toList();
        for (final UnsafeBuffer memory : memories)
        {
            new PreparedSubtables(memory, 42).format(AT, 0, 1, SlotWord.EMPTY);
            memory.putLong(PREDECESSOR_AT, 2 * AT, LITTLE_ENDIAN);
        }
        memories.getFirst().putLong(PREDECESSOR_AT, 0, LITTLE_ENDIAN);
        final SlotReconciliation words = new SlotReconciliation(
            memories.stream().<SlotReconciliation.Copy>map(MemoryCopy::new).toList(),
            new boolean[]{true, true, false});
        final SubtableReconciliation all =
            new SubtableReconciliation(words, List.of(new Subtable(3, 0, 1, AT)), 1);
        while (all.goOn())
        {
            assertThat(all.subtables()).isOne();
        }
        assertThat(memories.get(1).getLong(PREDECESSOR_AT, LITTLE_ENDIAN)).isZero();
        assertThat(memories.get(2).getLong(PREDECESSOR_AT, LITTLE_ENDIAN)).isEqualTo(2 * AT);
        assertThat(words.wordsChanged()).isOne();
    }
}
