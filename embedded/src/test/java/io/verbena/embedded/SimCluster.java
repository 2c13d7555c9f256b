package io.verbena.embedded;

import io.verbena.client.ComputeNodeSet;
import io.verbena.client.KvClientOptions;
import io.verbena.client.KvTable;
import io.verbena.client.RemoteNodes;
import io.verbena.client.RoutedKvClient;
import io.verbena.compute.ComputeNode;
import io.verbena.compute.ComputeNodeConfiguration;
import io.verbena.memory.MemoryNode;
import io.verbena.memory.MemoryNodeConfiguration;
import io.verbena.meta.MetaServer;
import io.verbena.meta.MetaServerConfiguration;
import io.verbena.meta.store.InMemoryMetaStore;
import io.verbena.raas.PeerAddress;
import io.verbena.rdma.sim.SimFabricOptions;
import io.verbena.rdma.sim.SimNode;
import io.verbena.rdma.sim.SimWorld;
import io.verbena.request.ControlRequest;
import io.verbena.request.NodeRequest;
import io.verbena.request.TableReference;
import io.verbena.request.remote.RequestServer;
import io.verbena.request.remote.Waker;

import org.agrona.concurrent.Agent;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** The agents of a whole cluster, and a client, stepped in one thread over the simulated fabric. */
final class SimCluster implements AutoCloseable
{
    static final long LEASE_NS = 20_000_000;
    private static final long EPOCH_2026_NS = 1_767_225_600_000_000_000L;
    private static final long MAX_STEPS = 20_000_000;
    private static final int CLIENT_PORT = 9;

    /** A compute node and the simulated machine it runs on. */
    record Compute(SimNode machine, ComputeNode node)
    {
        boolean isServing()
        {
            return machine.isRunning() && ComputeNode.State.SERVING == node.state();
        }
    }

    private final SimWorld world;
    private final SimNode metaMachine;
    private final MetaServer metaServer;
    private final List<SimNode> memoryMachines = new ArrayList<>();
    private final List<Compute> computes = new ArrayList<>();
    private final ComputeNodeSet nodes = new ComputeNodeSet();
    private final boolean isRemote;
    private final SimNode clientMachine;
    private final RoutedKvClient client;
    private RemoteNodes remoteNodes;

    SimCluster(final long seed, final SimFabricOptions options, final int memoryNodeCount, final int computeNodeCount)
    {
        this(seed, options, memoryNodeCount, computeNodeCount, false);
    }

    /** @param isRemote whether the client is on a machine of its own, and reaches compute nodes by messages. */
    SimCluster(
        final long seed, final SimFabricOptions options, final int memoryNodeCount, final int computeNodeCount,
        final boolean isRemote)
    {
        this.isRemote = isRemote;
        world = new SimWorld(seed, options);
        metaMachine = world.addNode("meta-server");
        metaServer = MetaServer.open(metaMachine.device(), new InMemoryMetaStore(), new MetaServerConfiguration()
            .leaseNs(LEASE_NS).leaseMarginNs(LEASE_NS / 10).epochIntervalNs(200_000).fenceTimeoutNs(5_000_000)
            .fenceRetryNs(1_000_000));
        metaMachine.addAgent(metaServer);
        for (int i = 1; i <= memoryNodeCount; i++)
        {
            addMemoryNode("memory-" + i);
        }
        client = RoutedKvClient.openStepped(
            nodes, world.clock(), new KvClientOptions().completionExecutor(Runnable::run));
        clientMachine = world.addNode("client").addAgent(new Sweeper());
        if (isRemote)
        {
            remoteNodes = new RemoteNodes(clientMachine.device(), metaAddress(), nodes, new Waker(), LEASE_NS / 2,
                (error) -> {});
            clientMachine.addAgent(remoteNodes);
        }
        for (int i = 0; i < computeNodeCount; i++)
        {
            final Compute compute = addComputeNode();
            world.runUntil(compute::isServing, MAX_STEPS);
        }
    }

