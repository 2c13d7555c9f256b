package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.request.AckRequests;
import io.verbena.rdma.roce.request.ReadWindow;
import io.verbena.rdma.roce.wire.AethDescriptor;
import io.verbena.rdma.roce.wire.AtomicAckEthDescriptor;
import io.verbena.rdma.roce.wire.BthDescriptor;
import io.verbena.rdma.roce.wire.PacketSequence;
import io.verbena.rdma.roce.wire.RoceOpcode;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.spi.RawMemory;
import io.verbena.rdma.spi.WorkRequest;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;

/**
 * The requester of an RC queue pair (specification, 9.7.5 and 9.9.2). PSNs from {@code unacked} on are in flight. The
 * cursor names the next packet to send; going back moves it to {@code unacked}. A READ takes as many PSNs as it has
 * response packets and is requested in parts that fit the window, so that a responder never answers more than that at
 * once; a part of which responses were lost is requested from there to its end.
 *
 * <p>Nothing is completed by an acknowledgement that comes before the response of an earlier READ or atomic: that
 * response was lost and is requested again.
 */
final class ReliableSender extends SendSide
{
    private static final int NEED_ROOM = -2;
    private static final int BLOCKED = -1;
    private static final int LOCAL = 0;

    private final Route route;
    private final SentRequests requests;
    private final RequestPackets packets;
    private final AckRequests ackRequests;
    private final ReadWindow reads = new ReadWindow(EngineOptions.MAX_READ_ATOMIC);
    private final RequesterTimers timers;
    private final RequesterTimers.RetryState retries;
    private final CongestionWindow congestion;
    private long assignedPosition;
    int nextSequence;
    private long cursorPosition;
    private int cursorPacket;
    private int unacked;
    private int sentEnd;
    private int failedStatus;
    private long failedPosition;
    private boolean isRecovering;
    private int mtu;

    ReliableSender(final QueuePairPort queuePair, final int maxRequests)
    {
        super(queuePair);
        route = queuePair.route();
        requests = new SentRequests(maxRequests);
        packets = new RequestPackets(queuePair);
        timers = new RequesterTimers(queuePair);
        retries = timers.retries;
        congestion = timers.congestion;
        ackRequests = new AckRequests(queuePair.engine().options().ackInterval());
    }

    @Override
    void start(final int sequence)
    {
        mtu = route.mtu();
        timers.clear();
        nextSequence = sequence;
        unacked = sequence;
        sentEnd = sequence;
        ackRequests.start(sequence);
        isRecovering = false;
        configure();
    }

    /** Begins with another peer, while nothing is in flight, which answers so many READs and atomics at once. */
    void begin(final int depth)
    {
        mtu = route.mtu();
        timers.clear();
        reads.limit(depth);
    }

    /** Takes retries and depth over from the queue pair, in RTR and in SQD with nothing in flight. */
    @Override
    void configure()
    {
        final QueuePairAttributes attributes = new QueuePairAttributes();
        queuePair.query(attributes);
        retries.configure(attributes);
        if (sentEnd == unacked)
        {
            retries.onProgress();
        }
        reads.limit(attributes.maxReadAtomic());
    }

    @Override
    void forgetAll(final long position)
    {
        completedPosition = position;
        assignedPosition = completedPosition;
        cursorPosition = completedPosition;
        cursorPacket = 0;
        failedStatus = WorkCompletionStatus.SUCCESS;
        reads.clear();
        unacked = sentEnd;
        timers.disarm();
    }

    @Override
    boolean isDrained()
    {
        return completedPosition == assignedPosition;
    }

    @Override
    boolean transmit(final int quantum)
    {
        int left = quantum;
        while (left > 0)
        {
            final int sentCount = retries.isWaiting() ? BLOCKED : step();
            if (sentCount < 0)
            {
                return sentCount == NEED_ROOM;
            }
            left -= Math.max(1, sentCount);
        }
        return true;
    }

