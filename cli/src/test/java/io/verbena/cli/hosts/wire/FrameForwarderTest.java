package io.verbena.cli.hosts.wire;

import org.agrona.concurrent.CachedNanoClock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;

/** Frames between three ports in virtual time. */
class FrameForwarderTest
{
    private static final int HEADER_BYTES = 14;
    private static final int FRAME_BYTES = 100;
    private static final long BROADCAST = 0xFFFF_FFFF_FFFFL;
    private static final LinkFaults EXACT = new LinkFaults(0, 0, 0, 0, 0, 0, 1);

    private final List<TestPort> ports = IntStream.range(0, 3).mapToObj((_) -> new TestPort()).toList();
    private final CachedNanoClock clock = new CachedNanoClock();
    private FrameForwarder forwarder;

    @AfterEach
    void close()
    {
        forwarder.close();
        assertThat(ports).allSatisfy((port) -> assertThat(port.isClosed).isTrue());
    }

    @Test
    void shouldForwardToTheHostThatIsMeantAndToAllOthersOtherwise()
    {
        open(EXACT);
        final byte[] toSecond = frame(FrameForwarder.mac(1), 1);
        final byte[] toAll = frame(BROADCAST, 2);
        final byte[] toNobody = frame(FrameForwarder.mac(3), 3);
        ports.get(0).arrivals.addAll(List.of(toSecond, toAll));
        ports.get(2).arrivals.add(toNobody);

        assertThat(forwarder.doWork()).isEqualTo(3);

        assertThat(ports.get(0).sent).containsExactly(toNobody);
        assertThat(ports.get(1).sent).containsExactly(toSecond, toAll, toNobody);
        assertThat(ports.get(2).sent).containsExactly(toAll);
        assertThat(forwarder.counts().sent()).isEqualTo(5);
    }

    @Test
    void shouldDropWhatIsNoFrame()
    {
        open(EXACT);
        ports.get(0).arrivals.add(new byte[HEADER_BYTES - 1]);
        ports.get(0).arrivals.add(new byte[FrameForwarder.MAX_FRAME_BYTES + 1]);

        forwarder.doWork();

        assertThat(forwarder.counts().sent()).isZero();
        assertThat(ports.get(1).sent).isEmpty();
    }

    @Test
    void shouldLoseAndRepeat()
    {
        open(new LinkFaults(1, 1, 0, 0, 0, 0, 1));
        ports.get(0).arrivals.add(frame(FrameForwarder.mac(1), 1));
        forwarder.doWork();
        assertThat(ports.get(1).sent).isEmpty();
        assertThat(forwarder.counts().lost()).isEqualTo(1);
        forwarder.close();

        open(new LinkFaults(0, 1, 0, 0, 0, 0, 1));
        final byte[] frame = frame(FrameForwarder.mac(1), 1);
        ports.get(0).arrivals.add(frame);
        forwarder.doWork();
        assertThat(ports.get(1).sent).containsExactly(frame, frame);
        assertThat(forwarder.counts().duplicated()).isEqualTo(1);
    }

    @Test
    void shouldInvertOneBitBehindTheHeaderForEachReceiverAlone()
    {
        open(new LinkFaults(0, 0, 1, 0, 0, 0, 1));
        for (int i = 0; i < 50; i++)
        {
            ports.get(0).arrivals.add(frame(BROADCAST, i));
        }
        forwarder.doWork();

        for (int i = 0; i < 50; i++)
        {
            assertThat(bitsThatDiffer(frame(BROADCAST, i), ports.get(1).sent.get(i))).isEqualTo(1);
            assertThat(bitsThatDiffer(frame(BROADCAST, i), ports.get(2).sent.get(i))).isEqualTo(1);
            assertThat(ports.get(1).sent.get(i)).startsWith(Arrays.copyOf(frame(BROADCAST, i), HEADER_BYTES));
        }
        assertThat(forwarder.counts().corrupted()).isEqualTo(100);
    }

    @Test
    void shouldDeliverAfterTheDelayAndInOrder()
    {
        open(new LinkFaults(0, 0, 0, 0, 1_000, 0, 1));
        final List<byte[]> frames = IntStream.range(0, 60).mapToObj((i) -> frame(FrameForwarder.mac(1), i)).toList();
        ports.get(0).arrivals.addAll(frames);
        forwarder.doWork();
        assertThat(ports.get(1).sent).isEmpty();
        assertThat(forwarder.idleNs()).isEqualTo(1_000);

        clock.update(999);
        forwarder.doWork();
        assertThat(ports.get(1).sent).isEmpty();

        clock.update(1_000);
        forwarder.doWork();
        assertThat(ports.get(1).sent).containsExactlyElementsOf(frames);
        assertThat(forwarder.idleNs()).isGreaterThan(1_000);
    }

    @Test
    void shouldLetFramesOvertakeThoseThatAreHeldBack()
    {
        open(new LinkFaults(0, 0, 0, 0.5, 0, 0, 1));
        final List<byte[]> frames = IntStream.range(0, 60).mapToObj((i) -> frame(FrameForwarder.mac(1), i)).toList();
        ports.get(0).arrivals.addAll(frames);
        forwarder.doWork();
        final int atOnce = ports.get(1).sent.size();
        clock.update(LinkFaults.HELD_NS);
        forwarder.doWork();

        assertThat(atOnce).isBetween(15, 45);
        assertThat(forwarder.counts().held()).isEqualTo(60 - atOnce);
        assertThat(ports.get(1).sent).containsExactlyInAnyOrderElementsOf(frames).isNotEqualTo(frames);
    }

