package io.verbena.cli.hosts.wire;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Frames that are under way, in the order in which they are due; of those due at once, the first one first. */
final class HeldFrames
{
    private final MemorySegment frames;
    private final int slotBytes;
    private final long[] dueNs;
    private final long[] numbers;
    private final int[] lengths;
    private final int[] ports;
    /** A heap of slots: the first {@link #size} are taken, the others are free. */
    private final int[] heap;
    private int size;
    private long nextNumber;

    /**
     * @param arena     of the frames.
     * @param capacity  most frames at once.
     * @param slotBytes longest frame.
     */
    HeldFrames(final Arena arena, final int capacity, final int slotBytes)
    {
        this.slotBytes = slotBytes;
        frames = arena.allocate((long)capacity * slotBytes, Long.BYTES);
        dueNs = new long[capacity];
        numbers = new long[capacity];
        lengths = new int[capacity];
        ports = new int[capacity];
        heap = new int[capacity];
        for (int i = 0; i < capacity; i++)
        {
            heap[i] = i;
        }
    }

    /** @return whether there was room. */
    boolean add(final MemorySegment frame, final int lengthBytes, final int port, final long frameDueNs)
    {
        if (size == heap.length)
        {
            return false;
        }
        final int slot = heap[size];
        MemorySegment.copy(frame, 0, frames, (long)slot * slotBytes, lengthBytes);
        lengths[slot] = lengthBytes;
        ports[slot] = port;
        dueNs[slot] = frameDueNs;
        numbers[slot] = nextNumber++;
        siftUp(size++);
        return true;
    }

    boolean isEmpty()
    {
        return 0 == size;
    }

    /** @return when the first one is due; there is one. */
    long firstDueNs()
    {
        return dueNs[heap[0]];
    }

    /** @return the first one; valid until another one is added or removed. */
    MemorySegment firstFrame()
    {
        return frames.asSlice((long)heap[0] * slotBytes, lengths[heap[0]]);
    }

    /** @return the port by which the first one leaves. */
    int firstPort()
    {
        return ports[heap[0]];
    }

    void removeFirst()
    {
        swap(0, --size);
        siftDown();
    }

    private void siftUp(final int last)
    {
        int at = last;
        while (at > 0 && isBefore(at, at - 1 >> 1))
        {
            swap(at, at - 1 >> 1);
            at = at - 1 >> 1;
        }
    }

    private void siftDown()
    {
        int at = 0;
        int child = 1;
        while (child < size)
        {
            if (child + 1 < size && isBefore(child + 1, child))
            {
                child++;
            }
            if (!isBefore(child, at))
            {
                return;
            }
            swap(at, child);
            at = child;
            child = 2 * at + 1;
        }
    }

    private boolean isBefore(final int left, final int right)
    {
        final int first = heap[left];
        final int second = heap[right];
        final long aheadNs = dueNs[first] - dueNs[second];
        return aheadNs < 0 || 0 == aheadNs && numbers[first] < numbers[second];
    }

    private void swap(final int left, final int right)
    {
        final int slot = heap[left];
        heap[left] = heap[right];
        heap[right] = slot;
    }
}
