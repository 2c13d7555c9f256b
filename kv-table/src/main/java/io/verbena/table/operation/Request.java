package io.verbena.table.operation;

import io.verbena.table.directory.NodeLink;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.KeyHash;

/** What an operation was asked to do; its key stands in its own block. Owned by the operation. */
final class Request
{
    /** Of the key. */
    final KeyHash hash = new KeyHash();
    /** One of {@link OperationKind}. */
    int kind;
    OpenTable table;
    /** To the memory node of the key. */
    NodeLink link;
    int keyLength;
    int valueLength;
    /** APPEND: the bytes to append, the last ones of the own block's value, or behind it: {@link ComputedValues}. */
    int suffixLength;
    /** INCREMENT: what to add. */
    long delta;
    /** INCREMENT: what it makes from nothing is written in digits. GET: a counter is returned in digits. */
    boolean isInDigits;
    long expectedVersion;
    /** Which deadline the record gets, see {@link io.verbena.table.expiry.Expiry}; a time from now on is resolved. */
    long expiry;
    /** EXPIRE: one of {@link io.verbena.table.expiry.ExpiryCondition}. */
    int expiryCondition;
    long deadlineNs;
    long correlationId;
    long sequence;

    /** Stored only where it changes: see {@link NodeLink} for what that saves. */
    void takeTable(final OpenTable newTable)
    {
        if (table != newTable)
        {
            table = newTable;
        }
    }

    /** As {@link #takeTable}. */
    void takeLink(final NodeLink newLink)
    {
        if (link != newLink)
        {
            link = newLink;
        }
    }

    /** @return index in the directory of the deepest subtable of the key that is known. */
    int directoryEntry()
    {
        return KeyHash.suffix(hash.high(), table.directory.depth());
    }

    /** @return whether a slot lies in the deepest subtable of the key that is known. */
    boolean isInPresentSubtable(final long slotOffset)
    {
        return isInPresentSubtable(table, hash, slotOffset);
    }

    static boolean isInPresentSubtable(final OpenTable table, final KeyHash hash, final long slotOffset)
    {
        final int entry = KeyHash.suffix(hash.high(), table.directory.depth());
        final long inSubtable = slotOffset - table.directory.groupsOffset(entry);
        return inSubtable >= 0 && inSubtable < (long)table.groupCount * BucketDescriptor.GROUP_BYTES;
    }
}
