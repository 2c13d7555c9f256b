package io.verbena.table;

import io.verbena.table.directory.OpenTable;
import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.operation.OperationResult;
import io.verbena.table.scan.TableScan;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.TreeMap;
import org.agrona.DirectBuffer;

/**
 * A walk over a whole table in ranges of a record each, every one from where the last one ended. Keys are 8 bytes,
 * of values the last word counts.
 */
public final class RacedWalk
{
    private static final long NEVER_NS = Long.MAX_VALUE / 2;

    private final TableScan scan;
    private final OpenTable table;
    private final Map<Long, String> met = new TreeMap<>();
    private long position;
    private int left;
    private String failure;

    RacedWalk(final TableEngine engine, final OpenTable table)
    {
        scan = engine.scan();
        this.table = table;
        range();
    }

    private void range()
    {
        left = 1;
        scan.begin(table, position, NEVER_NS, this::take);
    }

    private boolean take(final DirectBuffer block, final int offset, final long behind)
    {
        if (left-- > 0)
        {
            final int keyLength = BlockDescriptor.keyLength(block, offset);
            final int valueAt = offset + BlockDescriptor.KEY_OFFSET + keyLength +
                BlockDescriptor.valueLength(block, offset) - Long.BYTES;
            met.merge(block.getLong(offset + BlockDescriptor.KEY_OFFSET, ByteOrder.LITTLE_ENDIAN),
                String.valueOf(block.getLong(valueAt, ByteOrder.LITTLE_ENDIAN)), (one, other) -> one + ' ' + other);
            return true;
        }
        return false;
    }

    /** Begins the next range when one has ended. @return whether it did. */
    boolean goOn()
    {
        if (isOver() || scan.isBusy())
        {
            return false;
        }
        position = scan.position();
        failure = scan.result() == OperationResult.FOUND ? null : OperationResult.name(scan.result());
        if (!isOver())
        {
            range();
        }
        return !isOver();
    }

    boolean isOver()
    {
        return position == TableScan.END || failure != null;
    }

    /**
     * Judges a walk that is over.
     *
     * @param key      raced.
     * @param isThere  whether it is there all the time.
     * @param otherKey that is there all the time, or null.
     * @return null when all is well.
     */
    String problem(final MemorySegment key, final boolean isThere, final MemorySegment otherKey)
    {
        final boolean isLeftOut = isThere && !met.containsKey(wordOf(key)) ||
            otherKey != null && !met.containsKey(wordOf(otherKey));
        final boolean isStrange = met.keySet().stream()
            .anyMatch(one -> one != wordOf(key) && (otherKey == null || one != wordOf(otherKey)));
        return failure != null ? "ended" : isLeftOut ? "a key is left out" :
            isStrange ? "a key that never was" : null;
    }

    private static long wordOf(final MemorySegment key)
    {
        return key.get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
    }

    @Override
    public String toString()
    {
        return "RacedWalk{" + met + (failure == null ? "" : " failure=" + failure) + '}';
    }
}
