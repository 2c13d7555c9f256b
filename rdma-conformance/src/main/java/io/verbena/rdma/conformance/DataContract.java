package io.verbena.rdma.conformance;

import io.verbena.rdma.verbs.ConnectionAttempt.State;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.DeviceCapability;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.UnsupportedVerbException;
import io.verbena.rdma.verbs.WorkCompletionOpcode;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;

import static io.verbena.rdma.verbs.SendFlags.SIGNALED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** READ, WRITE, atomics, SEND and immediates move exactly the bytes they name. */
public abstract class DataContract extends VerbsHarness
{
    @Test
    void shouldReadRemoteBytesWhenKeysAndBoundsAreRight()
    {
        connect();
        b.putLong(128, 0x1122_3344_5566_7788L);
        assertThat(execute(read(7, SIGNALED, 0, 64, 128)))
            .isEqualTo(new Completion(7, 0, WorkCompletionOpcode.RDMA_READ, 64, 0, a.queuePair.number()));
        assertThat(a.getLong(0)).isEqualTo(0x1122_3344_5566_7788L);
    }

    @Test
    void shouldWriteRemoteBytesWhenKeysAndBoundsAreRight()
    {
        connect();
        a.putLong(0, 42);
        assertThat(execute(write(8, SIGNALED, 0, 8, 256)))
            .extracting(Completion::wrId, Completion::status, Completion::opcode)
            .containsExactly(8L, WorkCompletionStatus.SUCCESS, WorkCompletionOpcode.RDMA_WRITE);
        assertThat(b.getLong(256)).isEqualTo(42);
        assertThat(b.getLong(264)).isZero();
    }

    @Test
    void shouldSwapAndReturnOldValueWhenExpectedValueIsFound()
    {
        connect();
        b.putLong(64, 5);
        assertThat(execute(compareSwap(1, SIGNALED, 0, 64, 5, 6)).byteLength()).isEqualTo(8);
        assertThat(a.getLong(0)).isEqualTo(5);
        assertThat(b.getLong(64)).isEqualTo(6);
    }

    @Test
    void shouldLeaveWordAndReturnItWhenOtherValueIsFound()
    {
        connect();
        b.putLong(64, 5);
        assertThat(execute(compareSwap(1, SIGNALED, 0, 64, 4, 6)).opcode())
            .isEqualTo(WorkCompletionOpcode.COMP_SWAP);
        assertThat(a.getLong(0)).isEqualTo(5);
        assertThat(b.getLong(64)).isEqualTo(5);
    }

    @Test
    void shouldAddAndReturnOldValueWhenFetchAdd()
    {
        connect();
        b.putLong(64, 5);
        assertThat(execute(fetchAdd(1, SIGNALED, 0, 64, -7)).opcode()).isEqualTo(WorkCompletionOpcode.FETCH_ADD);
        assertThat(a.getLong(0)).isEqualTo(5);
        assertThat(b.getLong(64)).isEqualTo(-2);
    }

    @Test
    void shouldDeliverSendWhenReceiveIsPosted()
    {
        connect();
        a.putLong(0, 99);
        assertThat(receive(3, 512, 64)).isEqualTo(PostStatus.OK);
        assertThat(execute(send(1, SIGNALED, 0, 8)).opcode()).isEqualTo(WorkCompletionOpcode.SEND);
        assertThat(awaitOne(b))
            .isEqualTo(new Completion(3, 0, WorkCompletionOpcode.RECV, 8, 0, b.queuePair.number()));
        assertThat(b.getLong(512)).isEqualTo(99);
    }

    @Test
    void shouldShowPrivateDataToBothSidesWhenConnecting()
    {
        try (ConnectionListener listener = b.device.listen(PORT))
        {
            final ConnectionAttempt attempt = a.device.connect(
                a.queuePair, b.device.address(), PORT, "hello".getBytes(StandardCharsets.UTF_8),
                rig.connectTimeoutNs());
            final ConnectionRequest request = awaitRequest(listener);
            assertThat(request.privateData()).isEqualTo("hello".getBytes(StandardCharsets.UTF_8));
            assertThat(request.source()).isEqualTo(a.device.address());
            assertThat(attempt.poll()).isEqualTo(State.PENDING);
            request.accept(b.queuePair, 0, "welcome".getBytes(StandardCharsets.UTF_8));
            assertThat(await(attempt)).isEqualTo(State.ESTABLISHED);
            assertThat(attempt.privateData()).isEqualTo("welcome".getBytes(StandardCharsets.UTF_8));
            assertThat(a.queuePair.state()).isEqualTo(QueuePairState.RTS);
            assertThat(b.queuePair.state()).isEqualTo(QueuePairState.RTS);
        }
    }


