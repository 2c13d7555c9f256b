package io.verbena.protocol.request;

import io.verbena.raas.directory.PeerRecord;

import java.util.List;

/**
 * The nodes that serve clients over TCP, as the asked node has listed them last: a fraction of a second after one joins
 * or leaves, and after its lease where it was lost.
 *
 * @param ownNodeId number of the asked node, which may be missing from the list just after it joined.
 * @param nodes     by ascending number, each with a {@link PeerRecord#tcpService()}; immutable.
 */
public record ServingNodes(int ownNodeId, List<PeerRecord> nodes)
{
}