    @Test
    void shouldKeepTheRateOfBothLinksAndDropWhatWouldWaitTooLong()
    {
        // 100 bytes of 8 bits at 8 Mbit/s: 100 us on each link; 20 ms of them wait at most.
        open(new LinkFaults(0, 0, 0, 0, 0, 8_000_000, 1));
        for (int i = 0; i < 300; i++)
        {
            ports.get(0).arrivals.add(frame(FrameForwarder.mac(2), i));
            ports.get(1).arrivals.add(frame(FrameForwarder.mac(2), i));
        }
        while (0 != forwarder.doWork())
        {
            assertThat(ports.get(2).sent).isEmpty();
        }
        clock.update(200_000 - 1);
        forwarder.doWork();
        assertThat(ports.get(2).sent).isEmpty();
        clock.update(200_000);
        forwarder.doWork();
        assertThat(ports.get(2).sent).hasSize(1);
        clock.update(200_000 + 10 * 100_000);
        forwarder.doWork();
        assertThat(ports.get(2).sent).hasSize(11);
        clock.update(1_000_000_000);
        forwarder.doWork();

        assertThat(ports.get(2).sent.size() + forwarder.counts().queueFull()).isEqualTo(600);
        // Each uplink takes 201 frames, of which the last one waits for 20 ms.
        assertThat(forwarder.counts().queueFull()).isBetween(198L, 210L);
    }

    @Test
    void shouldDropWhatItHasNoRoomFor()
    {
        open(new LinkFaults(0, 0, 0, 0, 1_000, 0, 1));
        for (int i = 0; i < 5_000; i++)
        {
            ports.get(0).arrivals.add(frame(FrameForwarder.mac(1), i));
        }
        while (!ports.get(0).arrivals.isEmpty())
        {
            forwarder.doWork();
        }
        clock.update(1_000);
        forwarder.doWork();

        assertThat(ports.get(1).sent).hasSize(4_096);
        assertThat(forwarder.counts().queueFull()).isEqualTo(5_000 - 4_096);
    }

    @Test
    void shouldDropFramesOfCutLinksUntilTheyAreRestored()
    {
        open(EXACT);
        forwarder.cut(0b010);
        ports.get(0).arrivals.addAll(List.of(frame(FrameForwarder.mac(1), 1), frame(FrameForwarder.mac(2), 2)));
        ports.get(1).arrivals.add(frame(FrameForwarder.mac(0), 3));
        forwarder.doWork();
        assertThat(ports.get(0).sent).isEmpty();
        assertThat(ports.get(1).sent).isEmpty();
        assertThat(ports.get(2).sent).hasSize(1);
        assertThat(forwarder.counts().cut()).isEqualTo(2);

        forwarder.cut(0);
        ports.get(1).arrivals.add(frame(FrameForwarder.mac(0), 4));
        forwarder.doWork();
        assertThat(ports.get(0).sent).hasSize(1);
    }

    @Test
    void shouldCountWhatAPortDoesNotTake()
    {
        open(EXACT);
        ports.get(1).isFull = true;
        ports.get(0).arrivals.add(frame(FrameForwarder.mac(1), 1));
        forwarder.doWork();

        assertThat(forwarder.counts().sent()).isZero();
        assertThat(forwarder.counts().queueFull()).isEqualTo(1);
    }

    private void open(final LinkFaults faults)
    {
        clock.update(0);
        forwarder = new FrameForwarder(ports, faults, clock);
    }

    private static byte[] frame(final long mac, final int number)
    {
        final byte[] frame = new byte[FRAME_BYTES];
        ByteBuffer.wrap(frame).putLong(mac << Short.SIZE).putInt(HEADER_BYTES, number);
        return frame;
    }

    private static int bitsThatDiffer(final byte[] one, final byte[] other)
    {
        return IntStream.range(0, one.length).map((i) -> Integer.bitCount((one[i] ^ other[i]) & 0xFF)).sum();
    }

    private static final class TestPort implements FramePort
    {
        private final Queue<byte[]> arrivals = new ArrayDeque<>();
        private final List<byte[]> sent = new ArrayList<>();
        private boolean isFull;
        private boolean isClosed;

        @Override
        public int receive(final MemorySegment frame)
        {
            if (arrivals.isEmpty())
            {
                return NOTHING;
            }
            final byte[] bytes = arrivals.remove();
            MemorySegment.copy(bytes, 0, frame, ValueLayout.JAVA_BYTE, 0,
                (int)Math.min(bytes.length, frame.byteSize()));
            return bytes.length;
        }

        @Override
        public boolean send(final MemorySegment frame, final int lengthBytes)
        {
            if (!isFull)
            {
                sent.add(frame.asSlice(0, lengthBytes).toArray(ValueLayout.JAVA_BYTE));
            }
            return !isFull;
        }

        @Override
        public long overruns()
        {
            return 0;
        }

        @Override
        public void close()
        {
            isClosed = true;
        }
    }
}
