package io.verbena.rdma.conformance;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.UnsupportedVerbException;
import io.verbena.rdma.verbs.WorkCompletionOpcode;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import org.junit.jupiter.api.Test;

import java.util.Arrays;

import static io.verbena.rdma.verbs.SendFlags.SIGNALED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

/** SEND and WRITE gather their payload from several places, READ scatters to several. */
abstract class SegmentContract extends VerbsHarness
{
    private static final int SEGMENTS = 4;

    private void prepare()
    {
        checkSegments();
        connect();
        a.put(0, pattern(Endpoint.REGION_BYTES, 1));
        b.fill(0x55);
    }

    private void checkSegments()
    {
        if (a.device.attributes().maxSendSegments() < SEGMENTS)
        {
            throw new UnsupportedVerbException("several segments of a request", a.device.name());
        }
    }

    private static byte[] pattern(final int lengthBytes, final int seed)
    {
        final byte[] bytes = new byte[lengthBytes];
        for (int i = 0; i < lengthBytes; i++)
        {
            bytes[i] = (byte)(i * 31 + (i >> 8) * 7 + seed);
        }
        return bytes;
    }

    /** A request with more places, given as pairs of offset and length. */
    private Runnable with(final Runnable request, final int... places)
    {
        return () ->
        {
            request.run();
            for (int i = 0; i < places.length; i += 2)
            {
                a.queuePair.addSegment(a.address(places[i]), places[i + 1], a.key());
            }
        };
    }

    /** What lies in places of the requester, one behind the other. */
    private byte[] gathered(final int... places)
    {
        int total = 0;
        byte[] bytes = {};
        for (int i = 0; i < places.length; i += 2)
        {
            bytes = Arrays.copyOf(bytes, total + places[i + 1]);
            System.arraycopy(a.bytes(places[i], places[i + 1]), 0, bytes, total, places[i + 1]);
            total += places[i + 1];
        }
        return bytes;
    }

    private void assertWritten(final int offset, final byte[] expected)
    {
        assertThat(b.bytes(offset, expected.length)).isEqualTo(expected);
        assertThat(b.getByte(offset - 1)).as("before").isEqualTo((byte)0x55);
        assertThat(b.getByte(offset + expected.length)).as("behind").isEqualTo((byte)0x55);
    }

    @Test
    void shouldGatherSendFromSeveralPlaces()
    {
        prepare();
        receive(1, 512, 100);
        assertThat(execute(with(send(2, SIGNALED, 100, 13), 300, 8, 7, 20)))
            .extracting(Completion::wrId, Completion::status, Completion::opcode)
            .containsExactly(2L, WorkCompletionStatus.SUCCESS, WorkCompletionOpcode.SEND);
        assertThat(awaitOne(b)).extracting(Completion::wrId, Completion::byteLength).containsExactly(1L, 41);
        assertWritten(512, gathered(100, 13, 300, 8, 7, 20));
    }

    @Test
    void shouldGatherWriteFromSeveralPlaces()
    {
        prepare();
        assertThat(execute(with(write(2, SIGNALED, 64, 16, 1024), 640, 24, 1280, 8)).status()).isZero();
        assertWritten(1024, gathered(64, 16, 640, 24, 1280, 8));
        assertThat(a.queuePair.counters().payloadBytes).isEqualTo(48);
        assertThat(a.queuePair.counters().writes).isEqualTo(1);
    }

    @Test
    void shouldGatherBytesOfAnyLengthAtAnyAddress()
    {
        prepare();
        for (int i = 1; i < 24; i++)
        {
            final int[] places = {200 + i, 1 + i % 5, 333, i, 400 + i * 3, 9 - i % 9, 500, 30};
            b.fill(0x55);
            assertThat(execute(with(
                write(2, SIGNALED, places[0], places[1], 1000 + i), Arrays.copyOfRange(places, 2, 8))).status())
                .isZero();
            assertWritten(1000 + i, gathered(places));
        }
    }