    /** Sends the packet at the cursor, or carries out a local request there. */
    private int step()
    {
        if (cursorPosition == assignedPosition && !assign())
        {
            return BLOCKED;
        }
        final WorkRequest request = queuePair.sendRequest(cursorPosition);
        if (requests.count(cursorPosition) == 0)
        {
            advanceCursor(0);
            settle();
            return LOCAL;
        }
        if (failedStatus != WorkCompletionStatus.SUCCESS && cursorPosition == failedPosition)
        {
            return BLOCKED;
        }
        final int sequence = PacketSequence.add(requests.first(cursorPosition), cursorPacket);
        final int inFlight = PacketSequence.distance(sequence, unacked);
        final int room = congestion.packets() - inFlight;
        if (mustWait(request, inFlight, room) || request.isReadOrAtomic() && reads.isFull())
        {
            return BLOCKED;
        }
        final RocePacket packet = writer.claim();
        if (packet == null)
        {
            return NEED_ROOM;
        }
        final int count = switch (request.operation)
        {
            case WorkRequest.READ -> sendRead(packet, request, sequence, Math.max(1, room));
            case WorkRequest.COMPARE_SWAP, WorkRequest.FETCH_ADD -> sendAtomic(packet, request, sequence);
            default -> sendPayload(packet, request, sequence, room);
        };
        if (count > 0)
        {
            noteSent(sequence, count);
            advanceCursor(count);
        }
        return count;
    }

    /**
     * Whether the window or the pace keeps the next packet back. A window that has shrunk keeps nothing back until
     * what is in flight asks for an answer. A READ waits for a good part of the window, rather than being cut small.
     */
    private boolean mustWait(final WorkRequest request, final int inFlight, final int room)
    {
        final int wanted = request.operation != WorkRequest.READ || reads.isRepeating() || inFlight == 0 ? 1 :
            Math.min(requests.count(cursorPosition) - cursorPacket, (congestion.packets() + 1) / 2);
        final boolean mustWait = room < wanted && ackRequests.isDue() || timers.isPaced();
        if (mustWait)
        {
            congestion.onLimited(sentEnd);
        }
        return mustWait;
    }

    /** Gives the request at the cursor its PSNs; false when it must not begin now. */
    private boolean assign()
    {
        final boolean mayBegin = cursorPosition < queuePair.sendEnd() && queuePair.state() == QueuePairState.RTS &&
            failedStatus == WorkCompletionStatus.SUCCESS;
        if (!mayBegin || !route.leadsTo(queuePair.sendRequest(cursorPosition), isDrained()))
        {
            return false;
        }
        final WorkRequest request = queuePair.sendRequest(cursorPosition);
        if ((request.flags & SendFlags.FENCE) != 0 && !reads.isEmpty() || request.isReadOrAtomic() && reads.isFull())
        {
            return false;
        }
        final int status = begin(request);
        if (status != WorkCompletionStatus.SUCCESS)
        {
            failAt(cursorPosition, status);
            return false;
        }
        final int count = request.isLocal() ? 0 : Math.max(1, (request.lengthBytes - 1) / mtu + 1);
        requests.add(cursorPosition, nextSequence, count);
        nextSequence = PacketSequence.add(nextSequence, count);
        assignedPosition++;
        return true;
    }

    private int sendRead(final RocePacket packet, final WorkRequest request, final int sequence, final int room)
    {
        final int count = reads.isRepeating() ? PacketSequence.distance(reads.repeatedEnd(), sequence) :
            Math.min(requests.count(cursorPosition) - cursorPacket, room);
        ackRequests.onAsked(sequence);
        packets.read(packet, request, cursorPacket, count, sequence);
        reads.send(PacketSequence.add(sequence, count));
        return count;
    }

    private int sendAtomic(final RocePacket packet, final WorkRequest request, final int sequence)
    {
        ackRequests.onAsked(sequence);
        packets.atomic(packet, request, sequence);
        reads.send(PacketSequence.add(sequence, 1));
        return 1;
    }

