package io.verbena.rdma.connection;

import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.QueuePair;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;

/** A device on the loopback interface without packets. */
final class FakeDevice implements ConnectionDevice, AutoCloseable
{
    final ConnectionService service;
    final AtomicInteger children = new AtomicInteger();
    private final Map<QueuePair, FakeQueuePair> queuePairs = new IdentityHashMap<>();
    volatile int mtu = 5;
    volatile int peerPatienceMs = 10_000;
    volatile PathCheck check;
    volatile Runnable onAnswered;
    volatile ConnectionSecret secret;
    volatile boolean isClearAccepted;
    /** 1 stands for this host. */
    volatile long gidLow = 1;
    final AtomicInteger refused = new AtomicInteger();
    volatile InetAddress lastRefused;

    FakeDevice() throws IOException
    {
        this("::1");
    }

    FakeDevice(final String address) throws IOException
    {
        service = new ConnectionService(
            this, "test", new InetSocketAddress(InetAddress.ofLiteral(address), 0), null);
        service.start();
    }

    /** A handle for users, and the queue pair behind it. */
    synchronized QueuePair queuePair(final FakeQueuePair queuePair)
    {
        final QueuePair handle = (QueuePair)Proxy.newProxyInstance(
            getClass().getClassLoader(), new Class<?>[]{QueuePair.class}, (proxy, method, arguments) ->
            switch (method.getName())
            {
                case "hashCode" -> System.identityHashCode(proxy);
                case "equals" -> proxy == arguments[0];
                default -> null;
            });
        queuePairs.put(handle, queuePair);
        return handle;
    }

    ConnectionAttempt connect(final FakeQueuePair queuePair, final DeviceAddress target, final long timeoutMs)
    {
        return service.connect(
            queuePair(queuePair), target, 7, 0, new byte[]{1, 2}, TimeUnit.MILLISECONDS.toNanos(timeoutMs));
    }

    static ConnectionRequest awaitRequest(final ConnectionListener listener)
    {
        final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        ConnectionRequest request = listener.poll();
        while (request == null && System.nanoTime() - endNs < 0)
        {
            Thread.onSpinWait();
            request = listener.poll();
        }
        return request;
    }

    static ConnectionAttempt.State await(final ConnectionAttempt attempt)
    {
        final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (attempt.poll() == ConnectionAttempt.State.PENDING && System.nanoTime() - endNs < 0)
        {
            Thread.onSpinWait();
        }
        return attempt.poll();
    }

    @Override
    public String name()
    {
        return "fake";
    }

    @Override
    public DeviceAddress address()
    {
        return new DeviceAddress(0, gidLow, service.tcpPort());
    }

    @Override
    public int mtu(final DeviceAddress peer)
    {
        return mtu;
    }

    @Override
    public RandomGenerator random()
    {
        return RandomGenerator.getDefault();
    }

    @Override
    public synchronized ConnectableQueuePair own(final QueuePair queuePair)
    {
        return queuePairs.get(queuePair);
    }

    @Override
    public void childOpened()
    {
        children.incrementAndGet();
    }

    @Override
    public void childClosed()
    {
        children.decrementAndGet();
    }

    @Override
    public long silencePatienceNs()
    {
        return TimeUnit.MILLISECONDS.toNanos(300);
    }

    @Override
    public long peerPatienceNs()
    {
        return TimeUnit.MILLISECONDS.toNanos(peerPatienceMs);
    }

    @Override
    public boolean admits(final DeviceAddress source, final InetAddress from)
    {
        return ServiceLocator.inetAddress(source.gidHigh(), source.gidLow()).equals(from);
    }

    @Override
    public ConnectionSecret secret()
    {
        return secret;
    }

    @Override
    public boolean isClearAccepted()
    {
        return isClearAccepted;
    }

    @Override
    public void onRefused(final InetAddress by, final String problem)
    {
        lastRefused = by;
        refused.incrementAndGet();
    }

    @Override
    public PathCheck checkPath(
        final ConnectableQueuePair queuePair,
        final ConnectionMessage peer,
        final int ownPsn,
        final int agreedMtu,
        final Runnable answered)
    {
        onAnswered = answered;
        return check;
    }

    @Override
    public void close()
    {
        service.close();
    }
}
