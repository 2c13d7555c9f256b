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

    /** Nobody helps. */
    static boolean leaveAlone(final long address, final long expected, final long desired)
    {
        return false;
    }

    /** Nobody looks for what was finished before the end. */
    static boolean neverReceived(final SoftCompletionQueue queue, final SoftQueuePair queuePair)
    {
        return false;
    }
}
