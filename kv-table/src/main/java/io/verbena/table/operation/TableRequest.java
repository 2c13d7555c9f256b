package io.verbena.table.operation;

import io.verbena.table.access.Scratch;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.expiry.Expiry;
import io.verbena.table.expiry.ExpiryCondition;
import io.verbena.table.format.BlockDescriptor;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * What a caller asks of an engine. Owned by the caller, and filled in anew for one operation after the other: the
 * engine takes what it needs while it begins an operation, and keeps nothing of this. One thread only.
 */
public final class TableRequest
{
    private static final int NO_VALUE = -1;

    int kind;
    OpenTable table;
    private MemorySegment key = MemorySegment.NULL;
    /** Holds the key instead of the segment; or null. */
    private byte[] keyBytes;
    private long keyOffset;
    int keyLength;
    private MemorySegment value = MemorySegment.NULL;
    /** Holds the value instead of the segment; or null. */
    private byte[] valueBytes;
    private long valueOffset;
    private int valueLength;
    long expectedVersion;
    long delta;
    boolean isInDigits;
    long expiry;
    int expiryCondition;
    long deadlineNs;
    long correlationId;

    /**
     * Begins to fill it in: nothing is left of what was asked before.
     *
     * @param newKind          one of {@link OperationKind}.
     * @param newTable         opened by the engine.
     * @param newDeadlineNs    instant of the engine's clock at which the listener hears of the operation at the latest.
     * @param newCorrelationId given back by {@link Operation#correlationId()}.
     */
    public TableRequest of(
        final int newKind, final OpenTable newTable, final long newDeadlineNs, final long newCorrelationId)
    {
        kind = Objects.checkIndex(newKind, OperationKind.COUNT);
        if (table != newTable)
        {
            // A reference is stored only where it changes: see NodeLink for what that saves.
            table = newTable;
        }
        deadlineNs = newDeadlineNs;
        correlationId = newCorrelationId;
        keyBytes = null;
        keyLength = 0;
        valueBytes = null;
        valueLength = NO_VALUE;
        expectedVersion = 0;
        delta = 0;
        isInDigits = false;
        expiry = Expiry.NONE;
        expiryCondition = ExpiryCondition.ALWAYS;
        return this;
    }

    /**
     * @param segment     holds the key, which is copied when the operation begins.
     * @param offset      first byte of the key.
     * @param lengthBytes 1 to 65,536.
     */
    public TableRequest key(final MemorySegment segment, final long offset, final int lengthBytes)
    {
        check("key", segment, offset, lengthBytes, 1, BlockDescriptor.MAX_KEY_BYTES);
        if (key != segment)
        {
            key = segment;
        }
        keyBytes = null;
        keyOffset = offset;
        keyLength = lengthBytes;
        return this;
    }

    /** As {@link #key(MemorySegment, long, int)}, of the first bytes of an array: no object is made for it. */
    public TableRequest key(final byte[] bytes, final int lengthBytes)
    {
        checkLength("key", lengthBytes, 1, BlockDescriptor.MAX_KEY_BYTES);
        Objects.checkFromIndexSize(0, lengthBytes, bytes.length);
        keyBytes = bytes;
        keyLength = lengthBytes;
        return this;
    }

    /** As {@link #key(byte[], int)}, of a whole array. */
    public TableRequest key(final byte[] bytes)
    {
        return key(bytes, bytes.length);
    }

    /**
     * PUT, PUT_IF_ABSENT, PUT_IF_PRESENT, REPLACE: the value; APPEND: what to append.
     *
     * @param segment     holds it; it is copied when the operation begins.
     * @param offset      its first byte.
     * @param lengthBytes 0 to 16,384.
     */
    public TableRequest value(final MemorySegment segment, final long offset, final int lengthBytes)
    {
        check("value", segment, offset, lengthBytes, 0, BlockDescriptor.MAX_VALUE_BYTES);
        if (value != segment)
        {
            value = segment;
        }
        valueBytes = null;
        valueOffset = offset;
        valueLength = lengthBytes;
        return this;
    }

