package io.verbena.rdma.spi;

import io.verbena.rdma.verbs.RdmaException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Payloads of INLINE requests, a buffer for each slot of a send queue, taken when a request is staged. */
final class InlineBuffers
{
    private final int maxBytes;
    private final MemorySegment memory;

    /**
     * @param slotCount of the send queue.
     * @param maxBytes  of a payload, 0 or more.
     */
    InlineBuffers(final int slotCount, final int maxBytes)
    {
        this.maxBytes = maxBytes;
        memory = maxBytes == 0 ?
            MemorySegment.NULL : Arena.ofAuto().allocate((long)slotCount * maxBytes, Long.BYTES);
    }

    boolean fits(final int lengthBytes)
    {
        return lengthBytes <= maxBytes;
    }

    void check(final int lengthBytes)
    {
        if (!fits(lengthBytes))
        {
            throw new RdmaException(
                "INLINE payload is longer than the queue pair takes: lengthBytes=" + lengthBytes +
                ", maxInlineBytes=" + maxBytes);
        }
    }

    /** Copies the payload of a request, whose local address is that of its buffer from then on. */
    void take(final WorkRequest request, final int slot, final long source)
    {
        final long buffer = memory.address() + (long)slot * maxBytes;
        RawMemory.write(source, buffer, request.lengthBytes);
        request.localAddress = buffer;
    }

    /** Copies more of a payload that was taken, behind what there is; the request's length is still the old one. */
    static void append(final WorkRequest request, final long source, final int lengthBytes)
    {
        RawMemory.write(source, request.localAddress + request.lengthBytes, lengthBytes);
    }

    MemorySegment payload(final WorkRequest request)
    {
        return memory.asSlice(request.localAddress - memory.address(), request.lengthBytes);
    }
}
