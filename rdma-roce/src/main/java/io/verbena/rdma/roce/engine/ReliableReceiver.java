package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.request.ReplyQueue;
import io.verbena.rdma.roce.wire.AethDescriptor;
import io.verbena.rdma.roce.wire.AtomicAckEthDescriptor;
import io.verbena.rdma.roce.wire.BthDescriptor;
import io.verbena.rdma.roce.wire.IethDescriptor;
import io.verbena.rdma.roce.wire.ImmDtDescriptor;
import io.verbena.rdma.roce.wire.PacketSequence;
import io.verbena.rdma.roce.wire.RethDescriptor;
import io.verbena.rdma.roce.wire.RoceOpcode;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.spi.AccessChecks;
import io.verbena.rdma.spi.WorkRequest;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

/**
 * The responder of an RC queue pair (specification, 9.7.4). Requests are executed in the order of their PSNs, each
 * once: of a repeated one a READ is read anew, an atomic gets its saved result, a SEND or WRITE is acknowledged.
 * Answers leave in the order of their PSNs too: those of READs and atomics from a queue, behind them one
 * acknowledgement or refusal, which stands for all before it.
 *
 * <p>A READ's bytes are read when its responses are sent, so a later WRITE or SEND may come before; an atomic waits.
 */
final class ReliableReceiver extends ReceiveSide
{
    private static final int NONE = -1;
    private static final int QUANTUM_PACKETS = 16;

    private final ReplyQueue replies = new ReplyQueue(EngineOptions.MAX_READ_ATOMIC);
    private final InboundAtomic.AtomicResults results = new InboundAtomic.AtomicResults(EngineOptions.MAX_READ_ATOMIC);
    private final InboundWrite write;
    private final InboundAtomic atomic;
    private final PacketWriter writer;
    private final Route route;
    private int expected;
    private int messageSequence;
    /** Trait of the message that has begun and not ended: IS_SEND, IS_WRITE, or 0. */
    private int openMessage;
    private boolean isNakSent;
    /** Whether the last request executed was a READ or atomic; the last packet of a SEND or WRITE that came again. */
    private boolean isLastAnswered;
    private int repeated;
    /** How far behind the expected packet the last one was that came too early. */
    private int lastGap;
    /** Where the READ that was checked last begins, in the terms of raw memory. */
    private long readSource;
    /** Syndrome to be sent, or {@link #NONE}. */
    private int pendingSyndrome = NONE;
    /** Syndrome of the expected request, which cannot be executed, until the answers before it were sent; or NONE. */
    private int waitingRefusal = NONE;
    /** Syndrome of the request that ended everything, or {@link #NONE}. */
    private int refusal = NONE;

    ReliableReceiver(final QueuePairPort queuePair)
    {
        super(queuePair);
        write = new InboundWrite(queuePair);
        atomic = new InboundAtomic(queuePair);
        writer = queuePair.engine().writer();
        route = queuePair.route();
    }

    @Override
    void start(final int sequence)
    {
        clear();
        expected = sequence;
    }

    @Override
    void clear()
    {
        super.clear();
        replies.clear();
        results.clear();
        messageSequence = 0;
        openMessage = 0;
        isLastAnswered = false;
        isNakSent = false;
        pendingSyndrome = NONE;
        waitingRefusal = NONE;
        refusal = NONE;
        atomic.clear();
        write.clear();
    }

    @Override
    void flush()
    {
        super.flush();
        replies.clear();
        pendingSyndrome = NONE;
        waitingRefusal = NONE;
        atomic.clear();
    }

    /** Whether it still answers in ERR, because a refusal of its own led there and may have been lost. */
    boolean hasRefused()
    {
        return refusal != NONE;
    }

    @Override
    void onRequest(final RocePacket packet, final int opcode, final int payloadBytes)
    {
        final int distance = PacketSequence.distance(BthDescriptor.sequence(packet.buffer(), 0), expected);
        if (refusal != NONE)
        {
            if (distance == 0)
            {
                sendAcknowledge(refusal, expected);
            }
        }
        else if (distance >= 0 && (waitingRefusal != NONE || atomic.isWaiting()))
        {
            // The expected request is here and waits; what is behind an atomic is asked for when it was executed.
            atomic.onFollowed(distance);
        }
        else if (distance > 0)
        {
            queuePair.engine().counters().outOfSequence++;
            // The requester has gone back, and the expected packet was lost once more.
            isNakSent &= distance > lastGap;
            lastGap = distance;
            nak(AethDescriptor.SEQUENCE_ERROR);
        }
        else if (distance < 0)
        {
            queuePair.engine().counters().duplicates++;
            onDuplicate(packet, opcode);
        }
        else
        {
            execute(packet, opcode, payloadBytes);
        }
        transmit(QUANTUM_PACKETS);
    }

