package io.verbena.table.directory;

/** Slots of one memory node whose words a sweep is swapping for tombstones. Owner thread of the engine only. */
public final class PendingRemovals
{
    /** Most at a time. */
    public static final int MOST = 32;

    private final long[] slotOffsets = new long[MOST];
    private final long[] tombstones = new long[MOST];
    private int count;

    /** A compare-and-swap of a slot is posted that will leave a tombstone. */
    public void add(final long slotOffset, final long tombstone)
    {
        slotOffsets[count] = slotOffset;
        tombstones[count++] = tombstone;
    }

    /** All were answered, or lost with their connection. */
    public void clear()
    {
        count = 0;
    }

    /** @return whether a compare-and-swap that would leave this word is under way. */
    public boolean contains(final long slotOffset, final long tombstone)
    {
        for (int i = 0; i < count; i++)
        {
            if (slotOffsets[i] == slotOffset && tombstones[i] == tombstone)
            {
                return true;
            }
        }
        return false;
    }
}
