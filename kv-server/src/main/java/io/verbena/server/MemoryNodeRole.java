package io.verbena.server;

import io.verbena.memory.Checkpointer;
import io.verbena.memory.MemoryFolder;
import io.verbena.memory.MemoryNode;
import io.verbena.memory.MemoryNodeConfiguration;
import io.verbena.memory.MemoryNodeState;
import io.verbena.protocol.bootstrap.MetaServerLocator;
import io.verbena.protocol.message.FailureDomain;
import io.verbena.protocol.message.MemoryNodeStat;
import io.verbena.raas.RaasContext;
import io.verbena.raas.limit.RaasLimit;
import io.verbena.rdma.verbs.CompletionChannel;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.server.metrics.Measurements;
import io.verbena.server.metrics.Metric;

import org.agrona.CloseHelper;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A memory node. */
public final class MemoryNodeRole implements Role
{
    private static final Logger LOGGER = LoggerFactory.getLogger(MemoryNodeRole.class);
    private static final double MS_PER_S = 1_000;

    private final Fabric fabric;
    private final Device device;
    private final CompletionChannel channel;
    private final MemoryNode node;
    private final MetaServerLocator metaServer;
    private final MemoryFolder folder;
    private final long regionLengthBytes;
    private final String failureDomain;
    private volatile int nodeId;
    private volatile int incarnation;
    private volatile MemoryNodeState state;
    private volatile MemoryNodeStat stat;
    private volatile RaasContext.Transports transports = RaasContext.Transports.NONE;
    private volatile List<RaasLimit> limits;
    private final FigurePace pace;
    private boolean draining;
    private volatile long refusedIdentities;
    private final RefusedUnsealed unsealed;

    private MemoryNodeRole(
        final Fabric fabric, final Device device, final CompletionChannel channel, final MemoryNode node,
        final MetaServerLocator metaServer, final MemoryFolder folder,
        final MemoryNodeConfiguration configuration)
    {
        this.metaServer = metaServer;
        this.fabric = fabric;
        this.channel = channel;
        this.folder = folder;
        this.device = device;
        this.node = node;
        regionLengthBytes = configuration.regionLengthBytes();
        failureDomain = configuration.failureDomain();
        state = node.state();
        stat = node.stat();
        limits = node.limits();
        pace = new FigurePace(device.clock().nanoTime());
        // The warning is all: a memory node reports nothing to the audit log.
        unsealed = new RefusedUnsealed(device, LOGGER, (_, _) -> {}, device.clock().nanoTime());
    }

    /**
     * Starts a memory node; it joins while it is run.
     *
     * @param fabric      open; closed by the caller after the role.
     * @param metaServer  to join.
     * @param lengthBytes registered memory.
     * @return the role.
     */
    public static MemoryNodeRole open(final Fabric fabric, final MetaServerLocator metaServer, final long lengthBytes)
    {
        return open(fabric, metaServer, lengthBytes, FailureDomain.NONE);
    }

    /**
     * As the other one.
     *
     * @param failureDomain label of the node's failure domain, or NONE.
     */
    public static MemoryNodeRole open(
        final Fabric fabric, final MetaServerLocator metaServer, final long lengthBytes, final String failureDomain)
    {
        return open(fabric, metaServer, new MemoryNodeConfiguration().regionLengthBytes(lengthBytes)
            .failureDomain(failureDomain), null);
    }

    /**
     * Starts a memory node whose memory outlives its process.
     *
     * @param fabric     open; closed by the caller after the role.
     * @param metaServer to join.
     * @param folder     says who the node is; closed by the role, also when this throws.
     * @param checkpointPeriodNs between checkpoints; 0: only when asked for, at the end, and of a
     *                           group whose head or primary it has become.
     * @param acceptsDamage whether it serves memory that it finds again with damaged records in it: operations on their
     *                      keys then fail with a typed error.
     * @return the role.
     * @throws io.verbena.memory.MemoryNodeException when its memory is gone, or damaged.
     */
    public static MemoryNodeRole open(
        final Fabric fabric, final MetaServerLocator metaServer, final MemoryFolder folder,
        final long checkpointPeriodNs, final boolean acceptsDamage)
    {
        return open(fabric, metaServer, new MemoryNodeConfiguration().folder(folder)
            .failureDomain(folder.failureDomain())
            .checkpointPeriodNs(checkpointPeriodNs).acceptsDamage(acceptsDamage), folder);
    }

    private static MemoryNodeRole open(
        final Fabric fabric, final MetaServerLocator metaServer, final MemoryNodeConfiguration configuration,
        final MemoryFolder folder)
    {
        final Device device = fabric.openDevice("memory-" + ProcessHandle.current().pid());
        final CompletionChannel channel = Channels.create(device);
        try
        {
            return new MemoryNodeRole(fabric, device, channel,
                MemoryNode.open(device, metaServer, configuration.completionChannel(channel)), metaServer, folder,
                configuration);
        }
        catch (final RuntimeException ex)
        {
            CloseHelper.quietCloseAll(() -> Channels.close(channel), device, folder);
            throw ex;
        }
    }

