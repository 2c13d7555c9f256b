package io.verbena.rdma.sim.device;

import io.verbena.rdma.sim.schedule.SimDecision;
import io.verbena.rdma.sim.schedule.SimDecisions;
import io.verbena.rdma.sim.schedule.SimTrace;
import io.verbena.rdma.spi.RawMemory;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** The bytes of a request that are under way, and how many of them have been moved at the target. */
final class SimPayload
{
    /** Of WRITE and SEND to the responder, of READ back. */
    final byte[] bytes;
    /** Result of an atomic on its way back. */
    long found;
    private final long remoteAddress;
    private int[] pieces;
    private int nextPiece;
    private boolean isPlaced;

    SimPayload(final int lengthBytes, final long remoteAddress)
    {
        bytes = new byte[lengthBytes];
        this.remoteAddress = remoteAddress;
    }

    /** Whether the payload of a WRITE_WITH_IMM is in place. */
    boolean isPlaced()
    {
        return isPlaced;
    }

    void placed()
    {
        isPlaced = true;
    }

    /** Forgets that it was moved. */
    void beginAgain()
    {
        isPlaced = false;
        pieces = null;
        nextPiece = 0;
    }

    /** Pieces moved so far. */
    int piecesMoved()
    {
        return nextPiece;
    }

    /** Decides the steps in which a READ or WRITE touches the target: by lines in random order, or all at once. */
    void cut(final boolean isTorn, final SimDecisions decisions, final long lane)
    {
        if (pieces != null)
        {
            return;
        }
        final int first = (int)(remoteAddress & (RawMemory.LINE_BYTES - 1));
        final int count = isTorn && bytes.length > 0 ?
            (first + bytes.length + RawMemory.LINE_BYTES - 1) / RawMemory.LINE_BYTES : 1;
        pieces = new int[count];
        for (int i = 0; i < count; i++)
        {
            final int j = i - (int)decisions.next(SimDecision.TEAR, lane, i + 1);
            pieces[i] = pieces[j];
            pieces[j] = i;
        }
    }

    /**
     * Moves the next piece between payload and target.
     *
     * @param target   the memory named by the remote address, as long as the payload.
     * @param isToHere whether from the target into the payload, for READ.
     * @param trace    gets what was moved.
     * @return whether it was the last piece.
     */
    boolean moveNextPiece(final MemorySegment target, final boolean isToHere, final SimTrace trace)
    {
        int start = 0;
        int end = bytes.length;
        if (pieces.length > 1)
        {
            final int first = (int)(remoteAddress & (RawMemory.LINE_BYTES - 1));
            start = Math.max(0, pieces[nextPiece] * RawMemory.LINE_BYTES - first);
            end = Math.min(bytes.length, (pieces[nextPiece] + 1) * RawMemory.LINE_BYTES - first);
        }
        if (isToHere)
        {
            MemorySegment.copy(target, ValueLayout.JAVA_BYTE, start, bytes, start, end - start);
        }
        else
        {
            MemorySegment.copy(bytes, start, target, ValueLayout.JAVA_BYTE, start, end - start);
        }
        trace.mix(bytes, start, end - start);
        nextPiece++;
        return nextPiece >= pieces.length;
    }
}
