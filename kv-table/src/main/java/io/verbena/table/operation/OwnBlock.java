package io.verbena.table.operation;

/** The block that an operation writes, and what it waits for when there is none. */
final class OwnBlock
{
    int sizeClass;
    /** In the region of its memory node; 0 if it has none. */
    long offset;
    boolean isWritten;
    /** The word that it was sealed to replace. */
    long sealedOver;
    long version;
    /** From when on its record is absent; 0: it has no deadline. */
    long expiryMs;
    /** The word that publishes it. */
    long word;
    long refusalsSeen;
    boolean wantsMemory;
    /** APPEND: a block of this class was found to be needed, and was not there. */
    boolean isNeeded;

    void reset()
    {
        offset = 0;
        isWritten = false;
        version = 0;
        word = 0;
        wantsMemory = false;
        isNeeded = false;
    }
}
