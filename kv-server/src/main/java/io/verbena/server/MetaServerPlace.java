package io.verbena.server;

import io.verbena.meta.MetaServerConfiguration;
import io.verbena.protocol.bootstrap.ClusterAddress;
import io.verbena.protocol.bootstrap.ClusterToken;

import java.nio.file.Path;

/**
 * Where a meta server of a group is, and how it runs when it leads.
 *
 * @param fabricName    by which nodes and clients open the fabric.
 * @param listen        where it is found while it leads; with a port.
 * @param announced     address of it that the handshake names to nodes and clients; null: it is not named.
 * @param token         of the cluster.
 * @param data          folder of this meta server.
 * @param isFresh       whether the nodes and tables of a single meta server that is taken over are gone.
 * @param configuration of the server; what follows from the rest is set later.
 */
public record MetaServerPlace(
    String fabricName, ClusterAddress listen, ClusterAddress announced, ClusterToken token, Path data,
    boolean isFresh, MetaServerConfiguration configuration)
{
}
