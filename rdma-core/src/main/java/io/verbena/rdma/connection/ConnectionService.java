package io.verbena.rdma.connection;

import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.RdmaException;

import org.agrona.concurrent.SystemNanoClock;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The connection service of one open device: a TCP port of its own, which stands in the device's address, and one
 * thread that exchanges {@link ConnectionMessage}s. {@code librdmacm} is not used, because its listeners belong to the
 * port of the machine: two nodes on one RNIC could not listen at the same service port. Thread-safe.
 *
 * <p>A peer costs a channel with a buffer of two messages and cannot hold up another one: nothing waits for a single
 * peer, and each step of a connection has a deadline. Of peers that have connected and asked for nothing, the oldest
 * goes when there are too many, and the oldest of an address when there are too many of that.
 */
public final class ConnectionService implements AutoCloseable
{
    /** How often what is waited for is looked at. */
    public static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(20);

    /** Connections in the making, of both directions; more are turned away. */
    static final int MAX_CHANNELS = 4096;
    /** Peers that have connected and asked for nothing. */
    static final int MAX_SILENT = 1024;
    /** Those of one address: a host that floods gets no place that another one has. */
    static final int MAX_SILENT_OF_ADDRESS = 256;

    private static final int BACKLOG = 1024;
    /** Short, because connections in the making wait for the same thread. */
    private static final long ACCEPT_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(5);

    private final ConnectionDevice device;
    private final InetAddress source;
    private final ServerSocketChannel server;
    private final Selector selector;
    private final int tcpPort;
    private final Thread thread;
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final Map<Integer, ServiceListener> listeners = new ConcurrentHashMap<>();
    private final Acceptor acceptor = new Acceptor();
    private final Executor executor = this::execute;
    private volatile boolean isClosed;

    /**
     * Takes a port.
     *
     * @param device   whose service it is.
     * @param provider of the device, for the name of the thread.
     * @param at       address and port; port 0 for any.
     * @param source   of the connections it makes; null as the route says.
     * @throws IOException when the port cannot be had.
     */
    public ConnectionService(
        final ConnectionDevice device, final String provider, final InetSocketAddress at, final InetAddress source)
        throws IOException
    {
        this.device = device;
        this.source = source;
        selector = Selector.open();
        ServerSocketChannel opened = null;
        try
        {
            opened = ServerSocketChannel.open();
            opened.bind(at, BACKLOG).configureBlocking(false);
            opened.register(selector, SelectionKey.OP_ACCEPT);
            tcpPort = ((InetSocketAddress)opened.getLocalAddress()).getPort();
        }
        catch (final IOException ex)
        {
            selector.close();
            if (opened != null)
            {
                opened.close();
            }
            throw ex;
        }
        server = opened;
        thread = Thread.ofPlatform().daemon().name(provider + "-connect-" + device.name()).unstarted(this::run);
    }

    /** Begins to serve; once the device knows its address. */
    public void start()
    {
        thread.start();
    }

    /** @return the port it has. */
    public int tcpPort()
    {
        return tcpPort;
    }

    /**
     * Accepts connections.
     *
     * @param servicePort 1 to 65,535, free on this device.
     * @param onRequest   called for each request by the service's thread, must not block.
     * @return the listener, closed by the caller.
     */
    public ConnectionListener listen(final int servicePort, final Runnable onRequest)
    {
        ConnectionRules.checkServicePort(servicePort);
        device.childOpened();
        final ServiceListener listener = new ServiceListener(
            onRequest, closed -> listenerClosed(servicePort, closed));
        if (listeners.putIfAbsent(servicePort, listener) != null)
        {
            device.childClosed();
            throw new RdmaException("service port " + servicePort + " is in use on " + device.name());
        }
        return listener;
    }

    private void listenerClosed(final int servicePort, final ServiceListener listener)
    {
        listeners.remove(servicePort, listener);
        device.childClosed();
    }

    /**
     * Begins to connect; parameters and result as
     * {@link io.verbena.rdma.verbs.Device#connect(QueuePair, DeviceAddress, int, int, byte[], long)}.
     */
    public ConnectionAttempt connect(
        final QueuePair queuePair,
        final DeviceAddress target,
        final int servicePort,
        final int accessFlags,
        final byte[] privateData,
        final long timeoutNs)
    {
        ConnectionRules.checkPrivateData(privateData);
        ConnectionRules.checkServicePort(servicePort);
        ConnectionRules.checkAccessFlags(accessFlags);
        final ConnectableQueuePair own = device.own(queuePair);
        own.openForConnection(accessFlags);
        final ServiceAttempt attempt = new ServiceAttempt(device, own, target, executor, accessFlags, timeoutNs);
        own.attempt(attempt);
        final InetSocketAddress to = ServiceLocator.socketAddress(target);
        if (to == null)
        {
            attempt.fail(ConnectionAttempt.State.UNREACHABLE, new byte[0], "no address of a device on a network");
            return attempt;
        }
        final ConnectionMessage request = attempt.request(servicePort, privateData.clone());
        execute(() -> connect(attempt, to, request));
        return attempt;
    }

    private void connect(final ServiceAttempt attempt, final InetSocketAddress to, final ConnectionMessage request)
    {
        SocketChannel channel = null;
        try
        {
            channel = SocketChannel.open();
            channel.configureBlocking(false);
            if (source != null)
            {
                channel.bind(new InetSocketAddress(source, 0));
            }
            final ConnectionChannel connection = ConnectionChannel.requesting(
                channel, attempt, device.peerPatienceNs(), request);
            attempt.channel(connection);
            connection.register(selector, channel.connect(to));
        }
        // An address of the other family is not supported by a channel that is bound.
        catch (final IOException | IllegalArgumentException | UnsupportedOperationException ex)
        {
            attempt.fail(ConnectionAttempt.State.UNREACHABLE, new byte[0], ex.getMessage());
            closeQuietly(channel);
        }
    }

