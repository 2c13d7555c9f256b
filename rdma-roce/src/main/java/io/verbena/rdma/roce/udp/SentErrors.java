package io.verbena.rdma.roce.udp;

import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * What became of packets sent, as far as this host or another one reports it (ICMP, the error queue of ip(7)): the
 * last error for each of a few destinations. Written by the port's thread, read by any.
 */
final class SentErrors
{
    private static final int DESTINATIONS = 64;
    private static final int CONTROL_BYTES = 256;
    /** More would keep the thread from its packets; the rest comes with the next call. */
    private static final int MAX_REPORTS = 64;

    private final SocketCalls calls;
    private final UdpCounters counters;
    private final MessageHeaders message = new MessageHeaders(1, CONTROL_BYTES);
    private final UnsafeBuffer vector = new UnsafeBuffer(BufferUtil.allocateDirectAligned(64, 64));
    private final long[] highs = new long[DESTINATIONS];
    private final long[] lows = new long[DESTINATIONS];
    private final int[] ports = new int[DESTINATIONS];
    private final int[] numbers = new int[DESTINATIONS];
    private int next;
    private volatile boolean isExpected;

    SentErrors(final SocketCalls calls, final UdpCounters counters)
    {
        this.calls = calls;
        this.counters = counters;
        // The packet that the error is about; nothing of it is wanted.
        vector.putLong(0, vector.addressOffset() + 16);
        vector.putLong(Long.BYTES, 0);
        message.vectors(0, vector.addressOffset(), 1);
    }

    /** A thread that waited has seen that there are reports. */
    void expect()
    {
        isExpected = true;
    }

    /** Whether one has since the last call. */
    boolean takeExpected()
    {
        final boolean wasExpected = isExpected;
        if (wasExpected)
        {
            isExpected = false;
        }
        return wasExpected;
    }

    /** Takes the reports that wait at a socket; returns how many. */
    int drain(final int descriptor)
    {
        int reports = 0;
        while (reports < MAX_REPORTS)
        {
            message.resetForReceive(0);
            final int result = calls.recvmsg(
                descriptor, message.address(0), SocketConstants.MSG_ERRQUEUE | SocketConstants.MSG_DONTWAIT);
            if (result < 0)
            {
                return reports;
            }
            reports++;
            onReport();
        }
        return reports;
    }

    private void onReport()
    {
        final UnsafeBuffer controls = message.controls();
        for (int offset = 0; offset + MessageHeaders.CONTROL_HEADER_BYTES + Integer.BYTES <= message.controlEnd(0);
            offset = MessageHeaders.next(controls, offset))
        {
            final int level = MessageHeaders.level(controls, offset);
            final int type = MessageHeaders.type(controls, offset);
            if (level == SocketConstants.SOL_IP && type == SocketConstants.IP_RECVERR ||
                level == SocketConstants.SOL_IPV6 && type == SocketConstants.IPV6_RECVERR)
            {
                counters.reportedErrors++;
                final UnsafeBuffer names = message.names();
                record(SocketName.high(names, 0), SocketName.low(names, 0), SocketName.port(names, 0),
                    controls.getInt(offset + MessageHeaders.CONTROL_HEADER_BYTES));
            }
        }
    }

    /** Keeps the error of a destination. */
    synchronized void record(final long high, final long low, final int port, final int errno)
    {
        int index = indexOf(high, low, port);
        if (index < 0)
        {
            index = next;
            next = (next + 1) % DESTINATIONS;
        }
        highs[index] = high;
        lows[index] = low;
        ports[index] = port;
        numbers[index] = errno;
    }

    /** The last error of a destination, 0 when there is none. */
    synchronized int of(final long high, final long low, final int port)
    {
        final int index = indexOf(high, low, port);
        return index < 0 ? 0 : numbers[index];
    }

    private int indexOf(final long high, final long low, final int port)
    {
        for (int i = 0; i < DESTINATIONS; i++)
        {
            if (numbers[i] != 0 && ports[i] == port && lows[i] == low && highs[i] == high)
            {
                return i;
            }
        }
        return -1;
    }
}
