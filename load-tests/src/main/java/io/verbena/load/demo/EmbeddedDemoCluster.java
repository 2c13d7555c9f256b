package io.verbena.load.demo;

import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.embedded.ComputeNodeHandle;
import io.verbena.embedded.EmbeddedCluster;
import io.verbena.embedded.EmbeddedClusterException;
import io.verbena.embedded.EmbeddedClusterOptions;
import io.verbena.embedded.FabricUnusableException;
import io.verbena.embedded.MemoryCheck;
import io.verbena.load.LoadException;
import io.verbena.rdma.verbs.VerbCounters;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** A demo's cluster inside this process. */
final class EmbeddedDemoCluster implements DemoCluster
{
    /** Far beyond what a busy machine takes; an emulated one needs half a minute for the classes of a first call. */
    private static final long STEP_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(120);

    private final EmbeddedCluster cluster;
    private final String fabric;

    private EmbeddedDemoCluster(final EmbeddedCluster cluster, final String fabric)
    {
        this.cluster = cluster;
        this.fabric = fabric;
    }

    static DemoCluster start(final Needs needs)
    {
        try
        {
            return new EmbeddedDemoCluster(EmbeddedCluster.start(new EmbeddedClusterOptions()
                .fabric(needs.fabric())
                .memoryNodes(needs.memoryNodes())
                // The verbs at the fabric are compared with those of the operations.
                .fillLookPauseNs(TimeUnit.HOURS.toNanos(1))
                .sweepInterval(Duration.ofHours(1))
                .memoryBytesPerNode(needs.memoryBytesPerNode())
                .stepTimeoutNs(STEP_TIMEOUT_NS)
                .clientOptions(new KvClientOptions().timeout(Duration.ofNanos(needs.timeoutNs())))
                .computeNodes(1)), needs.fabric());
        }
        catch (final FabricUnusableException ex)
        {
            throw new LoadException(LoadException.Reason.UNAVAILABLE, ex.getMessage(), ex);
        }
        catch (final EmbeddedClusterException ex)
        {
            throw new LoadException(LoadException.Reason.CANNOT_CREATE, ex.getMessage(), ex);
        }
    }

    @Override
    public KvClient client()
    {
        return cluster.client();
    }

    @Override
    public String fabric()
    {
        return fabric;
    }

    @Override
    public ComputeNodeHandle addComputeNode()
    {
        return cluster.addComputeNode();
    }

    @Override
    public int removeFirstComputeNode()
    {
        final int nodeId = cluster.computeNodes().getFirst().nodeId();
        cluster.removeComputeNode(nodeId);
        return nodeId;
    }

    @Override
    public boolean kills()
    {
        return false;
    }

    @Override
    public long oneSidedVerbs()
    {
        final VerbCounters counters = cluster.computeVerbCounters();
        return counters.reads + counters.writes + counters.compareSwaps + counters.fetchAdds;
    }

    /**
     * Sweeps if bytes are lost: a compute node that left may have removed words of blocks in chunks of those that stay,
     * and only their sweep finds these blocks. Nobody writes any more: what is lost after one sweep is lost for good.
     */
    @Override
    public TableCheckFigures checkTables()
    {
        final MemoryCheck first = cluster.check(false, STEP_TIMEOUT_NS);
        final MemoryCheck check = first.lostBytes() == 0 ? first : cluster.check(true, STEP_TIMEOUT_NS);
        return new TableCheckFigures(check.records(), check.problems().size(), check.lostBytes(), check.tentative(),
            check.problems().isEmpty() ? null : check.problems().getFirst());
    }

    @Override
    public void close()
    {
        cluster.close();
    }
}