    @Test
    void shouldGatherWriteWithImmediateFromSeveralPlaces()
    {
        prepare();
        b.queuePair.postReceive(1, 0, 0, 0);
        assertThat(execute(with(writeWithImmediate(2, SIGNALED, 64, 16, 1024, -7), 640, 100)).status()).isZero();
        assertThat(awaitOne(b))
            .extracting(Completion::wrId, Completion::opcode, Completion::byteLength, Completion::immediate)
            .containsExactly(1L, WorkCompletionOpcode.RECV_RDMA_WITH_IMM, 116, -7);
        assertWritten(1024, gathered(64, 16, 640, 100));
    }

    @Test
    void shouldScatterReadToSeveralPlaces()
    {
        prepare();
        final byte[] remote = pattern(64, 9);
        b.put(1003, remote);
        a.fill(0x33);
        assertThat(execute(with(read(2, SIGNALED, 101, 13, 1003), 300, 8, 8, 19)))
            .extracting(Completion::status, Completion::byteLength).containsExactly(0, 40);
        assertThat(gathered(101, 13, 300, 8, 8, 19)).isEqualTo(Arrays.copyOf(remote, 40));
        for (final int untouched : new int[] {100, 114, 299, 308, 7, 27})
        {
            assertThat(a.getByte(untouched)).as("byte " + untouched).isEqualTo((byte)0x33);
        }
    }

    @Test
    void shouldGatherAndScatterMessagesOfManyPackets()
    {
        prepare();
        final int[] places = {1, 9_001, 20_000, 1, 10_000, 7_777, 30_000, 5_000};
        final int total = 9_001 + 1 + 7_777 + 5_000;
        assertThat(execute(with(write(2, SIGNALED, 1, 9_001, 1024), Arrays.copyOfRange(places, 2, 8))).status())
            .isZero();
        assertWritten(1024, gathered(places));
        final byte[] remote = pattern(total, 77);
        b.put(2000, remote);
        assertThat(execute(with(read(3, SIGNALED, 1, 9_001, 2000), Arrays.copyOfRange(places, 2, 8))).status())
            .isZero();
        assertThat(gathered(places)).isEqualTo(remote);
    }

    @Test
    void shouldGatherFromSeveralRegions()
    {
        prepare();
        final MemoryRegion other = own(a.domain.allocateRegistered(4096, 0));
        a.queuePair.begin();
        write(2, SIGNALED, 0, 8, 1024).run();
        a.queuePair.addSegment(other.address(), 8, other.localKey());
        a.queuePair.addSegment(a.address(40), 8, a.key());
        assertThat(a.queuePair.complete()).isZero();
        assertThat(awaitOne(a).status()).isZero();
        final byte[] expected = gathered(0, 8, 0, 8, 40, 8);
        Arrays.fill(expected, 8, 16, (byte)0);
        assertWritten(1024, expected);
    }

    @Test
    void shouldGatherOnUnreliableQueuePairsAndDatagrams()
    {
        checkSegments();
        for (final QueuePairType type : new QueuePairType[] {QueuePairType.UC, QueuePairType.UD})
        {
            a.use(a.options(type));
            b.use(b.options(type));
            connectBySteps(new QueuePairSteps());
            a.put(0, pattern(1024, 3));
            final int headerBytes = type == QueuePairType.UD ? 40 : 0;
            receive(1, 512, 100);
            post(a, () ->
            {
                with(send(2, SIGNALED, 100, 13), 300, 8, 7, 20).run();
                if (type == QueuePairType.UD)
                {
                    a.queuePair.toQueuePair(own(a.domain.createAddressHandle(b.device.address())),
                        b.queuePair.number(), QueuePairSteps.QKEY);
                }
            });
            assertThat(awaitOne(a).status()).isZero();
            assertThat(awaitOne(b).byteLength()).isEqualTo(headerBytes + 41);
            assertThat(b.bytes(512 + headerBytes, 41)).isEqualTo(gathered(100, 13, 300, 8, 7, 20));
        }
    }

