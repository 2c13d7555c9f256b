package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.wire.BthDescriptor;
import io.verbena.rdma.roce.wire.RethDescriptor;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.spi.AccessChecks;
import io.verbena.rdma.spi.RawMemory;
import io.verbena.rdma.spi.WorkRequest;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;

/** The WRITE that is arriving. Used by the engine's thread. */
final class InboundWrite
{
    private final QueuePairPort queuePair;
    private long address;
    private int key;
    private long lengthBytes;
    private long remainingBytes;
    /** Whether the payload of the packet that comes next is in its place: it came before, and met no receive. */
    private boolean isPlaced;

    InboundWrite(final QueuePairPort queuePair)
    {
        this.queuePair = queuePair;
    }

    /**
     * Begins with a packet that has a RETH, and checks the rights for the whole message.
     *
     * @param packet first of the message.
     * @return SUCCESS, REM_INV_REQ_ERR or REM_ACCESS_ERR.
     */
    int begin(final RocePacket packet)
    {
        address = RethDescriptor.address(packet.buffer(), BthDescriptor.LENGTH_BYTES);
        key = RethDescriptor.remoteKey(packet.buffer(), BthDescriptor.LENGTH_BYTES);
        lengthBytes = RethDescriptor.dmaLength(packet.buffer(), BthDescriptor.LENGTH_BYTES);
        remainingBytes = lengthBytes;
        final int status =
            AccessChecks.queuePairStatus(WorkRequest.WRITE, queuePair.accessFlags(), address, Integer.MAX_VALUE);
        if (status != WorkCompletionStatus.SUCCESS || lengthBytes == 0)
        {
            return status;
        }
        if (lengthBytes > Integer.MAX_VALUE)
        {
            return WorkCompletionStatus.REM_INV_REQ_ERR;
        }
        return target(lengthBytes) == RemoteAccess.REFUSED ?
            WorkCompletionStatus.REM_ACCESS_ERR : WorkCompletionStatus.SUCCESS;
    }

    /**
     * Checks the next packet of a message that has begun.
     *
     * @param payloadBytes of it.
     * @param isLast       whether it is the last.
     * @return SUCCESS, REM_INV_REQ_ERR when the length is not as announced, REM_ACCESS_ERR when the right is gone.
     */
    int check(final int payloadBytes, final boolean isLast)
    {
        if (isLast ? payloadBytes != remainingBytes : payloadBytes >= remainingBytes)
        {
            return WorkCompletionStatus.REM_INV_REQ_ERR;
        }
        return payloadBytes > 0 && target(payloadBytes) == RemoteAccess.REFUSED ?
            WorkCompletionStatus.REM_ACCESS_ERR : WorkCompletionStatus.SUCCESS;
    }

    /** Forgets what it has begun. */
    void clear()
    {
        isPlaced = false;
    }

    /** Places the payload of a packet that was checked. */
    void place(final long source, final int payloadBytes)
    {
        placeAhead(source, payloadBytes);
        isPlaced = false;
        address += payloadBytes;
        remainingBytes -= payloadBytes;
    }

    /** Places the payload of a packet that was checked and will come once more, once. */
    void placeAhead(final long source, final int payloadBytes)
    {
        if (payloadBytes > 0 && !isPlaced)
        {
            RawMemory.write(source, target(payloadBytes), payloadBytes);
        }
        isPlaced = true;
    }

    /** @return length of the whole message. */
    int lengthBytes()
    {
        return (int)lengthBytes;
    }

    private long target(final long bytes)
    {
        return queuePair.engine().memory().remote(
            key, queuePair.domain(), queuePair.number(), AccessFlags.REMOTE_WRITE, address, bytes);
    }
}