    /** Looks after the client's deadlines, as its own thread does elsewhere. */
    private final class Sweeper implements Agent
    {
        @Override
        public int doWork()
        {
            client.sweep();
            if (isRemote)
            {
                return 0;
            }
            final ComputeNodeSet set = nodes;
            computes.stream().filter((compute) -> ComputeNode.State.LEFT == compute.node.state())
                .forEach((compute) -> set.remove(compute.node.endpoint()));
            return 0;
        }

        @Override
        public String roleName()
        {
            return "client-sweeper";
        }
    }

    SimWorld world()
    {
        return world;
    }

    SimNode metaMachine()
    {
        return metaMachine;
    }

    SimNode clientMachine()
    {
        return clientMachine;
    }

    RemoteNodes remoteNodes()
    {
        return remoteNodes;
    }

    List<SimNode> memoryMachines()
    {
        return memoryMachines;
    }

    List<Compute> computes()
    {
        return computes;
    }

    RoutedKvClient client()
    {
        return client;
    }

    /** Starts a compute node; it takes operations as soon as it serves. */
    Compute addComputeNode()
    {
        final String name = "compute-" + (computes.size() + 1);
        final SimNode machine = world.addNode(name);
        final ComputeNode node = new ComputeNode(
            machine.device(), metaAddress(),
            new ComputeNodeConfiguration().name(name).servicePort(isRemote ? CLIENT_PORT : 0)
                .operationSlots(8).heartbeatIntervalNs(LEASE_NS / 20)
                .callTimeoutNs(LEASE_NS / 2).versionClock(() -> EPOCH_2026_NS + world.clock().nanoTime()),
            world.clock().nanoTime());
        final Compute compute = new Compute(machine, node);
        if (isRemote)
        {
            final RequestServer server =
                RequestServer.open(machine.device(), CLIENT_PORT, node.endpoint(), 4, (error) -> {});
            machine.addAgent(server);
            machine.addAgent(node);
            computes.add(compute);
            return compute;
        }
        machine.addAgent(new Agent()
        {
            private boolean added;

            @Override
            public int doWork()
            {
                final int workCount = node.doWork();
                if (!added && ComputeNode.State.SERVING == node.state())
                {
                    added = true;
                    nodes.add(node.endpoint());
                }
                return workCount;
            }

            @Override
            public void onClose()
            {
                node.onClose();
            }

            @Override
            public String roleName()
            {
                return node.roleName();
            }
        });
        computes.add(compute);
        return compute;
    }

    /** The client stops using a node that it knows to be gone. */
    void forget(final Compute compute)
    {
        nodes.remove(compute.node.endpoint());
    }

    KvTable createTable(final String name, final long expectedRecords)
    {
        final ControlRequest request = new ControlRequest(
            ControlRequest.Kind.CREATE_TABLE, name, expectedRecords, world.clock().nanoTime() + 1_000_000_000L)
        {
            @Override
            protected void onDone()
            {
                // polled below
            }
        };
        computes.getFirst().node.endpoint().submit(request);
        world.runUntil(() -> NodeRequest.DONE == request.state(), MAX_STEPS);
        assertThat(request.status()).as(request.detail()).isEqualTo(ControlRequest.Status.OK);
        return client.table((TableReference)request.result());
    }

    private void addMemoryNode(final String name)
    {
        final SimNode machine = world.addNode(name);
        final MemoryNode node = MemoryNode.open(machine.device(), metaAddress(), new MemoryNodeConfiguration()
            .regionLengthBytes(8 << 20).chunkLengthBytes(64 << 10).callTimeoutNs(LEASE_NS / 2)
            .retryPauseNs(1_000_000));
        machine.addAgent(node);
        memoryMachines.add(machine);
        world.runUntil(node::isReady, MAX_STEPS);
    }

    private PeerAddress metaAddress()
    {
        return metaServer.address();
    }

    @Override
    public void close()
    {
        world.close();
    }
}
