package io.verbena.raas.completion;

/** Batches that have ended, whose listeners were not called yet, oldest first; grows as needed. */
public final class EndedBatches
{
    private static final int FIRST_CAPACITY = 64;

    private long[] wrIds = new long[FIRST_CAPACITY];
    private int[] statuses = new int[FIRST_CAPACITY];
    private int head;
    private int count;

    public boolean isEmpty()
    {
        return count == 0;
    }

    public int size()
    {
        return count;
    }

    public void add(final long wrId, final int status)
    {
        if (count == wrIds.length)
        {
            grow();
        }
        final int index = head + count & wrIds.length - 1;
        wrIds[index] = wrId;
        statuses[index] = status;
        count++;
    }

    private void grow()
    {
        final int capacity = wrIds.length;
        final long[] newWrIds = new long[2 * capacity];
        final int[] newStatuses = new int[2 * capacity];
        for (int i = 0; i < count; i++)
        {
            newWrIds[i] = wrIds[head + i & capacity - 1];
            newStatuses[i] = statuses[head + i & capacity - 1];
        }
        wrIds = newWrIds;
        statuses = newStatuses;
        head = 0;
    }

    public long oldestWrId()
    {
        return wrIds[head];
    }

    public int oldestStatus()
    {
        return statuses[head];
    }

    public void removeOldest()
    {
        head = head + 1 & wrIds.length - 1;
        count--;
    }
}
