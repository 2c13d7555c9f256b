package io.verbena.memory;

/**
 * Steps of adoption, restoration and checkpoints that mutation checks may leave out, one bit each; production never
 * sets any. What each is for stands in {@code docs/protocol/durability.md}.
 */
final class DurabilityGuard
{
    /** The superblock is written when everything is restored. */
    static final int SUPERBLOCK_LAST = 1;
    /** Chunks of nodes that ended while this one was away are orphans. */
    static final int ORPHAN_UNLESS = 1 << 1;
    /** The superblock is written before the folder has the node's id. */
    static final int SUPERBLOCK_FIRST = 1 << 2;
    /** Memory that was found again or restored is walked before anybody is let in. */
    static final int WALK = 1 << 3;
    /** A checkpoint says what it is of when everything of it is written. */
    static final int STATE_LAST = 1 << 4;
    /** A checkpoint takes a block only when its checksum fits its word, and the word still stands. */
    static final int WHOLE_BLOCK = 1 << 5;
    /** Who restores a checkpoint registers before it asks for the tables. */
    static final int CLAIM = 1 << 6;
    /** A checkpoint follows a frozen word to the slot that took its place. */
    static final int FOLLOW_FROZEN = 1 << 7;
    /** A checkpoint looks again at indexes that became another, or whole, since it looked. */
    static final int LOOK_AGAIN = 1 << 8;
    /** A checkpoint removes what may have moved elsewhere when everything else of it is written. */
    static final int REMOVE_LAST = 1 << 9;
    /** Memory of an earlier incarnation than the folder's is not the node's any more. */
    static final int OUTDATED = 1 << 10;

    private DurabilityGuard()
    {
    }
}
