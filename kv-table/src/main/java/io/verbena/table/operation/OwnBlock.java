package io.verbena.table.operation;

/** The block that an operation writes, and what it waits for when there is none. */
final class OwnBlock
{
    int sizeClass;
    /** In the region of its memory node; 0 if it has none. */
    long offset;
    boolean isWritten;
    /** Whether a word that names it was proposed for a slot of which there are several copies. */
    boolean isProposed;
    /** The word that it was sealed to replace. */
    long sealedOver;
    long version;
    /** From when on its record is absent; 0: it has no deadline. */
    long expiryMs;
    /** What its header says of the value, see {@link io.verbena.table.format.BlockDescriptor#FLAG_COUNTER}. */
    int flags;
    /** INCREMENT: the sum that is the value. */
    long sum;
    /** The word that publishes it. */
    long word;
    long refusalsSeen;
    boolean wantsMemory;
    /** A value that depends on the one before: a block of this class was found to be needed, and was not there. */
    boolean isNeeded;

    void reset()
    {
        offset = 0;
        isWritten = false;
        isProposed = false;
        version = 0;
        word = 0;
        flags = 0;
        sum = 0;
        wantsMemory = false;
        isNeeded = false;
    }
}
