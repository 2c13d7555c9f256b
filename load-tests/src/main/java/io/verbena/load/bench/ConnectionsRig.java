package io.verbena.load.bench;

import io.verbena.raas.Admission;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.RpcServer;
import io.verbena.raas.rpc.RpcStatus;
import io.verbena.raas.VirtualQp;
import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletions;
import org.agrona.DirectBuffer;
import org.agrona.IoUtil;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/** Two nodes of a soft fabric, one of which has memory that the other reads over many connections. One thread. */
final class ConnectionsRig implements AutoCloseable
{
    /** Bytes of a READ. */
    static final int READ_BYTES = 64;
    /** READs posted before completions are polled. */
    static final int GROUP = 16;
    private static final int PORT = 7;
    private static final int REGION_BYTES = 1 << 20;
    private static final long TIMEOUT_NS = 60_000_000_000L;
    private static final int CALL_BYTES = 16;
    private static final int QUEUE_PAIRS_OF_QUEUE = 100;

    private final Path directory = Files.createTempDirectory(Path.of("/dev/shm"), "verbena-bench-");
    private final Fabric fabric;
    private final Device serverDevice;
    private final Device clientDevice;
    private final RaasContext server;
    private final RaasContext client;
    private final MemoryRegion region;
    private final MemoryRegion local;
    private final RpcServer rpcServer;
    private final RemoteRegion remote;
    private final List<QueuePair> queuePairs = new ArrayList<>();
    private final List<QueuePair> responders = new ArrayList<>();
    private final List<CompletionQueue> unusedQueues = new ArrayList<>();
    private final WorkCompletions completions = new WorkCompletions(GROUP);
    private final UnsafeBuffer request = new UnsafeBuffer(new byte[CALL_BYTES]);
    private CompletionQueue queue;
    private long answered;
    private long replied;

    /** @param isSharing whether receives are shared. */
    ConnectionsRig(final boolean isSharing) throws IOException
    {
        fabric = Fabrics.open("soft:" + directory);
        serverDevice = fabric.openDevice("memory-node");
        clientDevice = fabric.openDevice("compute-node");
        server = RaasContext.open(serverDevice, new RaasConfiguration().sharesReceives(isSharing));
        client = RaasContext.open(clientDevice,
            new RaasConfiguration().sharesReceives(isSharing).identity(new PeerIdentity(3, 1)));
        region = server.protectionDomain().allocateRegistered(REGION_BYTES, AccessFlags.ALL_REMOTE);
        local = client.protectionDomain().allocateRegistered(GROUP * READ_BYTES, AccessFlags.LOCAL_WRITE);
        remote = RemoteRegion.of(region);
        rpcServer = server.serve(PORT,
            (caller, source) -> Admission.accept(AccessFlags.ALL_REMOTE, new byte[0], region),
            (caller, method, message, offset, length, reply) ->
            {
                reply.buffer().putBytes(reply.offset(), message, offset, length);
                return length;
            });
    }

    /** Connects once more. */
    VirtualQp connect()
    {
        final VirtualQp vqp = client.connect(
            new PeerAddress(serverDevice.address(), PORT, 1, 1), this::onBatch, TIMEOUT_NS);
        runUntil(() -> vqp.state() != VirtualQp.State.CONNECTING);
        if (vqp.state() != VirtualQp.State.READY)
        {
            throw new IllegalStateException(vqp.failure());
        }
        return vqp;
    }

    private void onBatch(final VirtualQp vqp, final int cookie, final int status)
    {
        answered++;
    }

    private void runUntil(final BooleanSupplier condition)
    {
        final long deadlineNs = client.clock().nanoTime() + TIMEOUT_NS;
        while (!condition.getAsBoolean())
        {
            client.poll();
            server.poll();
            if (client.clock().nanoTime() - deadlineNs > 0)
            {
                throw new IllegalStateException("the nodes did not answer in " + TIMEOUT_NS + " ns");
            }
        }
    }

    /** Receive buffers of both ends. */
    int receiveBuffers()
    {
        return client.receiveBuffers() + server.receiveBuffers();
    }