    @Test
    void shouldUseAllSegmentsOfQueuePairAndLeaveRequestAsItWasWhenOneMoreIsAdded()
    {
        prepare();
        a.queuePair.begin();
        with(write(2, SIGNALED, 0, 8, 1024), 100, 8, 200, 8, 300, 8).run();
        assertThatThrownBy(() -> a.queuePair.addSegment(a.address(0), 8, a.key()))
            .isInstanceOf(RdmaException.class).hasMessageContaining("4");
        assertThat(a.queuePair.complete()).isZero();
        assertThat(awaitOne(a).status()).isZero();
        assertWritten(1024, gathered(0, 8, 100, 8, 200, 8, 300, 8));
    }

    @Test
    void shouldRefuseQueuePairWithMoreSegmentsThanTheDeviceHas()
    {
        checkSegments();
        final int most = a.device.attributes().maxSendSegments();
        for (final int wrong : new int[] {0, -1, most + 1})
        {
            assertThatThrownBy(() -> a.domain.createQueuePair(
                a.completions, a.completions, new QueuePairCapabilities(1, 1, 0, 1, wrong)))
                .isInstanceOf(RdmaException.class).hasMessageContaining("maxSendSegments=" + wrong);
        }
    }

    @Test
    void shouldTakeOneSegmentWhenQueuePairHasOne()
    {
        checkSegments();
        a.use(a.options(QueuePairType.RC).capabilities(Endpoint.CAPABILITIES));
        connect();
        a.queuePair.begin();
        write(2, SIGNALED, 0, 8, 1024).run();
        assertThatThrownBy(() -> a.queuePair.addSegment(a.address(0), 8, a.key())).isInstanceOf(RdmaException.class);
        assertThat(a.queuePair.complete()).isZero();
        assertThat(awaitOne(a).byteLength()).isEqualTo(8);
    }

    @Test
    void shouldRefuseSegmentsBeyondLongestMessageAndOfNegativeLength()
    {
        prepare();
        a.queuePair.begin();
        write(2, SIGNALED, 0, 8, 1024).run();
        for (final int wrong : new int[] {-1, Integer.MIN_VALUE, a.device.attributes().maxMessageBytes() - 7,
            Integer.MAX_VALUE})
        {
            assertThatThrownBy(() -> a.queuePair.addSegment(a.address(0), wrong, a.key()))
                .as("length " + wrong).isInstanceOf(RdmaException.class);
        }
        assertThat(a.queuePair.complete()).isZero();
        assertThat(awaitOne(a).status()).isZero();
        assertWritten(1024, gathered(0, 8));
    }

    @Test
    void shouldRefuseSegmentsWhereNoPayloadIs()
    {
        prepare();
        final Runnable add = () -> a.queuePair.addSegment(a.address(0), 0, a.key());
        assertThatThrownBy(add::run).as("no batch").isInstanceOf(RdmaException.class);
        a.queuePair.begin();
        assertThatThrownBy(add::run).as("no request").isInstanceOf(RdmaException.class);
        fetchAdd(1, SIGNALED, 0, 1024, 0).run();
        assertThatThrownBy(add::run).as("FETCH_ADD").isInstanceOf(RdmaException.class);
        compareSwap(1, SIGNALED, 0, 1024, 0, 0).run();
        assertThatThrownBy(add::run).as("CMP_SWAP").isInstanceOf(RdmaException.class);
        a.queuePair.abort();
    }

    private void assertFailsLocally(final Runnable request)
    {
        assertThat(post(a, request, write(9, SIGNALED, 0, 8, 4096))).isZero();
        assertThat(await(a, 2)).extracting(Completion::wrId, Completion::status).containsExactly(
            tuple(2L, WorkCompletionStatus.LOC_PROT_ERR), tuple(9L, WorkCompletionStatus.WR_FLUSH_ERR));
        settle();
        assertThat(b.bytes(1000, 100)).containsOnly(0x55);
        assertThat(b.bytes(4096, 8)).containsOnly(0x55);
    }