    private void execute(final RocePacket packet, final int opcode, final int payloadBytes)
    {
        final int traits = RoceOpcode.traits(opcode);
        final int message = traits & (RoceOpcode.IS_SEND | RoceOpcode.IS_WRITE);
        final boolean isInPlace = (traits & RoceOpcode.BEGINS) != 0 ? openMessage == 0 : openMessage == message;
        if (!isInPlace || message != 0 && !hasLengthOfItsPlace(traits, payloadBytes))
        {
            refuse(AethDescriptor.INVALID_REQUEST);
        }
        else if (message == RoceOpcode.IS_SEND)
        {
            executeSend(packet, opcode, traits, payloadBytes);
        }
        else if (message == RoceOpcode.IS_WRITE)
        {
            executeWrite(packet, opcode, traits, payloadBytes);
        }
        else if ((traits & RoceOpcode.HAS_ATOMIC_ETH) != 0)
        {
            executeAtomic(packet, opcode & RoceOpcode.OPERATION_MASK);
        }
        else
        {
            executeRead(packet);
        }
    }

    private void executeSend(final RocePacket packet, final int opcode, final int traits, final int payloadBytes)
    {
        if ((traits & RoceOpcode.BEGINS) != 0)
        {
            if (!receive.isAvailable())
            {
                refuseForNow();
                return;
            }
            receive.take();
        }
        final boolean isLast = (traits & RoceOpcode.ENDS) != 0;
        int status = receive.check(payloadBytes);
        final int headersEnd = RoceOpcode.headerBytes(opcode);
        if (status == WorkCompletionStatus.SUCCESS && (traits & RoceOpcode.HAS_IETH) != 0 &&
            !queuePair.invalidate(IethDescriptor.remoteKey(packet.buffer(), headersEnd - IethDescriptor.LENGTH_BYTES)))
        {
            status = WorkCompletionStatus.LOC_ACCESS_ERR;
        }
        if (status != WorkCompletionStatus.SUCCESS)
        {
            receive.fail(status);
            refuse(syndrome(AccessChecks.requesterStatus(status)));
            return;
        }
        receive.place(payload(packet, opcode), payloadBytes);
        if (isLast)
        {
            completeReceive(packet, traits, headersEnd);
        }
        executed(packet, isLast ? 0 : RoceOpcode.IS_SEND, isLast);
    }

    private void completeReceive(final RocePacket packet, final int traits, final int headersEnd)
    {
        final boolean hasImmediate = (traits & RoceOpcode.HAS_IMMEDIATE) != 0;
        final boolean hasKey = (traits & RoceOpcode.HAS_IETH) != 0;
        // Both lie at the end of the headers and have the same length.
        final int value = hasImmediate || hasKey ?
            ImmDtDescriptor.immediate(packet.buffer(), headersEnd - ImmDtDescriptor.LENGTH_BYTES) : 0;
        final int withKey = hasKey ? WorkCompletions.WITH_INVALIDATION : 0;
        receive.complete(value, hasImmediate ? WorkCompletions.WITH_IMMEDIATE : withKey, 0,
            BthDescriptor.isSolicited(packet.buffer(), 0));
    }

    private void executeWrite(final RocePacket packet, final int opcode, final int traits, final int payloadBytes)
    {
        final boolean isLast = (traits & RoceOpcode.ENDS) != 0;
        final boolean hasImmediate = (traits & RoceOpcode.HAS_IMMEDIATE) != 0;
        int status = (traits & RoceOpcode.BEGINS) != 0 ? write.begin(packet) : WorkCompletionStatus.SUCCESS;
        if (status == WorkCompletionStatus.SUCCESS)
        {
            status = write.check(payloadBytes, isLast);
        }
        if (status != WorkCompletionStatus.SUCCESS)
        {
            refuse(syndrome(status));
            return;
        }
        if (hasImmediate && !receive.isAvailable())
        {
            write.placeAhead(payload(packet, opcode), payloadBytes);
            refuseForNow();
            return;
        }
        write.place(payload(packet, opcode), payloadBytes);
        if (hasImmediate)
        {
            receive.take();
            receive.completeWrite(write.lengthBytes(), ImmDtDescriptor.immediate(
                packet.buffer(), RoceOpcode.headerBytes(opcode) - ImmDtDescriptor.LENGTH_BYTES),
                WorkCompletions.WITH_IMMEDIATE, BthDescriptor.isSolicited(packet.buffer(), 0));
        }
        executed(packet, isLast ? 0 : RoceOpcode.IS_WRITE, isLast);
    }

