package io.verbena.table.operation;

import io.verbena.table.access.EmptiedWords;
import io.verbena.table.access.Scratch;
import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.BlockVersion;
import io.verbena.table.format.CounterValue;
import io.verbena.table.format.SizeClasses;
import io.verbena.table.format.SlotWord;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;

/** Makes own blocks, with versions that are unique for ever, and judges blocks that were read. */
public final class Records
{
    private final UnsafeBuffer buffer;
    private final int writerNumber;
    private final int clientId;
    private final EmptiedWords emptiedWords;
    private long lastIssued;
    public long clockNs;

    Records(final Scratch scratch, final OperationSettings configuration)
    {
        buffer = scratch.buffer;
        writerNumber = configuration.writerNumber();
        clientId = configuration.clientId();
        emptiedWords = new EmptiedWords(writerNumber);
    }

    /**
     * Gives the own block a new version above the one it replaces, and seals it under the word that will publish it.
     * Versions of one life of a key ascend.
     *
     * @param predecessor the word that it will replace, or {@link SlotWord#EMPTY}.
     */
    void seal(final Operation op, final long replacedVersion, final long predecessor)
    {
        for (Operation member = op.combining.firstMember; member != null; member = member.combining.next)
        {
            member.block.version = nextVersion(replacedVersion);
        }
        op.block.version = nextVersion(replacedVersion);
        final int versionBits = BlockVersion.slotBits(op.block.version);
        // The slot may be one of a subtable that is split already, at a depth whose windows begin elsewhere.
        final int window = predecessor == SlotWord.EMPTY ? op.location.window : SlotWord.window(predecessor);
        op.block.word = SlotWord.committed(op.location.fingerprint, window, versionBits, op.block.sizeClass,
            op.block.offset);
        BlockDescriptor.writeHeader(buffer, op.ownBlock(), op.request.table.tableId, op.request.keyLength,
            op.request.valueLength,
            op.block.version, clientId, op.request.sequence, op.request.hash.high(), predecessor,
            op.block.expiryMs, op.block.flags);
        BlockDescriptor.seal(buffer, op.ownBlock(), op.block.word);
        op.block.isWritten = false;
        op.block.sealedOver = predecessor;
    }

    private long nextVersion(final long replacedVersion)
    {
        lastIssued = BlockVersion.next(lastIssued, clockNs, replacedVersion, writerNumber);
        return lastIssued;
    }

    /** @return whether the block read is whole and is what the word published. */
    boolean isValid(final int blockAt, final long word)
    {
        return BlockDescriptor.isValid(
            buffer, blockAt, SizeClasses.lengthBytes(SlotWord.sizeClass(word)), SlotWord.withKind(
                word, SlotWord.KIND_COMMITTED));
    }

    /** @return whether a valid block holds the operation's key, of the operation's table. */
    boolean holdsKey(final Operation op, final int blockAt)
    {
        return BlockDescriptor.keyLength(buffer, blockAt) == op.request.keyLength &&
            BlockDescriptor.tableId(buffer, blockAt) == op.request.table.tableId &&
            bytesEqual(blockAt + BlockDescriptor.KEY_OFFSET, op.ownBlock() + BlockDescriptor.KEY_OFFSET,
            op.request.keyLength);
    }

    long version(final int blockAt)
    {
        return BlockDescriptor.version(buffer, blockAt);
    }

    /** @return from when on the record of a valid block, own or read, is absent; 0: it has no deadline. */
    long expiryMs(final int blockAt)
    {
        return BlockDescriptor.expiryMs(buffer, blockAt);
    }

    /** Notes version, deadline and value of a valid block as the operation's answer. */
    void answerWith(final Operation op, final int blockAt)
    {
        op.answer.version = BlockDescriptor.version(buffer, blockAt);
        op.answer.expiryMs = BlockDescriptor.expiryMs(buffer, blockAt);
        op.answer.valueOffset = blockAt + BlockDescriptor.KEY_OFFSET + op.request.keyLength;
        op.answer.valueLength = op.request.kind == OperationKind.GET ? BlockDescriptor.valueLength(buffer, blockAt) : 0;
        op.answer.isCounter = (flags(blockAt) & BlockDescriptor.FLAG_COUNTER) != 0;
        if (op.answer.isCounter && op.request.isInDigits && op.request.kind == OperationKind.GET)
        {
            // The place of the own block's value is free in a read.
            final int target = op.ownBlock() + BlockDescriptor.KEY_OFFSET + op.request.keyLength;
            final long number = counter(blockAt, CounterValue.BINARY);
            op.answer.valueOffset = target;
            op.answer.valueLength = CounterValue.write(buffer, target, number, CounterValue.DIGITS);
        }
    }

    /** @return whether a valid block was written by an attempt of this operation. */
    boolean isOwnBlockOf(final Operation op, final int blockAt)
    {
        return BlockDescriptor.sequence(buffer, blockAt) == op.request.sequence &&
            BlockDescriptor.clientId(buffer, blockAt) == clientId &&
            BlockVersion.writerNumber(BlockDescriptor.version(buffer, blockAt)) == writerNumber;
    }

    /** @return the word that a valid block replaced. */
    long predecessor(final int blockAt)
    {
        return BlockDescriptor.predecessor(buffer, blockAt);
    }

    /** @return the word that a delete of this engine leaves in the place of another. */
    long tombstone(final long deletedWord)
    {
        return SlotWord.tombstone(writerNumber, deletedWord);
    }

    /** @return the word that this engine leaves in a slot that it empties, another one each time. */
    long emptied()
    {
        return emptiedWords.getAsLong();
    }

    int flags(final int blockAt)
    {
        return BlockDescriptor.flags(buffer, blockAt);
    }

    /** @return in which form the value of a block, own or read, is a number, see {@link CounterValue}. */
    int counterForm(final int blockAt)
    {
        return CounterValue.form(
            buffer, valueOf(blockAt), BlockDescriptor.valueLength(buffer, blockAt), flags(blockAt));
    }

    /** @return the number that the value of a block is, in this form. */
    long counter(final int blockAt, final int form)
    {
        return CounterValue.number(buffer, valueOf(blockAt), BlockDescriptor.valueLength(buffer, blockAt), form);
    }

    private int valueOf(final int blockAt)
    {
        return blockAt + BlockDescriptor.KEY_OFFSET + BlockDescriptor.keyLength(buffer, blockAt);
    }

    boolean bytesEqual(final int left, final int right, final int length)
    {
        // Once, not for each word.
        buffer.boundsCheck(left, length);
        buffer.boundsCheck(right, length);
        final long leftAddress = buffer.addressOffset() + left;
        final long rightAddress = buffer.addressOffset() + right;
        int i = 0;
        for (; i <= length - Long.BYTES; i += Long.BYTES)
        {
            if (UnsafeApi.getLong(leftAddress + i) != UnsafeApi.getLong(rightAddress + i))
            {
                return false;
            }
        }
        for (; i < length; i++)
        {
            if (UnsafeApi.getByte(leftAddress + i) != UnsafeApi.getByte(rightAddress + i))
            {
                return false;
            }
        }
        return true;
    }
}
