package io.verbena.raas;

import io.verbena.raas.limit.RaasLimit;
import io.verbena.rdma.soft.SoftFabric;
import io.verbena.rdma.soft.SoftFabricOptions;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.RdmaException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** A connection that was let in and cannot be made: nothing of it stays, and there is room for the next one. */
class AcceptFailureTest
{
    private static final int PORT = 7;
    /** The receives of so many queue pairs are allocated together. */
    private static final int TOGETHER = 8;

    @TempDir
    Path directory;
    private final List<Throwable> errors = new ArrayList<>();
    private SoftFabric fabric;
    private Device serverDevice;
    private Device clientDevice;
    private RaasContext server;
    private RaasContext client;
    private RpcServer rpcServer;
    /** What the server's device fails to do. */
    private String failing = "nothing";

    private void open(final RaasConfiguration configuration)
    {
        fabric = SoftFabric.open(new SoftFabricOptions().directory(directory));
        serverDevice = fabric.openDevice("server");
        clientDevice = fabric.openDevice("client");
        server = RaasContext.open(around(Device.class, serverDevice), configuration.errorHandler(errors::add));
        client = RaasContext.open(clientDevice, new RaasConfiguration());
        rpcServer = server.serve(PORT, (_, _) -> Admission.callsOnly(),
            (caller, method, request, offset, length, reply) -> 0);
    }

    @AfterEach
    void tearDown()
    {
        client.close();
        server.close();
        clientDevice.close();
        serverDevice.close();
        fabric.close();
    }

    private <T> T around(final Class<T> type, final Object target)
    {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[]{type}, (_, method, arguments) ->
        {
            if (failing.equals(method.getName()))
            {
                throw new RdmaException("no memory left");
            }
            try
            {
                final Object result = method.invoke(target, arguments);
                return switch (result)
                {
                    case final ConnectionListener listener -> around(ConnectionListener.class, listener);
                    case final ConnectionRequest request -> around(ConnectionRequest.class, request);
                    case final ProtectionDomain domain -> around(ProtectionDomain.class, domain);
                    case null, default -> result;
                };
            }
            catch (final InvocationTargetException ex)
            {
                throw ex.getCause();
            }
        }));
    }

    private VirtualQp connect(final int incarnation, final long timeoutNs)
    {
        final VirtualQp vqp = client.connect(new PeerAddress(serverDevice.address(), PORT, 1, incarnation),
            BatchListener.CALLS_ONLY, timeoutNs);
        final long began = System.nanoTime();
        while (vqp.state() == VirtualQp.State.CONNECTING || server.poll() > 0)
        {
            assertThat(System.nanoTime() - began).isLessThan(2 * SoftPair.TIMEOUT_NS);
            client.poll();
            server.poll();
        }
        return vqp;
    }

    private void shouldConnect(final int incarnation)
    {
        final VirtualQp vqp = connect(incarnation, SoftPair.TIMEOUT_NS);
        assertThat(vqp.state()).as(vqp.failure()).isEqualTo(VirtualQp.State.READY);
    }

    /** As when the peer is gone between its request and the answer. */
    @Test
    void shouldCloseTheQueuePairThatCannotBeConnected()
    {
        // Room for one: whatever stays of it is in the way of the next.
        open(new RaasConfiguration().maxChannels(1));
        failing = "accept";
        assertThat(connect(1, 200_000_000).state()).isEqualTo(VirtualQp.State.FAILED);
        assertThat(errors).hasSize(1).first().extracting(Throwable::getMessage).isEqualTo("no memory left");
        assertThat(rpcServer.connections()).isZero();
        failing = "nothing";
        shouldConnect(2);
        assertThat(rpcServer.connections()).isEqualTo(1);
        assertThat(errors).hasSize(1);
    }

    @Test
    void shouldGiveBackTheRoomOfAPeerThatGetsNoReceives()
    {
        open(new RaasConfiguration().maxChannels(2 * TOGETHER).sharesReceives(false));
        for (int incarnation = 1; incarnation <= TOGETHER; incarnation++)
        {
            shouldConnect(incarnation);
        }
        final List<RaasLimit> limits = server.limits();
        failing = "allocateRegistered";
        assertThat(connect(TOGETHER + 1, SoftPair.TIMEOUT_NS).failure())
            .contains("refused by the peer: no memory left");
        assertThat(errors).hasSize(1);
        assertThat(rpcServer.refusals()).isEqualTo(1);
        assertThat(server.limits()).as("as before").isEqualTo(limits);
        failing = "nothing";
        shouldConnect(TOGETHER + 1);
        assertThat(rpcServer.connections()).isEqualTo(TOGETHER + 1);
    }
}