    private void executeRead(final RocePacket packet)
    {
        final int status = replies.newCount() >= queuePair.readAtomicDepth() ?
            WorkCompletionStatus.REM_INV_REQ_ERR : checkRead(packet);
        if (status != WorkCompletionStatus.SUCCESS)
        {
            refuse(syndrome(status));
        }
        else if (replies.isFull())
        {
            queuePair.engine().counters().deferred++;
        }
        else
        {
            final long lengthBytes = RethDescriptor.dmaLength(packet.buffer(), BthDescriptor.LENGTH_BYTES);
            final int packets = packets(lengthBytes);
            messageSequence = PacketSequence.add(messageSequence, 1);
            final boolean isAnswered = packets == 1 && replies.isEmpty() && sendRead(
                RoceOpcode.READ_RESPONSE_ONLY, readSource, (int)lengthBytes, messageSequence, expected);
            if (!isAnswered)
            {
                replies.addRead(true, expected, messageSequence, packets,
                    RethDescriptor.address(packet.buffer(), BthDescriptor.LENGTH_BYTES),
                    RethDescriptor.remoteKey(packet.buffer(), BthDescriptor.LENGTH_BYTES), lengthBytes);
            }
            answered(packets);
        }
    }

    private void executeAtomic(final RocePacket packet, final int operation)
    {
        atomic.begin(packet, operation);
        if (!replies.isEmpty())
        {
            queuePair.engine().counters().deferred++;
        }
        // Executed by the transmission that follows, behind the answers.
    }

    /** Executes the atomic that has waited for the answers before it. */
    private void executeAtomic()
    {
        final int status = atomic.check(queuePair.readAtomicDepth() - replies.newCount());
        if (status != WorkCompletionStatus.SUCCESS)
        {
            refuse(syndrome(status));
            return;
        }
        final long original = atomic.execute();
        messageSequence = PacketSequence.add(messageSequence, 1);
        results.add(expected, original);
        replies.addAtomic(true, expected, messageSequence, original);
        answered(1);
        if (atomic.isFollowed())
        {
            nak(AethDescriptor.SEQUENCE_ERROR);
        }
    }

    /** A packet of a SEND or WRITE has taken effect. */
    private void executed(final RocePacket packet, final int stillOpen, final boolean isLast)
    {
        openMessage = stillOpen;
        if (isLast)
        {
            messageSequence = PacketSequence.add(messageSequence, 1);
        }
        // What was refused before has come now; the acknowledgement that the refusal stood for is still due.
        final boolean isDue = pendingSyndrome != NONE;
        expected = PacketSequence.add(expected, 1);
        isLastAnswered = false;
        isNakSent = false;
        if (isDue || BthDescriptor.isAckRequested(packet.buffer(), 0))
        {
            pendingSyndrome = AethDescriptor.ACK_WITHOUT_CREDITS;
        }
        queuePair.onMessage();
    }

    /** A READ or atomic has been accepted; its answer acknowledges all before it. */
    private void answered(final int packets)
    {
        expected = PacketSequence.add(expected, packets);
        isLastAnswered = true;
        isNakSent = false;
        pendingSyndrome = NONE;
        queuePair.onMessage();
    }

    private void onDuplicate(final RocePacket packet, final int opcode)
    {
        final int traits = RoceOpcode.traits(opcode);
        final int sequence = BthDescriptor.sequence(packet.buffer(), 0);
        if ((traits & (RoceOpcode.IS_SEND | RoceOpcode.IS_WRITE)) != 0)
        {
            repeated = sequence;
            if (pendingSyndrome == NONE)
            {
                pendingSyndrome = AethDescriptor.ACK_WITHOUT_CREDITS;
            }
        }
        else if (replies.isFull())
        {
            queuePair.engine().counters().deferred++;
        }
        else if ((traits & RoceOpcode.HAS_ATOMIC_ETH) != 0)
        {
            final int index = results.find(sequence);
            if (index >= 0)
            {
                replies.addAtomic(false, sequence, messageSequence, results.original(index));
            }
        }
        else
        {
            repeatRead(packet, sequence);
        }
    }

