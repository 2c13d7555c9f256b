package io.verbena.protocol.bootstrap;

import io.verbena.raas.PeerAddress;

/**
 * What a cluster answers those who may join it.
 *
 * @param clusterId  of the cluster, which memory that belongs to another one does not fit; never 0.
 * @param fabric     name of the fabric, as {@code io.verbena.rdma.fabric.Fabrics} opens it.
 * @param metaServer where the meta server is on it.
 * @param ticket     as whom a user connects to the nodes; of who has the token as whom it connects to the meta server,
 *                   where certificates name roles, else null.
 */
public record BootstrapAnswer(long clusterId, String fabric, PeerAddress metaServer, AccessTicket ticket)
{
    /** As it is for who has the token. */
    public BootstrapAnswer(final long clusterId, final String fabric, final PeerAddress metaServer)
    {
        this(clusterId, fabric, metaServer, null);
    }

    BootstrapAnswer with(final AccessTicket ofUser)
    {
        return new BootstrapAnswer(clusterId, fabric, metaServer, ofUser);
    }
}
