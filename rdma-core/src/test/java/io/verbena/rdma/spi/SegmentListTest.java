package io.verbena.rdma.spi;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.SplittableRandom;

import static org.assertj.core.api.Assertions.assertThat;

class SegmentListTest
{
    private static final int LOCAL_BYTES = 1 << 12;
    private static final int REMOTE_BYTES = 1 << 11;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment local = arena.allocate(LOCAL_BYTES, 64);
    private final MemorySegment remote = arena.allocate(REMOTE_BYTES, 64);

    @AfterEach
    void tearDown()
    {
        arena.close();
    }

    private static WorkRequest request()
    {
        final WorkRequest request = new WorkRequest();
        request.segments = new SegmentList(SegmentList.MAX_SEGMENTS);
        request.segmentCount = 1;
        return request;
    }

    /** Places given as pairs of offset and length. */
    private SegmentList places(final int... places)
    {
        final WorkRequest request = request();
        request.localAddress = local.address() + places[0];
        request.lengthBytes = places[1];
        request.localKey = 100;
        for (int i = 2; i < places.length; i += 2)
        {
            request.segments.add(request, local.address() + places[i], places[i + 1], 100 + i / 2);
            request.segmentCount++;
        }
        return request.segments;
    }

    private static int[] random(final SplittableRandom random)
    {
        final int count = random.nextInt(2, SegmentList.MAX_SEGMENTS + 1);
        final int[] places = new int[2 * count];
        for (int i = 0; i < count; i++)
        {
            // Apart from each other, so that what a READ has placed is not placed over again.
            places[2 * i] = i * 256 + random.nextInt(16);
            places[2 * i + 1] = random.nextInt(3) == 0 ? random.nextInt(4) : random.nextInt(100);
        }
        return places;
    }

    private static void fill(final MemorySegment memory, final SplittableRandom random)
    {
        for (long i = 0; i < memory.byteSize(); i += Long.BYTES)
        {
            memory.set(ValueLayout.JAVA_LONG, i, random.nextLong());
        }
    }

    private static byte[] bytes(final MemorySegment memory)
    {
        return memory.toArray(ValueLayout.JAVA_BYTE);
    }

    @Test
    void shouldMoveExactlyTheBytesOfAllPlacesInOrder()
    {
        final SplittableRandom random = new SplittableRandom(4711);
        for (int round = 0; round < 3_000; round++)
        {
            fill(local, random);
            fill(remote, random);
            final int[] places = random(random);
            final int start = random.nextInt(16);
            final byte[] here = bytes(local);
            final byte[] there = bytes(remote);
            final boolean isRead = random.nextBoolean();
            int position = start;
            for (int i = 0; i < places.length; i += 2)
            {
                System.arraycopy(isRead ? there : here, isRead ? position : places[i],
                    isRead ? here : there, isRead ? places[i] : position, places[i + 1]);
                position += places[i + 1];
            }
            if (isRead)
            {
                places(places).scatter(remote.address() + start);
            }
            else
            {
                places(places).gather(remote.address() + start);
            }
            final String what = "round " + round + ": " + Arrays.toString(places) + " at " + start;
            assertThat(bytes(local)).as(what).isEqualTo(here);
            assertThat(bytes(remote)).as(what).isEqualTo(there);
        }
    }

    @Test
    void shouldLeaveOutPlacesWithoutBytes()
    {
        final SegmentList list = places(0, 0, 8, 3, 16, 0, 24, 5, 32, 0);
        assertThat(list.count()).isEqualTo(2);
        assertThat(list.address(0)).isEqualTo(local.address() + 8);
        assertThat(list.key(0)).isEqualTo(101);
        assertThat(list.lengthBytes(1)).isEqualTo(5);
        assertThat(list.key(1)).isEqualTo(103);
        assertThat(places(0, 0, 8, 0).count()).isZero();
        assertThat(list.copy().count()).isEqualTo(2);
        assertThat(list.copy().key(1)).isEqualTo(103);
    }

    @Test
    void shouldDescribeEachPlace()
    {
        assertThat(described(0, 8, 16, 8)).isNotEqualTo(described(0, 8, 24, 8)).isNotEqualTo(described(0, 8, 16, 9))
            .isNotEqualTo(described(0, 8)).isEqualTo(described(0, 8, 16, 8));
    }

    private String described(final int... places)
    {
        final StringBuilder words = new StringBuilder();
        places(places).describe(word -> words.append(word).append(' '));
        return words.toString();
    }

    /** Two places by their addresses. */
    private static SegmentList two(final long first, final int firstBytes, final long second, final int secondBytes)
    {
        final WorkRequest request = request();
        request.localAddress = first;
        request.lengthBytes = firstBytes;
        request.segments.add(request, second, secondBytes, 0);
        return request.segments;
    }

    /** The second place lies in the word that both share, which shows whether it was written before all was read. */
    @Test
    void shouldWriteWordThatTwoPlacesShareInOneAccess()
    {
        remote.set(ValueLayout.JAVA_LONG, 8, 0x1716_1514_1312_1110L);
        local.fill((byte)0x77);
        two(local.address(), 9, remote.address() + 8, 7).gather(remote.address());
        assertThat(remote.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(0x7777_7777_7777_7777L);
        assertThat(remote.get(ValueLayout.JAVA_LONG, 8)).isEqualTo(0x1615_1413_1211_1077L);
    }

    /** The first place lies in the word that both share, which shows whether it was read again once it was filled. */
    @Test
    void shouldReadWordThatTwoPlacesShareInOneAccess()
    {
        remote.set(ValueLayout.JAVA_LONG, 8, 0x1716_1514_1312_1110L);
        two(remote.address() + 12, 4, local.address(), 4).scatter(remote.address() + 8);
        assertThat(local.get(ValueLayout.JAVA_INT, 0)).isEqualTo(0x1716_1514);
        assertThat(remote.get(ValueLayout.JAVA_LONG, 8)).isEqualTo(0x1312_1110_1312_1110L);
    }
}
