package io.verbena.raas.batch;

/** Numbers of batches that wait to be posted, with the identifier of their requests, oldest first; grows as needed. */
public final class WaitingBatches
{
    private static final int FIRST_CAPACITY = 16;

    private int[] numbers = new int[FIRST_CAPACITY];
    private long[] wrIds = new long[FIRST_CAPACITY];
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

    public void add(final int number, final long wrId)
    {
        if (count == numbers.length)
        {
            grow();
        }
        final int index = head + count & numbers.length - 1;
        numbers[index] = number;
        wrIds[index] = wrId;
        count++;
    }

    private void grow()
    {
        final int capacity = numbers.length;
        final int[] newNumbers = new int[2 * capacity];
        final long[] newWrIds = new long[2 * capacity];
        for (int i = 0; i < count; i++)
        {
            newNumbers[i] = numbers[head + i & capacity - 1];
            newWrIds[i] = wrIds[head + i & capacity - 1];
        }
        numbers = newNumbers;
        wrIds = newWrIds;
        head = 0;
    }

    /** The number of one, 0 for the oldest. */
    public int number(final int index)
    {
        return numbers[head + index & numbers.length - 1];
    }

    public long wrId(final int index)
    {
        return wrIds[head + index & wrIds.length - 1];
    }

    public void removeOldest()
    {
        head = head + 1 & numbers.length - 1;
        count--;
    }
}
