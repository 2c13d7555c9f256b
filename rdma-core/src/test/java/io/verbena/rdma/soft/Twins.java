package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.SharedWords;

/** What {@link SteppedLoader} puts in place of the right thing, to see that it is noticed. */
public final class Twins
{
    private Twins()
    {
    }

    /** A compare-and-set that is none. */
    public static boolean compareThenSet(final long address, final long expected, final long desired)
    {
        if (SharedWords.getLongVolatile(address) != expected)
        {
            return false;
        }
        Interleaver.step();
        SharedWords.putLongVolatile(address, desired);
        return true;
    }

    /** A change of some bits that is none of the moment. */
    public static long readThenSet(final long address, final long bits)
    {
        final long word = SharedWords.getLongVolatile(address);
        Interleaver.step();
        SharedWords.putLongVolatile(address, word | bits);
        return word;
    }

    /** Nobody helps. */
    public static boolean leaveAlone(final long address, final long expected, final long desired)
    {
        return false;
    }

    /** An invalidation that waits for nobody. */
    public static long nobodyInside(final SoftConnection connection)
    {
        return 0;
    }

    /** Looks at the key and not at the binding. */
    public static boolean hasSameKey(final SoftPeer.MappedRegion region, final int key)
    {
        return region.isValidAs(key);
    }

    /** What was read of an entry is taken as it is. */
    public static boolean isNeverChanged(final long entry, final int key, final long binding)
    {
        return true;
    }

    /** Nobody looks for what was finished before the end. */
    public static boolean neverReceived(final SoftCompletionQueue queue, final SoftResponder queuePair)
    {
        return false;
    }

    /** Whoever is before it in the queue, all wait for. */
    public static int isEverybody(final long word)
    {
        return 0;
    }

    /** A number is free as soon as its holder is dead. */
    public static boolean holdsNothing(final SoftConnectionListener listener, final int visitor)
    {
        return false;
    }

    /** A requester is never seen inside. */
    public static boolean neverInside(final long sequence)
    {
        return false;
    }
}
