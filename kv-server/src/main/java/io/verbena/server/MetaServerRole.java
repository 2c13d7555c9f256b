package io.verbena.server;

import io.verbena.meta.MetaAudit;
import io.verbena.meta.MetaServer;
import io.verbena.meta.MetaServerConfiguration;
import io.verbena.meta.MetaServerStat;
import io.verbena.meta.raft.NodeSilence;
import io.verbena.meta.store.DurableWriteError;
import io.verbena.meta.store.MetaBatch;
import io.verbena.meta.store.MetaState;
import io.verbena.meta.store.MetaStore;
import io.verbena.meta.store.RocksMetaStore;
import io.verbena.meta.store.StoredNode;
import io.verbena.protocol.bootstrap.BootstrapAnswer;
import io.verbena.protocol.bootstrap.BootstrapServer;
import io.verbena.protocol.bootstrap.ClusterAddress;
import io.verbena.protocol.bootstrap.ClusterToken;
import io.verbena.protocol.message.DeniedOperations;
import io.verbena.protocol.view.FillProgress;
import io.verbena.protocol.view.GroupHealth;
import io.verbena.protocol.view.View;
import io.verbena.raas.RaasContext;
import io.verbena.raas.limit.RaasLimit;
import io.verbena.rdma.verbs.CompletionChannel;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.server.metrics.Measurements;
import io.verbena.server.metrics.Metric;

import org.agrona.CloseHelper;
import org.agrona.concurrent.NanoClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.nio.file.Path;
import java.time.Clock;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** The meta server, and the address by which the cluster is found. */
public final class MetaServerRole implements Role
{
    /** Folder of its state, in the data folder. */
    public static final String FOLDER = "meta";
    private static final Logger LOGGER = LoggerFactory.getLogger(MetaServerRole.class);
    private static final double NS_PER_S = TimeUnit.SECONDS.toNanos(1);
    private static final String MEMORY_NODE = "memory-node";
    private static final String COMPUTE_NODE = "compute-node";

    private final Device device;
    private final NanoClock clock;
    private final CompletionChannel channel;
    /** Null: one of a group, to which the store, the device and the channel belong. */
    private final RocksMetaStore store;
    private final MetaServer server;
    private final BootstrapServer bootstrap;
    private final AuditFile audit;
    private long auditedHandshakes;
    private volatile String failure = "";
    private volatile MetaServerStat stat;
    private volatile Map<StoredNode, Long> leasesLeftNs = Map.of();
    private volatile List<View> views = List.of();
    private volatile List<FillProgress> fills = List.of();
    private volatile Map<Integer, Long> passedEpochs = Map.of();
    private volatile RaasContext.Transports transports = RaasContext.Transports.NONE;
    private volatile int clients;
    private final RefusedUnsealed unsealed;
    private volatile long refusedConnections;
    private volatile long refusedIdentities;
    private volatile int waitingRegistrations;
    private volatile int spareIdentities;
    private volatile int possibleIdentities;
    private volatile long refusedRegistrations;
    private volatile List<RaasLimit> limits;
    private final PacedWarning refused;
    private final FigurePace pace;
    private boolean draining;

    private MetaServerRole(
        final Device device, final CompletionChannel channel, final RocksMetaStore store, final MetaServer server,
        final BootstrapServer bootstrap, final AuditFile audit)
    {
        this.audit = audit;
        this.channel = channel;
        this.device = device;
        this.store = store;
        this.server = server;
        this.bootstrap = bootstrap;
        clock = device.clock();
        stat = server.stat();
        limits = server.limits();
        pace = new FigurePace(clock.nanoTime());
        refused = new PacedWarning(LOGGER, "refused {} connections, for which there was no room: " +
            "close clients, or raise --max-clients", clock.nanoTime());
        unsealed = new RefusedUnsealed(device, LOGGER,
            (last, times) -> audit.record(MetaAudit.DENIED, DeniedOperations.UNPROVED,
                times + " " + RefusedUnsealed.WHAT + ", the last of " + last), clock.nanoTime());
    }

