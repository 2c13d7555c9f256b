package io.verbena.resp;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ManualIoEventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioChannelOption;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.ResourceLeakDetector;
import io.netty.util.concurrent.FastThreadLocalThread;
import io.verbena.protocol.request.ComputeEndpoint;
import io.verbena.raas.directory.TcpAddress;
import io.verbena.resp.command.Commands;
import io.verbena.resp.session.ClientPause;
import io.verbena.resp.session.CommandTable;
import io.verbena.resp.session.ServedPort;
import io.verbena.resp.session.Session;
import io.verbena.resp.session.SessionSettings;
import io.verbena.resp.session.SessionState;
import io.verbena.resp.session.SlowLog;
import io.verbena.resp.session.Worker;

import jdk.net.ExtendedSocketOptions;
import org.agrona.concurrent.NanoClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Serves Redis' protocol at a port, with the operations of a compute node of this process. Either threads of its own
 * read and write the connections, and the node's thread carries the operations out; or the node's thread does both, see
 * {@link #openDriven}. Thread-safe, but for what the driver calls.
 */
public final class RespServer implements ServedPort, AutoCloseable
{
    private static final Logger LOGGER = LoggerFactory.getLogger(RespServer.class);
    private static final long TABLE_CACHE_NS = TimeUnit.SECONDS.toNanos(1);
    private static final long CLOSE_TIMEOUT_MS = 2_000;
    private static final long DRAIN_MS = 2_000;
    private static final int LOW_WATER_BYTES = 64 * 1024;
    private static final int HIGH_WATER_BYTES = 256 * 1024;
    private static final String LEAKS_PROPERTY = "io.netty.leakDetection.level";
    private static final Runnable NOTHING = () -> { };
    private static final int BACKLOG = 511;
    private static final int KEEP_IDLE_S = 300;
    private static final int KEEP_INTERVAL_S = 100;
    private static final int KEEP_COUNT = 3;

    private final RespConfiguration configuration;
    /** Of connections, or where the node's thread drives them, of the listener alone. */
    private final EventLoopGroup group;
    /** Of connections, where the node's thread drives them; else null. */
    private final ManualIoEventLoop loop;
    private Worker driven;
    private final String transport;
    private final NanoClock clock;
    private final CommandTable<Session> commands = Commands.table();
    /** Null without TLS. */
    private final RespTls tls;
    private final Map<EventLoop, Worker> workers = new ConcurrentHashMap<>();
    private final Map<RespConnection, Channel> connections = new ConcurrentHashMap<>();
    private final List<Long> threadIds = new CopyOnWriteArrayList<>();
    private final AtomicLong accepted = new AtomicLong();
    private final AtomicLong refused = new AtomicLong();
    private final ClientEviction eviction;
    private final SlowLog slowLog;
    private final ClientPause pause = new ClientPause();
    private final long openedNs;
    private Channel listener;

    private RespServer(
        final RespConfiguration configuration, final ComputeEndpoint endpoint, final NanoClock clock,
        final Runnable wakeNode, final boolean isDriven)
    {
        this.configuration = configuration;
        this.clock = clock;
        openedNs = clock.nanoTime();
        slowLog = new SlowLog(configuration.slowOperations());
        tls = RespTls.of(configuration, clock::nanoTime);
        followNoBuffers();
        eviction = new ClientEviction(configuration.maxBufferBytes(), connections);
        final boolean isNative = isNative();
        transport = isNative ? "epoll" : "nio";
        final ThreadFactory threads = this::thread;
        final IoHandlerFactory handlers = isNative ? EpollIoHandler.newFactory() : NioIoHandler.newFactory();
        final int threadCount = isDriven ? 1 : configuration.threads();
        group = new MultiThreadIoEventLoopGroup(threadCount, threads, handlers);
        loop = isDriven ? new ManualIoEventLoop(null, handlers) : null;
        final SessionSettings settings = new SessionSettings(configuration.table(), configuration.password(),
            configuration.timeoutNs(), configuration.maxCommandBytes(), configuration.maxOutputBytes(),
            TABLE_CACHE_NS, configuration.isCluster());
        for (int i = 0; i < threadCount; i++)
        {
            final EventLoop thread = isDriven ? loop : group.next();
            workers.put(thread, new Worker(endpoint, clock, wakeNode, thread, this, settings));
        }
    }

    /**
     * Makes a thread for {@link #poll}: Netty keeps buffers for threads of this kind only.
     *
     * @param run  what it does.
     * @param name of it.
     * @return not started.
     */
    public static Thread driver(final Runnable run, final String name)
    {
        return new FastThreadLocalThread(run, name);
    }

    private Thread thread(final Runnable run)
    {
        // Netty keeps buffers and entries of its queues for threads of this kind only: others make them anew.
        final Thread thread = new FastThreadLocalThread(run, "verbena-resp");
        thread.setDaemon(true);
        threadIds.add(thread.threadId());
        return thread;
    }

    /** Netty follows one buffer in a hundred with a stack trace, which costs more than all else: only where asked. */
    private static void followNoBuffers()
    {
        if (null == System.getProperty(LEAKS_PROPERTY))
        {
            ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.DISABLED);
        }
    }

    private static boolean isNative()
    {
        if (!Epoll.isAvailable())
        {
            LOGGER.info("Redis' protocol is served by the JDK's sockets, a little slower: {}",
                String.valueOf(Epoll.unavailabilityCause()).lines().findFirst().orElse("no epoll"));
            return false;
        }
        return true;
    }

    /**
     * Opens the port.
     *
     * @param configuration of it.
     * @param endpoint      of the node.
     * @param clock         of the node's deadlines.
     * @param wakeNode      makes the node's thread look for requests; any thread calls it, often.
     * @return the server, closed by the caller.
     * @throws RespException when the port cannot be had, or must not be opened like this.
     */
    public static RespServer open(
        final RespConfiguration configuration, final ComputeEndpoint endpoint, final NanoClock clock,
        final Runnable wakeNode)
    {
        return open(configuration, endpoint, clock, wakeNode, false);
    }

    /**
     * Opens the port for a thread that runs the node as well: the first that calls {@link #poll()}. A command is read,
     * carried out and replied without another thread.
     *
     * @param configuration of it; threads are not used.
     * @param endpoint      of the node.
     * @param clock         of the node's deadlines.
     * @param serveNode     runs the node until it has nothing to do at once; called within {@link #poll()},
     *                      {@link #await} and {@link #takeAnswers()}.
     * @return the server, closed by the caller, on the thread that drives it.
     * @throws RespException when the port cannot be had, or must not be opened like this.
     */
    public static RespServer openDriven(
        final RespConfiguration configuration, final ComputeEndpoint endpoint, final NanoClock clock,
        final Runnable serveNode)
    {
        return open(configuration, endpoint, clock, serveNode, true);
    }

    private static RespServer open(
        final RespConfiguration configuration, final ComputeEndpoint endpoint, final NanoClock clock,
        final Runnable wakeNode, final boolean isDriven)
    {
        final InetAddress address = address(configuration);
        announcedHost(configuration);
        final RespServer server = new RespServer(configuration, endpoint, clock, wakeNode, isDriven);
        try
        {
            server.listen(new InetSocketAddress(address, configuration.port()));
            return server;
        }
        catch (final RuntimeException ex)
        {
            server.close();
            throw ex;
        }
    }

    private static InetAddress address(final RespConfiguration configuration)
    {
        final InetAddress address;
        try
        {
            address = InetAddress.getByName(configuration.host());
        }
        catch (final UnknownHostException ex)
        {
            throw new RespException("--resp-listen " + configuration.host() + ": no such address", ex);
        }
        if (!address.isLoopbackAddress() && null == configuration.password() && !configuration.isOpenToAll())
        {
            throw new RespException("--resp-listen " + configuration.host() + ": other hosts reach this address, " +
                "and everybody there could read and change all tables: set --resp-password-file, or --resp-open", null);
        }
        return address;
    }

    private static InetAddress announcedHost(final RespConfiguration configuration)
    {
        final boolean isSaid = null != configuration.announcedHost();
        final String host = isSaid ? configuration.announcedHost() : configuration.host();
        final InetAddress address;
        try
        {
            address = InetAddress.getByName(host);
        }
        catch (final UnknownHostException ex)
        {
            throw new RespException("--resp-announce " + host + ": no such address", ex);
        }
        if (configuration.isCluster() && address.isAnyLocalAddress())
        {
            throw new RespException((isSaid ? "--resp-announce " : "--resp-cluster with --resp-listen ") + host +
                ": no client can connect to this address: give the one that clients reach with --resp-announce", null);
        }
        return address;
    }

    /** As Redis does: a host that vanished without a word is noticed after 10 minutes, not after 2 hours. */
    private void keepAlive(final ServerBootstrap bootstrap)
    {
        if ("epoll".equals(transport))
        {
            bootstrap.childOption(EpollChannelOption.TCP_KEEPIDLE, KEEP_IDLE_S)
                .childOption(EpollChannelOption.TCP_KEEPINTVL, KEEP_INTERVAL_S)
                .childOption(EpollChannelOption.TCP_KEEPCNT, KEEP_COUNT);
        }
        else
        {
            bootstrap.childOption(NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPIDLE), KEEP_IDLE_S)
                .childOption(NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPINTERVAL), KEEP_INTERVAL_S)
                .childOption(NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPCOUNT), KEEP_COUNT);
        }
    }

    private void listen(final InetSocketAddress address)
    {
        final Class<? extends ServerChannel> type =
            "epoll".equals(transport) ? EpollServerSocketChannel.class : NioServerSocketChannel.class;
        final ServerBootstrap bootstrap = new ServerBootstrap().group(group, null == loop ? group : loop).channel(type)
            .option(ChannelOption.SO_BACKLOG, BACKLOG)
            .option(ChannelOption.SO_REUSEADDR, true)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childOption(ChannelOption.SO_KEEPALIVE, true)
            .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
            .childOption(ChannelOption.ALLOCATOR, PooledByteBufAllocator.DEFAULT)
            .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK,
                new WriteBufferWaterMark(LOW_WATER_BYTES, HIGH_WATER_BYTES))
            .childHandler(new ChannelInitializer<Channel>()
            {
                @Override
                protected void initChannel(final Channel channel)
                {
                    accept(channel);
                }
            });
        keepAlive(bootstrap);
        final ChannelFuture bound = bootstrap.bind(address).awaitUninterruptibly();
        if (!bound.isSuccess())
        {
            throw new RespException("cannot listen on " + address.getHostString() + ":" + address.getPort() + ": " +
                bound.cause().getMessage() + "; choose another --resp-port", bound.cause());
        }
        listener = bound.channel();
    }

    private void accept(final Channel channel)
    {
        if (connections.size() >= configuration.maxClients())
        {
            refused.incrementAndGet();
            if (null != tls)
            {
                channel.close(); // a reply would take a handshake
                return;
            }
            channel.writeAndFlush(channel.alloc().buffer().writeBytes(
                "-ERR max number of clients reached\r\n".getBytes(StandardCharsets.US_ASCII)))
                .addListener(ChannelFutureListener.CLOSE);
            return;
        }
        final SessionState state = new SessionState(accepted.incrementAndGet(), clock.nanoTime(),
            configuration.table(), null != configuration.password());
        final RespConnection connection = new RespConnection(
            workers.get(channel.eventLoop()), commands, state, eviction.budget().share(), configuration.stallNs(),
            connections::remove);
        connections.put(connection, channel);
        if (null != tls)
        {
            tls.begin(channel.pipeline(), channel.alloc());
        }
        channel.pipeline().addLast(connection);
    }

    /**
     * Reads, carries out and replies what has arrived. The driver.
     *
     * @return work done.
     */
    public int poll()
    {
        return own().takeReady() + loop.runNow();
    }

    /**
     * As {@link #poll()}, and waits until something arrives. The driver.
     *
     * @param timeoutNs longest wait, 1 or more.
     * @return work done.
     */
    public int await(final long timeoutNs)
    {
        return own().takeReady() + loop.run(timeoutNs);
    }

    /**
     * Replies what the node has answered since. The driver, after it has run the node.
     *
     * @return answers.
     */
    public int takeAnswers()
    {
        return own().takeReady();
    }

    /** Ends the wait of the driver, or the next one at once. Any thread. */
    public void wakeup()
    {
        // A wake-up of the loop alone is lost while the loop is only about to wait; a task is looked for once more.
        loop.execute(NOTHING);
    }

    private Worker own()
    {
        if (null == driven)
        {
            loop.setOwningThread(Thread.currentThread());
            driven = workers.get(loop);
            driven.drive();
        }
        return driven;
    }

    /** @return port at which it listens. */
    @Override
    public int port()
    {
        return ((InetSocketAddress)listener.localAddress()).getPort();
    }

    @Override
    public long openedNs()
    {
        return openedNs;
    }

    @Override
    public SlowLog slowLog()
    {
        return slowLog;
    }

    @Override
    public ClientPause pause()
    {
        return pause;
    }

    @Override
    public long acceptances()
    {
        return accepted.get();
    }

    @Override
    public long maxBufferBytes()
    {
        return configuration.maxBufferBytes();
    }

    @Override
    public List<Client> clients()
    {
        final List<Client> clients = new ArrayList<>();
        connections.forEach((connection, channel) -> clients.add(
            new Client(connection.state(), RespConnection.addresses(channel), channel::close)));
        clients.sort(Comparator.comparingLong((client) -> client.state().id()));
        return clients;
    }

    /** @return address that clients learn from the other nodes of the cluster; NONE where it is not a part of one. */
    public TcpAddress announced()
    {
        return configuration.isCluster() ? TcpAddress.of(announcedHost(configuration), port()) : TcpAddress.NONE;
    }

    /** @return connections now. */
    @Override
    public int connections()
    {
        return connections.size();
    }

    /** @return connections that it takes at once, see {@link RespConfiguration#maxClients()}. */
    @Override
    public int maxConnections()
    {
        return configuration.maxClients();
    }

    /** @return connections refused so far, because there were too many. */
    @Override
    public long refusals()
    {
        return refused.get();
    }

    @Override
    public long evictions()
    {
        return eviction.evictions();
    }

    /** @return handshakes of TLS that failed so far; 0 without TLS. */
    public long tlsFailures()
    {
        return null == tls ? 0 : tls.failures();
    }

    /** @return commands so far. */
    @Override
    public long commandCount()
    {
        return workers.values().stream().mapToLong(Worker::commandCount).sum();
    }

    /** @return {@code epoll}, or {@code nio} where the native transport cannot be loaded. */
    public String transport()
    {
        return transport;
    }

    /** @return bytes that the buffers of clients hold beyond their first ones. */
    @Override
    public long bufferBytes()
    {
        return eviction.budget().takenBytes();
    }

    /** @return bytes of heap that the threads for connections have allocated so far. */
    public long allocatedBytes()
    {
        long sum = 0;
        for (final long id : threadIds)
        {
            sum += HeapAllocation.ofThread(id);
        }
        return sum;
    }

    /**
     * Takes no connection any more; clients are closed when what they have begun is replied, and after 2 s whether they
     * have read it or not. Returns at once.
     */
    public void drain()
    {
        listener.close();
        group.next().schedule(() -> connections.values().forEach(Channel::close), DRAIN_MS, TimeUnit.MILLISECONDS);
        connections.forEach((connection, channel) -> channel.eventLoop().execute(connection::drain));
    }

    /** Closes the port and all connections. Idempotent. The driver, if there is one. */
    @Override
    public void close()
    {
        if (null != loop)
        {
            closeLoop();
        }
        group.shutdownGracefully(0, CLOSE_TIMEOUT_MS, TimeUnit.MILLISECONDS)
            .awaitUninterruptibly(2 * CLOSE_TIMEOUT_MS);
    }

    private void closeLoop()
    {
        own();
        loop.shutdownGracefully(0, CLOSE_TIMEOUT_MS, TimeUnit.MILLISECONDS);
        final long deadlineNs = clock.nanoTime() + TimeUnit.MILLISECONDS.toNanos(2 * CLOSE_TIMEOUT_MS);
        while (!loop.isTerminated() && deadlineNs - clock.nanoTime() > 0)
        {
            loop.runNow();
            Thread.onSpinWait();
        }
    }

    @Override
    public String toString()
    {
        return "RespServer{" + configuration + ", connections=" + connections() + ", transport=" + transport + '}';
    }
}
