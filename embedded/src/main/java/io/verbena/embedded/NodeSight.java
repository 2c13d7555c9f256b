package io.verbena.embedded;

import io.verbena.compute.ComputeNode;
import io.verbena.memory.MemoryNode;
import io.verbena.meta.MetaServer;
import io.verbena.meta.MetaServerStat;
import io.verbena.meta.store.StoredNode;
import io.verbena.protocol.message.MemoryNodeStat;
import io.verbena.raas.RaasContext;
import io.verbena.raas.limit.RaasLimit;

import java.util.List;
import java.util.Map;

/** What a node of an embedded cluster has published of itself, for its dashboard. Immutable. */
sealed interface NodeSight
{
    /** @return its connections by what carries them. */
    RaasContext.Transports transports();

    /** @return its limits, with what is used of each. */
    List<RaasLimit> limits();

    /** Of the meta server. */
    record Meta(
        RaasContext.Transports transports, List<RaasLimit> limits, MetaServerStat stat, Map<StoredNode, Long> leasesNs)
        implements NodeSight
    {
        /** By the server's thread. */
        static Meta of(final MetaServer server)
        {
            return new Meta(server.transports(), server.limits(), server.stat(), server.leasesLeftNs());
        }
    }

    /** Of a memory node. */
    record Memory(RaasContext.Transports transports, List<RaasLimit> limits, MemoryNodeStat stat) implements NodeSight
    {
        /** By the node's thread. */
        static Memory of(final MemoryNode node)
        {
            return new Memory(node.transports(), node.limits(), node.stat());
        }
    }

    /** Of a compute node. */
    record Compute(
        RaasContext.Transports transports, List<RaasLimit> limits, int memoryNodes, Map<Integer, String> unreached)
        implements NodeSight
    {
        static final Compute NONE = new Compute(RaasContext.Transports.NONE, List.of(), 0, Map.of());

        /** By the node's thread. */
        static Compute of(final ComputeNode node)
        {
            return new Compute(node.transports(), node.limits(), node.reachedMemoryNodes(), node.memoryNodeFailures());
        }
    }
}
