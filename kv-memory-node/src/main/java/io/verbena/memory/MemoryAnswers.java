package io.verbena.memory;

import io.verbena.protocol.control.MemoryNodeService;
import io.verbena.protocol.message.ChunkLease;
import io.verbena.protocol.message.ChunkPurpose;
import io.verbena.protocol.message.ChunkRun;
import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.EnteredLease;
import io.verbena.protocol.message.MemoryNodeStat;
import io.verbena.protocol.message.MirrorAction;
import io.verbena.protocol.message.MirrorAnswer;
import io.verbena.protocol.message.MirroredChunk;
import io.verbena.protocol.view.LeftView;
import io.verbena.protocol.view.PageChecksumsDescriptor;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewAttempt;
import io.verbena.protocol.view.ViewState;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.verbs.RdmaException;
import net.openhft.hashing.LongTupleHashFunction;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.Supplier;

/** Answers control calls out of the chunk table. Called by the node's thread. */
final class MemoryAnswers implements MemoryNodeService
{
    /** Cuts a node off; returns when no access of it can land any more. */
    interface Fence
    {
        void fence(PeerIdentity identity);
    }

    /** Who has a key to the region, as views of groups have it. */
    interface Views
    {
        /** As {@link MemoryViews#close}. */
        boolean close(View view);

        /** As {@link MemoryViews#fill}. */
        boolean fill(View view);

        /** As {@link MemoryViews#isLate}. */
        boolean isLate(PeerIdentity node, int group);

        /** As {@link MemoryViews#name}. */
        List<LeftView> name(PeerIdentity node, List<LeftView> left);

        /** The region under the key for an attempt; null when this node does not get it, or not yet. */
        RemoteRegion reconcilerKey(PeerIdentity node, ViewAttempt attempt);

        /** Whether a node would get that key now, and this memory node comes into the group. */
        boolean mayReleaseLeases(PeerIdentity node, ViewAttempt attempt);

        /** Whether a node may release leases, or fills this memory node. */
        boolean mayEnterLeases(PeerIdentity node, ViewAttempt attempt);

        /** Whether a node is let in, and has not been fenced: its end will be reported here. */
        boolean isAdmitted(PeerIdentity node);
    }

    private final MemorySegment region;
    private final int chunkLengthBytes;
    private final ChunkTable chunks;
    private final MirrorLeases mirrorLeases;
    private final long[] halves = new long[2];
    private final Fence fence;
    private final Supplier<Views> views;
    private long forbidden;

    MemoryAnswers(
        final MemorySegment region, final int chunkLengthBytes, final ChunkTable chunks, final Fence fence,
        final Supplier<Views> views)
    {
        this.views = views;
        this.region = region;
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

        if (views.get().isLate(caller, chunk.group()))
        {
            throw new ControlException(ControlStatus.UNAVAILABLE, "the leases of group " + chunk.group() +
                " are not changed for " + caller + ": it has not left the view that is over, or this memory node is " +
                "no member and is filled");
        }

        return mirrorLeases.act(caller, action, chunk, purpose, requestId);
    }

    /** As {@link MirrorLeases#giveUp}. */
    void giveUp(final int group)
    {
        mirrorLeases.giveUp(group);
    }

    /** @return requests so far that nobody but another may make. */
    long forbiddenRequests()
    {
        return forbidden;
    }

    @Override
    public void closeView(final PeerIdentity caller, final View view)
    {
        refuseOthers(caller, "close " + view);
        if (ViewState.CLOSING != view.state())
        {
            throw new ControlException(ControlStatus.INVALID_REQUEST, view + " is not closing");
        }

        try
        {
            if (!views.get().close(view))
            {
                throw new ControlException(ControlStatus.UNAVAILABLE, "a later one is closed here than " + view);
            }
        }
        catch (final RdmaException ex)
        {
            throw new ControlException(
                ControlStatus.UNAVAILABLE, view + " is not closed here yet, ask again: " + ex.getMessage());
        }
    }

