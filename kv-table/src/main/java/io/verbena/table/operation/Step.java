package io.verbena.table.operation;

/**
 * A step of the protocol: what its batch asks for, and how an operation goes on from the answer. Made once for an
 * engine; operations know where they stand by its number, the batch that is posted next or is under way.
 */
public final class Step
{
    /** What is done in a step. */
    interface Action
    {
        void run(Operation op);
    }

    /** How the answer is taken that comes when the operation was reported already. */
    interface Settling
    {
        /** @return whether the operation took effect. */
        boolean run(Operation op);
    }

    public static final int FREE = 0;
    /** Nothing posted yet: needs a block, then chooses a path. */
    public static final int START = 1;
    /** READ cached block, then its slot. */
    static final int CACHED_READ = 2;
    /** READ the block that the slot names by now. */
    static final int FOLLOW = 3;
    /** WRITE own block (once) and READ both combined buckets. */
    static final int LOOK = 4;
    /** READ blocks whose slot words carry the fingerprint. */
    static final int MATCH = 5;
    /** The compare-and-swap that updates or deletes. */
    static final int SWAP = 6;
    /** Place a tentative word, then READ both combined buckets again. */
    static final int CLAIM = 7;
    /** Kill rival tentative words. */
    static final int KILL = 8;
    /** The compare-and-swap that commits an insert. */
    static final int COMMIT = 9;
    /** Take the own tentative word back, then go on as noted. */
    static final int WITHDRAW = 10;
    /** Kill a tentative word because the pair is full. */
    static final int MAKE_ROOM = 11;
    /** READ the slot that an earlier attempt worked on. */
    static final int RESOLVE = 12;
    /** READ a block that may be the earlier attempt's, or came after it. */
    static final int RESOLVE_BLOCK = 13;
    /** Waits for another writer of its key, or goes with it: posts nothing itself. */
    public static final int COMBINED = 14;
    /** READ the slot of a write-hot key, or of one that was lost to another writer. */
    static final int SLOT_READ = 15;
    /** READ both combined buckets, and those that their slots come from. */
    static final int PEEK = 16;
    /** Freeze slots of the subtable that is split. */
    static final int FREEZE = 17;
    /** READ hashes from blocks, where their words need another window. */
    static final int READ_HASHES = 18;
    /** Initialise slots of the subtable that is made by a split. */
    static final int MOVE = 19;
    /** READ the bucket where the key was some epochs ago, then the block that it had there. */
    static final int HINTED_READ = 20;
    /** READ, freeze or initialise a group of subtables that are merged. */
    static final int UNIT = 21;

    /** The compare-and-swap that takes away a record whose deadline has passed; decides no operation. */
    static final int REMOVE = 22;

    /** Finish rounds of others beside the own claim, where there are several copies. */
    static final int SETTLE = 23;

    static final int COUNT = 24;

    private static final String[] NAMES = {
        "free", "start", "cached_read", "follow", "look", "match", "swap", "claim", "kill", "commit", "withdraw",
        "make_room", "resolve", "resolve_block", "combined", "slot_read", "peek", "freeze", "read_hashes", "move",
        "hinted_read", "unit", "remove", "settle" };

    private final Action stage;
    private final Action onComplete;
    private final Settling settle;

    /** A step that leaves nothing to be settled. */
    Step(final Action stage, final Action onComplete)
    {
        this(stage, onComplete, op -> false);
    }

    Step(final Action stage, final Action onComplete, final Settling settle)
    {
        this.stage = stage;
        this.onComplete = onComplete;
        this.settle = settle;
    }

    void stage(final Operation op)
    {
        stage.run(op);
    }

    void onComplete(final Operation op)
    {
        onComplete.run(op);
    }

    /** Takes the answer for an operation that was reported while it was under way. @return whether it took effect. */
    boolean settle(final Operation op)
    {
        return settle.run(op);
    }

    /**
     * @return whether a batch of this step can change what others see, so that losing it leaves the outcome unknown.
     */
    public static boolean isDecisive(final int step)
    {
        return step == SWAP || step == COMMIT;
    }

    /** @return whether a batch of this step may take a committed word away. */
    static boolean removesWord(final int step)
    {
        return step == SWAP || step == REMOVE;
    }

    /**
     * @param step number of a step.
     * @return its name, as traces show it.
     */
    public static String name(final int step)
    {
        return NAMES[step];
    }
}
