package io.verbena.raas.message;

/** Receive slots with messages that their receiver has not done with; a set of a fixed capacity. */
public final class HeldMessages
{
    private final int[] slots;
    private int count;

    /** @param capacity most slots. */
    public HeldMessages(final int capacity)
    {
        slots = new int[capacity];
    }

    public int size()
    {
        return count;
    }

    public void add(final int slot)
    {
        slots[count++] = slot;
    }

    /** Returns whether it was there. */
    public boolean remove(final int slot)
    {
        for (int i = 0; i < count; i++)
        {
            if (slots[i] == slot)
            {
                slots[i] = slots[--count];
                return true;
            }
        }
        return false;
    }

    /** Removes any of them; there must be one. */
    public int removeAny()
    {
        return slots[--count];
    }

    public void clear()
    {
        count = 0;
    }
}
