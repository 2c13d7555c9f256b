package io.verbena.embedded;

import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.routing.RemoteKvClient;
import io.verbena.compute.ComputeNode;
import io.verbena.compute.ComputeNodeConfiguration;
import io.verbena.compute.StoreObserver;
import io.verbena.memory.MemoryNode;
import io.verbena.memory.MemoryNodeConfiguration;
import io.verbena.meta.MetaServer;
import io.verbena.meta.MetaServerConfiguration;
import io.verbena.meta.store.InMemoryMetaStore;
import io.verbena.protocol.bootstrap.MetaServerLocator;
import io.verbena.protocol.remote.RequestServer;
import io.verbena.rdma.soft.SoftFabric;
import io.verbena.rdma.soft.SoftFabricOptions;
import io.verbena.rdma.verbs.Device;

import org.agrona.concurrent.Agent;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** The agents of a cluster on the soft fabric, each role on a thread of its own, and clients that send messages. */
final class RemoteCluster implements AutoCloseable
{
    static final Duration STEP = Duration.ofSeconds(30);
    static final long STEP_NS = STEP.toNanos();
    private static final int CLIENT_PORT = 9;

    /** A compute node with its front door, on one thread. */
    static final class Compute implements Agent
    {
        final Device device;
        final ComputeNode node;
        final RequestServer server;
        AgentThread thread;

        Compute(final Device device, final ComputeNode node, final RequestServer server)
        {
            this.device = device;
            this.node = node;
            this.server = server;
        }

        @Override
        public int doWork()
        {
            return server.doWork() + node.doWork();
        }

        @Override
        public void onClose()
        {
            node.onClose();
            server.close();
        }

        @Override
        public String roleName()
        {
            return node.roleName();
        }

        /** Ends it without a word to anybody. */
        void kill()
        {
            thread.close(STEP_NS);
            device.close();
        }
    }

    private final SoftFabric fabric;
    private final MetaServer metaServer;
    private final List<AgentThread> threads = new ArrayList<>();
    private final List<Device> devices = new ArrayList<>();
    private final List<Compute> computes = new ArrayList<>();
    private final long fillLookPauseNs;

    RemoteCluster(final Path directory, final int computeNodeCount)
    {
        this(directory, computeNodeCount, new MemoryNodeConfiguration().regionLengthBytes(32 << 20),
            new ComputeNodeConfiguration().fillLookPauseNs());
    }

    /** @param fillLookPauseNs between two looks for subtables to be merged. */
    RemoteCluster(
        final Path directory, final int computeNodeCount, final MemoryNodeConfiguration memoryConfiguration,
        final long fillLookPauseNs)
    {
        this.fillLookPauseNs = fillLookPauseNs;
        fabric = SoftFabric.open(new SoftFabricOptions().directory(directory));
        metaServer = MetaServer.open(openDevice("meta"), new InMemoryMetaStore(), new MetaServerConfiguration()
            .leaseNs(TimeUnit.SECONDS.toNanos(2)));
        start("meta", metaServer);
        addMemoryNode(memoryConfiguration);
        for (int i = 0; i < computeNodeCount; i++)
        {
            addComputeNode();
        }
    }

    /** @return its thread, to be ended by {@link #end}. */
    AgentThread addMemoryNode(final MemoryNodeConfiguration configuration)
    {
        final String name = "memory-" + devices.size();
        final MemoryNode memory = MemoryNode.open(openDevice(name), metaServer.address(), configuration);
        start(name, memory);
        await(memory::isReady);
        return threads.getLast();
    }

    /** Ends a memory node without a word to anybody. */
    void end(final AgentThread memoryNode)
    {
        threads.remove(memoryNode);
        memoryNode.close(STEP_NS);
    }

    Compute addComputeNode()
    {
        final Device device = fabric.openDevice("compute-" + computes.size());
        final ComputeNode node = new ComputeNode(
            device, metaServer.address(),
            new ComputeNodeConfiguration().servicePort(CLIENT_PORT).fillLookPauseNs(fillLookPauseNs),
            device.clock().nanoTime());
        final Compute compute = new Compute(
            device, node, RequestServer.open(device, CLIENT_PORT, node.endpoint(), 8, null, (error) -> {}));
        compute.thread = AgentThread.start("compute-" + computes.size(), compute, device.clock());
        computes.add(compute);
        await(() -> ComputeNode.State.SERVING == node.state());
        return compute;
    }

    List<Compute> computes()
    {
        return computes;
    }

    /** Kills a node, see {@link Compute#kill()}. */
    void kill(final Compute compute)
    {
        computes.remove(compute);
        compute.kill();
    }

    KvClient client()
    {
        return client(new KvClientOptions());
    }

    KvClient client(final KvClientOptions options)
    {
        final Device device = fabric.openDevice("client");
        return RemoteKvClient.open(device, metaServer.address(), options, device::close);
    }

    /** Looks at the memory, on a device that is closed with the cluster. */
    StoreObserver observer()
    {
        return StoreObserver.open(openDevice("observer"), MetaServerLocator.at(metaServer.address()), STEP_NS);
    }

    static void await(final BooleanSupplier condition)
    {
        final long deadlineNs = System.nanoTime() + STEP_NS;
        while (!condition.getAsBoolean())
        {
            assert System.nanoTime() - deadlineNs < 0 : "not reached in time";
            LockSupport.parkNanos(100_000);
        }
    }

    private void start(final String name, final Agent agent)
    {
        threads.add(AgentThread.start(name, agent, devices.getLast().clock()));
    }

    private Device openDevice(final String name)
    {
        devices.add(fabric.openDevice(name));
        return devices.getLast();
    }

    @Override
    public void close()
    {
        computes.forEach(Compute::kill);
        threads.reversed().forEach((thread) -> thread.close(STEP_NS));
        devices.reversed().forEach(Device::close);
        fabric.close();
    }
}
