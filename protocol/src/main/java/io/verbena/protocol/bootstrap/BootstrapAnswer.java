package io.verbena.protocol.bootstrap;

import io.verbena.raas.PeerAddress;

import java.util.List;

/**
 * What a cluster answers those who may join it.
 *
 * @param clusterId  of the cluster, which memory that belongs to another one does not fit; never 0.
 * @param fabric     name of the fabric, as {@code io.verbena.rdma.fabric.Fabrics} opens it.
 * @param metaServer where the meta server is on it.
 * @param members    where the meta servers of a group listen while they lead, as far as they have said so; at most
 *                   {@value #MAX_MEMBERS}, each without others.
 * @param ticket     as whom a user connects to the nodes; of who has the token as whom it connects to the meta server,
 *                   where certificates name roles, else null.
 */
public record BootstrapAnswer(
    long clusterId, String fabric, PeerAddress metaServer, List<ClusterAddress> members, AccessTicket ticket)
{
    /** Most members that it names; the rest is left out. */
    public static final int MAX_MEMBERS = 9;

    /** Copies the list. */
    public BootstrapAnswer
    {
        members = List.copyOf(members);
    }

    /** As it is for who has the token, of a single meta server. */
    public BootstrapAnswer(final long clusterId, final String fabric, final PeerAddress metaServer)
    {
        this(clusterId, fabric, metaServer, List.of(), null);
    }

    /**
     * @param present where the members of the group listen, each without others.
     * @return this answer, with as many of them as it may name.
     */
    public BootstrapAnswer withMembers(final List<ClusterAddress> present)
    {
        return new BootstrapAnswer(
            clusterId, fabric, metaServer, present.subList(0, Math.min(present.size(), MAX_MEMBERS)), ticket);
    }

    BootstrapAnswer with(final AccessTicket ofUser)
    {
        return new BootstrapAnswer(clusterId, fabric, metaServer, members, ofUser);
    }
}
