package io.verbena.table.operation;

import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.CounterValue;
import io.verbena.table.format.SizeClasses;
import java.lang.foreign.MemorySegment;

/**
 * Values that depend on the one before: the sum of an increment, the longer value of an append. They are made in the
 * own block, anew whenever the word to be replaced is another one.
 */
final class ComputedValues
{
    /** The value stands in the own block. */
    static final int OK = -1;
    /** There is no block for it; the length of the value says which class is needed. */
    static final int NO_BLOCK = -2;

    private final OwnBlocks blocks;

    ComputedValues(final OwnBlocks blocks)
    {
        this.blocks = blocks;
    }

    /** @return {@link #OK}, {@link #NO_BLOCK}, or the {@link OperationResult} that the block read leads to. */
    int makeFrom(final Operation op, final int block)
    {
        final int oldLength = BlockDescriptor.valueLength(op.scratch.buffer, block);
        final int flags = BlockDescriptor.flags(op.scratch.buffer, block);
        final int oldValue = block + BlockDescriptor.KEY_OFFSET + op.request.keyLength;
        if (op.request.kind == OperationKind.INCREMENT)
        {
            final int form = CounterValue.form(op.scratch.buffer, oldValue, oldLength, flags);
            return isCounter(op, form) ? add(op, CounterValue.number(op.scratch.buffer, oldValue, oldLength, form),
                form) : OperationResult.NOT_A_COUNTER;
        }
        return append(op, oldValue, oldLength, flags);
    }

    /** Whoever has digits takes 8 bytes for a number only where an increment wrote them. */
    private static boolean isCounter(final Operation op, final int form)
    {
        return form != CounterValue.NONE && (form != CounterValue.BYTES || !op.request.isInDigits);
    }

    /** As {@link #makeFrom} for a key that is absent. */
    int makeFromNothing(final Operation op)
    {
        return op.request.kind == OperationKind.INCREMENT ?
            add(op, 0, op.request.isInDigits ? CounterValue.DIGITS : CounterValue.BINARY) :
            append(op, valueOf(op), 0, 0);
    }

    /** @return whether an APPEND may lead a batch: there is room for its own bytes behind the longest value. */
    static boolean keepsSuffix(final Operation op)
    {
        return BlockDescriptor.KEY_OFFSET + op.request.keyLength + 2 * BlockDescriptor.MAX_VALUE_BYTES <=
            SizeClasses.MAX_BLOCK_BYTES;
    }

    /**
     * What members append comes first, in their order; what does not fit is left out. The operation's own bytes stand
     * last, or behind the longest value that there can be while they are left out.
     */
    private int append(final Operation op, final int oldValue, final int oldLength, final int oldFlags)
    {
        final int ownFrom = suffixOf(op);
        int length = oldLength;
        boolean isAnyTaken = false;
        for (Operation member = op.combining.firstMember; member != null; member = member.combining.next)
        {
            length = extend(length, member);
            isAnyTaken |= !member.combining.overflows;
        }
        final int ownAt = length;
        length = extend(length, op);
        if (!isAnyTaken && op.combining.overflows)
        {
            return OperationResult.VALUE_TOO_LONG;
        }
        // First, for the others may come to stand where it is.
        MemorySegment.copy(op.scratch.segment, ownFrom, op.scratch.segment,
            valueOf(op) + (op.combining.overflows ? BlockDescriptor.MAX_VALUE_BYTES : ownAt), op.request.suffixLength);
        op.scratch.buffer.putBytes(valueOf(op), op.scratch.buffer, oldValue, oldLength);
        int at = valueOf(op) + oldLength;
        for (Operation member = op.combining.firstMember; member != null; member = member.combining.next)
        {
            if (!member.combining.overflows)
            {
                op.scratch.buffer.putBytes(at, op.scratch.buffer, suffixOf(member), member.request.suffixLength);
                at += member.request.suffixLength;
            }
        }
        op.request.valueLength = length;
        // With more behind it, it is a counter no more.
        op.block.flags = length == oldLength ? oldFlags : 0;
        return blocks.fit(op, neededClass(op)) ? OK : NO_BLOCK;
    }

    /** @return the length with what an operation appends, or without where that is too long. */
    private static int extend(final int length, final Operation op)
    {
        op.combining.overflows = length + op.request.suffixLength > BlockDescriptor.MAX_VALUE_BYTES;
        return op.combining.overflows ? length : length + op.request.suffixLength;
    }

    private static int suffixOf(final Operation op)
    {
        return valueOf(op) + (op.combining.overflows ? BlockDescriptor.MAX_VALUE_BYTES : op.request.valueLength -
            op.request.suffixLength);
    }

    /**
     * Sums exactly: a counter does not wrap. Members of the operation's batch come first, each with a sum of its own;
     * those whose sum would not fit are left out. Digits stay digits; any other number becomes a counter of 8 bytes.
     *
     * @return {@link #OK}, {@link #NO_BLOCK}, or COUNTER_OVERFLOW: nothing is left to add.
     */
    private int add(final Operation op, final long counter, final int form)
    {
        long sum = counter;
        boolean isAnyAdded = false;
        for (Operation member = op.combining.firstMember; member != null; member = member.combining.next)
        {
            sum = addTo(sum, member);
            isAnyAdded |= !member.combining.overflows;
        }
        sum = addTo(sum, op);
        if (!isAnyAdded && op.combining.overflows)
        {
            return OperationResult.COUNTER_OVERFLOW;
        }
        final int newForm = form == CounterValue.DIGITS ? CounterValue.DIGITS : CounterValue.BINARY;
        op.request.valueLength = CounterValue.write(op.scratch.buffer, valueOf(op), sum, newForm);
        op.block.flags = CounterValue.flags(newForm);
        op.block.sum = sum;
        return blocks.fit(op, neededClass(op)) ? OK : NO_BLOCK;
    }

    /** @return what tells values apart that are made from nothing: the sum of an INCREMENT, the length of an APPEND. */
    long lastMade(final Operation op)
    {
        return op.request.kind == OperationKind.INCREMENT ? op.block.sum : op.request.valueLength;
    }

    /** @return what one is told that its batch goes without. */
    static int resultOfLeftOut(final int kind)
    {
        return kind == OperationKind.APPEND ? OperationResult.VALUE_TOO_LONG : OperationResult.COUNTER_OVERFLOW;
    }

    private static long addTo(final long counter, final Operation op)
    {
        final long sum = counter + op.request.delta;
        op.combining.overflows = ((counter ^ sum) & (op.request.delta ^ sum)) < 0;
        op.answer.counter = op.combining.overflows ? 0 : sum;
        return op.combining.overflows ? counter : sum;
    }

    /** As {@link #add} on a cached value: an overflow is not told from that. @return whether it was done. */
    boolean addToCached(final Operation op, final long counter, final int form)
    {
        boolean overflows = !isCounter(op, form) || add(op, counter, form) != OK || op.combining.overflows;
        for (Operation member = op.combining.firstMember; member != null; member = member.combining.next)
        {
            overflows |= member.combining.overflows;
        }
        return !overflows;
    }

    private static int valueOf(final Operation op)
    {
        return op.ownBlock() + BlockDescriptor.KEY_OFFSET + op.request.keyLength;
    }

    /** @return the class that the own block needs now. */
    private static int neededClass(final Operation op)
    {
        return SizeClasses.classFor(BlockDescriptor.recordLength(op.request.keyLength, op.request.valueLength));
    }
}
