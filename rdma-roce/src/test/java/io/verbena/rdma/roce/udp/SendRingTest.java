package io.verbena.rdma.roce.udp;

import io.verbena.rdma.roce.wire.RocePacket;
import org.agrona.UnsafeApi;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;

import static org.assertj.core.api.Assertions.assertThat;

/** What is handed to the kernel in which messages, and what its errors do. */
class SendRingTest
{
    private static final int ALL = Integer.MAX_VALUE;
    private static final int MESSAGE_BYTES = 64;
    private static final int VECTORS_OFFSET = 16;
    private static final int VECTOR_COUNT_OFFSET = 24;
    private static final int VECTOR_BYTES = 16;
    private static final int CONTROL_OFFSET = 32;
    private static final int CONTROL_BYTES_OFFSET = 40;
    private static final long HIGH = 0xFD00_0000_0000_0000L;

    /** A kernel that does as it is told, and takes everything when it was told nothing. */
    private static final class ScriptedCalls extends SocketCalls
    {
        final Queue<Integer> results = new ArrayDeque<>();
        final List<List<Integer>> runs = new ArrayList<>();
        final List<Integer> segmentBytes = new ArrayList<>();
        /** Where the packets of the last call lie, and how long they are, one behind the other. */
        final List<Long> places = new ArrayList<>();
        int reports;
        int drains;

        @Override
        int sendmmsg(final int descriptor, final long messages, final int count, final int flags)
        {
            final List<Integer> offered = new ArrayList<>();
            places.clear();
            for (int i = 0; i < count; i++)
            {
                final long message = messages + (long)i * MESSAGE_BYTES;
                offered.add((int)UnsafeApi.getLong(message + VECTOR_COUNT_OFFSET));
                for (int vector = 0; vector < offered.getLast(); vector++)
                {
                    final long address = UnsafeApi.getLong(message + VECTORS_OFFSET) + (long)vector * VECTOR_BYTES;
                    places.add(UnsafeApi.getLong(address));
                    places.add(UnsafeApi.getLong(address + Long.BYTES));
                }
                if (UnsafeApi.getLong(message + CONTROL_BYTES_OFFSET) > 0)
                {
                    segmentBytes.add((int)UnsafeApi.getShort(UnsafeApi.getLong(message + CONTROL_OFFSET) +
                        MessageHeaders.CONTROL_HEADER_BYTES));
                }
            }
            runs.add(offered);
            return results.isEmpty() ? count : Math.min(count, results.remove());
        }

        /** Reports without content. */
        @Override
        int recvmsg(final int descriptor, final long message, final int flags)
        {
            UnsafeApi.putLong(message + CONTROL_BYTES_OFFSET, 0);
            drains++;
            return reports-- > 0 ? 0 : -SocketConstants.EAGAIN;
        }
    }

    private final ScriptedCalls calls = new ScriptedCalls();
    private final UdpCounters counters = new UdpCounters();
    private final SentErrors errors = new SentErrors(calls, counters);
    private final SendRing ring = new SendRing(calls, counters, errors, 0, 128, true);

    private void send(final int count, final int lengthBytes, final int host, final int port)
    {
        for (int i = 0; i < count; i++)
        {
            final RocePacket packet = ring.claim();
            packet.path(HIGH, 1, 1, HIGH, host, port);
            packet.lengthBytes(lengthBytes);
            ring.send();
        }
    }

    private void assertCounters(final long sent, final long noBuffer, final long tooLong, final long unsendable)
    {
        assertThat(List.of(counters.sent, counters.noBuffer, counters.tooLong, counters.unsendable))
            .containsExactly(sent, noBuffer, tooLong, unsendable);
        assertThat(ring.isEmpty()).isTrue();
    }

