package io.verbena.rdma.conformance;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.ConnectionAttempt.State;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;

import static io.verbena.rdma.verbs.SendFlags.SIGNALED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * The connection service: finds the peer, exchanges private data, moves both queue pairs to RTS, or says why not.
 */
public abstract class ConnectionContract extends VerbsHarness
{
    private static final int MAX_SETTLES = 64;

    @Test
    void shouldBeUnreachableWhenNobodyListens()
    {
        final ConnectionAttempt attempt =
            a.device.connect(a.queuePair, b.device.address(), PORT, NOTHING, rig.connectTimeoutNs());
        assertThat(await(attempt)).isEqualTo(State.UNREACHABLE);
        assertThat(a.queuePair.state()).isEqualTo(QueuePairState.RESET);
    }

    @Test
    void shouldBeUnreachableWhenDeviceIsUnknown()
    {
        final ConnectionAttempt attempt =
            a.device.connect(a.queuePair, new DeviceAddress(1, 2), PORT, NOTHING, rig.connectTimeoutNs());
        assertThat(await(attempt)).isEqualTo(State.UNREACHABLE);
        connect();
    }

    @Test
    void shouldTellReasonWhenRejectedAndLetQueuePairTryAgain()
    {
        try (ConnectionListener listener = b.device.listen(PORT))
        {
            final ConnectionAttempt attempt =
                a.device.connect(a.queuePair, b.device.address(), PORT, NOTHING, rig.connectTimeoutNs());
            final ConnectionRequest request = awaitRequest(listener);
            request.reject("full".getBytes(StandardCharsets.UTF_8));
            assertThat(await(attempt)).isEqualTo(State.REJECTED);
            assertThat(attempt.privateData()).isEqualTo("full".getBytes(StandardCharsets.UTF_8));
            assertThatThrownBy(() -> request.accept(b.queuePair, 0, NOTHING)).isInstanceOf(RdmaException.class);
        }
        assertThat(a.queuePair.state()).isEqualTo(QueuePairState.RESET);
        connect();
        assertThat(execute(read(1, SIGNALED, 0, 8, 0)).status()).isZero();
    }

    /** A request on a busy machine may arrive after the listener was closed; the next one has twice the time. */
    @Test
    void shouldRejectWaitingRequestsWhenListenerCloses()
    {
        State state = State.UNREACHABLE;
        for (int settles = 1; state == State.UNREACHABLE && settles <= MAX_SETTLES; settles *= 2)
        {
            final ConnectionListener listener = b.device.listen(PORT);
            final ConnectionAttempt attempt =
                a.device.connect(a.queuePair, b.device.address(), PORT, NOTHING, rig.connectTimeoutNs());
            for (int i = 0; i < settles; i++)
            {
                settle();
            }
            listener.close();
            listener.close();
            state = await(attempt);
        }
        assertThat(state).isEqualTo(State.REJECTED);
    }

    @Test
    void shouldTimeOutAndMoveLateAcceptorToErrorWhenNobodyAnswers()
    {
        try (ConnectionListener listener = b.device.listen(PORT))
        {
            final ConnectionAttempt attempt =
                a.device.connect(a.queuePair, b.device.address(), PORT, NOTHING, 1_000_000);
            final ConnectionRequest request = awaitRequest(listener);
                assertThat(await(attempt)).isEqualTo(State.TIMED_OUT);
            assertThat(a.queuePair.state()).isEqualTo(QueuePairState.RESET);
            request.prepare(b.queuePair);
            receive(4, 0, 8);
            request.accept(b.queuePair, AccessFlags.ALL_REMOTE, NOTHING);
            assertThat(awaitOne(b).status()).isEqualTo(WorkCompletionStatus.WR_FLUSH_ERR);
            assertThat(b.queuePair.state()).isEqualTo(QueuePairState.ERR);
            assertThat(attempt.poll()).isEqualTo(State.TIMED_OUT);
        }
    }

    @Test
    void shouldMoveAcceptorToErrorWhenConnectingQueuePairWasClosed()
    {
        try (ConnectionListener listener = b.device.listen(PORT))
        {
            a.device.connect(a.queuePair, b.device.address(), PORT, NOTHING, rig.connectTimeoutNs());
            final ConnectionRequest request = awaitRequest(listener);
            a.queuePair.close();
            request.prepare(b.queuePair);
            receive(4, 0, 8);
            request.accept(b.queuePair, AccessFlags.ALL_REMOTE, NOTHING);
            assertThat(awaitOne(b).status()).isEqualTo(WorkCompletionStatus.WR_FLUSH_ERR);
        }
    }

    @Test
    void shouldRefuseMisuseOfConnectionService()
    {
        final byte[] tooLong = new byte[ConnectionRequest.MAX_PRIVATE_DATA_BYTES + 1];
        assertThatThrownBy(() -> a.device.connect(
            a.queuePair, b.device.address(), PORT, tooLong, rig.connectTimeoutNs()))
            .isInstanceOf(RdmaException.class);
        assertThatThrownBy(() -> a.device.connect(
            b.queuePair, b.device.address(), PORT, NOTHING, rig.connectTimeoutNs()))
            .isInstanceOf(RdmaException.class);
        assertThatThrownBy(() -> a.device.listen(0)).isInstanceOf(RdmaException.class);
        try (ConnectionListener listener = a.device.listen(PORT))
        {
            assertThat(listener.poll()).isNull();
            assertThatThrownBy(() -> a.device.listen(PORT))
                .isInstanceOf(RdmaException.class).hasMessageContaining("" + PORT);
        }
        connect();
        assertThatThrownBy(() -> a.device.connect(
            a.queuePair, b.device.address(), PORT, NOTHING, rig.connectTimeoutNs()))
            .isInstanceOf(RdmaException.class).hasMessageContaining("RESET");
    }
}
