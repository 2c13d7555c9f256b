package io.verbena.raas;

import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.soft.SoftFabric;
import io.verbena.rdma.soft.SoftFabricOptions;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.MemoryRegion;

import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** A serving node with a granted region and a requesting node, both on the soft fabric and stepped by one thread. */
final class SoftPair implements AutoCloseable
{
    static final int PORT = 7;
    static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);
    static final int REGION_BYTES = 1 << 16;

    final SoftFabric fabric;
    final Device serverDevice;
    final Device clientDevice;
    final RaasContext server;
    final RaasContext client;
    final MemoryRegion served;
    final MemoryRegion local;
    RpcServer rpcServer;
    PeerIdentity lastCaller;
    Admission admission;
    RpcHandler handler = (caller, method, request, offset, length, reply) ->
    {
        reply.buffer().putBytes(reply.offset(), request, offset, length);
        return length;
    };

    SoftPair(final Path directory)
    {
        this(directory, new RaasConfiguration(), new RaasConfiguration());
    }

    SoftPair(final Path directory, final RaasConfiguration forServer, final RaasConfiguration forClient)
    {
        // A message that meets no receive fails at once: a single lapse of the credits shows.
        this(directory, forServer, forClient, 0);
    }

    SoftPair(
        final Path directory, final RaasConfiguration forServer, final RaasConfiguration forClient,
        final long rnrTimeoutNs)
    {
        fabric = SoftFabric.open(new SoftFabricOptions().directory(directory).rnrTimeoutNs(rnrTimeoutNs));
        serverDevice = fabric.openDevice("server");
        clientDevice = fabric.openDevice("client");
        server = RaasContext.open(serverDevice, forServer);
        client = RaasContext.open(clientDevice, forClient.identity(new PeerIdentity(3, 1)));
        served = server.protectionDomain().allocateRegistered(REGION_BYTES, AccessFlags.ALL_REMOTE);
        local = client.protectionDomain().allocateRegistered(REGION_BYTES, AccessFlags.LOCAL_WRITE);
        admission = Admission.accept(AccessFlags.ALL_REMOTE, new byte[]{42}, served);
        serve();
    }

    void serve()
    {
        rpcServer = server.serve(
            PORT,
            (caller, source) ->
            {
                lastCaller = caller;
                return admission;
            },
            (caller, method, request, offset, length, reply) ->
                handler.onRequest(caller, method, request, offset, length, reply));
    }

    PeerAddress peer()
    {
        return new PeerAddress(serverDevice.address(), PORT, 1, 1);
    }

    VirtualQp connect(final BatchListener listener)
    {
        return connect(RemoteRegion.NONE, listener);
    }

    VirtualQp connect(final RemoteRegion region, final BatchListener listener)
    {
        final VirtualQp vqp = client.connect(peer(), ReadTargetAddress.NONE, region, listener, TIMEOUT_NS);
        runUntil(() -> vqp.state() != VirtualQp.State.CONNECTING);
        return vqp;
    }

    RemoteRegion remote()
    {
        return RemoteRegion.of(served);
    }

    void runUntil(final BooleanSupplier condition)
    {
        final long deadlineNs = System.nanoTime() + TIMEOUT_NS;
        while (!condition.getAsBoolean())
        {
            client.poll();
            server.poll();
            if (System.nanoTime() - deadlineNs > 0)
            {
                throw new AssertionError("condition not reached in time");
            }
        }
    }

    void poll(final int times)
    {
        for (int i = 0; i < times; i++)
        {
            client.poll();
            server.poll();
        }
    }

    long servedWord(final long offset)
    {
        return served.segment().get(ValueLayout.JAVA_LONG, offset);
    }

    void servedWord(final long offset, final long value)
    {
        served.segment().set(ValueLayout.JAVA_LONG, offset, value);
    }

    long localWord(final long offset)
    {
        return local.segment().get(ValueLayout.JAVA_LONG, offset);
    }

    void localWord(final long offset, final long value)
    {
        local.segment().set(ValueLayout.JAVA_LONG, offset, value);
    }

    @Override
    public void close()
    {
        local.close();
        client.close();
        rpcServer.close();
        served.close();
        server.close();
        clientDevice.close();
        serverDevice.close();
        fabric.close();
    }
}