    /**
     * Starts the meta server.
     *
     * @param fabric     open; closed by the caller after the role.
     * @param fabricName by which nodes and clients open it too.
     * @param listen     where the cluster is found.
     * @param token      of the cluster.
     * @param data       folder for what it knows; made when absent.
     * @param isFresh    whether all nodes of an earlier run, and the memory their tables were in, are gone: then it
     *                   begins without them.
     * @param configuration of the server; what follows from the other arguments is set here.
     * @return the role, ready.
     * @throws io.verbena.protocol.bootstrap.BootstrapException when it cannot listen there.
     * @throws io.verbena.meta.store.MetaStoreException when the folder cannot be used.
     */
    public static MetaServerRole open(
        final Fabric fabric, final String fabricName, final ClusterAddress listen, final ClusterToken token,
        final Path data, final boolean isFresh, final MetaServerConfiguration configuration)
    {
        final Device device = fabric.openDevice("meta-server");
        final CompletionChannel channel = Channels.create(device);
        RocksMetaStore store = null;
        MetaServer server = null;
        AuditFile audit = null;
        try
        {
            store = RocksMetaStore.open(data.resolve(FOLDER));
            if (isFresh)
            {
                forgetEarlierRun(store);
            }
            audit = new AuditFile(data, Clock.systemUTC(), AuditFile.MAX_BYTES);
            server = MetaServer.open(
                device, store, configuration.previousNodesAreGone(isFresh).completionChannel(channel)
                    .clusterSecret(token.clusterSecret()).bindsRoles(bindsRoles(token)).audit(audit));
            final BootstrapServer bootstrap = BootstrapServer.open(
                listen, token, new BootstrapAnswer(server.stat().clusterId(), fabricName, server.address()),
                server::access, server::joiningSecret);
            return new MetaServerRole(device, channel, store, server, bootstrap, audit);
        }
        catch (final RuntimeException | DurableWriteError ex)
        {
            CloseHelper.quietCloseAll(server, audit, () -> Channels.close(channel), store, device);
            throw ex;
        }
    }

    /**
     * Starts it as the leader of a group.
     *
     * @param device  stays open, as the channel.
     * @param store   of the group.
     * @param place   as for one that is alone.
     * @param leads   whether it may answer.
     * @param members where the members of the group listen while they lead; any thread.
     * @return the role, ready; ended by {@link #stepDown}.
     */
    static MetaServerRole lead(
        final Device device, final CompletionChannel channel, final MetaStore store, final MetaServerPlace place,
        final BooleanSupplier leads, final Supplier<List<ClusterAddress>> members)
    {
        MetaServer server = null;
        AuditFile audit = null;
        try
        {
            audit = new AuditFile(place.data(), Clock.systemUTC(), AuditFile.MAX_BYTES);
            server = MetaServer.open(device, store, place.configuration().completionChannel(channel)
                .clusterSecret(place.token().clusterSecret()).bindsRoles(bindsRoles(place.token())).audit(audit)
                .leads(leads));
            final BootstrapAnswer answer =
                new BootstrapAnswer(server.stat().clusterId(), place.fabricName(), server.address());
            final BootstrapServer bootstrap = BootstrapServer.open(place.listen(), place.token(),
                () -> answer.withMembers(members.get()), server::access, server::joiningSecret);
            return new MetaServerRole(device, channel, null, server, bootstrap, audit);
        }
        catch (final RuntimeException | DurableWriteError ex)
        {
            CloseHelper.quietCloseAll(server, audit);
            throw ex;
        }
    }

    private static boolean bindsRoles(final ClusterToken token)
    {
        return null != token.tls() && token.tls().bindsRoles();
    }

    /**
     * Ends the leader of a group, and nothing of what belongs to the group.
     *
     * @param isOrderly whether it still leads.
     */
    void stepDown(final boolean isOrderly)
    {
        CloseHelper.closeAll(bootstrap, isOrderly ? server::releaseSpares : null, server, audit);
    }

    /** What must never go back (incarnations, epochs, writer numbers) stays. */
    private static void forgetEarlierRun(final RocksMetaStore store)
    {
        final MetaState state = store.load();
        final MetaBatch batch = new MetaBatch();
        state.nodes().forEach((node) -> batch.removeNode(node.nodeId()));
        state.tables().forEach((table) -> batch.removeTable(table.name()));
        if (!state.nodes().isEmpty() || !state.tables().isEmpty())
        {
            store.write(batch);
        }
    }

    /** @return where the cluster is found, with the port that was chosen. */
    public ClusterAddress address()
    {
        return bootstrap.address();
    }

    @Override
    public String name()
    {
        return "meta-server";
    }

    @Override
    public Device device()
    {
        return device;
    }

    @Override
    public CompletionChannel completionChannel()
    {
        return channel;
    }

    /** Whether the silence of nodes is such that another member of the group is to lead. */
    boolean isTooSilent(final NodeSilence silence, final long nowNs)
    {
        return silence.isDue(nowNs, server.nodeRequests(), server::hasLease);
    }

