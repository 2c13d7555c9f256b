package io.verbena.rdma.ibverbs;

import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.RdmaException;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
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
 * port of the machine: two nodes on one RNIC could not listen at the same service port.
 */
final class ConnectionService implements ConnectionChannel.Acceptor, Executor
{
    /** Connections in the making, of both directions; more are turned away. */
    private static final int MAX_CHANNELS = 4096;
    /** Short, because connections in the making wait for the same thread. */
    private static final long ACCEPT_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(5);

    private final DeviceContext device;
    private final ServerSocketChannel server;
    private final Selector selector;
    private final int tcpPort;
    private final Thread thread;
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final Map<Integer, IbverbsConnectionListener> listeners = new ConcurrentHashMap<>();
    private volatile boolean isClosed;

    ConnectionService(final DeviceContext device, final InetAddress host)
    {
        this.device = device;
        try
        {
            selector = Selector.open();
            server = ServerSocketChannel.open();
            server.bind(new InetSocketAddress(host, 0), 1024).configureBlocking(false);
            server.register(selector, SelectionKey.OP_ACCEPT);
            tcpPort = ((InetSocketAddress)server.getLocalAddress()).getPort();
        }
        catch (final IOException ex)
        {
            throw new RdmaException("the connection service cannot listen at " + host.getHostAddress() +
                ", the address of the device's GID: " + ex.getMessage() + "; choose another GID or name an address: " +
                "ibverbs:" + device.rnic() + ",gid=INDEX or host=IPV4", ex);
        }
        thread = Thread.ofPlatform().daemon().name("ibverbs-connect-" + device.name()).unstarted(this::run);
    }

    static InetAddress host(final String ipv4)
    {
        try
        {
            return InetAddress.getByName(ipv4);
        }
        catch (final UnknownHostException ex)
        {
            throw new RdmaException("no such address: host=" + ipv4, ex);
        }
    }

    void start()
    {
        thread.start();
    }

    int tcpPort()
    {
        return tcpPort;
    }

    ConnectionListener listen(final int servicePort)
    {
        device.childOpened();
        final IbverbsConnectionListener listener = new IbverbsConnectionListener(
            closed -> listenerClosed(servicePort, closed));
        if (listeners.putIfAbsent(servicePort, listener) != null)
        {
            device.childClosed();
            throw new RdmaException("service port " + servicePort + " is in use on " + device.name());
        }
        return listener;
    }

    private void listenerClosed(final int servicePort, final IbverbsConnectionListener listener)
    {
        listeners.remove(servicePort, listener);
        device.childClosed();
    }

    @Override
    public ConnectionChannel.Responder onRequest(final ConnectionChannel channel, final ConnectionMessage message)
    {
        final IbverbsConnectionListener listener = listeners.get(message.servicePort());
        final IbverbsConnectionRequest request = new IbverbsConnectionRequest(device, this, channel, message);
        if (listener == null || !listener.offer(request))
        {
            channel.send(request.answer(ConnectionMessage.UNREACHABLE, 0, 0, 0, new byte[0]), true);
            return null;
        }
        return request;
    }

    void connect(
        final IbverbsConnectionAttempt attempt,
        final DeviceAddress target,
        final int servicePort,
        final byte[] privateData)
    {
        final InetSocketAddress to = ServiceLocator.socketAddress(target);
        if (to == null)
        {
            attempt.fail(IbverbsConnectionAttempt.State.UNREACHABLE, new byte[0]);
            return;
        }
        execute(() ->
        {
            try
            {
                final SocketChannel channel = SocketChannel.open();
                channel.configureBlocking(false);
                final ConnectionChannel connection = ConnectionChannel.requesting(
                    channel, attempt, attempt.request(servicePort, privateData));
                attempt.channel(connection);
                connection.register(selector, channel.connect(to));
            }
            catch (final IOException ex)
            {
                attempt.fail(IbverbsConnectionAttempt.State.UNREACHABLE, new byte[0]);
            }
        });
    }

    /** Runs on the thread of the service, soon. */
    @Override
    public void execute(final Runnable task)
    {
        tasks.add(task);
        selector.wakeup();
    }

    void close()
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
    }

    private void run()
    {
        try (selector; server)
        {
            while (!isClosed)
            {
                selector.select(selector.keys().size() > 1 ? 1_000 : 0);
                for (Runnable task = tasks.poll(); task != null; task = tasks.poll())
                {
                    task.run();
                }
                for (final SelectionKey key : selector.selectedKeys())
                {
                    onReady(key);
                }
                selector.selectedKeys().clear();
                sweep();
            }
            for (final SelectionKey key : new ArrayList<>(selector.keys()))
            {
                key.channel().close();
            }
        }
        catch (final IOException ex)
        {
            // The selector itself fails only when it is closed: nobody else closes it.
            throw new AssertionError("connection service of " + device.name(), ex);
        }
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
                    ConnectionChannel.answering(channel, this).register(selector, true);
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

    /** Who connects and then says nothing is dropped. */
    private void sweep()
    {
        for (final SelectionKey key : selector.keys())
        {
            if (key.attachment() instanceof final ConnectionChannel connection)
            {
                connection.closeWhenSilent();
            }
        }
    }
}
