package io.verbena.rdma.soft;

import io.verbena.rdma.spi.KeyTable;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.DeviceAttributes;
import io.verbena.rdma.verbs.DeviceCapability;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.RdmaException;

import org.agrona.collections.Int2ObjectHashMap;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.IntFunction;

/** A device of a {@link SoftFabric}: key table, queue pairs by number, listeners by service port. Thread-safe. */
final class SoftDevice implements Device
{
    static final int MAX_MESSAGE_BYTES = 1 << 30;
    private static final int MAX_QUEUE_PAIR_REQUESTS = 1 << 15;
    private static final int MAX_COMPLETIONS = 1 << 20;
    private static final int MAX_INLINE_BYTES = 1 << 10;
    private static final int MAX_READ_ATOMIC = 128;
    private static final int MAX_QUEUE_PAIR_NUMBER = 0xFF_FFFF;
    private static final DeviceAttributes ATTRIBUTES = new DeviceAttributes(
        "soft",
        Set.of(DeviceCapability.RC, DeviceCapability.GLOBAL_ATOMICS),
        false,
        MAX_QUEUE_PAIR_REQUESTS,
        MAX_COMPLETIONS,
        MAX_MESSAGE_BYTES,
        MAX_INLINE_BYTES,
        MAX_READ_ATOMIC,
        0,
        0);

    private final SoftFabric fabric;
    private final String name;
    private final DeviceAddress address;
    private final KeyTable keys = new KeyTable();
    private final Int2ObjectHashMap<SoftQueuePair> queuePairs = new Int2ObjectHashMap<>();
    private final Int2ObjectHashMap<SoftConnectionListener> listeners = new Int2ObjectHashMap<>();
    private int lastQueuePairNumber;
    private int childCount;
    private boolean isClosed;

    SoftDevice(final SoftFabric fabric, final String name, final DeviceAddress address)
    {
        this.fabric = fabric;
        this.name = name;
        this.address = address;
    }

    SoftFabric fabric()
    {
        return fabric;
    }

    KeyTable keys()
    {
        return keys;
    }

    long rnrTimeoutNs()
    {
        return fabric.rnrTimeoutNs();
    }

    @Override
    public String name()
    {
        return name;
    }

    @Override
    public DeviceAttributes attributes()
    {
        return ATTRIBUTES;
    }

    @Override
    public DeviceAddress address()
    {
        return address;
    }

    @Override
    public NanoClock clock()
    {
        return SystemNanoClock.INSTANCE;
    }

    @Override
    public synchronized ProtectionDomain allocateProtectionDomain()
    {
        checkOpen();
        childCount++;
        return new SoftProtectionDomain(this);
    }

    @Override
    public synchronized CompletionQueue createCompletionQueue(final int capacity)
    {
        checkOpen();
        checkRange("capacity", capacity, 1, MAX_COMPLETIONS);
        childCount++;
        return new SoftCompletionQueue(this, capacity);
    }

    @Override
    public synchronized ConnectionListener listen(final int servicePort)
    {
        checkOpen();
        checkRange("servicePort", servicePort, 1, 65_535);
        if (listeners.containsKey(servicePort))
        {
            throw new RdmaException("service port is taken: device=" + name + ", servicePort=" + servicePort);
        }
        childCount++;
        final SoftConnectionListener listener = new SoftConnectionListener(this, servicePort);
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
        checkRange("privateData.length", privateData.length, 0, ConnectionRequest.MAX_PRIVATE_DATA_BYTES);
        final SoftQueuePair connecting = own(queuePair);
        connecting.toInit();
        final SoftConnectionAttempt attempt =
            new SoftConnectionAttempt(connecting, accessFlags, clock(), clock().nanoTime() + timeoutNs);
        connecting.attempt(attempt);
        final SoftDevice peer = fabric.find(target);
        final SoftConnectionListener listener = peer == null ? null : peer.listener(servicePort);
        if (listener == null || !listener.offer(new SoftConnectionRequest(peer, attempt, privateData.clone())))
        {
            attempt.unreachable();
        }
        return attempt;
    }

    @Override
    public synchronized void close()
    {
        if (isClosed)
        {
            return;
        }
        if (childCount > 0)
        {
            throw new RdmaException(
                "device is in use: close its protection domains, completion queues and listeners first, device=" +
                name + ", open=" + childCount);
        }
        isClosed = true;
        fabric.deviceClosed(this);
    }

    synchronized SoftQueuePair addQueuePair(final IntFunction<SoftQueuePair> factory)
    {
        int number = lastQueuePairNumber;
        do
        {
            number = number == MAX_QUEUE_PAIR_NUMBER ? 1 : number + 1;
        }
        while (queuePairs.containsKey(number));
        lastQueuePairNumber = number;
        final SoftQueuePair queuePair = factory.apply(number);
        queuePairs.put(number, queuePair);
        return queuePair;
    }

    synchronized void removeQueuePair(final SoftQueuePair queuePair)
    {
        queuePairs.remove(queuePair.number());
    }

    /** Waits for every requester that may be inside this device's memory: own queue pairs and their peers. */
    void awaitOutside()
    {
        final List<SoftQueuePair> present;
        synchronized (this)
        {
            present = new ArrayList<>(queuePairs.values());
        }
        for (final SoftQueuePair queuePair : present)
        {
            queuePair.awaitOutside();
            queuePair.awaitPeerOutside();
        }
    }

    synchronized void listenerClosed(final SoftConnectionListener listener)
    {
        listeners.remove(listener.servicePort());
        childCount--;
    }

    synchronized void childClosed()
    {
        childCount--;
    }

    SoftQueuePair own(final QueuePair queuePair)
    {
        if (queuePair instanceof SoftQueuePair soft && soft.device() == this)
        {
            return soft;
        }
        throw new RdmaException("not a queue pair of this device: device=" + name + ", queuePair=" + queuePair);
    }

    SoftCompletionQueue own(final CompletionQueue completionQueue)
    {
        if (completionQueue instanceof SoftCompletionQueue soft && soft.device() == this)
        {
            return soft;
        }
        throw new RdmaException(
            "not a completion queue of this device: device=" + name + ", completionQueue=" + completionQueue);
    }

    void checkCapabilities(final QueuePairCapabilities capabilities)
    {
        checkRange("maxSendRequests", capabilities.maxSendRequests(), 1, MAX_QUEUE_PAIR_REQUESTS);
        checkRange("maxReceiveRequests", capabilities.maxReceiveRequests(), 0, MAX_QUEUE_PAIR_REQUESTS);
        checkRange("maxInlineBytes", capabilities.maxInlineBytes(), 0, MAX_INLINE_BYTES);
        checkRange("maxReadAtomic", capabilities.maxReadAtomic(), 0, MAX_READ_ATOMIC);
    }

    private synchronized SoftConnectionListener listener(final int servicePort)
    {
        return listeners.get(servicePort);
    }

    private void checkOpen()
    {
        if (isClosed)
        {
            throw new RdmaException("device is closed: device=" + name);
        }
    }

    static void checkRange(final String what, final long value, final long min, final long max)
    {
        if (value < min || value > max)
        {
            throw new RdmaException(
                what + " is out of range: " + what + "=" + value + ", allowed " + min + " to " + max);
        }
    }
}