    /**
     * A READ that begins before the expected packet. One that ends behind it is new from there on, unless those PSNs
     * are another request's; it is answered in one. A refusal ends nothing: only the requester knows a late copy.
     */
    private void repeatRead(final RocePacket packet, final int sequence)
    {
        final long lengthBytes = RethDescriptor.dmaLength(packet.buffer(), BthDescriptor.LENGTH_BYTES);
        final int packets = packets(lengthBytes);
        final int newPackets = PacketSequence.distance(PacketSequence.add(sequence, packets), expected);
        if (lengthBytes > Integer.MAX_VALUE ||
            newPackets > 0 && (openMessage != 0 || waitingRefusal != NONE || atomic.isWaiting()))
        {
            return;
        }
        final int status = checkRead(packet);
        if (status != WorkCompletionStatus.SUCCESS)
        {
            sendAcknowledge(syndrome(status), sequence);
            return;
        }
        if (newPackets > 0)
        {
            messageSequence = PacketSequence.add(messageSequence, 1);
            answered(newPackets);
        }
        replies.addRead(false, sequence, messageSequence, packets,
            RethDescriptor.address(packet.buffer(), BthDescriptor.LENGTH_BYTES),
            RethDescriptor.remoteKey(packet.buffer(), BthDescriptor.LENGTH_BYTES), lengthBytes);
    }

    private int checkRead(final RocePacket packet)
    {
        final long address = RethDescriptor.address(packet.buffer(), BthDescriptor.LENGTH_BYTES);
        final int key = RethDescriptor.remoteKey(packet.buffer(), BthDescriptor.LENGTH_BYTES);
        final long lengthBytes = RethDescriptor.dmaLength(packet.buffer(), BthDescriptor.LENGTH_BYTES);
        final int status =
            AccessChecks.queuePairStatus(WorkRequest.READ, queuePair.accessFlags(), address,
                queuePair.readAtomicDepth());
        if (status != WorkCompletionStatus.SUCCESS || lengthBytes > Integer.MAX_VALUE)
        {
            return WorkCompletionStatus.REM_INV_REQ_ERR;
        }
        readSource = lengthBytes == 0 ? 1 : readable(key, address, lengthBytes);
        return readSource == RemoteAccess.REFUSED ? WorkCompletionStatus.REM_ACCESS_ERR : WorkCompletionStatus.SUCCESS;
    }

    private long readable(final int key, final long address, final long lengthBytes)
    {
        return queuePair.engine().memory().remote(
            key, queuePair.domain(), queuePair.number(), AccessFlags.REMOTE_READ, address, lengthBytes);
    }

    private int packets(final long lengthBytes)
    {
        return lengthBytes == 0 ? 1 : (int)((lengthBytes - 1) / route.mtu() + 1);
    }

    /** No receive for the request: the peer is asked to wait. */
    private void refuseForNow()
    {
        queuePair.engine().counters().notReady++;
        isNakSent = false;
        nak(AethDescriptor.RECEIVER_NOT_READY | queuePair.rnrCode());
    }

    /** Says once that the expected packet has to come again. */
    private void nak(final int syndrome)
    {
        if (!isNakSent)
        {
            isNakSent = true;
            pendingSyndrome = syndrome;
        }
    }

    /** The expected request cannot be executed: everything ends with it. Answers before it go first. */
    private void refuse(final int syndrome)
    {
        queuePair.engine().counters().refused++;
        waitingRefusal = syndrome;
        atomic.clear();
    }

    /** Everything before the refused request was answered. */
    private void sendRefusal()
    {
        if (sendAcknowledge(waitingRefusal, expected))
        {
            refusal = waitingRefusal;
            waitingRefusal = NONE;
            queuePair.onRequestRefused(AccessChecks.responderEvent(status(refusal)));
        }
    }

    @Override
    boolean transmit(final int quantum)
    {
        for (int i = 0; i < quantum; i++)
        {
            if (!replies.isEmpty())
            {
                if (!sendReply())
                {
                    break;
                }
            }
            else if (atomic.isWaiting())
            {
                executeAtomic();
            }
            else
            {
                if (waitingRefusal != NONE)
                {
                    sendRefusal();
                }
                else if (pendingSyndrome != NONE && sendPending())
                {
                    pendingSyndrome = NONE;
                }
                break;
            }
        }
        final boolean hasMore =
            !replies.isEmpty() || pendingSyndrome != NONE || waitingRefusal != NONE || atomic.isWaiting();
        if (hasMore)
        {
            queuePair.wake();
        }
        return hasMore;
    }

