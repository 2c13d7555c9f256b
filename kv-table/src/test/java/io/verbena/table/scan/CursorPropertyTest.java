package io.verbena.table.scan;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.table.EngineFixture;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.KeyHash;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.TableDescriptor;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Positions of tables of any shape: what they tell is what was asked for, and walks over intervals meet every hash. */
class CursorPropertyTest
{
    private static final int ROUNDS = 2_000;
    private static final int DEPTH = 6;
    private static final int SLOTS = BucketDescriptor.SLOTS_PER_GROUP;
    private static final int MOST_GROUPS = 600_000_000;

    private final Random random = new Random(5);
    private final Cursor cursor = new Cursor();

    /** A table that nobody has made: where its subtables lie does not matter. */
    private static OpenTable table(final EngineFixture fixture, final int depth, final int groupCount)
    {
        final long[] entries = new long[1 << depth];
        for (int i = 0; i < entries.length; i++)
        {
            entries[i] = DirectoryEntry.stable(depth, EngineFixture.NODE, 4096 * (i + 1L));
        }
        return fixture.engine.openTable(new TableDescriptor("t", 1, depth, groupCount, 42, entries));
    }

    /** @return a hash of the subtable that the cursor is in. */
    private long hash()
    {
        final long mask = (1L << cursor.depth()) - 1 << KeyHash.DIRECTORY_SHIFT;
        return random.nextLong() & ~mask | (long)cursor.suffix() << KeyHash.DIRECTORY_SHIFT;
    }

    private static long word(final long hash)
    {
        return SlotWord.committed(KeyHash.fingerprint(hash), 0, 0, 0, 64);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 1365, 1 << 20, MOST_GROUPS})
    void shouldTellWhatIsAhead(final int groupCount)
    {
        try (EngineFixture fixture = EngineFixture.single())
        {
            final OpenTable table = table(fixture, DEPTH, groupCount);
            long at = 0;
            for (int round = 0; round < ROUNDS; round++)
            {
                cursor.resolve(table, at, false);
                final int group = random.nextInt(groupCount);
                final int slot = random.nextInt(SLOTS);
                final long hash = hash();
                final long position = cursor.position(group, cursor.order(hash), slot);
                final long next = cursor.begin(groupCount);
                assertThat(position).isPositive();
                assertThat(cursor.isPosition(table, position)).isTrue();
                cursor.resolve(table, position, false);
                assertThat(cursor.group()).isEqualTo(group);
                assertThat(cursor.begin(groupCount)).isEqualTo(next);
                assertThat(cursor.isAhead(group, slot, hash)).isTrue();
                assertThat(slot > 0 && cursor.isAhead(group, slot - 1, hash)).isFalse();
                assertThat(cursor.isBehind(group, word(hash))).isFalse();
                final long other = hash();
                final int order = Long.compareUnsigned(cursor.order(other), cursor.order(hash));
                assertThat(order != 0 && cursor.isAhead(group, slot, other)).isEqualTo(order > 0);
                assertThat(cursor.isBehind(group, word(other)) && cursor.isAhead(group, SLOTS, other)).isFalse();
                assertThat(cursor.isAhead(group, SLOTS, hash ^ 1L << KeyHash.DIRECTORY_SHIFT)).isFalse();
                at = next == TableScan.END ? 0 : next;
            }
        }
    }

    /** All subtables and groups are as likely, and a walk goes on from there as from any other position. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3, 1365, MOST_GROUPS})
    void shouldBeginAnywhere(final int groupCount)
    {
        try (EngineFixture fixture = EngineFixture.single())
        {
            final OpenTable table = table(fixture, DEPTH, groupCount);
            final int[] times = new int[1 << DEPTH];
            final int rounds = 200 << DEPTH;
            long groups = 0;
            for (int round = 0; round < rounds; round++)
            {
                final long place = Long.MIN_VALUE | random.nextLong() >>> 2;
                assertThat(cursor.isPosition(table, place)).isTrue();
                cursor.resolve(table, place, false);
                times[cursor.suffix()]++;
                groups += cursor.group();
                assertThat(cursor.group()).isBetween(0, groupCount - 1);
                final long next = cursor.begin(groupCount);
                final long inside = cursor.position(cursor.group(), 0, 0);
                cursor.resolve(table, inside, false);
                assertThat(cursor.begin(groupCount)).isEqualTo(next);
                assertThat(next == TableScan.END || cursor.isPosition(table, next)).isTrue();
            }
            for (final int each : times)
            {
                assertThat(each).isBetween(100, 300);
            }
            assertThat((double)groups / rounds).isBetween((groupCount - 1) * 0.45, (groupCount - 1) * 0.55);
            assertThat(cursor.isPosition(table, TableScan.END)).isFalse();
        }
    }

    /** Each hash lies in one of the intervals that are walked, and in one only. */
    @Test
    void shouldWalkEachHashOnceWhateverIsMergedBetween()
    {
        try (EngineFixture fixture = EngineFixture.single())
        {
            final OpenTable[] tables = new OpenTable[DEPTH + 1];
            for (int depth = 0; depth <= DEPTH; depth++)
            {
                tables[depth] = table(fixture, depth, 3);
            }
            for (int round = 0; round < ROUNDS; round++)
            {
                final long hash = random.nextLong();
                int times = 0;
                int depth = DEPTH;
                for (long at = 0; at != TableScan.END;)
                {
                    cursor.resolve(tables[depth], at, false);
                    // The walk has come to its second group when more is merged.
                    final long inside = cursor.position(1, 0, 0);
                    depth -= random.nextInt(10) == 0 && depth > 0 ? 1 : 0;
                    cursor.resolve(tables[depth], inside, false);
                    times += cursor.isAhead(2, 0, hash) ? 1 : 0;
                    at = cursor.begin(3);
                }
                assertThat(times).isOne();
            }
        }
    }
}