    @Test
    void shouldFailAsAWholeWhenKeyOfLaterSegmentIsUnknown()
    {
        prepare();
        assertFailsLocally(() ->
        {
            write(2, SIGNALED, 0, 8, 1024).run();
            a.queuePair.addSegment(a.address(64), 8, a.key());
            a.queuePair.addSegment(a.address(64), 8, a.key() + 1);
        });
    }

    @Test
    void shouldFailAsAWholeWhenKeyOfFirstSegmentIsUnknown()
    {
        prepare();
        assertFailsLocally(() ->
        {
            a.queuePair.write(2, SIGNALED, a.address(0), 8, a.key() + 1, b.address(1024), b.region.remoteKey());
            a.queuePair.addSegment(a.address(64), 8, a.key());
        });
    }

    @Test
    void shouldFailAsAWholeWhenLaterSegmentIsOutOfBounds()
    {
        prepare();
        assertFailsLocally(with(write(2, SIGNALED, 0, 8, 1024), Endpoint.REGION_BYTES - 7, 8));
    }

    @Test
    void shouldFailAsAWholeWhenLaterSegmentIsOfOtherDomain()
    {
        prepare();
        final ProtectionDomain domain = own(a.device.allocateProtectionDomain());
        final MemoryRegion other = own(domain.allocateRegistered(4096, AccessFlags.LOCAL_WRITE));
        assertFailsLocally(() ->
        {
            write(2, SIGNALED, 0, 8, 1024).run();
            a.queuePair.addSegment(other.address(), 8, other.localKey());
        });
    }

    @Test
    void shouldFailSendAsAWholeWhenKeyOfLaterSegmentIsUnknown()
    {
        prepare();
        receive(1, 1024, 64);
        assertFailsLocally(() ->
        {
            send(2, SIGNALED, 0, 8).run();
            a.queuePair.addSegment(a.address(64), 8, a.key() + 1);
        });
        assertThat(poll(b)).extracting(Completion::status).doesNotContain(WorkCompletionStatus.SUCCESS);
    }

    @Test
    void shouldFailReadWhenLaterSegmentIsNotWritable()
    {
        prepare();
        final MemoryRegion other = own(a.domain.allocateRegistered(4096, 0));
        assertFailsLocally(() ->
        {
            read(2, SIGNALED, 0, 8, 1024).run();
            a.queuePair.addSegment(other.address(), 8, other.localKey());
        });
    }

    @Test
    void shouldCheckNeitherKeyNorAddressOfSegmentWithoutBytes()
    {
        prepare();
        a.queuePair.begin();
        a.queuePair.write(1, 0, 0, 0, a.key() + 1, b.address(1024), b.region.remoteKey());
        a.queuePair.addSegment(a.address(8), 8, a.key());
        a.queuePair.addSegment(0, 0, a.key() + 1);
        a.queuePair.addSegment(a.address(80), 9, a.key());
        read(2, SIGNALED, 4096, 8, 1024).run();
        a.queuePair.addSegment(0, 0, a.key() + 1);
        a.queuePair.write(3, SIGNALED, 0, 0, a.key() + 1, 0, 0);
        a.queuePair.addSegment(0, 0, a.key() + 1);
        assertThat(a.queuePair.complete()).isZero();
        assertThat(await(a, 2)).extracting(Completion::wrId, Completion::status).containsExactly(
            tuple(2L, 0), tuple(3L, 0));
        assertWritten(1024, gathered(8, 8, 80, 9));
        assertThat(gathered(4096, 8)).isEqualTo(gathered(8, 8));
    }

    @Test
    void shouldCountSegmentsWithoutBytes()
    {
        prepare();
        a.queuePair.begin();
        with(write(2, SIGNALED, 0, 8, 1024), 0, 0, 0, 0, 0, 0).run();
        assertThatThrownBy(() -> a.queuePair.addSegment(a.address(0), 0, a.key())).isInstanceOf(RdmaException.class);
        a.queuePair.abort();
    }

