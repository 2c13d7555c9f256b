package io.verbena.cli.cluster;

import io.verbena.cli.role.RoleProcess;
import io.verbena.compute.ComputeNode;
import io.verbena.compute.ComputeNodeConfiguration;
import io.verbena.protocol.access.AccessRules;
import io.verbena.protocol.bootstrap.BootstrapAnswer;
import io.verbena.protocol.bootstrap.BootstrapClient;
import io.verbena.protocol.bootstrap.BootstrapLocator;
import io.verbena.protocol.bootstrap.ClusterAddress;
import io.verbena.protocol.bootstrap.ClusterToken;
import io.verbena.protocol.remote.RequestServer;
import io.verbena.protocol.request.ComputeEndpoint;
import io.verbena.protocol.request.NodeRequest;
import io.verbena.protocol.request.OperationRequest;
import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.spi.ProcessRole;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.server.ComputeNodeRole;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;

/**
 * A compute node in a process of its own that stops itself (SIGSTOP) when it is handed a certain value to put, in the
 * middle of a duty cycle: that put, and all that came with it, are begun in the same cycle, when it is let go on, by
 * the time that was looked at before. What it is and why it begins anew is on its standard output.
 */
final class StoppingComputeNode
{
    /** How a value begins that stops the node, once. */
    static final byte[] MARK = "stop here".getBytes(StandardCharsets.US_ASCII);
    private static final int MAX_CLIENTS = 4;
    private static final long PARK_NS = 50_000;

    private static boolean hasStopped;

    private StoppingComputeNode()
    {
    }

    /** @param args address of the cluster, file with its token. */
    public static void main(final String[] args)
    {
        RoleProcess.begin();
        final ClusterAddress address = ClusterAddress.parse(args[0]);
        final ClusterToken token = ClusterToken.read(Path.of(args[1]));
        final BootstrapAnswer cluster = BootstrapClient.ask(address, token, 10_000);
        try (Fabric fabric = Fabrics.open(cluster.fabric(), ProcessRole.EXPENDABLE);
            Device device = fabric.openDevice("stopping"))
        {
            final ComputeNode node = new ComputeNode(device, new BootstrapLocator(address, token, cluster),
                new ComputeNodeConfiguration().name("stopping").servicePort(ComputeNodeRole.SERVICE_PORT)
                    .splitsSubtables(false),
                device.clock().nanoTime());
            try (RequestServer server = RequestServer.open(device, ComputeNodeRole.SERVICE_PORT,
                stoppingAt(node.endpoint()), MAX_CLIENTS, null, Throwable::printStackTrace))
            {
                work(device, node, server);
            }
            finally
            {
                node.onClose();
            }
        }
    }

    private static ComputeEndpoint stoppingAt(final ComputeEndpoint endpoint)
    {
        return new ComputeEndpoint()
        {
            @Override
            public int id()
            {
                return endpoint.id();
            }

            @Override
            public AccessRules access()
            {
                return endpoint.access();
            }

            @Override
            public int submit(final NodeRequest request)
            {
                final boolean isMarked = !hasStopped && request instanceof final OperationRequest operation &&
                    null != operation.value() && operation.value().length >= MARK.length &&
                    Arrays.equals(operation.value(), 0, MARK.length, MARK, 0, MARK.length);
                final int accepted = endpoint.submit(request);
                if (isMarked)
                {
                    stop();
                }
                return accepted;
            }
        };
    }

    private static void stop()
    {
        hasStopped = true;
        try
        {
            new ProcessBuilder("kill", "-STOP", Long.toString(ProcessHandle.current().pid())).start().waitFor();
        }
        catch (final IOException | InterruptedException ex)
        {
            throw new IllegalStateException(ex);
        }
    }

    private static void work(final Device device, final ComputeNode node, final RequestServer server)
    {
        int incarnation = 0;
        while (ComputeNode.State.FAILED != node.state())
        {
            final long nowNs = device.clock().nanoTime();
            final int work = server.doWork(nowNs) + node.doWork(nowNs) + server.sendAnswers();
            if (ComputeNode.State.SERVING == node.state() && incarnation != node.incarnation())
            {
                incarnation = node.incarnation();
                System.out.println(RoleProcess.READY + node.nodeId() + ' ' + incarnation);
            }
            if (0 == work)
            {
                LockSupport.parkNanos(PARK_NS);
            }
        }
        System.out.println("failed: " + node.failure());
    }
}
