package io.verbena.table;

import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.SizeClasses;
import java.lang.foreign.MemorySegment;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * Values that depend on the one before: the sum of an increment, the longer value of an append. They are made in the
 * own block, anew whenever the word to be replaced is another one.
 */
final class ComputedValues
{
    /** The value stands in the own block. */
    static final int OK = -1;
    /** There is no block for it; {@link Operation#blockClass} says which class is needed. */
    static final int NO_BLOCK = -2;

    private final Starts starts;

    ComputedValues(final Starts starts)
    {
        this.starts = starts;
    }

    /** @return {@link #OK}, {@link #NO_BLOCK}, or the {@link OperationResult} that the block read leads to. */
    int makeFrom(final Operation op, final int block)
    {
        final int oldLength = BlockDescriptor.valueLength(op.scratch.buffer, block);
        final int oldValue = block + BlockDescriptor.KEY_OFFSET + op.keyLength;
        if (op.kind == OperationKind.INCREMENT)
        {
            return oldLength == Long.BYTES ?
                add(op, op.scratch.buffer.getLong(oldValue, LITTLE_ENDIAN)) : OperationResult.NOT_A_COUNTER;
        }
        if (oldLength + op.suffixLength > BlockDescriptor.MAX_VALUE_BYTES)
        {
            return OperationResult.VALUE_TOO_LONG;
        }
        moveSuffix(op, oldLength);
        op.scratch.buffer.putBytes(valueOf(op), op.scratch.buffer, oldValue, oldLength);
        return starts.fitBlock(op) ? OK : NO_BLOCK;
    }

    /** As {@link #makeFrom} for a key that is absent. */
    int makeFromNothing(final Operation op)
    {
        if (op.kind == OperationKind.INCREMENT)
        {
            return add(op, 0);
        }
        moveSuffix(op, 0);
        return starts.fitBlock(op) ? OK : NO_BLOCK;
    }

    /**
     * Sums exactly: a counter does not wrap. Members of the operation's batch come first, each with a sum of its own;
     * those whose sum would not fit are left out.
     *
     * @return {@link #OK} or COUNTER_OVERFLOW: nothing is left to add.
     */
    int add(final Operation op, final long counter)
    {
        long sum = counter;
        boolean isAnyAdded = false;
        for (Operation member = op.firstMember; member != null; member = member.next)
        {
            sum = addTo(sum, member);
            isAnyAdded |= !member.overflows;
        }
        sum = addTo(sum, op);
        op.scratch.buffer.putLong(valueOf(op), sum, LITTLE_ENDIAN);
        return isAnyAdded || !op.overflows ? OK : OperationResult.COUNTER_OVERFLOW;
    }

    /** @return the sum in the own block of an INCREMENT; 0 for other kinds. */
    long lastSum(final Operation op)
    {
        return op.kind == OperationKind.INCREMENT ? op.scratch.buffer.getLong(valueOf(op), LITTLE_ENDIAN) : 0;
    }

    private static long addTo(final long counter, final Operation op)
    {
        final long sum = counter + op.delta;
        op.overflows = ((counter ^ sum) & (op.delta ^ sum)) < 0;
        op.counter = op.overflows ? 0 : sum;
        return op.overflows ? counter : sum;
    }

    /** As {@link #add} on a cached value: an overflow is not told from that. @return whether it was done. */
    boolean addToCached(final Operation op, final long counter)
    {
        boolean overflows = add(op, counter) != OK || op.overflows;
        for (Operation member = op.firstMember; member != null; member = member.next)
        {
            overflows |= member.overflows;
        }
        return !overflows;
    }

    private static int valueOf(final Operation op)
    {
        return op.ownBlock() + BlockDescriptor.KEY_OFFSET + op.keyLength;
    }

    private static void moveSuffix(final Operation op, final int newStart)
    {
        final int from = valueOf(op) + op.valueLength - op.suffixLength;
        MemorySegment.copy(
            op.scratch.segment, from, op.scratch.segment, valueOf(op) + newStart, op.suffixLength);
        op.valueLength = newStart + op.suffixLength;
    }

    /** @return the class that the own block needs now. */
    static int neededClass(final Operation op)
    {
        return SizeClasses.classFor(BlockDescriptor.recordLength(op.keyLength, op.valueLength));
    }
}
