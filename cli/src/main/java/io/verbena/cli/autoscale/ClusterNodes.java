package io.verbena.cli.autoscale;

import io.verbena.cli.cluster.MetaCalls;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.directory.PeerRecord;
import io.verbena.server.ComputeNodeRole;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The compute nodes as the meta server knows them. Its connection is kept, and made anew when it has failed. Used by
 * one thread.
 */
final class ClusterNodes implements AutoCloseable
{
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(2);

    private final Supplier<MetaCalls> opener;
    private final ChangePermission permission;
    private MetaCalls calls;

    /**
     * @param opener     connects, or throws {@link CommandFailedException}.
     * @param permission to activate nodes and have them leave.
     */
    ClusterNodes(final Supplier<MetaCalls> opener, final ChangePermission permission)
    {
        this.opener = opener;
        this.permission = permission;
    }

    /** @return compute nodes that have a lease, spares too, by ascending number. */
    List<PeerRecord> list()
    {
        return call((meta) -> meta.nodes(TIMEOUT_NS)).stream()
            .filter((node) -> NodeRole.COMPUTE_NODE == node.role()).toList();
    }

    /** @return whether clients are not sent to a node. */
    static boolean isSpare(final PeerRecord node)
    {
        return 0 == node.servicePort();
    }

    /** @return a node as it is listed once it is activated. */
    static PeerRecord activated(final PeerRecord spare)
    {
        return new PeerRecord(spare.nodeId(), spare.incarnation(), spare.epoch(), spare.role(), spare.device(),
            ComputeNodeRole.SERVICE_PORT, spare.region());
    }

    /** @return figures of each as a JSON object; null where a node did not answer within 2 s. */
    List<String> figures(final List<PeerRecord> nodes)
    {
        return call((meta) -> meta.figures(nodes, TIMEOUT_NS));
    }

    /** Has clients sent to a spare; the second time changes nothing. */
    void activate(final int nodeId, final int incarnation)
    {
        permission.require();
        call((meta) -> meta.result((client) -> client.activate(nodeId, incarnation, TIMEOUT_NS)));
    }

    /** Disturbs no node that is to end. */
    void leave(final PeerRecord node)
    {
        permission.require();
        if (null != calls)
        {
            calls.leave(node);
        }
    }

    /**
     * Connects before there is any hurry, and calls once: the first call of a process loads code, which takes longer
     * than the others. Does not throw.
     */
    void prepare()
    {
        try
        {
            if (null == calls)
            {
                list();
            }
        }
        catch (final CommandFailedException ex)
        {
            close(); // said when it is needed
        }
    }

    private <T> T call(final Function<MetaCalls, T> work)
    {
        final boolean isKept = null != calls;
        calls = isKept ? calls : opener.get();
        try
        {
            return work.apply(calls);
        }
        catch (final CommandFailedException ex)
        {
            if (ExitStatus.UNAVAILABLE != ex.exitStatus())
            {
                throw ex;
            }
            close();
            if (!isKept)
            {
                throw ex;
            }
            // The meta server may have moved, or begun anew, since it was connected to.
            calls = opener.get();
            return work.apply(calls);
        }
    }

    @Override
    public void close()
    {
        final MetaCalls closing = calls;
        calls = null;
        if (null != closing)
        {
            closing.close();
        }
    }
}
