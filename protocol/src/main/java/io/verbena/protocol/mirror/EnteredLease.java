package io.verbena.protocol.mirror;

import io.verbena.protocol.message.MirroredChunk;
import io.verbena.raas.identity.PeerIdentity;

/**
 * A lease of a group as a member shows it, for a memory node that comes into the group to record.
 *
 * @param chunk     whose lease it is.
 * @param state     of the chunk header: blocks, index or orphan, see {@code docs/format/chunk-header.md}.
 * @param requestId under which the owner asked for it, or 0.
 * @param owner     the last one, {@link PeerIdentity#UNREGISTERED} for none.
 * @param reaper    who reclaims the chunk, {@link PeerIdentity#UNREGISTERED} for nobody.
 */
public record EnteredLease(
    MirroredChunk chunk, int state, long requestId, PeerIdentity owner, PeerIdentity reaper)
{
}
