package io.verbena.protocol.message;

import io.verbena.raas.identity.PeerIdentity;

/**
 * A lease that a group of memory nodes has, as it is recorded at one that comes into the group: what the
 * {@linkplain MirroredChunk name} and the chunk header at a member say.
 *
 * @param chunk     name of the lease.
 * @param state     {@link #BLOCKS}, {@link #INDEX} or {@link #ORPHAN}: as in chunk headers.
 * @param requestId under which its owner asked for it, or 0; not regarded of orphans, which are of no request.
 * @param owner     who has it, of an orphan the last one; null for none: not of blocks.
 * @param reaper    of an orphan, who has claimed it; null for none, and for all others.
 */
public record EnteredLease(MirroredChunk chunk, int state, long requestId, PeerIdentity owner, PeerIdentity reaper)
{
    /** State of a chunk for blocks that its owner has. */
    public static final int BLOCKS = 1;
    /** State of a chunk with a table's index. */
    public static final int INDEX = 2;
    /** State of a chunk for blocks that is closed. */
    public static final int ORPHAN = 3;
}