    @Override
    public String name()
    {
        return "memory-node";
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

    @Override
    public int doWork()
    {
        final int work = node.doWork();
        nodeId = node.nodeId();
        incarnation = node.incarnation();
        state = node.state();
        if (pace.isDue(work, device.clock().nanoTime()))
        {
            limits = node.limits();
            stat = node.stat();
            refusedIdentities = node.refusedIdentities();
            unsealed.poll(device.clock().nanoTime());
            transports = node.transports();
        }
        return work;
    }

    @Override
    public long idleNs()
    {
        return draining ? 0 : Math.min(node.idleNs(), pace.leftNs(device.clock().nanoTime()));
    }

    @Override
    public boolean isReady()
    {
        return node.isReady();
    }

    @Override
    public String failure()
    {
        return MemoryNodeState.FAILED == state ? "memory node failed: " + node.failure() : "";
    }

    /** One-sided requests go on until the memory is closed; a last checkpoint is made. */
    @Override
    public void drain()
    {
        draining = true;
        if (null != node.checkpointer())
        {
            node.checkpointer().makeLast();
        }
    }

    @Override
    public boolean isDrained()
    {
        return draining && (null == node.checkpointer() || node.checkpointer().isLastDone());
    }

    /** The last checkpoint takes as long as there is memory to walk. */
    @Override
    public long drainTimeoutNs()
    {
        return Role.DRAIN_TIMEOUT_NS + (null == folder ? 0 : MemoryFolder.walkTimeoutNs(regionLengthBytes));
    }

    @Override
    public String undrained()
    {
        return "its last checkpoint is not complete, the one before stays good; its records stay in shared memory, " +
            "where its next start finds them until the host restarts";
    }

    @Override
    public Map<String, Object> health()
    {
        final Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("node_id", nodeId);
        figures.put("incarnation", incarnation);
        figures.put("meta_server", node.isMetaServerAway() ? "away" : "reached");
        figures.put("meta_server_addresses", metaServer.addresses());
        figures.put("state", state.name());
        figures.put("failure_domain", failureDomain);
        figures.putAll(DashboardFigures.ofMemory(stat));
        figures.put("memory_bytes", regionLengthBytes); // known before its first figures are
        figures.put("damaged_records", node.damagedRecords());
        figures.put("quarantined_chunks", node.quarantinedChunks());
        figures.put("refused_identities", refusedIdentities);
        unsealed.put(figures);
        figures.put("failed_requests", node.failedRequests());
        figures.putAll(DashboardFigures.ofConnections(transports, limits));
        final Checkpointer checkpointer = node.checkpointer();
        if (null != checkpointer)
        {
            figures.put("checkpoint_finished_ms", checkpointer.finishedMs());
            figures.put("checkpoint_records", checkpointer.records());
            figures.put("checkpoint_failure", checkpointer.failure());
            figures.put("checkpoint_failed_ms", checkpointer.failedMs());
            figures.put("checkpoint_groups_left_out", checkpointer.groupsLeftOut());
            final Checkpointer.Progress progress = checkpointer.progress();
            figures.put("checkpoint_started_ms", progress.startedMs());
            figures.put("checkpoint_fraction", progress.fraction());
            figures.put("checkpoint_records_read", progress.records());
        }
        return figures;
    }

    @Override
    public void measure(final Measurements measurements)
    {
        measurements.set(Metric.NODE_ID, nodeId);
        measurements.set(Metric.INCARNATION, incarnation);
        measurements.set(Metric.META_SERVER_REACHED, node.isMetaServerAway() ? 0 : 1);
        NodeTransports.measure(transports, measurements);
        LimitFigures.measure(limits, measurements);
        measurements.set(Metric.FAILED_REQUESTS, node.failedRequests());
        final MemoryNodeStat now = stat;
        final double chunkBytes = now.chunkLengthBytes();
        measurements.set(Metric.MEMORY, now.freeChunkCount() * chunkBytes, "free");
        measurements.set(Metric.MEMORY, now.blockChunkCount() * chunkBytes, "record");
        measurements.set(Metric.MEMORY, now.indexChunkCount() * chunkBytes, "index");
        measurements.set(Metric.MEMORY, now.retainedChunkCount() * chunkBytes, "orphan");
        measurements.set(Metric.DAMAGED_RECORDS, node.damagedRecords());
        measurements.set(Metric.QUARANTINED_CHUNKS, node.quarantinedChunks());
        final Checkpointer checkpointer = node.checkpointer();
        if (null != checkpointer)
        {
            measure(checkpointer, measurements);
        }
    }

    private static void measure(final Checkpointer checkpointer, final Measurements measurements)
    {
        if (checkpointer.finishedMs() > 0)
        {
            measurements.set(Metric.CHECKPOINT_FINISHED, checkpointer.finishedMs() / MS_PER_S);
            measurements.set(Metric.CHECKPOINT_DURATION, checkpointer.durationMs() / MS_PER_S);
            measurements.set(Metric.CHECKPOINT_RECORDS, checkpointer.records());
        }
        measurements.set(Metric.CHECKPOINT_FAILING, checkpointer.failure().isEmpty() ? 0 : 1);
    }

    @Override
    public void close()
    {
        CloseHelper.closeAll(node, () -> Channels.close(channel), device, this::discardEmptyMemory, folder);
    }

    /** So that a node that could not begin leaves nothing, and its next process may ask for more memory. */
    private void discardEmptyMemory()
    {
        if (null != folder && node.isMemoryEmpty())
        {
            fabric.discardNamed(MemoryFolder.memoryName(folder.path()));
        }
    }
}
