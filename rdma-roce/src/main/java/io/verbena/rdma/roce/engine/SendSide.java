package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.request.MessageOpcodes;
import io.verbena.rdma.roce.wire.BthDescriptor;
import io.verbena.rdma.roce.wire.PacketSequence;
import io.verbena.rdma.roce.wire.RethDescriptor;
import io.verbena.rdma.roce.wire.RoceOpcode;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.spi.BoundWindow;
import io.verbena.rdma.spi.RawMemory;
import io.verbena.rdma.spi.RegisteredRegion;
import io.verbena.rdma.spi.SegmentList;
import io.verbena.rdma.spi.WorkRequest;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The requester of a queue pair: turns posted requests into packets and completes them in posting order. Used by the
 * engine's thread.
 */
abstract class SendSide
{
    final QueuePairPort queuePair;
    final PacketWriter writer;
    private final Places places;
    /** Position of the oldest request that has not completed. */
    long completedPosition;

    SendSide(final QueuePairPort queuePair)
    {
        this.queuePair = queuePair;
        writer = queuePair.engine().writer();
        places = new Places(queuePair);
    }

    /**
     * Enters RTS from RTR.
     *
     * @param sequence PSN of the first packet.
     */
    abstract void start(int sequence);

    /**
     * Sends what can be sent.
     *
     * @param quantum most packets.
     * @return whether there is more that could be sent now.
     */
    abstract boolean transmit(int quantum);

    /** Attributes have changed while nothing was in flight. */
    void configure()
    {
        // most have none
    }

    /** Whether nothing that was begun is unfinished. */
    abstract boolean isDrained();

    /**
     * Everything before a position counts as completed.
     *
     * @param position of the first request that may still be executed.
     */
    abstract void forgetAll(long position);

    /**
     * Handles a response.
     *
     * @param packet whose form has been checked.
     * @param opcode of a response.
     * @param payloadBytes without padding.
     */
    void onResponse(final RocePacket packet, final int opcode, final int payloadBytes)
    {
        queuePair.engine().counters().stale++;
    }

    /** The peer says that packets to it were marked on a congested way. */
    void onNotification()
    {
        // datagrams and UC have no window
    }

    /**
     * The queue pair's deadline is over.
     *
     * @param nowNs time.
     */
    void onTimer(final long nowNs)
    {
        // most have none
    }

    /** Position of the oldest READ or atomic before an end that has not completed; the end when there is none. */
    final long firstReadOrAtomic(final long end)
    {
        long position = completedPosition;
        while (position < end && !queuePair.sendRequest(position).isReadOrAtomic())
        {
            position++;
        }
        return position;
    }

    /** Completes everything outstanding with WR_FLUSH_ERR. */
    final void flush()
    {
        while (completedPosition < queuePair.sendEnd())
        {
            complete(WorkCompletionStatus.WR_FLUSH_ERR);
        }
        // Not to the end as it is now: another thread may just have moved it.
        forgetAll(completedPosition);
    }

    /**
     * Completes the oldest request.
     *
     * @param status of it; a success that nobody asked for stays silent.
     */
    final void complete(final int status)
    {
        final WorkRequest request = queuePair.sendRequest(completedPosition);
        completedPosition++;
        if (status != WorkCompletionStatus.SUCCESS || (request.flags & SendFlags.SIGNALED) != 0)
        {
            queuePair.sendCompletions().addSend(
                queuePair, completedPosition, request.wrId, status, request.operation, request.lengthBytes);
        }
    }

    /**
     * Fails the oldest request, and with it the send queue.
     *
     * @param status of it.
     */
    final void fail(final int status)
    {
        queuePair.onSendFailure(status);
    }

    /**
     * Checks a request's own memory, or carries a local request out.
     *
     * @param request next to be begun.
     * @return SUCCESS, LOC_PROT_ERR, LOC_QP_OP_ERR or MW_BIND_ERR.
     */
    final int begin(final WorkRequest request)
    {
        return switch (request.operation)
        {
            case WorkRequest.BIND_MW -> bind(request);
            case WorkRequest.LOCAL_INV -> queuePair.invalidate(request.remoteKey) ?
                WorkCompletionStatus.SUCCESS : WorkCompletionStatus.LOC_QP_OP_ERR;
            default -> request.lengthBytes == 0 || isOwn(request) ?
                WorkCompletionStatus.SUCCESS : WorkCompletionStatus.LOC_PROT_ERR;
        };
    }

    private boolean isOwn(final WorkRequest request)
    {
        return request.isGathered() ? places.isOwn(request) :
            source(request, 0, request.lengthBytes) != RemoteAccess.REFUSED;
    }

