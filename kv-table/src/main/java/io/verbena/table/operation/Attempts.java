package io.verbena.table.operation;

/**
 * What an engine remembers of its operations whose outcome was reported as unknown: a bounded window, the oldest
 * forgotten first. An operation that is repeated with the same sequence finds here what became of it, or which words
 * could show it.
 * See {@code docs/protocol/retries.md}.
 */
final class Attempts
{
    /** Most attempts remembered. */
    static final int CAPACITY = 256;
    /** Not remembered. */
    static final int NONE = -1;
    /** Its deciding batch is under way still: its completion will tell. */
    static final int PENDING = 1;
    /** It took effect. */
    static final int APPLIED = 2;
    /** It had no effect and will have none. */
    static final int NOT_APPLIED = 3;
    /** The answer was lost with its connection, on which nothing lands any more. */
    static final int LOST = 4;

    private final long[] sequences = new long[CAPACITY];
    private final long[] keyHashes = new long[CAPACITY];
    private final int[] kinds = new int[CAPACITY];
    private final int[] states = new int[CAPACITY];
    private final long[] epochs = new long[CAPACITY];
    private final long[] slotOffsets = new long[CAPACITY];
    private final long[] expectedWords = new long[CAPACITY];
    private final long[] desiredWords = new long[CAPACITY];
    private final long[] versions = new long[CAPACITY];
    private final long[] blockVersions = new long[CAPACITY];
    private final long[] counters = new long[CAPACITY];
    private int next;
    private int lost;

    /**
     * Remembers an operation whose deciding compare-and-swap is posted.
     *
     * @param state {@link #PENDING} or {@link #LOST}.
     */
    void note(final Operation op, final int state)
    {
        note(op, op, state);
    }

    /** As {@link #note} for a member of a batch, which goes with the block and the words of its leader. */
    void noteMember(final Operation member, final Operation leader, final int state)
    {
        note(member, leader, state);
    }

    private void note(final Operation op, final Operation leader, final int state)
    {
        int entry = find(op);
        if (entry == NONE)
        {
            entry = next;
            next = next + 1 & CAPACITY - 1;
            lost -= states[entry] == LOST ? 1 : 0;
            states[entry] = 0;
        }
        sequences[entry] = op.request.sequence;
        keyHashes[entry] = op.request.hash.low();
        kinds[entry] = op.request.kind;
        epochs[entry] = leader.beginEpoch;
        final boolean isCommit = leader.step == Step.COMMIT;
        slotOffsets[entry] = isCommit ? leader.claim.offset : leader.target.offset;
        // Of several copies the one that is read never has a tentative word.
        expectedWords[entry] = !isCommit ? leader.target.word :
            leader.request.link.isMirrored ? leader.claim.base : leader.claim.word;
        desiredWords[entry] = isCommit ? leader.block.word : leader.target.desiredWord;
        versions[entry] = OperationKind.storesValue(op.request.kind) ? op.block.version : op.target.version;
        blockVersions[entry] = op == leader ? 0 : leader.block.version;
        counters[entry] = op.answer.counter;
        state(entry, state);
    }

    /** @return entry of the operation, or {@link #NONE}. */
    int find(final Operation op)
    {
        for (int i = 0; i < CAPACITY; i++)
        {
            if (states[i] != 0 && sequences[i] == op.request.sequence && keyHashes[i] == op.request.hash.low() &&
                kinds[i] == op.request.kind)
            {
                return i;
            }
        }
        return NONE;
    }

    /** Notes what became of an operation that was remembered; a member may have gone with a later batch than noted. */
    void settle(final Operation op, final boolean isApplied)
    {
        final int entry = find(op);
        if (entry != NONE)
        {
            versions[entry] = OperationKind.storesValue(op.request.kind) ? op.block.version : op.target.version;
            counters[entry] = op.answer.counter;
            state(entry, isApplied ? APPLIED : NOT_APPLIED);
        }
    }

    /**
     * Notes that this attempt of all that expected its word took effect: of the others only those that went with the
     * same compare-and-swap did. Nothing follows for them from one that was known before: its completion has reported
     * its words, and those noted here may be of a compare-and-swap before that.
     */
    void applied(final int entry)
    {
        if (states[entry] != LOST)
        {
            return;
        }
        state(entry, APPLIED);
        for (int i = 0; lost > 0 && i < CAPACITY; i++)
        {
            // The marks of two deletes are equal too, but only one of them took effect.
            if (states[i] == LOST && OperationKind.storesValue(kinds[i]) && desiredWords[i] == desiredWords[entry] &&
                slotOffsets[i] == slotOffsets[entry])
            {
                state(i, APPLIED);
            }
        }
        onReplaced(keyHashes[entry], slotOffsets[entry], expectedWords[entry]);
    }

    /** @return of the lost attempts that would have left the same word in the same slot, the one that began first. */
    int firstOfEqual(final int entry)
    {
        int first = entry;
        for (int i = 0; i < CAPACITY; i++)
        {
            if (states[i] == LOST && slotOffsets[i] == slotOffsets[entry] && keyHashes[i] == keyHashes[entry] &&
                desiredWords[i] == desiredWords[entry] && sequences[i] < sequences[first])
            {
                first = i;
            }
        }
        return first;
    }

    /** Notes that this attempt had no effect. */
    void notApplied(final int entry)
    {
        state(entry, NOT_APPLIED);
    }

    /** A compare-and-swap of this engine took this word away: no lost attempt that expected it took effect. */
    void onReplaced(final long keyHash, final long slotOffset, final long word)
    {
        for (int i = 0; lost > 0 && i < CAPACITY; i++)
        {
            if (states[i] == LOST && expectedWords[i] == word && slotOffsets[i] == slotOffset &&
                keyHashes[i] == keyHash)
            {
                state(i, NOT_APPLIED);
            }
        }
    }

    private void state(final int entry, final int newState)
    {
        lost += (newState == LOST ? 1 : 0) - (states[entry] == LOST ? 1 : 0);
        states[entry] = newState;
    }

    int state(final int entry)
    {
        return states[entry];
    }

    long epoch(final int entry)
    {
        return epochs[entry];
    }

    long slotOffset(final int entry)
    {
        return slotOffsets[entry];
    }

    long expectedWord(final int entry)
    {
        return expectedWords[entry];
    }

    long desiredWord(final int entry)
    {
        return desiredWords[entry];
    }

    long version(final int entry)
    {
        return versions[entry];
    }

    /** @return version of the block that an attempt went with as a member; 0 when it went with its own. */
    long blockVersion(final int entry)
    {
        return blockVersions[entry];
    }

    long counter(final int entry)
    {
        return counters[entry];
    }
}
