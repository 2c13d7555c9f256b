package io.verbena.rdma.roce.udp;

import io.verbena.rdma.roce.wire.RocePacket;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Packets lent to be filled and then sent, many a system call: a run of packets to one destination of one length goes
 * as one message, which the kernel cuts (generic segmentation offload, {@code UDP_SEGMENT} in udp(7)); the last of a
 * run may be shorter. IPv4 goes without, as the kernel would number the packets of a run in the identification field,
 * which the CRC covers.
 */
final class SendRing
{
    /** The kernel's limit of 6.8 and older. */
    private static final int MAX_RUN_PACKETS = 64;
    /** Longest datagram with room for the IP and UDP headers. */
    private static final int MAX_RUN_BYTES = 65_000;
    private static final int MAX_MESSAGES = 64;
    private static final int VECTOR_BYTES = 16;
    private static final int LINE_BYTES = 64;
    private static final int SEGMENT_CONTROL_BYTES = 24;
    /** Errors of other packets that may come up before a message is given up. */
    private static final int MAX_ATTEMPTS = 8;

    private final SocketCalls calls;
    private final UdpCounters counters;
    private final SentErrors errors;
    private final int scope;
    private final RocePacket[] packets;
    private final int mask;
    /** Those of all packets, twice in a row: a run that goes around the end of the ring is one message all the same. */
    private final UnsafeBuffer vectors;
    private final int vectorsBytes;
    private final MessageHeaders headers = new MessageHeaders(MAX_MESSAGES, SEGMENT_CONTROL_BYTES);
    private final int[] messagePackets = new int[MAX_MESSAGES];
    private boolean isSegmenting;
    private boolean isSegmentingSuspect;
    /** Packets before it go one by one. */
    private long singleEnd;
    private long head;
    private long tail;
    /** Bytes of the packets that were taken since the last flush. */
    private int takenBytes;
    private int lastBytes;

    SendRing(
        final SocketCalls calls,
        final UdpCounters counters,
        final SentErrors errors,
        final int scope,
        final int capacity,
        final boolean isSegmenting)
    {
        this.calls = calls;
        this.counters = counters;
        this.errors = errors;
        this.scope = scope;
        this.isSegmenting = isSegmenting;
        packets = new RocePacket[capacity];
        mask = capacity - 1;
        vectorsBytes = capacity * VECTOR_BYTES;
        vectors = new UnsafeBuffer(BufferUtil.allocateDirectAligned(2 * vectorsBytes, LINE_BYTES));
        for (int i = 0; i < capacity; i++)
        {
            packets[i] = new RocePacket();
            vectors.putLong(i * VECTOR_BYTES, packets[i].buffer().addressOffset());
            vectors.putLong(vectorsBytes + i * VECTOR_BYTES, packets[i].buffer().addressOffset());
        }
        for (int i = 0; i < MAX_MESSAGES; i++)
        {
            MessageHeaders.encodeControl(headers.controls(), headers.controlOffset(i), SocketConstants.SOL_UDP,
                SocketConstants.UDP_SEGMENT, Short.BYTES);
        }
    }

    /** The next packet to fill, or null when all wait to be sent. */
    RocePacket claim()
    {
        return tail - head <= mask ? packets[(int)tail & mask] : null;
    }

    /** Takes the packet claimed. */
    void send()
    {
        final int index = (int)tail & mask;
        lastBytes = packets[index].lengthBytes();
        vectors.putLong(index * VECTOR_BYTES + Long.BYTES, lastBytes);
        vectors.putLong(vectorsBytes + index * VECTOR_BYTES + Long.BYTES, lastBytes);
        takenBytes += lastBytes;
        tail++;
    }

    /** Whether a whole run waits: the receiver may as well begin with it. */
    boolean hasWholeRun()
    {
        return tail - head >= MAX_RUN_PACKETS || takenBytes + lastBytes > MAX_RUN_BYTES;
    }

    boolean isEmpty()
    {
        return head == tail;
    }

    boolean isSegmenting()
    {
        return isSegmenting;
    }