    @Test
    void shouldTakeInlineBytesOfAllSegmentsAtPostTime()
    {
        prepare();
        receive(1, 512, 64);
        final byte[] expected = gathered(8, 5, 80, 9, 300, 50);
        a.queuePair.begin();
        a.queuePair.write(2, SendFlags.INLINE, a.address(8), 5, 0, b.address(1024), b.region.remoteKey());
        a.queuePair.addSegment(a.address(80), 9, 0);
        a.queuePair.addSegment(0, 0, 0);
        a.queuePair.addSegment(a.address(300), 50, 0);
        a.queuePair.send(3, SendFlags.INLINE | SIGNALED, 0, 0, 0);
        a.queuePair.addSegment(a.address(8), 5, 0);
        assertThat(a.queuePair.complete()).isZero();
        a.fill(0);
        assertThat(awaitOne(a)).extracting(Completion::wrId, Completion::status).containsExactly(3L, 0);
        assertThat(awaitOne(b).byteLength()).isEqualTo(5);
        assertWritten(1024, expected);
        assertWritten(512, Arrays.copyOf(expected, 5));
    }

    @Test
    void shouldRefuseInlineSegmentsBeyondLimitTogether()
    {
        prepare();
        final byte[] expected = gathered(0, 60, 100, 4);
        a.queuePair.begin();
        a.queuePair.write(2, SendFlags.INLINE | SIGNALED, a.address(0), 60, 0, b.address(1024), b.region.remoteKey());
        assertThatThrownBy(() -> a.queuePair.addSegment(a.address(100), 5, 0))
            .isInstanceOf(RdmaException.class).hasMessageContaining("64");
        a.queuePair.addSegment(a.address(100), 4, 0);
        assertThat(a.queuePair.complete()).isZero();
        assertThat(awaitOne(a).status()).isZero();
        assertWritten(1024, expected);
    }

    @Test
    void shouldForgetSegmentsOfTheRequestThatUsedTheSlotBefore()
    {
        prepare();
        for (int i = 0; i < 40; i++)
        {
            assertThat(execute(i % 3 == 0 ? with(write(i, SIGNALED, 0, 8, 1024), 64, 8, 128, 8) :
                i % 3 == 1 ? write(i, SIGNALED, 200, 24, 1024) : with(write(i, SIGNALED, 400, 20, 1024), 300, 4))
                .byteLength()).isIn(0, 24);
            assertWritten(1024, i % 3 == 0 ? gathered(0, 8, 64, 8, 128, 8) :
                i % 3 == 1 ? gathered(200, 24) : gathered(400, 20, 300, 4));
        }
    }

    @Test
    void shouldPostNothingOfBatchWithSegmentsThatDoesNotFit()
    {
        prepare();
        a.queuePair.begin();
        for (int i = 0; i <= Endpoint.CAPABILITIES.maxSendRequests(); i++)
        {
            with(write(i, SIGNALED, 0, 8, 1024), 64, 8, 64, 8, 64, 8).run();
        }
        assertThat(a.queuePair.complete()).isEqualTo(PostStatus.QUEUE_FULL);
        settle();
        assertThat(b.bytes(1024, 16)).containsOnly(0x55);
        assertThat(execute(with(write(99, SIGNALED, 0, 8, 1024), 64, 8)).wrId()).isEqualTo(99);
        assertWritten(1024, gathered(0, 8, 64, 8));
    }

    @Test
    void shouldFailBothSidesWhenSegmentsTogetherAreLongerThanReceive()
    {
        prepare();
        receive(1, 1024, 15);
        assertThat(execute(with(send(2, SIGNALED, 0, 8), 64, 8)).status())
            .isEqualTo(WorkCompletionStatus.REM_INV_REQ_ERR);
        assertThat(awaitOne(b).status()).isEqualTo(WorkCompletionStatus.LOC_LEN_ERR);
    }

    @Test
    void shouldCheckRemoteBoundsForTheSumOfSegments()
    {
        prepare();
        assertThat(execute(with(write(2, SIGNALED, 0, 8, Endpoint.REGION_BYTES - 15), 64, 8)).status())
            .isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
        settle();
        assertThat(b.bytes(Endpoint.REGION_BYTES - 16, 16)).containsOnly(0x55);
    }
}
