package io.verbena.table.moving;

/** Requests of one batch that moves slots, their memory and their results. */
public interface MoveRequests
{
    /** @return whether one more can be posted. */
    boolean hasRoom();

    /** Stages a READ. */
    void read(int at, int lengthBytes, long offset);

    /** Stages a compare-and-swap that concerns the item given. */
    void swap(int item, long offset, long expected, long desired);

    /** As {@link #swap}, of a bucket header, a link or a predecessor. */
    void swapLink(int item, long offset, long expected, long desired);

    /** @return how many swaps were posted. */
    int posted();

    /** @return what the numbered swap concerned. */
    int item(int number);

    /** @return the word that it found. */
    long result(int number);

    /** @return a word of the memory. */
    long word(int at);

    /** Sets a word of the memory. */
    void word(int at, long word);
}
