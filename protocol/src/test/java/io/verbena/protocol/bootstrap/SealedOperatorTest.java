package io.verbena.protocol.bootstrap;

import io.verbena.raas.Admission;
import io.verbena.raas.BatchListener;
import io.verbena.raas.ConnectDataDescriptor;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.RpcServer;
import io.verbena.raas.VirtualQp;
import io.verbena.raas.encryption.SealedMessageDescriptor;
import io.verbena.raas.identity.IdentitySecret;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.connection.ConnectionSecret;
import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;

import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** Over the network of this host: whose messages are left to sealed packets, and whose are not. */
class SealedOperatorTest
{
    private static final int PORT = 7;
    private static final long STEP_NS = TimeUnit.SECONDS.toNanos(20);
    private static final PeerIdentity ANN = PeerIdentity.user(1, 1);
    private static final int SEALED_PACKETS = SealedMessageDescriptor.IN_SEALED_PACKETS;
    private static final int SEALED_MESSAGES = SealedMessageDescriptor.AES_128_GCM;

    @TempDir
    private Path folder;
    private ClusterToken token;
    private Path tokenFile;
    private Path otherFile;
    /** What the node knows of the packets of the connection. */
    private ConnectionRequest.PacketSeal seal;
    private int asked;
    private int granted;
    private String failure;

    @BeforeEach
    void open() throws IOException
    {
        tokenFile = folder.resolve("token");
        token = ClusterToken.readOrCreate(tokenFile);
        otherFile = folder.resolve("other");
        Files.createFile(otherFile, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(otherFile, "5a".repeat(32) + '\n');
    }

    private interface Seen
    {
        Object of(Method method, Object result, Object[] arguments);
    }

    private static <T> T proxy(final Class<T> type, final Object real, final Seen seen)
    {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[]{type}, (_, method, arguments) ->
        {
            try
            {
                return seen.of(method, method.invoke(real, arguments), arguments);
            }
            catch (final InvocationTargetException ex)
            {
                throw ex.getCause();
            }
        }));
    }

    /** Notes what connect data ask for and grant. */
    private Device watched(final Device real)
    {
        return proxy(Device.class, real, (method, result, _) -> !method.getName().equals("listen") ? result :
            proxy(ConnectionListener.class, result, (each, request, _) ->
                !each.getName().equals("poll") || null == request ? request : noted((ConnectionRequest)request)));
    }

    private Object noted(final ConnectionRequest request)
    {
        seal = request.packetSeal();
        return proxy(ConnectionRequest.class, request, this::note);
    }

    private Object note(final Method method, final Object result, final Object[] arguments)
    {
        if (method.getName().equals("privateData"))
        {
            asked = new UnsafeBuffer((byte[])result).getInt(ConnectDataDescriptor.ENCRYPTION_OFFSET);
        }
        if (method.getName().equals("accept"))
        {
            granted = new UnsafeBuffer((byte[])arguments[2]).getInt(ConnectDataDescriptor.REGIONS_OFFSET);
        }
        return result;
    }

    private String name(final String options)
    {
        return (options.startsWith("soft") ? options : "roce:::1" + options + ",memory=" + folder.resolve("memory"));
    }

    /** Makes a call as somebody, and notes what was agreed. */
    private void call(final String atClient, final String atServer, final PeerIdentity who)
    {
        final IdentitySecret secret = PeerIdentity.OPERATOR.equals(who) ? token.clusterSecret() :
            token.clusterSecret().derive("user", who.nodeId(), who.incarnation());
        asked = 0;
        granted = 0;
        failure = "";
        try (Fabric serverFabric = Fabrics.open(name(atServer)); Fabric clientFabric = Fabrics.open(name(atClient));
            Device serverDevice = serverFabric.openDevice("server");
            Device clientDevice = clientFabric.openDevice("client");
            RaasContext server = RaasContext.open(watched(serverDevice), new RaasConfiguration());
            RaasContext client = RaasContext.open(clientDevice, new RaasConfiguration().encrypted(true));
            RpcServer _ = server.serve(PORT, (_, _) -> Admission.callsOnly(), (_) -> secret,
                (_, _, _, _, _, reply) -> reply.isEncrypted() ? 0 : -1))
        {
            client.identity(who, 1, (_) -> secret);
            final VirtualQp vqp = client.connect(
                new PeerAddress(serverDevice.address(), PORT, 1, 1), BatchListener.CALLS_ONLY, STEP_NS);
            final List<Integer> answers = new ArrayList<>();
            final long began = System.nanoTime();
            boolean isAsked = false;
            while (answers.isEmpty() && VirtualQp.State.FAILED != vqp.state())
            {
                assertThat(System.nanoTime() - began).isLessThan(STEP_NS);
                server.poll();
                client.poll();
                if (vqp.isReady() && !isAsked)
                {
                    isAsked = true;
                    client.rpcClient().call(vqp, 1, new UnsafeBuffer(new byte[8]), 0, 8, STEP_NS,
                        (_, status, _, _, _) -> answers.add(status.ordinal()));
                }
            }
            failure = vqp.failure();
            assertThat(answers).allMatch((status) -> 0 == status);
        }
    }

    @Test
    void shouldLeaveMessagesOfAnOperatorToPacketsThatAreSealedWithTheToken()
    {
        call(",encrypt=" + tokenFile, ",encrypt=" + tokenFile + ",clear=accepted", PeerIdentity.OPERATOR);
        assertThat(failure).isEmpty();
        assertThat(seal).isEqualTo(ConnectionSecret.read(tokenFile).seal());
        assertThat(asked).isEqualTo(SEALED_PACKETS);
        assertThat(granted).isEqualTo(SEALED_PACKETS);
    }

    @Test
    void shouldSealMessagesOfUsersAndThoseInPacketsOfAnotherKey()
    {
        call(",encrypt=" + tokenFile, ",encrypt=" + tokenFile, ANN);
        assertThat(asked).as("others have the token").isEqualTo(SEALED_MESSAGES);
        assertThat(granted).isEqualTo(SEALED_MESSAGES);
        call(",encrypt=" + otherFile, ",encrypt=" + otherFile, PeerIdentity.OPERATOR);
        assertThat(asked).as("others have the key").isEqualTo(SEALED_MESSAGES);
        assertThat(granted).isEqualTo(SEALED_MESSAGES);
    }

    @Test
    void shouldSealMessagesWherePacketsAreInClear()
    {
        call("", ",encrypt=" + tokenFile + ",clear=accepted", PeerIdentity.OPERATOR);
        assertThat(seal).isNull();
        assertThat(asked).isEqualTo(SEALED_MESSAGES);
        assertThat(granted).isEqualTo(SEALED_MESSAGES);
    }

    /** Both devices seal what goes to other hosts, and this connection goes nowhere. */
    @Test
    void shouldSealMessagesOverSharedMemoryOfDevicesThatSealPackets()
    {
        final String both = "soft:" + folder.resolve("shared") + ",network=::1,encrypt=" + tokenFile;
        call(both, both, PeerIdentity.OPERATOR);
        assertThat(failure).isEmpty();
        assertThat(asked).isEqualTo(SEALED_PACKETS);
        assertThat(granted).isEqualTo(SEALED_MESSAGES);
    }
}