    private boolean sendPending()
    {
        // A refusal names the packet that is expected, an acknowledgement the last one that was executed. But one with
        // the PSN of a READ or atomic would seem to be its answer: Soft-RoCE completes the request without the result.
        final boolean isAck = pendingSyndrome == AethDescriptor.ACK_WITHOUT_CREDITS;
        final int executed = isLastAnswered ? repeated : PacketSequence.add(expected, -1);
        return sendAcknowledge(pendingSyndrome, isAck ? executed : expected);
    }

    private boolean sendAcknowledge(final int syndrome, final int sequence)
    {
        final RocePacket packet = writer.claim();
        if (packet != null)
        {
            AethDescriptor.encode(packet.buffer(), BthDescriptor.LENGTH_BYTES, syndrome, messageSequence);
            send(packet, route.transport | RoceOpcode.ACKNOWLEDGE, 0, sequence);
        }
        return packet != null;
    }

    /** Sends the next answer to a READ or atomic; false when there was no room or the QP has failed. */
    private boolean sendReply()
    {
        if (!replies.isRead())
        {
            return sendAtomicReply();
        }
        final int lengthBytes = (int)Math.min(replies.bytesLeft(), route.mtu());
        final long source = lengthBytes == 0 ? 1 : readable(replies.key(), replies.address(), lengthBytes);
        if (source == RemoteAccess.REFUSED)
        {
            return refuseReply();
        }
        final boolean isLast = replies.isLast();
        final int first = isLast ? RoceOpcode.READ_RESPONSE_ONLY : RoceOpcode.READ_RESPONSE_FIRST;
        final int later = isLast ? RoceOpcode.READ_RESPONSE_LAST : RoceOpcode.READ_RESPONSE_MIDDLE;
        final boolean isSent = sendRead(replies.isFirst() ? first : later, source, lengthBytes,
            replies.messageSequence(), replies.sequence());
        if (isSent)
        {
            replies.advance(lengthBytes);
        }
        return isSent;
    }

    /** Sends a response of a READ; false when there was no room. */
    private boolean sendRead(
        final int operation, final long source, final int lengthBytes, final int message, final int sequence)
    {
        final RocePacket packet = writer.claim();
        if (packet != null)
        {
            final int opcode = route.transport | operation;
            if (operation != RoceOpcode.READ_RESPONSE_MIDDLE)
            {
                AethDescriptor.encode(packet.buffer(), BthDescriptor.LENGTH_BYTES,
                    AethDescriptor.ACK_WITHOUT_CREDITS, message);
            }
            PacketWriter.putPayload(packet, opcode, source, lengthBytes);
            send(packet, opcode, lengthBytes, sequence);
        }
        return packet != null;
    }

    /** The right has gone since the READ was accepted. A repeated READ ends nothing here, as when it arrives. */
    private boolean refuseReply()
    {
        if (replies.isNew())
        {
            expected = PacketSequence.add(replies.sequence(), 0);
            replies.clear();
            refuse(AethDescriptor.REMOTE_ACCESS_ERROR);
            return true;
        }
        final boolean isSent =
            sendAcknowledge(AethDescriptor.REMOTE_ACCESS_ERROR, PacketSequence.add(replies.sequence(), 0));
        if (isSent)
        {
            replies.drop();
        }
        return isSent;
    }

    private boolean sendAtomicReply()
    {
        final RocePacket packet = writer.claim();
        if (packet == null)
        {
            return false;
        }
        AethDescriptor.encode(packet.buffer(), BthDescriptor.LENGTH_BYTES,
            AethDescriptor.ACK_WITHOUT_CREDITS, replies.messageSequence());
        AtomicAckEthDescriptor.encode(packet.buffer(), BthDescriptor.LENGTH_BYTES + AethDescriptor.LENGTH_BYTES,
            replies.original());
        send(packet, route.transport | RoceOpcode.ATOMIC_ACKNOWLEDGE, 0, replies.sequence());
        replies.advance(0);
        return true;
    }

    private void send(final RocePacket packet, final int opcode, final int payloadBytes, final int sequence)
    {
        route.send(writer, packet, opcode, payloadBytes, false, false, PacketSequence.add(sequence, 0));
    }
}
