package io.verbena.rdma.soft.shared;

import io.verbena.rdma.verbs.RdmaException;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;

/**
 * Hands out zeroed parts of an own device file for rings. A part given back is reused for the same length only: rings
 * come in few lengths, all powers of two of slots. Thread-safe.
 */
public final class RingSpace
{
    private static final int COMMIT_BYTES = 1 << 16;
    private static final int ALIGNMENT = 64;

    private final DeviceFile file;
    private final Map<Long, ArrayDeque<Long>> free = new HashMap<>();
    private long topOffset = DeviceFileDescriptor.RINGS_OFFSET;
    private long committedOffset = DeviceFileDescriptor.RINGS_OFFSET;

    public RingSpace(final DeviceFile file)
    {
        this.file = file;
    }

    /**
     * @param lengthBytes 1 or more.
     * @return offset of the part in the file, a multiple of 64, never 0.
     */
    public synchronized long allocate(final long lengthBytes)
    {
        final ArrayDeque<Long> parts = free.get(lengthBytes);
        if (parts != null && !parts.isEmpty())
        {
            final long offset = parts.pop();
            SharedWords.zero(file.base() + offset, lengthBytes);
            return offset;
        }
        final long offset = topOffset;
        final long endOffset = offset + lengthBytes + ALIGNMENT - 1 & -ALIGNMENT;
        if (endOffset > DeviceFileDescriptor.LENGTH)
        {
            throw new RdmaException(
                "too many or too deep queues on one device: need " + lengthBytes + " bytes, left " +
                (DeviceFileDescriptor.LENGTH - offset) + "; close some first");
        }
        if (endOffset > committedOffset)
        {
            final long end = endOffset + COMMIT_BYTES - 1 & -COMMIT_BYTES;
            file.commit(committedOffset, end - committedOffset);
            committedOffset = end;
        }
        topOffset = endOffset;
        return offset;
    }

    /** Takes a part back, when nobody can touch it any more. */
    public synchronized void free(final long offset, final long lengthBytes)
    {
        free.computeIfAbsent(lengthBytes, unused -> new ArrayDeque<>()).push(offset);
    }
}