    @Override
    public void fillView(final PeerIdentity caller, final View view)
    {
        refuseOthers(caller, "have this memory node filled in " + view);
        if (!view.isFilling())
        {
            throw new ControlException(ControlStatus.INVALID_REQUEST, view + " fills no memory node");
        }
        if (!views.get().fill(view))
        {
            throw new ControlException(ControlStatus.UNAVAILABLE, "a later record is known here than " + view);
        }
    }

    @Override
    public List<LeftView> nameViews(final PeerIdentity caller, final List<LeftView> left)
    {
        refuseUnregistered(caller);
        return views.get().name(caller, left);
    }

    @Override
    public RemoteRegion reconcilerKey(final PeerIdentity caller, final ViewAttempt attempt)
    {
        refuseUnregistered(caller);
        final RemoteRegion region = views.get().reconcilerKey(caller, attempt);

        if (null == region)
        {
            throw new ControlException(ControlStatus.UNAVAILABLE, caller + " gets no key here for " + attempt +
                ": another node or attempt is named, or the view is not closed yet");
        }

        return region;
    }

    @Override
    public void releaseLeases(final PeerIdentity caller, final ViewAttempt attempt)
    {
        refuseUnlessNamed(caller, attempt, views.get().mayReleaseLeases(caller, attempt));
        mirrorLeases.release(attempt);
    }

    @Override
    public void enterLease(final PeerIdentity caller, final ViewAttempt attempt, final EnteredLease lease)
    {
        refuseUnlessNamed(caller, attempt, views.get().mayEnterLeases(caller, attempt));
        mirrorLeases.enter(attempt, lease, views.get()::isAdmitted);
    }

    /** Whoever asks reads the memory with a key of its own, too: not one that was fenced. */
    @Override
    public void pageChecksums(
        final PeerIdentity caller, final long offset, final int lengthBytes, final long seed, final long[] checksums)
    {
        refuseUnregistered(caller);

        if (!views.get().isAdmitted(caller))
        {
            throw new ControlException(
                ControlStatus.FORBIDDEN, caller + " may not ask for checksums: it was fenced, or is not let in");
        }

        if (offset < 0 || lengthBytes < 1 || offset > region.byteSize() - lengthBytes)
        {
            throw new ControlException(ControlStatus.INVALID_REQUEST, "offset=" + offset + " lengthBytes=" +
                lengthBytes + " are not inside the memory of " + region.byteSize() + " bytes");
        }

        final LongTupleHashFunction function = LongTupleHashFunction.xx128(seed);

        for (int at = 0, page = 0; at < lengthBytes; at += PageChecksumsDescriptor.PAGE_BYTES, page++)
        {
            final int pageBytes = Math.min(PageChecksumsDescriptor.PAGE_BYTES, lengthBytes - at);
            function.hashMemory(region.address() + offset + at, pageBytes, halves);
            checksums[2 * page] = halves[0];
            checksums[2 * page + 1] = halves[1];
        }
    }

    private static void refuseUnlessNamed(final PeerIdentity caller, final ViewAttempt attempt, final boolean isNamed)
    {
        refuseUnregistered(caller);

        if (!isNamed)
        {
            throw new ControlException(ControlStatus.UNAVAILABLE, caller + " may change no leases here for " + attempt +
                ": another node or attempt is named, the view is not closed yet, or this memory node does not come in");
        }
    }

    /** Only the meta server may, which has proved that it is that. */
    @Override
    public void fence(final PeerIdentity caller, final PeerIdentity identity)
    {
        refuseOthers(caller, "fence " + identity);

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
            region.byteSize(),
            chunkLengthBytes,
            chunks.chunkCount(),
            chunks.freeCount(),
            chunks.blockCount(),
            chunks.indexCount(),
            chunks.orphanCount());
    }

    private void refuseOthers(final PeerIdentity caller, final String what)
    {
        if (!PeerIdentity.META_SERVER.equals(caller))
        {
            forbidden++;
            throw new ControlException(
                ControlStatus.FORBIDDEN, caller + " may not " + what + ": only the meta server may");
        }
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
