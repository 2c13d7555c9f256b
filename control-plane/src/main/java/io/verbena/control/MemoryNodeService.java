package io.verbena.control;

import io.verbena.raas.PeerIdentity;

import java.util.List;

/**
 * What a memory node answers; {@link MemoryNodeDispatcher} decodes and encodes. Called by the node's thread; answers at
 * once. Says no by {@link ControlException}; any other exception reaches the caller as a refusal.
 */
public interface MemoryNodeService
{
    /**
     * Leases chunks to the caller.
     *
     * @param caller     the owner.
     * @param purpose    what for.
     * @param chunkCount 1 or more.
     * @param contiguous whether they must be neighbours.
     * @return all of them.
     */
    ChunkLease leaseChunks(PeerIdentity caller, ChunkPurpose purpose, int chunkCount, boolean contiguous);

    /**
     * Takes chunks back.
     *
     * @param caller who returns them: the owner for blocks, anyone for an index.
     * @param runs   what.
     */
    void returnChunks(PeerIdentity caller, List<ChunkRun> runs);

    /**
     * Fences one life of a node: before it returns, that node's queue pairs are closed.
     *
     * @param caller   who asks.
     * @param identity whom.
     */
    void fence(PeerIdentity caller, PeerIdentity identity);

    /** @return the state of this memory node. */
    MemoryNodeStat stat();
}