    /**
     * Puts what came for a part of a READ where the request wants it.
     *
     * @param request      begun.
     * @param offset       of the part.
     * @param lengthBytes  0 to the length of a packet.
     * @param address      of what came, mapped.
     * @return whether the places are still the user's own.
     */
    final boolean place(final WorkRequest request, final int offset, final int lengthBytes, final long address)
    {
        if (request.isGathered())
        {
            return places.move(request, offset, lengthBytes, address, true);
        }
        final long target = lengthBytes == 0 ? 1 : source(request, offset, lengthBytes);
        if (target != RemoteAccess.REFUSED)
        {
            RawMemory.write(address, target, lengthBytes);
        }
        return target != RemoteAccess.REFUSED;
    }

    /**
     * Resolves a part of a request's own memory; of one that lies in several places a copy, until the next call.
     *
     * @param request      begun.
     * @param offset       of the part.
     * @param lengthBytes  1 or more; of one that lies in several places at most the length of a packet.
     * @return address in the terms of raw memory, or {@link RemoteAccess#REFUSED}.
     */
    final long source(final WorkRequest request, final int offset, final int lengthBytes)
    {
        if ((request.flags & SendFlags.INLINE) != 0)
        {
            return request.localAddress + offset;
        }
        if (request.segmentCount > 1)
        {
            return places.copy(request, offset, lengthBytes);
        }
        return queuePair.engine().memory().local(
            request.localKey, queuePair.domain(), request.isReadOrAtomic() ? AccessFlags.LOCAL_WRITE : 0,
            request.localAddress + offset, lengthBytes);
    }

    /**
     * Resolves the payload of a packet.
     *
     * @param request begun.
     * @param index   which of its packets.
     * @param mtu     path MTU.
     * @return as {@link #source}; of a request without payload any that is not refused.
     */
    final long payload(final WorkRequest request, final int index, final int mtu)
    {
        final int offset = index * mtu;
        return request.lengthBytes == 0 ? 1 : source(request, offset, Math.min(request.lengthBytes - offset, mtu));
    }

    private int bind(final WorkRequest request)
    {
        final RemoteAccess memory = queuePair.engine().memory();
        final RegisteredRegion region =
            request.region == null ? null : memory.regions.find(request.region.localKey());
        if (!(request.window instanceof BoundWindow window) || !memory.windows.contains(window))
        {
            return WorkCompletionStatus.MW_BIND_ERR;
        }
        window.settle();
        return window.bind(request, region, queuePair.domain(), queuePair.number());
    }

    /** Which PSNs the requests of a send queue have, by position. Used by the engine's thread. */
    static final class SentRequests
    {
        private final int[] firstSequences;
        private final int[] packetCounts;
        private final int mask;

        SentRequests(final int maxRequests)
        {
            final int slots = Integer.highestOneBit(Math.max(1, maxRequests * 2 - 1));
            firstSequences = new int[slots];
            packetCounts = new int[slots];
            mask = slots - 1;
        }

        /** Gives a request its PSNs; {@code count} is 0 for a local one. */
        void add(final long position, final int first, final int count)
        {
            firstSequences[(int)position & mask] = first;
            packetCounts[(int)position & mask] = count;
        }

        /** PSN of the first packet, or of the first response of a READ. */
        int first(final long position)
        {
            return firstSequences[(int)position & mask];
        }

        /** How many PSNs it has. */
        int count(final long position)
        {
            return packetCounts[(int)position & mask];
        }

        /** PSN after its last. */
        int end(final long position)
        {
            return PacketSequence.add(first(position), count(position));
        }

        /** The first position from one on, and before another, whose PSNs do not all lie before {@code sequence}. */
        long find(final int sequence, final long from, final long to)
        {
            long position = from;
            while (position < to && PacketSequence.distance(sequence, end(position)) >= 0)
            {
                position++;
            }
            return position;
        }
    }

    /** The own memory of requests that lies in several places. Used by the engine's thread. */
    private static final class Places
    {
        private final QueuePairPort queuePair;
        /** What {@link #copy} put together; made when it is first needed. */
        private MemorySegment packet;

        private Places(final QueuePairPort queuePair)
        {
            this.queuePair = queuePair;
        }

        private boolean isOwn(final WorkRequest request)
        {
            final SegmentList segments = request.segments;
            for (int i = 0; i < segments.count(); i++)
            {
                if (resolve(request, i, 0, segments.lengthBytes(i)) == RemoteAccess.REFUSED)
                {
                    return false;
                }
            }
            return true;
        }

