package io.verbena.table.mirror;

import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.table.format.SlotWord;

/** A request of a batch to a mirror group: one READ or WRITE, or the round of a slot. Used again and again. */
final class MirrorRequest
{
    static final int READ = 0;
    static final int WRITE = 1;
    static final int PROPOSE = 2;
    static final int CLAIM = 3;
    static final int KILL = 4;
    static final int SETTLE = 5;

    /** Nothing posted yet. */
    static final int START = 0;
    /** Head and middle are swapped at once. */
    static final int DECIDE = 1;
    /** Only the head is swapped. */
    static final int DECIDE_AT_HEAD = 2;
    /** READ the primary, which shows whether the round is over. */
    static final int CHECK = 3;
    /** READ the block of a decision that somebody else made. */
    static final int FETCH = 4;
    /** The middle is made to agree. */
    static final int REPAIR = 5;
    /** The primary is swapped: the round is over then. */
    static final int PUBLISH = 6;
    /** READ head and middle, behind the READ of the primary. */
    static final int COMPARE = 7;
    static final int DONE = 8;

    final int number;
    int kind;
    int step;
    MemoryRegion local;
    long localOffset;
    int lengthBytes;
    long offset;
    boolean isFenced;
    /** Of a READ: the member that it goes to. */
    int member;
    /** Whether its bits say what a slot holds; those of headers and links say where subtables are. */
    boolean isSlot;
    /** Whether it is part of the step that is under way. */
    boolean isPosted;
    /** What the caller expects, the word that counts when the round begins, and the word proposed. */
    long expected;
    long base;
    long proposed;
    /** What the head is to hold, and what it was found to hold. */
    long atHead;
    long atMiddle;
    boolean hasWon;
    long decision;
    /** Whether the block of somebody else's decision is in the port's memory, to be written before each swap. */
    boolean holdsBlock;

    MirrorRequest(final int number)
    {
        this.number = number;
    }

    void reset(final int newKind, final MemoryRegion newLocal, final long newLocalOffset, final long newOffset)
    {
        kind = newKind;
        step = START;
        local = newLocal;
        localOffset = newLocalOffset;
        offset = newOffset;
        lengthBytes = Long.BYTES;
        isFenced = false;
        isSlot = true;
        isPosted = false;
        hasWon = false;
        holdsBlock = false;
    }

    /** @param newExpected at the head. */
    void round(final long newExpected, final long newBase, final long newProposed)
    {
        expected = newExpected;
        atHead = newExpected;
        base = newBase;
        proposed = newProposed;
        decision = newProposed;
    }

    boolean isRound()
    {
        return kind >= PROPOSE;
    }

    /** @return whether what is under way, or posted next, is the last that it does to the member that others read. */
    boolean isLast()
    {
        return step == DONE || step == PUBLISH || kind == CLAIM;
    }

    /** @return whether what the head holds decides nothing: a claim of an insert on the word that counts. */
    boolean isClaimed(final long word)
    {
        return isOfSlot() && SlotWord.isEmpty(base) && SlotWord.isTentative(word);
    }

    /** @return whether it proposes a link that is not committed yet. */
    boolean isLinkUnderWay()
    {
        return kind == PROPOSE && !isSlot && step != DONE;
    }

    /** @return whether what is decided names a block that the other members may not have yet. */
    boolean namesBlock()
    {
        return isOfSlot() && SlotWord.isCommitted(decision);
    }

    private boolean isOfSlot()
    {
        return isSlot;
    }

    @Override
    public String toString()
    {
        return "MirrorRequest{kind=" + kind + " step=" + step + " offset=" + offset + " base=" +
            SlotWord.toString(base) + " proposed=" + SlotWord.toString(proposed) + " hasWon=" + hasWon + '}';
    }
}
