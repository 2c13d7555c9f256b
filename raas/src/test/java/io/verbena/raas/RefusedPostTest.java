package io.verbena.raas;

import io.verbena.raas.identity.IdentitySecret;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.rpc.RpcStatus;
import io.verbena.rdma.soft.SoftFabric;
import io.verbena.rdma.soft.SoftFabricOptions;
import io.verbena.rdma.verbs.Device;

import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Messages that the device refuses to post. A sealed one has used up its count, and the peer would open none of those
 * behind it; a reply returns a credit. So their connections end. A request in clear is posted again.
 */
class RefusedPostTest
{
    private static final int PORT = 7;
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(20);
    private static final long SHORT_NS = TimeUnit.MILLISECONDS.toNanos(300);

    @TempDir
    Path directory;
    private final RefusingDevice atClient = new RefusingDevice();
    private final RefusingDevice atServer = new RefusingDevice();
    private final List<String> answers = new ArrayList<>();
    private final IdentitySecret secret = IdentitySecret.random(new SecureRandom());
    private SoftFabric fabric;
    private Device serverDevice;
    private Device clientDevice;
    private RaasContext server;
    private RpcServer serving;

    @BeforeEach
    void open()
    {
        fabric = SoftFabric.open(new SoftFabricOptions().directory(directory));
        serverDevice = fabric.openDevice("server");
        clientDevice = fabric.openDevice("client");
        server = RaasContext.open(atServer.around(serverDevice), new RaasConfiguration());
        serving = server.serve(PORT, (_, _) -> Admission.callsOnly(), (_) -> secret,
            (caller, method, request, offset, length, reply) ->
            {
                reply.buffer().putBytes(reply.offset(), request, offset, length);
                return length;
            });
    }

    @AfterEach
    void close()
    {
        serving.close();
        server.close();
        clientDevice.close();
        serverDevice.close();
        fabric.close();
    }

    private RaasContext client(final boolean isEncrypted)
    {
        final RaasContext client = RaasContext.open(
            atClient.around(clientDevice), new RaasConfiguration().encrypted(isEncrypted));
        client.identity(new PeerIdentity(3, 1), 1, (_) -> secret);
        return client;
    }

    private VirtualQp connect(final RaasContext client)
    {
        final VirtualQp vqp = client.connect(
            new PeerAddress(serverDevice.address(), PORT, 1, 1), BatchListener.CALLS_ONLY, TIMEOUT_NS);
        while (VirtualQp.State.CONNECTING == vqp.state())
        {
            poll(client);
        }
        assertThat(vqp.state()).as(vqp.failure()).isEqualTo(VirtualQp.State.READY);
        return vqp;
    }

    private void poll(final RaasContext client)
    {
        client.poll();
        server.poll();
    }

    private void call(final RaasContext client, final VirtualQp vqp, final int number, final long timeoutNs)
    {
        client.rpcClient().call(vqp, number, new UnsafeBuffer(new byte[]{(byte)number}), 0, 1, timeoutNs,
            (callId, status, payload, offset, length) ->
                answers.add(RpcStatus.OK == status ? "OK " + payload.getByte(offset) : "status " + status));
    }

    private void awaitAnswers(final RaasContext client, final int count)
    {
        final long deadlineNs = System.nanoTime() + TIMEOUT_NS;
        while (answers.size() < count)
        {
            poll(client);
            assertThat(System.nanoTime() - deadlineNs).as("%s", answers).isNegative();
        }
    }

    @Test
    void shouldPostARequestInClearAgain()
    {
        try (RaasContext client = client(false))
        {
            final VirtualQp vqp = connect(client);
            atClient.refuse(1);
            call(client, vqp, 1, TIMEOUT_NS);
            awaitAnswers(client, 1);
            assertThat(answers).containsExactly("OK 1");
            assertThat(atClient.refused()).isEqualTo(1);
        }
    }

    @Test
    void shouldEndTheConnectionWhenASealedRequestIsNotPosted()
    {
        try (RaasContext client = client(true))
        {
            final VirtualQp vqp = connect(client);
            call(client, vqp, 1, TIMEOUT_NS);
            awaitAnswers(client, 1);
            final long beganNs = System.nanoTime();
            atClient.refuse(1);
            call(client, vqp, 2, TIMEOUT_NS);
            awaitAnswers(client, 2);
            assertThat(answers).containsExactly("OK 1", "status PEER_FAILED");
            assertThat(System.nanoTime() - beganNs).as("not by its deadline").isLessThan(TIMEOUT_NS / 2);
            assertThat(vqp.state()).isNotEqualTo(VirtualQp.State.READY);
            call(client, connect(client), 3, TIMEOUT_NS);
            awaitAnswers(client, 3);
            assertThat(answers).endsWith("OK 3");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldEndTheConnectionWhenAReplyIsNotPosted(final boolean isEncrypted)
    {
        try (RaasContext client = client(isEncrypted))
        {
            final VirtualQp vqp = connect(client);
            call(client, vqp, 1, SHORT_NS);
            atServer.refuse(1);
            awaitAnswers(client, 1);
            call(client, vqp, 2, TIMEOUT_NS);
            awaitAnswers(client, 2);
            assertThat(answers).as("the second one's request finds no peer")
                .containsExactly("status TIMED_OUT", "status PEER_FAILED");
            assertThat(server.transports().counts()).as("its reply slot and receives are free").isEmpty();
            call(client, connect(client), 3, TIMEOUT_NS);
            awaitAnswers(client, 3);
            assertThat(answers).endsWith("OK 3");
        }
    }
}