    @Test
    void shouldEndARunWhereLengthOrDestinationChange()
    {
        send(3, 84, 2, 7);
        send(1, 80, 2, 7);
        send(2, 80, 2, 7);
        send(1, 84, 2, 7);
        send(1, 84, 3, 7);
        send(2, 84, 3, 8);
        ring.flush(0);
        assertThat(calls.runs).containsExactly(List.of(4, 2, 1, 1, 2));
        assertThat(calls.segmentBytes).containsExactly(84, 80, 84);
        assertCounters(10, 0, 0, 0);
        assertThat(counters.messages).isEqualTo(5);
        assertThat(counters.sendCalls).isEqualTo(1);
        assertThat(calls.drains).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 63, 64, 65, 100, 127})
    void shouldSendARunThatGoesAroundTheEndOfTheRingAsOneMessage(final int before)
    {
        for (int i = 0; i < before; i++)
        {
            send(1, 20, 2, 7);
            ring.flush(0);
        }
        final List<Long> expected = new ArrayList<>();
        for (int i = 0; i < 64; i++)
        {
            final int lengthBytes = i == 63 ? 80 : 84;
            expected.add(ring.claim().buffer().addressOffset());
            expected.add((long)lengthBytes);
            send(1, lengthBytes, 2, 7);
        }
        ring.flush(0);
        assertThat(calls.runs.getLast()).containsExactly(64);
        assertThat(calls.places).isEqualTo(expected);
        assertCounters(before + 64, 0, 0, 0);
    }

    @Test
    void shouldFlushBeforeARunIsLongerThanADatagram()
    {
        send(61, 1_044, 2, 7);
        assertThat(ring.hasWholeRun()).isFalse();
        send(1, 1_044, 2, 7);
        assertThat(ring.hasWholeRun()).isTrue();
        ring.flush(0);
        assertThat(calls.runs).containsExactly(List.of(62));
        send(1, 1_044, 2, 7);
        assertThat(ring.hasWholeRun()).isFalse();
        ring.flush(0);
        // Of what was not flushed in time, the rest is a message of its own.
        send(64, 1_044, 2, 7);
        ring.flush(0);
        assertThat(calls.runs.getLast().stream().mapToInt(run -> run).sum()).isEqualTo(64);
        assertThat(Collections.max(calls.runs.getLast())).isLessThanOrEqualTo(62);
    }

    @Test
    void shouldKeepWhatTheKernelHasNoRoomForNow()
    {
        send(2, 84, 2, 7);
        calls.results.add(-SocketConstants.EAGAIN);
        ring.flush(0);
        assertThat(ring.isEmpty()).isFalse();
        assertThat(counters.waits).isEqualTo(1);
        assertThat(calls.runs).hasSize(1);
        send(1, 84, 2, 7);
        ring.flush(0);
        assertThat(calls.runs).containsExactly(List.of(2), List.of(3));
        assertCounters(3, 0, 0, 0);
    }

    @Test
    void shouldGoOnWithWhatIsLeftAndTakeTheReportThatStoppedIt()
    {
        send(1, 84, 2, 7);
        send(1, 84, 3, 7);
        send(1, 84, 4, 7);
        calls.results.add(2);
        ring.flush(0);
        assertThat(calls.runs).containsExactly(List.of(1, 1, 1), List.of(1));
        assertThat(calls.drains).isEqualTo(1);
        assertCounters(3, 0, 0, 0);
    }

    @ParameterizedTest
    @ValueSource(ints = {SocketConstants.ENOBUFS, SocketConstants.ENOMEM})
    void shouldLoseARunThatThereIsNoMemoryFor(final int errno)
    {
        send(3, 84, 2, 7);
        send(1, 84, 3, 7);
        calls.results.add(-errno);
        ring.flush(0);
        assertThat(calls.runs).containsExactly(List.of(3, 1), List.of(1));
        assertCounters(1, 3, 0, 0);
        // It says nothing of the destination.
        assertThat(errors.of(HIGH, 2, 7)).isZero();
        assertThat(ring.isSegmenting()).isTrue();
    }

    @Test
    void shouldTryAgainAfterASignal()
    {
        send(3, 84, 2, 7);
        calls.results.add(-SocketConstants.EINTR);
        ring.flush(0);
        assertThat(calls.runs).containsExactly(List.of(3), List.of(3));
        assertCounters(3, 0, 0, 0);
    }

    /** The last one of a run may be shorter and fit. */
    @Test
    void shouldSendARunThatIsTooLongPacketByPacketAndLoseWhatIsTooLong()
    {
        send(2, 84, 2, 7);
        send(1, 20, 2, 7);
        send(2, 20, 3, 7);
        calls.results.addAll(List.of(-SocketConstants.EMSGSIZE, -SocketConstants.EMSGSIZE));
        calls.results.addAll(List.of(-SocketConstants.EMSGSIZE, ALL));
        ring.flush(0);
        assertThat(calls.runs)
            .containsExactly(List.of(3, 2), List.of(1, 1, 1, 2), List.of(1, 1, 2), List.of(1, 2));
        assertCounters(3, 0, 2, 0);
        assertThat(errors.of(HIGH, 2, 7)).isEqualTo(SocketConstants.EMSGSIZE);
        assertThat(errors.of(HIGH, 3, 7)).isZero();
        // The kernel cuts runs all the same.
        send(2, 84, 2, 7);
        ring.flush(0);
        assertThat(calls.runs.getLast()).containsExactly(2);
    }

    @ParameterizedTest
    @ValueSource(ints = {SocketConstants.EIO, SocketConstants.EINVAL, SocketConstants.EOPNOTSUPP})
    void shouldSegmentNoMoreWhereTheInterfaceCannot(final int errno)
    {
        send(3, 84, 2, 7);
        calls.results.add(-errno);
        ring.flush(0);
        send(2, 84, 2, 7);
        ring.flush(0);
        assertThat(calls.runs).containsExactly(List.of(3), List.of(1, 1, 1), List.of(1, 1));
        assertThat(ring.isSegmenting()).isFalse();
        assertCounters(5, 0, 0, 0);
    }

    @Test
    void shouldGoOnSegmentingWhenThePacketCannotBeSentAloneEither()
    {
        send(2, 84, 2, 7);
        send(2, 84, 3, 7);
        calls.results.addAll(
            List.of(-SocketConstants.EINVAL, -SocketConstants.EINVAL, -SocketConstants.EINVAL, ALL));
        ring.flush(0);
        assertThat(calls.runs).containsExactly(List.of(2, 2), List.of(1, 1, 2), List.of(1, 2), List.of(2));
        assertThat(ring.isSegmenting()).isTrue();
        assertCounters(2, 0, 0, 2);
        assertThat(errors.of(HIGH, 2, 7)).isEqualTo(SocketConstants.EINVAL);
    }

    @Test
    void shouldLoseWhatNoWayLeadsTo()
    {
        send(2, 84, 2, 7);
        send(1, 84, 3, 7);
        calls.results.add(-SocketConstants.EHOSTUNREACH);
        ring.flush(0);
        assertThat(calls.runs).containsExactly(List.of(2, 1), List.of(1));
        assertCounters(1, 0, 0, 2);
        assertThat(errors.of(HIGH, 2, 7)).isEqualTo(SocketConstants.EHOSTUNREACH);
    }

    /** An error that comes with reports is that of a packet sent before; but not for ever. */
    @Test
    void shouldNotTakeTheReportOnAnEarlierPacketForAnErrorOfThisOne()
    {
        send(1, 84, 2, 7);
        calls.results.add(-SocketConstants.EHOSTUNREACH);
        calls.reports = 1;
        ring.flush(0);
        assertCounters(1, 0, 0, 0);
        send(2, 84, 3, 7);
        send(1, 84, 2, 7);
        for (int i = 0; i < 9; i++)
        {
            calls.results.add(-SocketConstants.EHOSTUNREACH);
        }
        calls.reports = 10_000;
        ring.flush(0);
        assertCounters(2, 0, 0, 2);
        assertThat(calls.runs).hasSize(2 + 9 + 1);
        assertThat(errors.of(HIGH, 3, 7)).isEqualTo(SocketConstants.EHOSTUNREACH);
        // The next one has as many attempts of its own.
        send(1, 84, 2, 7);
        for (int i = 0; i < 8; i++)
        {
            calls.results.add(-SocketConstants.EHOSTUNREACH);
        }
        ring.flush(0);
        assertCounters(3, 0, 0, 2);
    }

    /** A run was too long for a moment; that says nothing of the interface. */
    @Test
    void shouldGoOnSegmentingWhenTheSamePacketsGoOneByOne()
    {
        send(2, 84, 2, 7);
        calls.results.add(-SocketConstants.EMSGSIZE);
        ring.flush(0);
        assertThat(ring.isSegmenting()).isTrue();
        assertCounters(2, 0, 0, 0);
    }

    @Test
    void shouldCountAttemptsOfEachMessageAnew()
    {
        calls.reports = 10_000;
        send(1, 84, 2, 7);
        send(1, 84, 3, 7);
        send(1, 84, 4, 7);
        fail(9);
        fail(8);
        calls.results.add(1);
        fail(8);
        ring.flush(0);
        assertCounters(2, 0, 0, 1);
    }

    private void fail(final int times)
    {
        for (int i = 0; i < times; i++)
        {
            calls.results.add(-SocketConstants.EHOSTUNREACH);
        }
    }
}
