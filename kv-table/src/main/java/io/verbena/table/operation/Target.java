package io.verbena.table.operation;

/** The slot that an operation reads, updates or deletes, and the word that it expects there. */
final class Target
{
    boolean isCached;
    /** Of the location cache, where the target was found. */
    long cacheEntry;
    /** What the location cache knows of a write-hot key, and was not used; 0 if nothing. */
    long bypassedWord;
    /** To be initialised with its word before that is swapped: its slot was not moved yet. */
    boolean isToMove;
    /** A record was found whose deadline has passed, in a slot that has to be moved before it can be changed. */
    boolean isExpired;
    long offset;
    long word;
    long version;
    long desiredWord;

    void reset()
    {
        isToMove = false;
        isCached = false;
        isExpired = false;
        version = 0;
        bypassedWord = 0;
    }
}
