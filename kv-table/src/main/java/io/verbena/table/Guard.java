package io.verbena.table;

/** Protocol steps that mutation checks may leave out, one bit each; production never sets any. */
final class Guard
{
    /** The re-read after a tentative word was placed. */
    static final int RE_READ = 1;
    /** The slot READ of a cached GET. */
    static final int SLOT_READ = 1 << 1;
    /** Waiting for the epoch before a retired block is used again. */
    static final int QUARANTINE = 1 << 2;
    /** Comparing keys of blocks found by fingerprint. */
    static final int KEY_CHECK = 1 << 3;
    /** A kill that neither succeeds nor finds 0 means withdraw. */
    static final int FAILED_KILL = 1 << 4;
    /** Waiting for the commit before an insert is acknowledged. */
    static final int COMMIT = 1 << 5;
    /** The WRITE of the block stands before the CAS that publishes it. */
    static final int WRITE_BEFORE_CAS = 1 << 6;
    /** Killing rival tentative words at higher slots. */
    static final int KILL = 1 << 7;
    /** Never taking the word that a lost CAS returned as the next expected value. */
    static final int NEVER_RETURNED_WORD = 1 << 8;
    /** Killing a tentative word that is seen again. */
    static final int KILL_SEEN_AGAIN = 1 << 9;
    /** Killing a tentative word when the pair is full. */
    static final int KILL_WHEN_FULL = 1 << 10;
    /** Dropping cached locations of earlier epochs. */
    static final int CACHE_EPOCH = 1 << 11;
    /** Version bits in the slot word. */
    static final int VERSION_BITS = 1 << 12;
    /** Versions unique for ever, instead of starting at 1 with each life of a key. */
    static final int UNIQUE_VERSIONS = 1 << 13;
    /** No answer "absent" and no insert while a frozen or uninitialised word is seen. */
    static final int RESTRUCTURING = 1 << 14;
    /** The fence between a tentative CAS and the re-read, on devices that need it. */
    static final int FENCE = 1 << 15;
    /** An operation that waits for memory does not hold up the epoch. */
    static final int WAIT_OUTSIDE_EPOCH = 1 << 16;
    /** A repeated operation looks for the effect of its first attempt before it goes on. */
    static final int REPEAT_LOOKS = 1 << 17;
    /** A delete leaves a word that names the last block and itself. */
    static final int TOMBSTONE = 1 << 18;
    /** An attempt whose answer was lost did not take away a word that another one of its engine took away. */
    static final int ONE_TAKER = 1 << 19;
    /** A scan belongs to the epoch in which its stretch began. */
    static final int SCAN_IN_EPOCH = 1 << 20;
    /** A scan reads a slot again whose block is not what its word published. */
    static final int SCAN_LOOKS_AGAIN = 1 << 21;
    /** An insert places a word that readers take for absent until it has looked for rivals. */
    static final int TENTATIVE = 1 << 22;
    /** A split freezes empty slots too. */
    static final int FREEZE_EMPTY = 1 << 23;
    /** A split kills tentative words, instead of moving them as if they were committed. */
    static final int FREEZE_KILLS = 1 << 24;
    /** A frozen word is never taken for the value of its key. */
    static final int FROZEN_IS_NO_VALUE = 1 << 25;
    /** A slot's word is moved to the same slot. */
    static final int SAME_SLOT = 1 << 26;
    /** The link stands in a bucket before its first slot is frozen. */
    static final int LINK_FIRST = 1 << 27;
    /** A subtable with slots that are not initialised is not split. */
    static final int WHOLE_BEFORE_SPLIT = 1 << 28;
    /** Slots of a new subtable are formatted as not initialised, instead of empty. */
    static final int UNINITIALISED = 1 << 29;
    /** Whoever moves a word lets its window begin where the new depth needs it. */
    static final int RENEW_WINDOW = 1 << 30;
    /** The bucket of a hinted location is read before the block. */
    static final int BUCKET_BEFORE_BLOCK = 1 << 31;

    private Guard()
    {
    }
}
