package io.verbena.memory;

import io.verbena.protocol.control.MemoryNodeService;
import io.verbena.protocol.message.ChunkLease;
import io.verbena.protocol.message.ChunkPurpose;
import io.verbena.protocol.message.ChunkRun;
import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.MemoryNodeStat;
import io.verbena.protocol.message.MirrorAction;
import io.verbena.protocol.message.MirrorAnswer;
import io.verbena.protocol.message.MirroredChunk;
import io.verbena.raas.identity.PeerIdentity;

import java.util.List;

/** Answers control calls out of the chunk table. Called by the node's thread. */
final class MemoryAnswers implements MemoryNodeService
{
    /** Cuts a node off; returns when no access of it can land any more. */
    interface Fence
    {
        void fence(PeerIdentity identity);
    }

    private final long regionLengthBytes;
    private final int chunkLengthBytes;
    private final ChunkTable chunks;
    private final MirrorLeases mirrorLeases;
    private final Fence fence;
    private long forbidden;

    MemoryAnswers(
        final long regionLengthBytes, final int chunkLengthBytes, final ChunkTable chunks, final Fence fence)
    {
        this.regionLengthBytes = regionLengthBytes;
        this.chunkLengthBytes = chunkLengthBytes;
        this.chunks = chunks;
        mirrorLeases = new MirrorLeases(chunks, chunkLengthBytes);
        this.fence = fence;
    }

    @Override
    public ChunkLease leaseChunks(
        final PeerIdentity caller,
        final long requestId,
        final ChunkPurpose purpose,
        final int chunkCount,
        final boolean contiguous)
    {
        refuseUnregistered(caller);
        final List<ChunkRun> runs = chunks.lease(caller, requestId, purpose, chunkCount, contiguous);
        return new ChunkLease(chunkLengthBytes, chunks.newestLease(), runs);
    }

    @Override
    public List<ChunkRun> claimChunks(final PeerIdentity caller, final List<ChunkRun> runs)
    {
        refuseUnregistered(caller);
        return chunks.claim(caller, runs);
    }

    @Override
    public void adoptChunks(final PeerIdentity caller, final List<ChunkRun> runs)
    {
        refuseUnregistered(caller);
        chunks.adopt(caller, runs);
    }

    @Override
    public void returnChunks(final PeerIdentity caller, final List<ChunkRun> runs, final long newestLease)
    {
        refuseUnregistered(caller);
        chunks.takeBack(caller, runs, newestLease);
    }

    @Override
    public MirrorAnswer mirrorChunk(
        final PeerIdentity caller,
        final MirrorAction action,
        final MirroredChunk chunk,
        final ChunkPurpose purpose,
        final long requestId)
    {
        refuseUnregistered(caller);
        return mirrorLeases.act(caller, action, chunk, purpose, requestId);
    }

    /** @return requests so far that nobody but another may make. */
    long forbiddenRequests()
    {
        return forbidden;
    }

    /** Only the meta server may, which has proved that it is that. */
    @Override
    public void fence(final PeerIdentity caller, final PeerIdentity identity)
    {
        if (!PeerIdentity.META_SERVER.equals(caller))
        {
            forbidden++;
            throw new ControlException(
                ControlStatus.FORBIDDEN, caller + " may not fence " + identity + ": only the meta server may");
        }

        if (0 == identity.nodeId())
        {
            throw new ControlException(
                ControlStatus.INVALID_REQUEST, identity + " cannot be fenced: only registered nodes can");
        }

        // In this order: only what it cannot reach any more is up for reclamation.
        fence.fence(identity);
        chunks.orphan(identity);
    }

    @Override
    public MemoryNodeStat stat()
    {
        return new MemoryNodeStat(
            regionLengthBytes,
            chunkLengthBytes,
            chunks.chunkCount(),
            chunks.freeCount(),
            chunks.blockCount(),
            chunks.indexCount(),
            chunks.orphanCount());
    }

    private static void refuseUnregistered(final PeerIdentity caller)
    {
        if (0 == caller.nodeId())
        {
            throw new ControlException(
                ControlStatus.UNKNOWN_NODE,
                "chunks belong to nodes: register at the meta server before you connect here");
        }
    }
}
