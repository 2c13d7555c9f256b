package io.verbena.table.access;

import io.verbena.rdma.verbs.MemoryRegion;

/**
 * A port to memory that several memory nodes hold at equal offsets. WRITEs go to all of them, READs to the primary, and
 * a compare-and-swap is a round: its result is the expected word if the round was decided for it and is committed, and
 * another word if it was lost, or was over before. What a slot may hold beside the word that counts is claimed,
 * withdrawn, killed and committed by the methods below.
 */
public interface MirroredPort extends GroupPort
{
    /** Stages what puts a tentative word on that of an empty slot, at the head only. */
    void claim(MemoryRegion local, long resultAt, long slotOffset, long empty, long tentative);

    /** Stages what takes the own tentative word back, at the head only. */
    void withdraw(MemoryRegion local, long resultAt, long slotOffset, long tentative, long empty);

    /** Stages a round that replaces a tentative word; the result is that word only if the round is committed. */
    void kill(MemoryRegion local, long resultAt, long slotOffset, long tentative, long emptied);

    /**
     * Stages a round in which the own tentative word stands at the head, and the word that it was put on elsewhere. The
     * result is the tentative word if the round is committed.
     */
    void commit(MemoryRegion local, long resultAt, long slotOffset, long empty, long tentative, long committed);

    /** Stages a READ of a slot at the primary behind the end of whatever round of it is decided and not committed. */
    void settle(MemoryRegion local, long resultAt, long slotOffset);

    /**
     * Stages a round of a bucket header, a link or a predecessor, whose bits say nothing about claims or blocks. Rounds
     * of slots staged behind it in the batch begin when it is over; those of other links do not wait for it.
     */
    void proposeLink(MemoryRegion local, long resultAt, long offset, long expected, long proposed);

    /** As {@link #settle}, of a bucket header, a link or a predecessor. */
    void settleLink(MemoryRegion local, long resultAt, long offset);

    /** @return members of the group: the head is 0, the primary the last one. */
    int memberCount();

    /**
     * Stages a READ at one member. What it brings from another one than the primary may never be reported, nor is
     * anything proposed on it.
     *
     * @param member from 0, the head, to less than {@link #memberCount()}.
     */
    void readAt(int member, MemoryRegion local, long localOffset, int lengthBytes, long remoteOffset);
}
