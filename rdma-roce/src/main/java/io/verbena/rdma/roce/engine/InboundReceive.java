package io.verbena.rdma.roce.engine;

import io.verbena.rdma.spi.RawMemory;
import io.verbena.rdma.spi.ReceiveQueue;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.WorkCompletionOpcode;
import io.verbena.rdma.verbs.WorkCompletionStatus;

/** The receive that a message is arriving into. Used by the engine's thread. */
final class InboundReceive
{
    private final QueuePairPort queuePair;
    private boolean isTaken;
    private long wrId;
    private long address;
    private int capacityBytes;
    private int key;
    private int receivedBytes;

    InboundReceive(final QueuePairPort queuePair)
    {
        this.queuePair = queuePair;
    }

    /** Whether there is a receive for another message. */
    boolean isAvailable()
    {
        return isTaken || !queuePair.receives().isEmpty();
    }

    /** Whether there is one for another message of that length. */
    boolean isAvailable(final int neededBytes)
    {
        return isTaken ? capacityBytes >= neededBytes : queuePair.receives().hasFitting(neededBytes);
    }

    /** Takes the next receive; the one of a message that was given up, where there is one. */
    void take()
    {
        receivedBytes = 0;
        if (!isTaken)
        {
            final ReceiveQueue receives = queuePair.receives();
            wrId = receives.wrId();
            address = receives.address();
            capacityBytes = receives.lengthBytes();
            key = receives.key();
            receives.remove();
            isTaken = true;
            queuePair.onReceiveTaken();
        }
    }

    /** Bytes placed since the message began. */
    int receivedBytes()
    {
        return receivedBytes;
    }

    /**
     * Checks the buffer for the next bytes.
     *
     * @param lengthBytes 0 or more.
     * @return SUCCESS, LOC_LEN_ERR or LOC_PROT_ERR.
     */
    int check(final int lengthBytes)
    {
        if (lengthBytes > capacityBytes - receivedBytes)
        {
            return WorkCompletionStatus.LOC_LEN_ERR;
        }
        return lengthBytes == 0 || target(lengthBytes) != RemoteAccess.REFUSED ?
            WorkCompletionStatus.SUCCESS : WorkCompletionStatus.LOC_PROT_ERR;
    }

    /**
     * Places the next bytes, which were checked.
     *
     * @param source      in the terms of raw memory.
     * @param lengthBytes 0 or more.
     */
    void place(final long source, final int lengthBytes)
    {
        if (lengthBytes > 0)
        {
            RawMemory.write(source, target(lengthBytes), lengthBytes);
            receivedBytes += lengthBytes;
        }
    }

    /** Where the next bytes go. */
    long target(final int lengthBytes)
    {
        return queuePair.engine().memory().local(
            key, queuePair.domain(), AccessFlags.LOCAL_WRITE, address + receivedBytes, lengthBytes);
    }

    /** Completes it after a SEND. */
    void complete(final int immediate, final int flags, final int source, final boolean isSolicited)
    {
        isTaken = false;
        queuePair.receiveCompletions().addReceive(queuePair.receiver(), wrId, WorkCompletionStatus.SUCCESS,
            WorkCompletionOpcode.RECV, receivedBytes, immediate, flags, source, isSolicited);
    }

    /** Completes it after a WRITE with an immediate, which ignores the buffer. */
    void completeWrite(final int lengthBytes, final int immediate, final int flags, final boolean isSolicited)
    {
        isTaken = false;
        queuePair.receiveCompletions().addReceive(queuePair.receiver(), wrId, WorkCompletionStatus.SUCCESS,
            WorkCompletionOpcode.RECV_RDMA_WITH_IMM, lengthBytes, immediate, flags, 0, isSolicited);
    }

    /** Completes it with an error, where there is one. */
    void fail(final int status)
    {
        if (isTaken)
        {
            isTaken = false;
            queuePair.receiveCompletions().addReceive(
                queuePair.receiver(), wrId, status, WorkCompletionOpcode.RECV, 0, 0, 0, 0, false);
        }
    }

    /** Drops it without a completion. */
    void clear()
    {
        if (isTaken)
        {
            isTaken = false;
            queuePair.freeReceive();
        }
    }
}
