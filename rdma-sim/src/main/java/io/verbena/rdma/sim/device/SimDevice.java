package io.verbena.rdma.sim.device;

import io.verbena.rdma.sim.schedule.RnicModel;
import io.verbena.rdma.sim.schedule.StateWords;
import io.verbena.rdma.spi.KeyTable;
import io.verbena.rdma.spi.SegmentList;
import io.verbena.rdma.spi.WindowTable;
import io.verbena.rdma.verbs.AsyncEvent;
import io.verbena.rdma.verbs.CompletionChannel;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.DeviceAttributes;
import io.verbena.rdma.verbs.DeviceCapability;
import io.verbena.rdma.verbs.PortAttributes;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.RdmaException;

import org.agrona.collections.Int2ObjectHashMap;
import org.agrona.concurrent.NanoClock;

import java.util.EnumSet;
import java.util.Set;
import java.util.random.RandomGenerator;

/**
 * A simulated device, with the faults that a test can do to it. Addresses of its memory are virtual and equal in each
 * run of a seed; they are those of {@link io.verbena.rdma.verbs.MemoryRegion#address()}, never those of segments.
 */
public final class SimDevice implements Device
{
    private static final int MAX_COMPLETIONS = 1 << 20;
    private static final Set<DeviceCapability> CAPABILITIES = EnumSet.allOf(DeviceCapability.class);

    private final SimNetwork network;
    private final SimHost host;
    private final SimNamedMemory named;
    private final SimConnectionAttempt.Acceptors acceptors;
    private final Int2ObjectHashMap<SimConnectionListener> listeners = new Int2ObjectHashMap<>();
    private final RandomGenerator random;
    private NanoClock clock;

    /** @param acceptors the listeners of all devices of the fabric. */
    SimDevice(
        final SimNetwork network,
        final SimHost host,
        final SimNamedMemory named,
        final SimConnectionAttempt.Acceptors acceptors)
    {
        this.network = network;
        this.host = host;
        this.named = named;
        this.acceptors = acceptors;
        this.clock = network.timeline().clock();
        this.random = network.timeline().decisions().numbersOf(host.index());
        network.add(host);
    }

    /** @return what everything on it shares. */
    public SimHost host()
    {
        return host;
    }

    /**
     * Ends the node as a process dies: its queue pairs fall silent, its memory is unreachable, nothing that it posted
     * and that did not leave is sent. Requests under way may still execute at their targets, as the seed says for each
     * queue pair. Peers get RETRY_EXC_ERR after the retry time.
     */
    public void kill()
    {
        host.kill();
    }

    /**
     * Kills the device exactly after that many more of its requests have executed at their targets; nothing of it
     * executes later, not even in part.
     *
     * @param requestCount 0 or more; 0 kills it now.
     */
    public void killAfterRequests(final long requestCount)
    {
        host.killAfterRequests(requestCount);
    }

    /** @return whether it was killed. */
    public boolean isKilled()
    {
        return host.isKilled();
    }

    /**
     * Holds back its requests that have not reached their targets, by the seed for all or some queue pairs, until
     * {@link #resume()}: then they land late. Its memory stays reachable, as a NIC serves it without the CPU.
     */
    public void pause()
    {
        host.pause();
    }

    /** Ends {@link #pause()}. */
    public void resume()
    {
        host.resume();
    }

    /** @return whether it is paused. */
    public boolean isPaused()
    {
        return host.isPaused();
    }

    /** @return requests posted by this device that have executed successfully at their targets. */
    public long executedRequests()
    {
        return host.executedRequests();
    }

    /** @return how often its NIC had to fetch the context of a queue pair; 0 without {@link RnicModel}. */
    public long contextMisses()
    {
        return rnic() == null ? 0 : rnic().misses();
    }

    /** @return payload of READs that its NIC took in; 0 without {@link RnicModel}. */
    public long receivedBytes()
    {
        return rnic() == null ? 0 : rnic().receivedBytes();
    }

    /** @return how often its NIC held the context of a queue pair; 0 without {@link RnicModel}. */
    public long contextHits()
    {
        return rnic() == null ? 0 : rnic().hits();
    }

    /**
     * Cuts all present connections between this device and another one: what has not arrived never does, no answer
     * returns, and requests fail with RETRY_EXC_ERR after the retry time although some of them were executed.
     *
     * @param peer the other device.
     */
    public void breakConnections(final SimDevice peer)
    {
        host.breakConnections(peer.host);
    }

    @Override
    public String name()
    {
        return host.name();
    }