    private int sendPayload(final RocePacket packet, final WorkRequest request, final int sequence, final int room)
    {
        final long source = payload(request, cursorPacket, mtu);
        if (source == RemoteAccess.REFUSED)
        {
            failAt(cursorPosition, WorkCompletionStatus.LOC_PROT_ERR);
            return LOCAL;
        }
        final boolean isLast = cursorPacket + 1 == requests.count(cursorPosition);
        // The last one that was sent before going back, too: behind it there may be local requests only.
        final boolean isNeeded = isLast && ((request.flags & SendFlags.SIGNALED) != 0 || endsRow()) || room <= 1 ||
            PacketSequence.add(sequence, 1) == sentEnd;
        final boolean isAckRequested = ackRequests.asks(sequence, isNeeded, congestion.packets());
        packets.payload(packet, request, source, cursorPacket, isLast, isAckRequested, sequence);
        return 1;
    }

    /** Whether nothing follows the request at the cursor before that has completed. */
    private boolean endsRow()
    {
        return cursorPosition + 1 == queuePair.sendEnd() || queuePair.state() != QueuePairState.RTS ||
            failedStatus != WorkCompletionStatus.SUCCESS ||
            !route.leadsOnTo(queuePair.sendRequest(cursorPosition + 1));
    }

    /** Asks what is missing, by the last packet, or else the first; others than ours are sent all again. */
    private void sendProbe(final boolean isLast)
    {
        if (route.leadsToOthers())
        {
            goBack();
            return;
        }
        final int cursor = cursorPosition == assignedPosition ? nextSequence :
            PacketSequence.add(requests.first(cursorPosition), cursorPacket);
        final int sequence = isLast && cursor != unacked ? PacketSequence.add(cursor, -1) : unacked;
        final long position = requests.find(sequence, completedPosition, assignedPosition);
        final WorkRequest request = queuePair.sendRequest(position);
        final int index = PacketSequence.distance(sequence, requests.first(position));
        final long source = request.isReadOrAtomic() ? 1 : payload(request, index, mtu);
        final RocePacket packet = source == RemoteAccess.REFUSED ? null : writer.claim();
        if (packet != null)
        {
            queuePair.engine().counters().resent++;
            packets.probe(packet, request, source, index, requests.count(position), sequence);
            timers.onSent(PacketSequence.add(sequence, 1), 0, false);
        }
    }

    private void noteSent(final int sequence, final int count)
    {
        final int end = PacketSequence.add(sequence, count);
        final boolean isNew = PacketSequence.distance(end, sentEnd) > 0;
        if (!isNew)
        {
            queuePair.engine().counters().resent++;
        }
        sentEnd = isNew ? end : sentEnd;
        timers.onSent(PacketSequence.add(sequence, 1), count, isNew);
    }

    /**
     * No more requests begin for now. Where nothing sent last asked for an acknowledgement nothing of it would
     * complete, so it is sent once more with that request.
     */
    void requestAcks()
    {
        if (ackRequests.requestedEnd() != sentEnd)
        {
            goBack();
        }
    }

    private void advanceCursor(final int count)
    {
        cursorPacket += count;
        if (cursorPacket == requests.count(cursorPosition))
        {
            cursorPosition++;
            cursorPacket = 0;
        }
    }

    /** A request fails on this side once all before it have completed. */
    private void failAt(final long position, final int status)
    {
        failedPosition = position;
        failedStatus = status;
        settle();
        requestAcks();
    }

    @Override
    void onResponse(final RocePacket packet, final int opcode, final int payloadBytes)
    {
        final int sequence = BthDescriptor.sequence(packet.buffer(), 0);
        final boolean isExpected = queuePair.state() != QueuePairState.ERR &&
            PacketSequence.distance(sequence, unacked) >= 0 && PacketSequence.distance(sequence, sentEnd) < 0;
        if (!isExpected)
        {
            queuePair.engine().counters().stale++;
            return;
        }
        final int operation = opcode & RoceOpcode.OPERATION_MASK;
        final int syndrome = (RoceOpcode.traits(opcode) & RoceOpcode.HAS_AETH) == 0 ? AethDescriptor.ACK :
            AethDescriptor.syndrome(packet.buffer(), BthDescriptor.LENGTH_BYTES);
        if (operation == RoceOpcode.ACKNOWLEDGE)
        {
            onAcknowledge(sequence, syndrome);
        }
        else if ((syndrome & AethDescriptor.KIND_MASK) == AethDescriptor.ACK)
        {
            onData(packet, opcode, sequence, payloadBytes);
        }
    }