    @Test
    void shouldDeliverImmediateWhenSendWithImmediate()
    {
        connect();
        receive(3, 512, 64);
        a.putLong(0, 5);
        execute(() -> a.queuePair.sendWithImmediate(1, SIGNALED, a.address(0), 8, a.key(), 0xCAFE_BABE));
        assertThat(awaitOne(b)).isEqualTo(
            new Completion(3, 0, WorkCompletionOpcode.RECV, 8, 0xCAFE_BABE, b.queuePair.number()));
    }

    @Test
    void shouldConsumeReceiveAndIgnoreItsBufferWhenWriteWithImmediate()
    {
        connect();
        b.queuePair.postReceive(3, 0, 0, 0);
        a.putLong(0, 77);
        assertThat(execute(writeWithImmediate(1, SIGNALED, 0, 8, 256, -5)).opcode())
            .isEqualTo(WorkCompletionOpcode.RDMA_WRITE);
        assertThat(awaitOne(b)).isEqualTo(
            new Completion(3, 0, WorkCompletionOpcode.RECV_RDMA_WITH_IMM, 8, -5, b.queuePair.number()));
        assertThat(b.getLong(256)).isEqualTo(77);
    }

    @Test
    void shouldFillReceivesInPostingOrder()
    {
        connect();
        for (int i = 0; i < 4; i++)
        {
            receive(10 + i, 512 + i * 8, 8);
            a.putLong(i * 8, i + 1);
        }
        post(a, send(0, 0, 0, 8), send(1, 0, 8, 8), send(2, 0, 16, 8), send(3, SIGNALED, 24, 8));
        assertThat(await(b, 4)).extracting(Completion::wrId).containsExactly(10L, 11L, 12L, 13L);
        for (int i = 0; i < 4; i++)
        {
            assertThat(b.getLong(512 + i * 8)).isEqualTo(i + 1);
        }
    }

    @Test
    void shouldCarryRequestsInBothDirections()
    {
        connect();
        a.putLong(0, 31);
        b.queuePair.begin();
        b.queuePair.read(5, SIGNALED, b.address(8), 8, b.key(), a.address(0), a.region.remoteKey());
        assertThat(b.queuePair.complete()).isEqualTo(PostStatus.OK);
        assertThat(awaitOne(b).status()).isZero();
        assertThat(b.getLong(8)).isEqualTo(31);
    }

    @Test
    void shouldMoveAnyAlignmentAndLengthExactly()
    {
        connect();
        for (int i = 0; i < 4096; i++)
        {
            a.putByte(i, i * 31 + 7);
        }
        final int[] lengths = { 1, 2, 7, 8, 9, 63, 64, 65, 100, 255, 256, 257, 264, 1000, 1024, 2000 };
        for (final int length : lengths)
        {
            for (int from = 0; from < 9; from += 3)
            {
                for (int to = 0; to < 9; to += 2)
                {
                    b.fill(0);
                    a.fill(8192, Endpoint.REGION_BYTES - 8192, 0);
                    assertThat(post(a,
                        write(1, 0, from, length, 4096 + to), read(2, SIGNALED, 8192 + from, length, 4096 + to)))
                        .isZero();
                    assertThat(awaitOne(a).status()).isZero();
                    assertThat(b.bytes(4096 + to, length)).isEqualTo(a.bytes(from, length));
                    assertThat(a.bytes(8192 + from, length)).isEqualTo(a.bytes(from, length));
                    assertThat(b.getByte(4096 + to - 1)).isZero();
                    assertThat(b.getByte(4096 + to + length)).isZero();
                    assertThat(a.getByte(8192 + from + length)).isZero();
                }
            }
        }
    }

    // Inline.

