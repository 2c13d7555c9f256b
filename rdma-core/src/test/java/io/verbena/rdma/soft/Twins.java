package io.verbena.rdma.soft;

/** What {@link SteppedLoader} puts in place of the right thing, to see that it is noticed. */
final class Twins
{
    private Twins()
    {
    }

    /** A compare-and-set that is none. */
    static boolean compareThenSet(final long address, final long expected, final long desired)
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
    static long readThenSet(final long address, final long bits)
    {
        final long word = SharedWords.getLongVolatile(address);
        Interleaver.step();
        SharedWords.putLongVolatile(address, word | bits);
        return word;
    }

    /** Nobody helps. */
    static boolean leaveAlone(final long address, final long expected, final long desired)
    {
        return false;
    }

    /** An invalidation that waits for nobody. */
    static long nobodyInside(final SoftQueuePair queuePair)
    {
        return 0;
    }

    /** Looks at the key and not at the binding. */
    static boolean hasSameKey(final SoftPeer.MappedRegion region, final int key)
    {
        return region.isValidAs(key);
    }

    /** What was read of an entry is taken as it is. */
    static boolean isNeverChanged(final long entry, final int key, final long binding)
    {
        return true;
    }

    /** Nobody looks for what was finished before the end. */
    static boolean neverReceived(final SoftCompletionQueue queue, final SoftResponder queuePair)
    {
        return false;
    }

    /** Whoever is before it in the queue, all wait for. */
    static int isEverybody(final long word)
    {
        return 0;
    }

    /** A number is free as soon as its holder is dead. */
    static boolean holdsNothing(final SoftConnectionListener listener, final int visitor)
    {
        return false;
    }

    /** A requester is never seen inside. */
    static boolean neverInside(final long sequence)
    {
        return false;
    }
}