    private void onAcknowledge(final int sequence, final int syndrome)
    {
        switch (syndrome & AethDescriptor.KIND_MASK)
        {
            case AethDescriptor.ACK -> acknowledge(PacketSequence.add(sequence, 1));
            case AethDescriptor.RECEIVER_NOT_READY ->
            {
                if (acknowledge(sequence) && sentEnd != unacked && !retries.isWaiting())
                {
                    onReceiverNotReady(syndrome & AethDescriptor.VALUE_MASK);
                }
            }
            case AethDescriptor.REFUSED ->
            {
                if (acknowledge(sequence) && sentEnd != unacked)
                {
                    onRefused(syndrome);
                }
            }
            default -> queuePair.engine().counters().stale++;
        }
    }

    private void onReceiverNotReady(final int code)
    {
        if (!retries.mayWaitForReceive())
        {
            fail(WorkCompletionStatus.RNR_RETRY_EXC_ERR);
            return;
        }
        timers.awaitReceive(code);
        goBack();
    }

    private void onRefused(final int syndrome)
    {
        switch (syndrome)
        {
            case AethDescriptor.SEQUENCE_ERROR -> recover();
            case AethDescriptor.INVALID_REQUEST -> fail(WorkCompletionStatus.REM_INV_REQ_ERR);
            case AethDescriptor.REMOTE_ACCESS_ERROR -> fail(WorkCompletionStatus.REM_ACCESS_ERR);
            case AethDescriptor.REMOTE_OPERATIONAL_ERROR -> fail(WorkCompletionStatus.REM_OP_ERR);
            default -> queuePair.engine().counters().stale++;
        }
    }

    /** The response of a READ or atomic, which acknowledges all before it that needs no response of its own. */
    private void onData(final RocePacket packet, final int opcode, final int sequence, final int payloadBytes)
    {
        final long position = firstReadOrAtomic(assignedPosition);
        final int index =
            position == assignedPosition ? -1 : PacketSequence.distance(sequence, requests.first(position));
        if (index < 0)
        {
            queuePair.engine().counters().stale++;
            return;
        }
        final int expected = Math.max(0, PacketSequence.distance(unacked, requests.first(position)));
        if (index > expected)
        {
            // A response before this one was lost.
            acknowledge(requests.first(position));
            recover();
            return;
        }
        final WorkRequest request = queuePair.sendRequest(position);
        final boolean isRead = (opcode & RoceOpcode.OPERATION_MASK) != RoceOpcode.ATOMIC_ACKNOWLEDGE;
        final int offset = index * mtu;
        final int lengthBytes = Math.min(request.lengthBytes - offset, mtu);
        // Of which kind a READ's response is says nothing: after going back its parts are cut elsewhere, and both the
        // answers to the old and to the new request may come. Its length does.
        if (index < expected || isRead != (request.operation == WorkRequest.READ) ||
            isRead && payloadBytes != lengthBytes)
        {
            queuePair.engine().counters().stale++;
            return;
        }
        if (!(isRead ?
            place(request, offset, lengthBytes, packet.buffer().addressOffset() + RoceOpcode.headerBytes(opcode)) :
            placeFound(request, packet)))
        {
            acknowledge(requests.first(position));
            failAt(position, WorkCompletionStatus.LOC_PROT_ERR);
            return;
        }
        progress(PacketSequence.add(sequence, 1));
    }