    private static void closeQuietly(final SocketChannel channel)
    {
        try
        {
            if (channel != null)
            {
                channel.close();
            }
        }
        catch (final IOException ignore)
        {
            // Nothing was sent.
        }
    }

    /** Runs on the thread of the service, soon. */
    private void execute(final Runnable task)
    {
        tasks.add(task);
        selector.wakeup();
    }

    @Override
    public void close()
    {
        isClosed = true;
        selector.wakeup();
        boolean isInterrupted = false;
        while (thread.isAlive())
        {
            try
            {
                thread.join();
            }
            catch (final InterruptedException ex)
            {
                isInterrupted = true;
            }
        }
        if (isInterrupted)
        {
            Thread.currentThread().interrupt();
        }
        if (server.isOpen())
        {
            // It was never started.
            closeServer();
        }
    }

    private void closeServer()
    {
        try (selector; server)
        {
            for (final SelectionKey key : new ArrayList<>(selector.keys()))
            {
                key.channel().close();
            }
        }
        catch (final IOException ex)
        {
            throw new AssertionError("connection service of " + device.name(), ex);
        }
    }

    private void run()
    {
        long lookedNs = SystemNanoClock.INSTANCE.nanoTime();
        while (!isClosed)
        {
            try
            {
                selector.select(selector.keys().size() > 1 ? TimeUnit.NANOSECONDS.toMillis(LOOK_NS) : 0);
            }
            catch (final IOException ex)
            {
                // The selector itself fails only when it is closed: nobody else closes it.
                throw new AssertionError("connection service of " + device.name(), ex);
            }
            for (Runnable task = tasks.poll(); task != null; task = tasks.poll())
            {
                task.run();
            }
            for (final SelectionKey key : selector.selectedKeys())
            {
                onReady(key);
            }
            selector.selectedKeys().clear();
            final long nowNs = SystemNanoClock.INSTANCE.nanoTime();
            if (nowNs - lookedNs >= LOOK_NS)
            {
                lookedNs = nowNs;
                look(nowNs);
            }
        }
        closeServer();
    }

    private void onReady(final SelectionKey key)
    {
        if (key.attachment() instanceof final ConnectionChannel connection)
        {
            connection.onReady();
            return;
        }
        try
        {
            for (SocketChannel channel = server.accept(); channel != null; channel = server.accept())
            {
                if (selector.keys().size() > MAX_CHANNELS)
                {
                    channel.close();
                }
                else
                {
                    channel.configureBlocking(false);
                    acceptor.add(channel);
                }
            }
        }
        catch (final IOException ex)
        {
            // Out of descriptors, or the peer is gone again: those that wait stay ready, so without a pause this would
            // spin.
            LockSupport.parkNanos(ACCEPT_PAUSE_NS);
        }
    }

    /** Who is waited for too long is given up. */
    private void look(final long nowNs)
    {
        for (final SelectionKey key : selector.keys())
        {
            if (key.attachment() instanceof final ConnectionChannel connection)
            {
                connection.onLook(nowNs);
            }
        }
    }

    /** The peers that have connected; the service's thread. */
    private final class Acceptor implements ConnectionChannel.Acceptor
    {
        /** Oldest first. */
        private final LinkedHashMap<ConnectionChannel, InetAddress> silent = new LinkedHashMap<>();
        private final Map<InetAddress, Integer> silentByAddress = new HashMap<>();

        private void add(final SocketChannel channel) throws IOException
        {
            final ConnectionChannel connection = ConnectionChannel.answering(
                channel, this, device.peerPatienceNs());
            final InetAddress address = connection.remoteAddress();
            silent.put(connection, address);
            connection.register(selector, true);
            if (silentByAddress.merge(address, 1, Integer::sum) > MAX_SILENT_OF_ADDRESS)
            {
                silent.entrySet().stream().filter(entry -> entry.getValue().equals(address)).findFirst().orElseThrow()
                    .getKey().close();
            }
            else if (silent.size() > MAX_SILENT)
            {
                silent.firstEntry().getKey().close();
            }
        }

        private void remove(final ConnectionChannel channel)
        {
            final InetAddress address = silent.remove(channel);
            if (address != null)
            {
                silentByAddress.computeIfPresent(address, (key, count) -> count == 1 ? null : count - 1);
            }
        }

        @Override
        public ConnectionChannel.Responder onRequest(final ConnectionChannel channel, final ConnectionMessage message)
        {
            remove(channel);
            final ServiceListener listener = listeners.get(message.servicePort());
            final ServiceRequest request = new ServiceRequest(device, executor, channel, message);
            final String refusal = request.refusal();
            if (refusal != null)
            {
                // Not what the message says of its source, which nobody has proved.
                device.onRefused(channel.remoteAddress(), refusal);
                request.refuseInClear(refusal);
                return null;
            }
            if (listener == null || !device.admits(message.source(), channel.remoteAddress()) ||
                !listener.offer(request))
            {
                request.refuse(ConnectionMessage.UNREACHABLE, new byte[0]);
                return null;
            }
            return request;
        }

        @Override
        public void onClosed(final ConnectionChannel channel)
        {
            remove(channel);
        }
    }
}