        private long resolve(final WorkRequest request, final int index, final int offset, final int lengthBytes)
        {
            return queuePair.engine().memory().local(
                request.segments.key(index), queuePair.domain(),
                request.isReadOrAtomic() ? AccessFlags.LOCAL_WRITE : 0,
                request.segments.address(index) + offset, lengthBytes);
        }

        private long copy(final WorkRequest request, final int offset, final int lengthBytes)
        {
            if (packet == null)
            {
                packet = Arena.ofAuto().allocate(RocePacket.MAX_LENGTH_BYTES, Long.BYTES);
            }
            return move(request, offset, lengthBytes, packet.address(), false) ?
                packet.address() : RemoteAccess.REFUSED;
        }

        /** Moves a part of the payload; false when one of its places is refused. */
        private boolean move(
            final WorkRequest request,
            final int offset,
            final int lengthBytes,
            final long address,
            final boolean isToPlaces)
        {
            final SegmentList segments = request.segments;
            int skippedBytes = offset;
            int doneBytes = 0;
            for (int i = 0; doneBytes < lengthBytes; i++)
            {
                final int segmentBytes = segments.lengthBytes(i);
                final int from = Math.min(skippedBytes, segmentBytes);
                skippedBytes -= from;
                final int bytes = Math.min(segmentBytes - from, lengthBytes - doneBytes);
                if (bytes > 0)
                {
                    final long place = resolve(request, i, from, bytes);
                    if (place == RemoteAccess.REFUSED)
                    {
                        return false;
                    }
                    RawMemory.write(
                        isToPlaces ? address + doneBytes : place, isToPlaces ? place : address + doneBytes, bytes);
                    doneBytes += bytes;
                }
            }
            return true;
        }
    }

    /** Fills and sends the packets of requests of RC and DC. Used by the engine's thread. */
    static final class RequestPackets
    {
        private final Route route;
        private final PacketWriter writer;

        RequestPackets(final QueuePairPort queuePair)
        {
            route = queuePair.route();
            writer = queuePair.engine().writer();
        }

        /** Asks for {@code count} response packets of a READ from its packet {@code index} on. */
        void read(
            final RocePacket packet, final WorkRequest request, final int index, final int count, final int sequence)
        {
            final int mtu = route.mtu();
            final int offset = index * mtu;
            RethDescriptor.encode(packet.buffer(), BthDescriptor.LENGTH_BYTES, request.remoteAddress + offset,
                request.remoteKey, (int)Math.min((long)request.lengthBytes - offset, (long)count * mtu));
            send(packet, route.transport | RoceOpcode.READ_REQUEST, 0, false, true, sequence);
        }

        void atomic(final RocePacket packet, final WorkRequest request, final int sequence)
        {
            send(packet, route.transport | MessageOpcodes.putAtomic(packet, request), 0, false, true, sequence);
        }

        /**
         * Sends a packet of a SEND or WRITE.
         *
         * @param packet         claimed.
         * @param request        it belongs to.
         * @param source         its payload, mapped; any where there is none.
         * @param index          which packet of the request it is.
         * @param isLast         whether it is the last.
         * @param isAckRequested whether to ask for an acknowledgement.
         * @param sequence       its PSN.
         */
        void payload(
            final RocePacket packet,
            final WorkRequest request,
            final long source,
            final int index,
            final boolean isLast,
            final boolean isAckRequested,
            final int sequence)
        {
            final int mtu = route.mtu();
            final int opcode = route.transport | MessageOpcodes.of(request, index == 0, isLast);
            final int lengthBytes = Math.min(request.lengthBytes - index * mtu, mtu);
            if (lengthBytes > 0)
            {
                PacketWriter.putPayload(packet, opcode, source, lengthBytes);
            }
            MessageOpcodes.putHeaders(packet, opcode, request);
            send(packet, opcode, lengthBytes, isLast && (request.flags & SendFlags.SOLICITED) != 0, isAckRequested,
                sequence);
        }

        /** Sends the packet {@code index} of so many alone, and asks for an answer. */
        void probe(
            final RocePacket packet,
            final WorkRequest request,
            final long source,
            final int index,
            final int count,
            final int sequence)
        {
            switch (request.operation)
            {
                case WorkRequest.READ -> read(packet, request, index, 1, sequence);
                case WorkRequest.COMPARE_SWAP, WorkRequest.FETCH_ADD -> atomic(packet, request, sequence);
                default -> payload(packet, request, source, index, index + 1 == count, true, sequence);
            }
        }

        private void send(
            final RocePacket packet,
            final int opcode,
            final int payloadBytes,
            final boolean isSolicited,
            final boolean isAckRequested,
            final int sequence)
        {
            route.send(writer, packet, opcode, payloadBytes, isSolicited, isAckRequested, sequence);
        }
    }
}