    /** Hands to the kernel what it takes now. */
    void flush(final int descriptor)
    {
        takenBytes = 0;
        int attempts = 0;
        while (head < tail)
        {
            final int count = encodeMessages();
            final int result = calls.sendmmsg(descriptor, headers.address(0), count, SocketConstants.MSG_DONTWAIT);
            counters.sendCalls++;
            if (result > 0)
            {
                attempts = 0;
                onSent(result);
                if (result < count)
                {
                    // The error of the first message left out may be the report on an earlier packet; it comes once.
                    errors.drain(descriptor);
                }
            }
            else if (result == -SocketConstants.EAGAIN)
            {
                counters.waits++;
                return;
            }
            else if (onError(descriptor, -result, ++attempts > MAX_ATTEMPTS))
            {
                attempts = 0;
            }
        }
    }

    private void onSent(final int messageCount)
    {
        for (int i = 0; i < messageCount; i++)
        {
            head += messagePackets[i];
            counters.sent += messagePackets[i];
        }
        counters.messages += messageCount;
        if (isSegmentingSuspect)
        {
            // The same packet went by itself: the interface cannot compute the checksums of a run.
            isSegmentingSuspect = false;
            isSegmenting = false;
        }
    }

    /** Decides what an error of the first message means; returns whether that message is done with. */
    private boolean onError(final int descriptor, final int errno, final boolean isLastAttempt)
    {
        final int run = messagePackets[0];
        final RocePacket first = packets[(int)head & mask];
        final int reported = errors.drain(descriptor);
        if (run > 1 && isOfRun(errno))
        {
            singleEnd = head + run;
            isSegmentingSuspect = errno != SocketConstants.EMSGSIZE;
            return true;
        }
        isSegmentingSuspect = false;
        switch (errno)
        {
            case SocketConstants.EINTR ->
            {
                return false;
            }
            case SocketConstants.ENOBUFS, SocketConstants.ENOMEM -> counters.noBuffer += run;
            case SocketConstants.EMSGSIZE -> counters.tooLong += run;
            default ->
            {
                if (reported > 0 && !isLastAttempt)
                {
                    // It was the error of a packet sent before, which the kernel returns with the next call.
                    return false;
                }
                counters.unsendable += run;
            }
        }
        if (errno != SocketConstants.ENOBUFS && errno != SocketConstants.ENOMEM)
        {
            errors.record(first.destinationHigh(), first.destinationLow(), first.destinationPort(), errno);
        }
        head += run;
        return true;
    }

    private static boolean isOfRun(final int errno)
    {
        return errno == SocketConstants.EINVAL || errno == SocketConstants.EIO ||
            errno == SocketConstants.EMSGSIZE || errno == SocketConstants.EOPNOTSUPP;
    }

    /** Describes packets from the head on as messages; returns how many. */
    private int encodeMessages()
    {
        int count = 0;
        long position = head;
        while (position < tail && count < MAX_MESSAGES)
        {
            final int index = (int)position & mask;
            final RocePacket first = packets[index];
            final int run = isSegmenting && position >= singleEnd ? runLength(position, first) : 1;
            headers.nameBytes(count, SocketName.encode(headers.names(), headers.nameOffset(count),
                first.destinationHigh(), first.destinationLow(), first.destinationPort(), scope));
            headers.vectors(count, vectors.addressOffset() + (long)index * VECTOR_BYTES, run);
            if (run > 1)
            {
                headers.controls().putShort(headers.controlOffset(count) + MessageHeaders.CONTROL_HEADER_BYTES,
                    (short)first.lengthBytes());
                headers.controlBytes(count, SEGMENT_CONTROL_BYTES);
            }
            else
            {
                headers.controlBytes(count, 0);
            }
            messagePackets[count++] = run;
            position += run;
        }
        return count;
    }

    private int runLength(final long position, final RocePacket first)
    {
        final int segmentBytes = first.lengthBytes();
        final int limit = (int)Math.min(
            tail - position, Math.min(MAX_RUN_PACKETS, MAX_RUN_BYTES / Math.max(1, segmentBytes)));
        int run = 1;
        while (run < limit)
        {
            final RocePacket next = packets[(int)(position + run) & mask];
            if (next.lengthBytes() > segmentBytes || next.destinationPort() != first.destinationPort() ||
                next.destinationLow() != first.destinationLow() || next.destinationHigh() != first.destinationHigh())
            {
                return run;
            }
            run++;
            if (next.lengthBytes() < segmentBytes)
            {
                return run;
            }
        }
        return run;
    }
}
