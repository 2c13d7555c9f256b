package io.verbena.raas.completion;

import io.verbena.rdma.verbs.WorkCompletions;

import java.util.Arrays;

/** Completions of receives that were polled and not dispatched yet, oldest first; grows as needed. */
final class PolledReceives
{
    private static final int FIRST_CAPACITY = 64;
    /** No queue pair has it. */
    private static final int NOBODY = -1;

    private long[] wrIds = new long[FIRST_CAPACITY];
    /** Four for each: queue pair, status, length, immediate. */
    private int[] values = new int[4 * FIRST_CAPACITY];
    private int head;
    private int tail;

    boolean isEmpty()
    {
        return head == tail;
    }

    void add(final WorkCompletions from, final int index)
    {
        if (tail == wrIds.length)
        {
            wrIds = Arrays.copyOf(wrIds, 2 * tail);
            values = Arrays.copyOf(values, 2 * values.length);
        }
        wrIds[tail] = from.wrId(index);
        values[4 * tail] = from.queuePairNumber(index);
        values[4 * tail + 1] = from.status(index);
        values[4 * tail + 2] = from.byteLength(index);
        values[4 * tail + 3] = from.immediate(index);
        tail++;
    }

    /** A queue pair is gone: its number may be another one's soon. */
    void forget(final int queuePairNumber)
    {
        for (int i = head; i < tail; i++)
        {
            if (values[4 * i] == queuePairNumber)
            {
                values[4 * i] = NOBODY;
            }
        }
    }

    long wrId()
    {
        return wrIds[head];
    }

    int queuePairNumber()
    {
        return values[4 * head];
    }

    int status()
    {
        return values[4 * head + 1];
    }

    int byteLength()
    {
        return values[4 * head + 2];
    }

    int immediate()
    {
        return values[4 * head + 3];
    }

    void removeOldest()
    {
        head++;
        if (head == tail)
        {
            head = 0;
            tail = 0;
        }
    }
}
