package io.verbena.rdma.soft.shared;

import io.verbena.rdma.spi.WorkRequest;
import io.verbena.rdma.verbs.WorkCompletions;

import static io.verbena.rdma.soft.shared.ReceiveRing.*;

/**
 * The short way of a message: the one requester of a {@link ReceiveRing} that is not shared leaves the completion in
 * the slot of the receive itself, and whoever polls the completion queue looks there. So descriptor, completion and
 * notice travel in one line of memory, and nobody has to claim anything.
 *
 * <p>The requester alone takes open slots and moves the head, {@linkplain AccessMark marked inside}; the owner flushes
 * only when it has seen the requester outside, or dead, after the queue pair went to ERR. A slot whose requester dies
 * before the word says DONE is an open one still.
 */
public final class DirectReceive
{
    private static final int OPCODE_SHIFT = 8;
    private static final int FLAGS_SHIFT = 16;
    private static final int BYTE_MASK = 0xFF;

    private DirectReceive()
    {
    }

    /** Whether requesters complete in the slots. */
    public static boolean isDirect(final long ring)
    {
        return SharedWords.getIntAcquire(ring + DIRECT_OFFSET) != 0;
    }

    /** Requester: address of the slot of the oldest posted receive; 0 when there is none. */
    public static long next(final long ring)
    {
        final long head = SharedWords.getLong(ring + HEAD_OFFSET);
        final long slot = slot(ring, head);
        return SharedWords.getLongAcquire(slot) == ClaimWord.open(head) ? slot : 0;
    }

    /**
     * Requester: completes the receive at the head. Release: who sees it sees the data received.
     *
     * @param slot   of the receive.
     * @param status of the receive.
     * @param opcode of the receive.
     * @param source number of the requester's queue pair.
     */
    public static void complete(
        final long ring,
        final long slot,
        final WorkRequest request,
        final int status,
        final int opcode,
        final int source)
    {
        final int flags = CompletionInbox.flags(request, false);
        SharedWords.putInt(slot + BYTE_LENGTH_OFFSET, request.lengthBytes);
        SharedWords.putInt(slot + IMMEDIATE_OFFSET, CompletionInbox.immediate(request));
        SharedWords.putInt(slot + SOURCE_OFFSET, source);
        SharedWords.putInt(slot + OUTCOME_OFFSET, status | opcode << OPCODE_SHIFT | flags << FLAGS_SHIFT);
        final long head = SharedWords.getLong(ring + HEAD_OFFSET);
        SharedWords.putLongRelease(slot, ClaimWord.direct(head));
        // Behind: a head that its requester did not get to move is moved by whoever finds it behind.
        SharedWords.putLongRelease(ring + HEAD_OFFSET, head + 1);
    }

    /** Requester: brings the line of the next receive near, while the message travels; to be kept. */
    public static long touchNext(final long ring)
    {
        return SharedWords.getLong(slot(ring, SharedWords.getLong(ring + HEAD_OFFSET)));
    }

    /** Owner: hands a completion out. */
    public static void take(
        final long slot, final WorkCompletions completions, final int index, final int queuePairNumber)
    {
        final int outcome = SharedWords.getInt(slot + OUTCOME_OFFSET);
        completions.set(
            index,
            SharedWords.getLong(slot + WR_ID_OFFSET),
            outcome & BYTE_MASK,
            outcome >>> OPCODE_SHIFT & BYTE_MASK,
            SharedWords.getInt(slot + BYTE_LENGTH_OFFSET),
            SharedWords.getInt(slot + IMMEDIATE_OFFSET),
            queuePairNumber);
        completions.setDetails(index, outcome >>> FLAGS_SHIFT, SharedWords.getInt(slot + SOURCE_OFFSET), 0);
    }
}
