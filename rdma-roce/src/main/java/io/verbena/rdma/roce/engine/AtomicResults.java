package io.verbena.rdma.roce.engine;

/**
 * Results of a responder's last atomics, as many as a requester may have outstanding: a repeated atomic gets the saved
 * result and is not executed again. Bounded.
 */
final class AtomicResults
{
    private final int[] sequences;
    private final long[] originals;
    private int next;
    private int count;

    AtomicResults(final int capacity)
    {
        sequences = new int[capacity];
        originals = new long[capacity];
    }

    void clear()
    {
        next = 0;
        count = 0;
    }

    void add(final int sequence, final long original)
    {
        sequences[next] = sequence;
        originals[next] = original;
        next = (next + 1) % sequences.length;
        count = Math.min(count + 1, sequences.length);
    }

    /** Index of the newest result of an atomic with this PSN, -1 when it is not there. */
    int find(final int sequence)
    {
        for (int age = 1; age <= count; age++)
        {
            final int index = (next - age + sequences.length) % sequences.length;
            if (sequences[index] == sequence)
            {
                return index;
            }
        }
        return -1;
    }

    /** The value found at an index. */
    long original(final int index)
    {
        return originals[index];
    }
}
