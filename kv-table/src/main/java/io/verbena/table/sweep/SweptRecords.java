package io.verbena.table.sweep;

import io.verbena.raas.OneSidedPort;
import io.verbena.table.access.Scratch;
import io.verbena.table.access.SlotRound;
import io.verbena.table.directory.NodeLink;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.PendingRemovals;
import io.verbena.table.format.KeyHash;
import io.verbena.table.operation.PointOperations;

/**
 * Records of one memory node that no operation asked for and that are behind their deadline: the same compare-and-swap
 * takes them away that an operation posts which meets such a record, and leaves the same behind. Owner thread of the
 * engine only; one batch at a time.
 */
public final class SweptRecords
{
    /** Records of one batch. */
    static final int MOST = PendingRemovals.MOST;
    /** Tombstones of earlier removals that a batch clears. */
    private static final int MOST_CLEARED = 32;
    /** Memory for the answers to its compare-and-swaps. */
    static final int RESULT_BYTES = (MOST + 1) * Long.BYTES;

    private final PointOperations operations;
    private final KeyHash[] hashes = new KeyHash[MOST];
    private final long[] slotOffsets = new long[MOST];
    private final long[] words = new long[MOST];
    private OpenTable table;
    private NodeLink link;
    private int count;

    public SweptRecords(final PointOperations operations)
    {
        this.operations = operations;
        for (int i = 0; i < MOST; i++)
        {
            hashes[i] = new KeyHash();
        }
    }

    /** Begins an empty batch of records of one table at one memory node. */
    void begin(final OpenTable ofTable, final NodeLink atNode)
    {
        table = ofTable;
        link = atNode;
        count = 0;
    }

    /** @return records in the batch. */
    int count()
    {
        return count;
    }

    /**
     * Adds a record whose block was read and is what its word published. The caller holds the epoch in which it read
     * the word, until the batch has ended: so the word in the slot cannot be that of another record.
     *
     * @param slotOffset of the word.
     * @param word       committed.
     * @param keyAddress of the key's bytes, read now.
     */
    void add(final long slotOffset, final long word, final long keyAddress, final int keyLengthBytes)
    {
        hashes[count].compute(table.hashFunction, keyAddress, keyLengthBytes);
        slotOffsets[count] = slotOffset;
        words[count] = word;
        count++;
    }

    /** @return whether so many tombstones wait to be cleared that removals should leave no more for now. */
    boolean areTombstonesMany()
    {
        return operations.areTombstonesMany(link);
    }

    /**
     * Stages the compare-and-swaps of the batch, and clears tombstones of earlier ones whose time has come; the answers
     * land from {@code resultsAt} on.
     *
     * @return requests staged, none if there is nothing to do; no more than {@code space}.
     */
    int stage(final OneSidedPort port, final Scratch scratch, final int resultsAt, final int space)
    {
        for (int i = 0; i < count; i++)
        {
            final long tombstone = operations.tombstone(words[i]);
            SlotRound.propose(
                port, scratch.region, resultsAt + i * Long.BYTES, slotOffsets[i], words[i], tombstone);
            link.removals.add(slotOffsets[i], tombstone);
        }
        return count + operations.stageClearing(link, port, scratch, resultsAt + MOST * Long.BYTES,
            Math.min(MOST_CLEARED, space - count));
    }

    /** The batch was answered: what it took away is gone, and the other records were changed by somebody meanwhile. */
    void onSwapped(final Scratch scratch, final int resultsAt)
    {
        for (int i = 0; i < count; i++)
        {
            operations.onSwept(table, link, hashes[i], slotOffsets[i], words[i],
                scratch.word(resultsAt + i * Long.BYTES) == words[i]);
        }
        onNotPosted();
    }

    /** The batch was lost with its connection: which of its records are gone is not known. */
    void onLost()
    {
        for (int i = 0; i < count; i++)
        {
            operations.onSweepLost(words[i]);
        }
        onNotPosted();
    }

    /** Nothing of the batch was posted, or all of it is over. */
    void onNotPosted()
    {
        link.removals.clear();
        count = 0;
    }
}