    /** Connects so many more queue pairs, each of a depth of one request. */
    void connectQueuePairs(final int count)
    {
        if (queue == null)
        {
            queue = clientDevice.createCompletionQueue(ConnectionsBenchmark.FULL_CONNECTIONS);
        }
        CompletionQueue unused = null;
        CompletionQueue unusedHere = null;
        final QueuePairCapabilities capabilities = new QueuePairCapabilities(1, 1, 0, 1);
        try (ConnectionListener listener = serverDevice.listen(PORT + 1))
        {
            for (int i = 0; i < count; i++)
            {
                if (i % QUEUE_PAIRS_OF_QUEUE == 0)
                {
                    unused = serverDevice.createCompletionQueue(1);
                    unusedHere = clientDevice.createCompletionQueue(1);
                    unusedQueues.add(unused);
                    unusedQueues.add(unusedHere);
                }
                final QueuePair requester =
                    client.protectionDomain().createQueuePair(queue, unusedHere, capabilities);
                queuePairs.add(requester);
                final QueuePair responder = server.protectionDomain().createQueuePair(unused, unused, capabilities);
                responders.add(responder);
                final ConnectionAttempt attempt = clientDevice.connect(
                    requester, serverDevice.address(), PORT + 1, 0, new byte[0], TIMEOUT_NS);
                runUntil(() ->
                {
                    final ConnectionRequest arrived = listener.poll();
                    if (arrived != null)
                    {
                        arrived.accept(responder, AccessFlags.ALL_REMOTE, new byte[0]);
                    }
                    return attempt.poll() == ConnectionAttempt.State.ESTABLISHED;
                });
            }
        }
    }

    /** READs over virtual queue pairs in an order. @return something of what was touched. */
    long read(final VirtualQp[] vqps, final int[] order, final int count, final Touched[] touched)
    {
        long sum = 0;
        for (int i = 0; i < count; i += GROUP)
        {
            final long target = answered + GROUP;
            for (int j = 0; j < GROUP; j++)
            {
                final int number = order[(i + j) % order.length];
                final VirtualQp vqp = vqps[number % vqps.length];
                if (touched != null)
                {
                    sum += touched[number].value++;
                }
                vqp.begin();
                vqp.read(local, (long)j * READ_BYTES, READ_BYTES, remote, offset(number));
                if (vqp.complete(j) != PostStatus.OK)
                {
                    throw new IllegalStateException("not posted: " + vqp);
                }
            }
            while (answered < target)
            {
                client.pollCompletions();
            }
        }
        return sum;
    }

    /** The same over queue pairs. */
    void readEach(final int[] order, final int count)
    {
        for (int i = 0; i < count; i += GROUP)
        {
            for (int j = 0; j < GROUP; j++)
            {
                final int number = order[(i + j) % order.length];
                final QueuePair queuePair = queuePairs.get(number);
                queuePair.begin();
                queuePair.read(j, SendFlags.SIGNALED, local.address() + (long)j * READ_BYTES, READ_BYTES,
                    local.localKey(), remote.address() + offset(number), remote.remoteKey());
                if (queuePair.complete() != PostStatus.OK)
                {
                    // Asked for twice in this group: its only slot is taken.
                    continue;
                }
            }
            for (int polled = 1; polled > 0;)
            {
                polled = queue.poll(completions);
            }
        }
    }

    private static long offset(final int number)
    {
        return (number * 0x9E3779B1L & REGION_BYTES / READ_BYTES - 1) * READ_BYTES;
    }

    /** Calls one after the other. */
    void call(final VirtualQp vqp, final int count)
    {
        for (int i = 0; i < count; i++)
        {
            final long target = replied + 1;
            final long call = client.rpcClient().call(
                vqp, 1, request, 0, CALL_BYTES, TIMEOUT_NS, this::onReply);
            while (call > 0 && replied < target)
            {
                server.pollCompletions();
                client.pollCompletions();
            }
        }
    }

    private void onReply(
        final long callId, final RpcStatus status, final DirectBuffer payload, final int offset,
        final int length)
    {
        replied += status == RpcStatus.OK ? 1 : 0;
    }

    @Override
    public void close() throws IOException
    {
        queuePairs.forEach(QueuePair::close);
        responders.forEach(QueuePair::close);
        unusedQueues.forEach(CompletionQueue::close);
        if (queue != null)
        {
            queue.close();
        }
        local.close();
        client.close();
        rpcServer.close();
        region.close();
        server.close();
        clientDevice.close();
        serverDevice.close();
        fabric.close();
        IoUtil.delete(directory.toFile(), true);
    }

    /** An object as large as a virtual queue pair's hot part: what a connection each cannot but touch. */
    static final class Touched
    {
        long value;
        long second;
        long third;
        long fourth;
        long fifth;
        long sixth;
    }
}
