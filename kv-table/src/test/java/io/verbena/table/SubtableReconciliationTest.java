package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.table.access.EmptiedWords;
import io.verbena.table.directory.Subtable;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.mirror.SlotReconciliation;
import io.verbena.table.mirror.SubtableReconciliation;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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

    /** It has nothing of a subtable that was linked behind its copying, not even what never changes there. */
    @Test
    void shouldCopyAllToWhoComesIn()
    {
        final UnsafeBuffer member = new UnsafeBuffer(ByteBuffer.allocateDirect(2 * AT));
        final UnsafeBuffer entering = new UnsafeBuffer(ByteBuffer.allocateDirect(2 * AT));
        new PreparedSubtables(member, 42).format(AT, 1, 1, SlotWord.UNINITIALISED);
        final SlotReconciliation words = new SlotReconciliation(
            List.of(new MemoryCopy(member)), new boolean[]{true}, List.of(new MemoryCopy(entering)));
        final SubtableReconciliation all =
            new SubtableReconciliation(words, List.of(new Subtable(3, 1, 1, AT)), 1);
        while (all.goOn())
        {
            assertThat(all.subtables()).isOne();
        }
        assertThat(entering).isEqualTo(member);
    }

    /**
     * With one member a claim stands where the words that count do; it is emptied before another member has it as such
     * a word, and stays where nobody comes in: whoever made it may have committed it, and asks for what stands there.
     * The mark of a delete that is on all members of two stays.
     */
    @ParameterizedTest
    @CsvSource({"1, 0, false", "1, 1, true", "2, 0, false", "2, 1, false"})
    void shouldEmptyTheClaimsOfAnOnlyMember(final int members, final int entering, final boolean isEmptied)
    {
        final List<UnsafeBuffer> memories = IntStream.range(0, members + entering)
            .mapToObj(i -> new UnsafeBuffer(ByteBuffer.allocateDirect(AT))).toList();
        final long claim = SlotWord.withKind(SlotWord.committed(1, 0, 1, 1, 64), SlotWord.KIND_TENTATIVE);
        memories.subList(0, members).forEach(memory -> memory.putLong(0, claim, LITTLE_ENDIAN));
        final List<SlotReconciliation.Copy> copies =
            memories.stream().<SlotReconciliation.Copy>map(MemoryCopy::new).toList();
        final boolean[] survivors = new boolean[members];
        Arrays.fill(survivors, true);
        new SlotReconciliation(copies.subList(0, members), survivors, copies.subList(members, copies.size()))
            .reconcile(0);
        for (final UnsafeBuffer memory : memories)
        {
            assertThat(memory.getLong(0, LITTLE_ENDIAN)).isEqualTo(isEmptied ? EmptiedWords.byTool(claim) : claim);
        }
    }
}