    /** As {@link #value(MemorySegment, long, int)}, of the first bytes of an array: no object is made for it. */
    public TableRequest value(final byte[] bytes, final int lengthBytes)
    {
        checkLength("value", lengthBytes, 0, BlockDescriptor.MAX_VALUE_BYTES);
        Objects.checkFromIndexSize(0, lengthBytes, bytes.length);
        valueBytes = bytes;
        valueLength = lengthBytes;
        return this;
    }

    /** As {@link #value(byte[], int)}, of a whole array. */
    public TableRequest value(final byte[] bytes)
    {
        return value(bytes, bytes.length);
    }

    /** REPLACE, DELETE_VERSION: the version over which to store, or which to remove. Other kinds ignore it. */
    public TableRequest expectedVersion(final long version)
    {
        expectedVersion = version;
        return this;
    }

    /**
     * INCREMENT: what to add, may be negative. The key's value, or 0 if the key is absent, becomes the sum, see
     * {@link Operation#counter()}: a number in decimal digits or one of 8 bytes, little-endian, two's complement, whose
     * form the sum keeps. Other kinds ignore it.
     */
    public TableRequest delta(final long addend)
    {
        delta = addend;
        return this;
    }

    /**
     * For callers to whom numbers are digits. INCREMENT: a new record gets digits instead of 8 bytes, and 8 bytes that
     * no increment wrote are not a number. GET: the value of a counter of 8 bytes is returned in digits. Other kinds
     * ignore it.
     */
    public TableRequest inDigits(final boolean isWanted)
    {
        isInDigits = isWanted;
        return this;
    }

    /**
     * PUT, PUT_IF_ABSENT, PUT_IF_PRESENT, REPLACE, EXPIRE: which deadline the record gets, none if this is not called.
     * INCREMENT and APPEND always keep the one there is.
     *
     * @param word as {@link Expiry} makes it.
     */
    public TableRequest expiry(final long word)
    {
        expiry = Expiry.checked(word);
        return this;
    }

    /** EXPIRE: on which condition, one of {@link ExpiryCondition}; always if this is not called. */
    public TableRequest expiryCondition(final int condition)
    {
        expiryCondition = Objects.checkIndex(condition, ExpiryCondition.COUNT);
        return this;
    }

    /** @return which table is meant. */
    public OpenTable table()
    {
        return table;
    }

    /** @return bytes of the value, 0 of a kind that is given none; an error if the request is not complete. */
    int checkedValueLength()
    {
        if (keyLength == 0 || OperationKind.takesValue(kind) != (valueLength != NO_VALUE))
        {
            throw new IllegalArgumentException(OperationKind.name(kind) + (keyLength == 0 ? " needs a key" :
                valueLength == NO_VALUE ? " needs a value" : " takes no value"));
        }
        if (expiry != Expiry.NONE && !OperationKind.takesExpiry(kind))
        {
            throw new IllegalArgumentException(OperationKind.name(kind) + " takes no expiry");
        }
        return Math.max(0, valueLength);
    }

    void copyKeyTo(final Scratch scratch, final int offset)
    {
        if (null == keyBytes)
        {
            scratch.copyFrom(key, keyOffset, offset, keyLength);
        }
        else
        {
            scratch.copyFrom(keyBytes, offset, keyLength);
        }
    }

    void copyValueTo(final Scratch scratch, final int offset)
    {
        if (null != valueBytes)
        {
            scratch.copyFrom(valueBytes, offset, valueLength);
        }
        else if (NO_VALUE != valueLength)
        {
            scratch.copyFrom(value, valueOffset, offset, valueLength);
        }
    }

    private static void check(
        final String what, final MemorySegment segment, final long offset, final int length, final int least,
        final int most)
    {
        checkLength(what, length, least, most);
        Objects.checkFromIndexSize(offset, length, segment.byteSize());
    }

    private static void checkLength(final String what, final int length, final int least, final int most)
    {
        if (length < least || length > most)
        {
            throw new IllegalArgumentException(what + "Length=" + length + " (" + least + " to " + most + ")");
        }
    }
}
