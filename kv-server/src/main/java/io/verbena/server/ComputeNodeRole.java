package io.verbena.server;

import io.verbena.compute.ComputeNode;
import io.verbena.compute.ComputeNodeConfiguration;
import io.verbena.compute.figures.NodeCounters;
import io.verbena.compute.figures.SpaceFigures;
import io.verbena.protocol.access.AccessRules;
import io.verbena.protocol.bootstrap.MetaServerLocator;
import io.verbena.protocol.remote.NodeFigures;
import io.verbena.protocol.remote.RequestServer;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.raas.RaasContext;
import io.verbena.raas.failure.PeerFailures;
import io.verbena.raas.limit.RaasLimit;
import io.verbena.rdma.verbs.CompletionChannel;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.resp.HeapAllocation;
import io.verbena.resp.RespConfiguration;
import io.verbena.resp.RespException;
import io.verbena.resp.RespServer;
import io.verbena.server.metrics.Measurements;
import io.verbena.server.metrics.Metric;

import org.agrona.CloseHelper;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

/** A compute node with the server for its clients, both on one thread. */
public final class ComputeNodeRole implements Role
{
    /** Where clients reach a compute node on its device. */
    public static final int SERVICE_PORT = 2;
    private static final Logger LOGGER = LoggerFactory.getLogger(ComputeNodeRole.class);
    /** Clients of a compute node where nobody says. */
    public static final int DEFAULT_MAX_CLIENTS = 256;
    /** Most that anybody may say. */
    public static final int MOST_CLIENTS = 4_096;
    /** Most and fewest looks for requests between two cycles in which all the rest has its turn. */
    private static final int MAX_LOOKS = 64;
    private static final int MIN_LOOKS = 2;
    /** The most where each is a system call. */
    private static final int MAX_CALLS = 2;
    /** Times that requests were served, one after the other, until the rest has its turn. */
    private static final int MAX_SERVINGS = 16;
    /** What has arrived from clients of Redis is many requests. */
    private static final int SERVINGS_OF_INPUT = 3;
    /** What the node holds is counted this often at most; while idle each time that its figures are reported. */
    private static final long SPACE_NS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final long COUNT_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);

    private final Device device;
    private final CompletionChannel channel;
    private final ComputeNode node;
    private final MetaServerLocator metaServer;
    private final RequestServer server;
    /** Serves Redis' protocol; null where it does not. */
    private RespServer resp;
    /** Where the thread of both serves Redis' protocol as well; else null. */
    private SocketWait socketWait;
    /** Of a spare. */
    private final SpareWarmUp warmUp;
    private final PeerFailures clientFailures;
    private final int maxClients;
    private final StartTimeline start;
    private final long beganNs;
    private final ComputeNodeConfiguration configuration;
    private final EngineLoad load = new EngineLoad();
    private boolean hasSlept;
    private volatile int connections;
    private volatile Map<String, Integer> transports = Map.of();
    private volatile RaasContext.Transports nodeTransports = RaasContext.Transports.NONE;
    private volatile List<RaasLimit> limits = List.of();
    private volatile int memoryNodes;
    private volatile long refusedClients;
    private final PacedWarning refused;
    private final EncryptionFigures encryption;
    private volatile String memoryNodeFailures = "";
    private volatile long served;
    private volatile SpaceFigures space;
    private volatile NodeCounters counters = NodeCounters.none();
    private long countedNs;
    private final FigurePace pace;
    private boolean isLeaving;
    private long lastAskedNs;
    private long leavingSinceNs;
    private int servings;
    private int looks = MIN_LOOKS;
    private final int maxLooks;
    /** The thread that runs this; threads of the port wake it where no channel does. */
    private volatile Thread driver;

    /** Asks the node what it holds; answered on the thread of both. */
    private final class SpaceCount extends ControlRequest
    {
        SpaceCount(final long deadlineNs)
        {
            super(Kind.SPACE_FIGURES, null, 0, deadlineNs);
        }

        @Override
        protected void onDone()
        {
            if (result() instanceof final SpaceFigures counted)
            {
                space = counted;
            }
        }
    }

    private ComputeNodeRole(
        final Device device, final CompletionChannel channel, final ComputeNode node, final RequestServer server,
        final SpareWarmUp warmUp, final PeerFailures clientFailures, final int maxClients, final StartTimeline start,
        final long beganNs, final ComputeNodeConfiguration configuration, final MetaServerLocator metaServer)
    {
        this.metaServer = metaServer;
        this.warmUp = warmUp;
        this.configuration = configuration;
        server.figures(new NodeFigures(() -> HealthServer.json(demandFigures(new LinkedHashMap<>(
            Map.of("name", configuration.instance(), "pid", ProcessHandle.current().pid()))))));
        this.maxClients = maxClients;
        this.start = start;
        this.channel = channel;
        this.device = device;
        maxLooks = device.pollsBySystemCall() ? MAX_CALLS : MAX_LOOKS;
        this.node = node;
        this.server = server;
        this.clientFailures = clientFailures;
        this.beganNs = beganNs;
        pace = new FigurePace(beganNs - FigurePace.REST_NS);
        refused = new PacedWarning(LOGGER, "refused {} connections of clients, for which there was no room: " +
            "raise --max-clients, or start another compute node", beganNs);
        encryption = new EncryptionFigures(
            device, server, node.endpoint(), configuration.isEncryptionRequired(), LOGGER, beganNs);
    }

    /**
     * Starts a compute node; it joins while it is run. Tables grow.
     *
     * @param fabric        open; closed by the caller after the role.
     * @param metaServer    to join.
     * @param start         of the process, for the figures; may be null.
     * @param configuration of the node; its name, its port and its channel are set here.
     * @param maxClients    connected at once, 1 to {@link #MOST_CLIENTS}; one more is refused.
     * @return the role.
     */
    public static ComputeNodeRole open(
        final Fabric fabric, final MetaServerLocator metaServer, final StartTimeline start,
        final ComputeNodeConfiguration configuration, final int maxClients)
    {
        final String name = "compute-" + ProcessHandle.current().pid();
        final Device device = fabric.openDevice(name);
        final long beganNs = device.clock().nanoTime();
        final CompletionChannel channel = Channels.create(device);
        try
        {
            final ComputeNode node = new ComputeNode(device, metaServer,
                configuration.name(name).servicePort(SERVICE_PORT).completionChannel(channel), beganNs);
            final PeerFailures clientFailures = new PeerFailures(LOGGER::error, device.clock());
            final RequestServer server = RequestServer.open(device, SERVICE_PORT, node.endpoint(), maxClients, channel,
                clientFailures);
            return new ComputeNodeRole(device, channel, node, server,
                new SpareWarmUp(fabric, metaServer.clientTicket(), configuration.isEncryptionRequired(),
                    node.operationFigures()), clientFailures, maxClients, start, beganNs, configuration,
                metaServer);
        }
        catch (final RuntimeException ex)
        {
            CloseHelper.quietCloseAll(() -> Channels.close(channel), device);
            throw ex;
        }
    }

    /**
     * As the other one, and serves Redis' protocol besides.
     *
     * @param port for that protocol; null: none.
     * @return the role.
     * @throws RespException when the port cannot be opened.
     */
    public static ComputeNodeRole open(
        final Fabric fabric, final MetaServerLocator metaServer, final StartTimeline start,
        final ComputeNodeConfiguration configuration, final int maxClients, final RespConfiguration port)
    {
        final ComputeNodeRole role = open(fabric, metaServer, start, configuration, maxClients);
        try
        {
            if (null != port)
            {
                role.openResp(port.slowOperations(new SlowlogOfPort(role.node.operationFigures().traces())));
                // Which port it has is known only now; the node registers when it is driven first.
                configuration.tcpService(role.resp.announced());
            }
            return role;
        }
        catch (final RuntimeException ex)
        {
            role.close();
            throw ex;
        }
    }

    /** On the thread of both where other threads can watch the channel for it while it sleeps on sockets. */
    private void openResp(final RespConfiguration port)
    {
        if (null != channel && channel.canWatch())
        {
            resp = RespServer.openDriven(port, node.endpoint(), device.clock(), this::serveAtOnce);
            socketWait = new SocketWait(channel, resp);
        }
        else
        {
            resp = RespServer.open(port, node.endpoint(), device.clock(), this::wake);
        }
    }

    /** Carries out what one client of Redis has sent, then what clients of this store ask, who wait no longer. */
    private void serveAtOnce()
    {
        long nowNs = device.clock().nanoTime();
        // What came while it slept on the sockets is served before the next cycle begins.
        load.awake(nowNs);
        load.working(nowNs);
        for (int i = 0; i < MAX_SERVINGS && node.serve(nowNs) > 0; i++)
        {
            nowNs = device.clock().nanoTime();
        }
        if (server.takeRequests(nowNs) > 0)
        {
            node.serve(nowNs);
            server.sendAnswers();
        }
    }

    /** Ends the sleep of the thread that runs this. Any thread. */
    private void wake()
    {
        if (null != channel && channel.canWake())
        {
            channel.wake();
        }
        else
        {
            LockSupport.unpark(driver);
        }
    }

    /** @return the port at which it serves Redis' protocol; 0 where it does not. */
    public int respPort()
    {
        return null == resp ? 0 : resp.port();
    }

    @Override
    public Thread thread(final Runnable run, final String threadName)
    {
        return null == socketWait ? Role.super.thread(run, threadName) : RespServer.driver(run, threadName);
    }

    @Override
    public String name()
    {
        return "compute-node";
    }

    @Override
    public Device device()
    {
        return device;
    }

    @Override
    public CompletionChannel completionChannel()
    {
        if (null != socketWait)
        {
            return socketWait;
        }
        // A wait that only completions end would keep requests of this process waiting.
        return null == resp || null != channel && channel.canWake() ? channel : null;
    }

    @Override
    public int doWork()
    {
        final long nowNs = device.clock().nanoTime();
        load.beginCycle(nowNs, hasSlept);
        if (hasSlept)
        {
            hasSlept = false;
            server.resume(nowNs);
        }
        if (null != resp && null == driver)
        {
            driver = Thread.currentThread();
        }
        final int work = pollSockets(nowNs);
        servings = work > 0 && !isLeaving && !node.isBusy() ? servings + 1 : MAX_SERVINGS;
        if (servings < MAX_SERVINGS)
        {
            return work;
        }
        servings = 0;
        final int rest = doAllWork(nowNs);
        if (0 == work && rest > 0)
        {
            load.working(nowNs);
        }
        return work + rest;
    }

    @Override
    public void onWake()
    {
        hasSlept = true;
    }

    /**
     * What is asked does not wait for the rest of a cycle, which takes many times as long as to look for it. Who has
     * just asked may ask again: there are many looks then, and fewer and fewer while nobody does; but one only while
     * operations of the node itself wait for answers, which the rest of the cycle takes.
     */
    private int serve(final long nowNs)
    {
        int work = 0;
        final int most = node.isBusy() ? 1 : looks;
        int polls = 0;
        for (; 0 == work && polls < most; polls++)
        {
            work = server.takeRequests(nowNs) + (node.hasRequests() ? 1 : 0);
        }
        looks = work > 0 ? maxLooks : Math.max(MIN_LOOKS, looks / 2);
        if (0 == work)
        {
            return 0;
        }
        // The clock is read only where the thread had nothing to do until now.
        final long foundNs = 1 == polls ? nowNs : device.clock().nanoTime();
        load.working(foundNs);
        return work + node.serve(foundNs) + server.sendAnswers() + takeAnswers();
    }

    /** Serves clients of Redis, where this thread does, then all others. */
    private int pollSockets(final long nowNs)
    {
        final int input = null == socketWait ? 0 : socketWait.poll();
        if (0 == input)
        {
            return serve(nowNs);
        }
        load.working(nowNs);
        servings += SERVINGS_OF_INPUT;
        // Much may have arrived, and taken long.
        return input + serve(device.clock().nanoTime());
    }

    /** Replies to clients of Redis what the node has answered. */
    private int takeAnswers()
    {
        return null == socketWait ? 0 : resp.takeAnswers();
    }

    private int doAllWork(final long nowNs)
    {
        int work = server.doWork(nowNs) + node.doWork(nowNs);
        work += work > 0 ? server.sendAnswers() + takeAnswers() : 0;
        // Not before they have seen it: what a client sends to a node that leaves, it has to send again.
        if (isLeaving && 0 == server.owed() && ComputeNode.State.SERVING == node.state() &&
            haveClientsGone(nowNs - leavingSinceNs))
        {
            node.leave();
            work++;
        }
        warmUp.follow(device, node, configuration.isSpare(), server.connections(), nowNs);
        final int clients = Math.max(0, server.connections() - (warmUp.isUnderWay() ? 1 : 0));
        if (connections != clients)
        {
            connections = clients;
            transports = server.transports();
            if (connections > 0)
            {
                node.timeline().firstClient(nowNs);
            }
        }
        if (served != server.served())
        {
            served = server.served();
            lastAskedNs = nowNs;
        }
        if (pace.isDue(work, nowNs))
        {
            limits = LimitFigures.ofComputeNode(server, maxClients, resp, node);
            nodeTransports = node.transports();
            memoryNodes = node.reachedMemoryNodes();
            refusedClients = server.refusals();
            refused.poll(refusedClients, nowNs);
            encryption.poll(nowNs);
            memoryNodeFailures = text(node.memoryNodeFailures());
            counters = node.counters();
            countSpace(nowNs);
        }
        return work;
    }

    /** Counted on this thread and published, so that who looks at the figures waits for nobody. */
    private void countSpace(final long nowNs)
    {
        // Whether or not there were operations: chunks also come back by themselves.
        if (nowNs - countedNs >= SPACE_NS && ComputeNode.State.SERVING == node.state())
        {
            countedNs = nowNs;
            node.endpoint().submit(new SpaceCount(nowNs + COUNT_TIMEOUT_NS));
        }
    }

    private static String text(final Map<Integer, String> failures)
    {
        return failures.entrySet().stream().map((failure) -> failure.getKey() + " (" + failure.getValue() + ")")
            .collect(Collectors.joining(", "));
    }

    @Override
    public boolean awaitsAnswers()
    {
        return node.isBusy();
    }

    @Override
    public long idleNs()
    {
        return isLeaving ? 0 : node.idleNs();
    }

    @Override
    public boolean isReady()
    {
        return ComputeNode.State.SERVING == node.state() && !isLeaving;
    }

    @Override
    public String failure()
    {
        return ComputeNode.State.FAILED == node.state() ? "compute node failed: " + node.failure() : "";
    }

    /** Clients are informed first, and what they send until they have seen it is carried out; then the node leaves. */
    @Override
    public void drain()
    {
        isLeaving = true;
        leavingSinceNs = device.clock().nanoTime();
        lastAskedNs = leavingSinceNs;
        server.drain();
        if (null != resp)
        {
            resp.drain();
        }
        if (ComputeNode.State.SERVING != node.state())
        {
            node.leave();
        }
    }

    @Override
    public boolean isDrained()
    {
        return 0 == server.owed() && haveClientsGone(device.clock().nanoTime() - lastAskedNs) &&
            (ComputeNode.State.LEFT == node.state() || ComputeNode.State.FAILED == node.state());
    }

    private boolean haveClientsGone(final long waitedNs)
    {
        return (0 == server.connections() || waitedNs > RequestServer.LINGER_NS) &&
            (null == resp || 0 == resp.connections());
    }

    @Override
    public Map<String, Object> health()
    {
        final Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("node_id", node.nodeId());
        figures.put("incarnation", node.incarnation());
        figures.put("state", node.state().name());
        figures.put("meta_server_addresses", metaServer.addresses());
        figures.put("clients", connections);
        figures.put("carriers", transports);
        figures.put("node_carriers", nodeTransports.counts());
        figures.put("node_transports", NodeTransports.figure(nodeTransports));
        figures.put("refused_connections", refusedClients);
        encryption.put(figures);
        figures.put("memory_nodes", memoryNodes);
        figures.put("unreachable_memory_nodes", memoryNodeFailures);
        figures.put("requests", served);
        figures.put("refused_requests", server.refusedRequests());
        figures.put("operations", node.operationFigures().answeredCount());
        figures.put("kinds", KindFigures.of(node.operationFigures()));
        demandFigures(figures);
        figures.put("failed_requests", node.failures().requestCount() + clientFailures.requestCount());
        figures.put("failed_dc_initiators", node.failures().dcInitiatorCount());
        TenantFigures.put(figures, node.failures().usage());
        if (null != resp)
        {
            figures.put("resp_port", resp.port());
            figures.put("resp_transport", resp.transport());
            figures.put("resp_connections", resp.connections());
            figures.put("resp_refused_connections", resp.refusals());
            figures.put("resp_commands", resp.commandCount());
            figures.put("resp_buffer_bytes", resp.bufferBytes());
            figures.put("resp_allocated_bytes", resp.allocatedBytes());
            figures.put("allocated_bytes", null == driver ? 0 : HeapAllocation.ofThread(driver.threadId()));
        }
        ComputeMeasurements.put(space, figures);
        figures.put(LimitFigures.NAME, LimitFigures.figure(limits));
        figures.put("began_ns", beganNs);
        if (null != start)
        {
            figures.put("main_ns", start.mainNs());
            figures.put("start_breakdown", start.breakdown());
        }
        figures.put("ready_after_us", microseconds(node.timeline().joinToReadyNs()));
        figures.put("first_client_after_us", microseconds(node.timeline().joinToFirstClientNs()));
        figures.put("first_request_after_us", microseconds(node.timeline().joinToFirstRequestNs()));
        figures.put("join_breakdown", node.timeline().breakdown());
        figures.put("failure", ComputeNode.State.SERVING == node.state() ? "" : node.failure());
        return figures;
    }

    /** What autoscalers decide by. */
    private Map<String, Object> demandFigures(final Map<String, Object> figures)
    {
        figures.put("meta_server", node.isMetaServerAway() ? "away" : "reached");
        final boolean isSpare = configuration.isSpare();
        figures.put("spare", isSpare);
        figures.put("warming_up", isSpare && !warmUp.hasEnded());
        figures.put(DemandFigures.NAME, DemandFigures.of(
            device.clock().nanoTime(), node.operationFigures(), load, configuration.operationSlots()));
        return figures;
    }

    @Override
    public Map<String, Object> slowlog()
    {
        return SlowlogFigures.of(node.operationFigures().traces());
    }

    @Override
    public void measure(final Measurements measurements)
    {
        measurements.set(Metric.NODE_ID, node.nodeId());
        measurements.set(Metric.INCARNATION, node.incarnation());
        measurements.set(Metric.META_SERVER_REACHED, node.isMetaServerAway() ? 0 : 1);
        measurements.set(Metric.MEMORY_NODES_REACHED, memoryNodes);
        NodeTransports.measure(nodeTransports, measurements);
        LimitFigures.measure(limits, measurements);
        measurements.set(Metric.CLIENTS, connections);
        measurements.set(Metric.CLIENTS_LIMIT, maxClients);
        measurements.set(Metric.REFUSED_CONNECTIONS, refusedClients);
        encryption.measure(measurements);
        measurements.set(Metric.REPLACED_CONNECTIONS, node.failures().replays().queuePairs());
        measurements.set(Metric.REPLAYED_REQUESTS, node.failures().replays().requests());
        measurements.set(Metric.UNKNOWN_OUTCOMES, node.failures().replays().unknownOutcomes());
        measurements.set(Metric.FAILED_REQUESTS, node.failures().requestCount() + clientFailures.requestCount());
        ComputeMeasurements.measure(node.operationFigures(), measurements);
        ComputeMeasurements.measure(counters, measurements);
        measurements.set(Metric.SLOW_OPERATIONS, node.operationFigures().traces().slowCount());
        DemandFigures.measure(node.operationFigures(), load, configuration.operationSlots(), measurements);
        ComputeMeasurements.measure(space, measurements);
    }

    /** Who may do what, as the node knows now; any thread. */
    AccessRules access()
    {
        return node.endpoint().access();
    }

    private static long microseconds(final long ns)
    {
        return ns < 0 ? -1 : TimeUnit.NANOSECONDS.toMicros(ns);
    }

    @Override
    public void close()
    {
        CloseHelper.closeAll(warmUp, node::onClose, socketWait, resp, server, () -> Channels.close(channel), device);
    }
}