    @Test
    void shouldTakePayloadAtPostTimeWhenInline()
    {
        connect();
        a.putLong(0, 1);
        a.queuePair.begin();
        a.queuePair.write(1, SendFlags.INLINE, a.address(0), 8, 0, b.address(0), b.region.remoteKey());
        a.queuePair.send(2, SendFlags.INLINE | SIGNALED, a.address(0), 8, 0);
        a.putLong(0, 2);
        a.queuePair.complete();
        a.putLong(0, 3);
        settle();
        receive(5, 64, 8);
        assertThat(awaitOne(a).status()).isZero();
        awaitOne(b);
        assertThat(b.getLong(0)).isEqualTo(1);
        assertThat(b.getLong(64)).isEqualTo(1);
    }

    @Test
    void shouldRefuseInlineBeyondLimitAndOnRead()
    {
        connect();
        a.queuePair.begin();
        assertThatThrownBy(() -> write(1, SendFlags.INLINE, 0, 65, 0).run())
            .isInstanceOf(RdmaException.class).hasMessageContaining("65");
        assertThatThrownBy(() -> read(1, SendFlags.INLINE, 0, 8, 0).run()).isInstanceOf(RdmaException.class);
        assertThat(a.queuePair.complete()).isEqualTo(PostStatus.OK);
        assertThat(a.queuePair.counters().verbs()).isZero();
    }

    // Which flag on which operation.

    @Test
    void shouldRefuseSolicitedOnWhatWakesNobody()
    {
        connect();
        a.queuePair.begin();
        assertThatThrownBy(() -> write(1, SendFlags.SOLICITED, 0, 8, 0).run()).isInstanceOf(RdmaException.class);
        assertThatThrownBy(() -> read(1, SendFlags.SOLICITED, 0, 8, 0).run()).isInstanceOf(RdmaException.class);
        assertThatThrownBy(() -> fetchAdd(1, SendFlags.SOLICITED, 0, 0, 1).run()).isInstanceOf(RdmaException.class);
        a.queuePair.abort();
    }

    @Test
    void shouldTakeInlinePayloadWithImmediates()
    {
        connect();
        b.queuePair.postReceive(1, 0, 0, 0);
        receive(2, 512, 8);
        a.putLong(0, 66);
        a.queuePair.begin();
        a.queuePair.writeWithImmediate(
            3, SendFlags.INLINE, a.address(0), 8, 0, b.address(0), b.region.remoteKey(), 1);
        a.queuePair.sendWithImmediate(4, SendFlags.INLINE | SIGNALED, a.address(0), 8, 0, 2);
        assertThat(a.queuePair.complete()).isZero();
        a.putLong(0, 67);
        assertThat(awaitOne(a).status()).isZero();
        assertThat(await(b, 2)).extracting(Completion::immediate).containsExactly(1, 2);
        assertThat(b.getLong(0)).isEqualTo(66);
        assertThat(b.getLong(512)).isEqualTo(66);
    }

    @Test
    void shouldRefuseMessageBeyondLongest()
    {
        connect();
        final int longest = a.device.attributes().maxMessageBytes();
        assertThat(longest).isPositive();
        if (longest < Integer.MAX_VALUE)
        {
            a.queuePair.begin();
            assertThatThrownBy(() -> write(1, SIGNALED, 0, longest + 1, 0).run()).isInstanceOf(RdmaException.class);
            a.queuePair.abort();
        }
    }

    @Test
    void shouldSendNothingAndStillConsumeReceive()
    {
        connect();
        receive(1, 512, 8);
        assertThat(execute(send(2, SIGNALED, 0, 0)).status()).isZero();
        assertThat(awaitOne(b)).extracting(Completion::wrId, Completion::byteLength).containsExactly(1L, 0);
    }

    @Test
    void shouldBeAtomicWithProcessorWhenDeviceSaysSo()
    {
        if (!b.device.attributes().supports(DeviceCapability.GLOBAL_ATOMICS))
        {
            throw new UnsupportedVerbException("atomicity with the processor", b.device.name());
        }
        connect();
        for (int i = 0; i < 10; i++)
        {
            assertThat(execute(fetchAdd(1, SIGNALED, 0, 64, 1)).status()).isZero();
            assertThat(a.getLong(0)).isEqualTo(i * 101L);
            b.putLong(64, b.getLong(64) + 100);
        }
        assertThat(b.getLong(64)).isEqualTo(1010);
    }
}