    private boolean placeFound(final WorkRequest request, final RocePacket packet)
    {
        final long target = source(request, 0, Long.BYTES);
        if (target != RemoteAccess.REFUSED)
        {
            RawMemory.putLong(target, AtomicAckEthDescriptor.original(
                packet.buffer(), BthDescriptor.LENGTH_BYTES + AethDescriptor.LENGTH_BYTES));
        }
        return target != RemoteAccess.REFUSED;
    }

    /**
     * Everything before a PSN has been received by the responder.
     *
     * @param end PSN.
     * @return false when a READ or atomic before it still lacks its response, which then must have been lost.
     */
    private boolean acknowledge(final int end)
    {
        final long blocker = firstReadOrAtomic(assignedPosition);
        int limit = end;
        boolean isComplete = true;
        if (blocker < assignedPosition)
        {
            final int first = requests.first(blocker);
            isComplete = PacketSequence.distance(end, first) <= 0 || PacketSequence.distance(end, unacked) <= 0;
            limit = PacketSequence.distance(end, first) > 0 ? first : end;
        }
        if (PacketSequence.distance(limit, unacked) > 0)
        {
            progress(limit);
        }
        if (!isComplete)
        {
            recover();
        }
        return isComplete;
    }

    private void progress(final int newUnacked)
    {
        final long nowNs = queuePair.engine().nowNs();
        congestion.onProgress(unacked, newUnacked, nowNs);
        unacked = newUnacked;
        isRecovering = false;
        reads.removeUpTo(unacked);
        retries.onProgress();
        if (sentEnd == unacked)
        {
            timers.update();
        }
        else
        {
            timers.arm(nowNs);
        }
        settle();
        if (cursorPosition < completedPosition || cursorPosition < assignedPosition &&
            PacketSequence.distance(PacketSequence.add(requests.first(cursorPosition), cursorPacket), unacked) < 0)
        {
            seek(unacked);
        }
        queuePair.wake();
    }

    /** Completes what has been acknowledged. */
    private void settle()
    {
        while (completedPosition < assignedPosition &&
            (failedStatus == WorkCompletionStatus.SUCCESS || completedPosition < failedPosition))
        {
            if (PacketSequence.distance(unacked, requests.end(completedPosition)) < 0)
            {
                return;
            }
            complete(WorkCompletionStatus.SUCCESS);
        }
        if (failedStatus != WorkCompletionStatus.SUCCESS && completedPosition == failedPosition)
        {
            fail(failedStatus);
        }
        else
        {
            queuePair.onSendsDrained();
        }
    }

    /** Goes back once for each loss: what says so comes several times. */
    private void recover()
    {
        if (!retries.isWaiting() && congestion.mayRecover(isRecovering, queuePair.engine().nowNs()))
        {
            isRecovering = true;
            congestion.onLoss(unacked, sentEnd);
            goBack();
        }
    }

    private void goBack()
    {
        congestion.onResent();
        reads.goBack();
        seek(unacked);
        queuePair.wake();
    }

    private void seek(final int sequence)
    {
        cursorPosition = requests.find(sequence, completedPosition, assignedPosition);
        cursorPacket = cursorPosition == assignedPosition ? 0 :
            PacketSequence.distance(sequence, requests.first(cursorPosition));
    }

    @Override
    void onTimer(final long nowNs)
    {
        final boolean isOver = timers.isOver(nowNs);
        if (retries.isWaiting() && isOver)
        {
            retries.endWait();
            isRecovering = false;
        }
        else if (sentEnd != unacked && isOver)
        {
            queuePair.engine().counters().timeouts++;
            if (!retries.mayRepeat())
            {
                fail(WorkCompletionStatus.RETRY_EXC_ERR);
                return;
            }
            timers.repeat(nowNs);
            isRecovering = false;
            goBack();
        }
        else if (sentEnd != unacked && timers.isLate(nowNs))
        {
            queuePair.engine().counters().probes++;
            sendProbe(timers.onProbe(nowNs));
        }
        timers.update();
        queuePair.wake();
    }

    @Override
    void onNotification()
    {
        congestion.onNotification(unacked, sentEnd);
    }
}