    @Override
    public int doWork()
    {
        final int work;
        try
        {
            work = server.doWork();
        }
        catch (final DurableWriteError ex)
        {
            failure = ex.getMessage();
            return 1;
        }
        if (pace.isDue(work, clock.nanoTime()))
        {
            recordRefusedHandshakes();
            unsealed.poll(clock.nanoTime());
            limits = server.limits();
            stat = server.stat();
            leasesLeftNs = server.leasesLeftNs();
            views = server.views();
            fills = server.fills();
            passedEpochs = server.passedEpochs();
            transports = server.transports();
            clients = server.clients();
            refusedIdentities = server.refusedIdentities();
            waitingRegistrations = server.waitingRegistrations();
            refusedRegistrations = server.refusedRegistrations();
            spareIdentities = server.spareIdentities();
            possibleIdentities = server.possibleIdentities();
            refusedConnections = server.refusedConnections();
            refused.poll(refusedConnections, clock.nanoTime());
        }
        return work;
    }

    private void recordRefusedHandshakes()
    {
        final long refusals = bootstrap.refusals();
        if (refusals != auditedHandshakes)
        {
            audit.record("refused", "", "handshakes, " + (refusals - auditedHandshakes) + " of them, the last of " +
                bootstrap.lastRefusal());
            auditedHandshakes = refusals;
        }
    }

    @Override
    public long idleNs()
    {
        return draining ? 0 : Math.min(server.idleNs(), pace.leftNs(clock.nanoTime()));
    }

    @Override
    public boolean isReady()
    {
        return !draining && failure.isEmpty();
    }

    @Override
    public String failure()
    {
        return failure;
    }

    @Override
    public boolean hasDiskFailed()
    {
        return !failure.isEmpty();
    }

    @Override
    public void drain()
    {
        draining = true;
        bootstrap.close();
    }

    @Override
    public boolean isDrained()
    {
        return draining;
    }

    @Override
    public Map<String, Object> health()
    {
        final MetaServerStat now = stat;
        final Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("cluster_id", Long.toHexString(now.clusterId()));
        figures.put("address", bootstrap.address().toString());
        figures.putAll(DashboardFigures.counts(now));
        figures.putAll(DashboardFigures.ofConnections(transports, limits));
        figures.put("refused_handshakes", bootstrap.refusals());
        figures.put("last_refused_handshake", bootstrap.lastRefusal());
        figures.put("clients", clients);
        figures.put("refused_connections", refusedConnections);
        figures.put("refused_identities", refusedIdentities);
        unsealed.put(figures);
        figures.put("waiting_registrations", waitingRegistrations);
        figures.put("refused_registrations", refusedRegistrations);
        figures.put("spare_identities", spareIdentities);
        figures.put("possible_identities", possibleIdentities);
        figures.put("failed_requests", server.failedRequests());
        figures.put("lost_audit_lines", audit.lost());
        figures.put("nodes", DashboardFigures.nodes(leasesLeftNs));
        final List<View> groups = views;
        final List<FillProgress> filled = fills;
        figures.put("groups", DashboardFigures.groups(
            groups, DashboardFigures.domains(leasesLeftNs.keySet()), filled));
        figures.put("errors", GroupHealth.problems(groups, filled));
        return figures;
    }

    @Override
    public void measure(final Measurements measurements)
    {
        final MetaServerStat now = stat;
        measurements.set(Metric.EPOCH, now.epoch());
        measurements.set(Metric.SAFE_EPOCH, now.safeEpoch());
        passedEpochs.forEach((nodeId, passed) ->
            measurements.set(Metric.PASSED_EPOCH, passed, Integer.toString(nodeId)));
        measurements.set(Metric.NODES, now.liveMemoryNodes(), MEMORY_NODE, "live");
        measurements.set(Metric.NODES, now.lostMemoryNodes(), MEMORY_NODE, "lost");
        measurements.set(Metric.NODES, now.liveComputeNodes(), COMPUTE_NODE, "live");
        measurements.set(Metric.NODES, now.spareComputeNodes(), COMPUTE_NODE, "spare");
        measurements.set(Metric.NODES, now.fencingNodes(), COMPUTE_NODE, "fencing");
        measurements.set(Metric.TABLES, now.tables());
        measurements.set(Metric.CLIENTS, clients);
        measurements.set(Metric.REFUSED_CONNECTIONS, refusedConnections);
        measurements.set(Metric.REFUSED_HANDSHAKES, bootstrap.refusals());
        measurements.set(Metric.ABANDONED_HANDSHAKES, bootstrap.abandoned());
        measurements.set(Metric.FAILED_REQUESTS, server.failedRequests());
        NodeTransports.measure(transports, measurements);
        LimitFigures.measure(limits, measurements);
        leasesLeftNs.forEach((node, leftNs) -> measurements.set(
            Metric.LEASE_REMAINING, leftNs / NS_PER_S, DashboardFigures.roleOf(node), Integer.toString(node.nodeId())));
    }

    @Override
    public void close()
    {
        CloseHelper.closeAll(
            bootstrap, server::releaseSpares, server, audit, () -> Channels.close(channel), store, device);
    }
}