    @Override
    public DeviceAttributes attributes()
    {
        return new DeviceAttributes(
            "sim",
            CAPABILITIES,
            network.timeline().options().readAfterAtomicNeedsFence(),
            SimHost.MAX_QUEUE_PAIR_REQUESTS,
            MAX_COMPLETIONS,
            SimHost.MAX_MESSAGE_BYTES,
            SimHost.MAX_INLINE_BYTES,
            SegmentList.MAX_SEGMENTS,
            SimHost.MAX_READ_ATOMIC,
            SimHost.MAX_QUEUE_PAIR_REQUESTS,
            WindowTable.MAX_WINDOWS,
            network.timeline().options().maxDcContexts());
    }

    @Override
    public PortAttributes port()
    {
        return new PortAttributes(1, !host.isKilled(), "simulated", host.address(), SimHost.PATH_MTU_BYTES);
    }

    @Override
    public DeviceAddress address()
    {
        return host.address();
    }

    @Override
    public NanoClock clock()
    {
        return clock;
    }

    @Override
    public RandomGenerator random()
    {
        return random;
    }

    @Override
    public ProtectionDomain allocateProtectionDomain()
    {
        checkOpen();
        return new SimProtectionDomain(network, host, named);
    }

    @Override
    public CompletionQueue createCompletionQueue(final int capacity)
    {
        checkOpen();
        SimHost.checkRange("capacity", capacity, 1, MAX_COMPLETIONS);
        return new SimCompletionQueue(host, capacity, null);
    }

    @Override
    public CompletionQueue createCompletionQueue(final int capacity, final CompletionChannel channel)
    {
        checkOpen();
        SimHost.checkRange("capacity", capacity, 1, MAX_COMPLETIONS);
        if (!(channel instanceof SimCompletionChannel own) || own.host() != host)
        {
            throw new RdmaException("not a completion channel of this device: device=" + host.name());
        }
        return new SimCompletionQueue(host, capacity, own);
    }

    @Override
    public CompletionChannel createCompletionChannel()
    {
        checkOpen();
        return new SimCompletionChannel(host);
    }

    @Override
    public AsyncEvent pollAsyncEvent()
    {
        return host.events().poll();
    }

    @Override
    public ConnectionListener listen(final int servicePort)
    {
        checkOpen();
        SimHost.checkRange("servicePort", servicePort, 1, 65_535);
        if (listeners.containsKey(servicePort))
        {
            throw new RdmaException("service port is taken: device=" + host.name() + ", servicePort=" + servicePort);
        }
        final SimConnectionListener listener =
            new SimConnectionListener(network, host, servicePort, () -> listeners.remove(servicePort));
        listeners.put(servicePort, listener);
        return listener;
    }

    @Override
    public ConnectionAttempt connect(
        final QueuePair queuePair,
        final DeviceAddress target,
        final int servicePort,
        final int accessFlags,
        final byte[] privateData,
        final long timeoutNs)
    {
        SimHost.checkRange("privateData.length", privateData.length, 0, ConnectionRequest.MAX_PRIVATE_DATA_BYTES);
        final SimQueuePair connecting = SimQueuePair.of(host, queuePair);
        connecting.toInit();
        final SimConnectionAttempt attempt =
            new SimConnectionAttempt(connecting, accessFlags, network.timeline().nowNs() + timeoutNs);
        connecting.attempt(attempt);
        attempt.send(target, servicePort, acceptors, privateData.clone());
        return attempt;
    }

    @Override
    public void close()
    {
        if (host.isClosed())
        {
            return;
        }
        if (host.childCount() > 0)
        {
            throw new RdmaException(
                "device is in use: close its protection domains, completion queues and listeners first, device=" +
                host.name() + ", open=" + host.childCount());
        }
        host.close();
    }

    /** @return its number on the fabric, from 1. */
    public int index()
    {
        return host.index();
    }

    private Rnic rnic()
    {
        return network.rnic(host);
    }

    /** @return the regions that peers reach. */
    public KeyTable keys()
    {
        return host.keys();
    }

    /** Null when nobody listens there. */
    SimConnectionListener listener(final int servicePort)
    {
        return listeners.get(servicePort);
    }

    /** Adds all that decides what it does next, except the contents of its memory. */
    public void describe(final StateWords words)
    {
        host.describe(words);
    }

    /** A clock of its own, for what runs on this device. */
    public void clock(final NanoClock localClock)
    {
        clock = localClock;
    }

    private void checkOpen()
    {
        if (host.isClosed())
        {
            throw new RdmaException("device is closed: device=" + host.name());
        }
    }
}
