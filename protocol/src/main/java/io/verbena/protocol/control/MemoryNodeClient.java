package io.verbena.protocol.control;

import io.verbena.protocol.message.ChunkLease;
import io.verbena.protocol.message.ChunkPurpose;
import io.verbena.protocol.message.ChunkRun;
import io.verbena.protocol.message.EnteredLease;
import io.verbena.protocol.message.MemoryNodeStat;
import io.verbena.protocol.message.MirrorAction;
import io.verbena.protocol.message.MirrorAnswer;
import io.verbena.protocol.message.MirroredChunk;
import io.verbena.protocol.view.EnterLeaseDescriptor;
import io.verbena.protocol.view.LeftView;
import io.verbena.protocol.view.LeftViewsDescriptor;
import io.verbena.protocol.view.PageChecksumsDescriptor;
import io.verbena.protocol.view.RegionKeyDescriptor;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewAttempt;
import io.verbena.protocol.view.ViewAttemptDescriptor;
import io.verbena.protocol.view.ViewDescriptor;
import io.verbena.raas.RaasContext;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.VirtualQp;
import io.verbena.raas.identity.PeerIdentity;

import java.util.List;

/**
 * Asks a memory node. Each method returns at once with a {@link ControlCall} that ends, inside
 * {@link RaasContext#poll()}, by the timeout at the latest. Belongs to the owner thread of the context. The memory node
 * knows the caller by the identity that the context had when its queue pair was connected.
 */
public final class MemoryNodeClient
{
    private final ControlProxy proxy;

    /**
     * @param context over which to call.
     * @param vqp     connected or connecting to the memory node; the caller closes it.
     */
    public MemoryNodeClient(final RaasContext context, final VirtualQp vqp)
    {
        proxy = new ControlProxy(context, vqp);
    }

    /**
     * Leases chunks, all or none.
     *
     * @param requestId  of this request; made again with the same number, after its answer was lost, it gets the same
     *                   chunks. Numbers of one node's registration do not repeat; 0 for one that is not made again.
     * @param purpose    what for.
     * @param chunkCount 1 or more.
     * @param contiguous whether they must be neighbours.
     * @param timeoutNs  deadline.
     * @return the call; EXHAUSTED when there are not enough.
     */
    public ControlCall<ChunkLease> leaseChunks(
        final long requestId,
        final ChunkPurpose purpose,
        final int chunkCount,
        final boolean contiguous,
        final long timeoutNs)
    {
        return proxy.call(
            ControlMethod.LEASE_CHUNKS,
            (buffer, offset) ->
                LeaseRequestDescriptor.encode(requestId, purpose, chunkCount, contiguous, buffer, offset),
            ChunkRunsDescriptor::decode,
            timeoutNs);
    }

    /**
     * Claims chunks for reclamation: orphans, or own ones. They are closed when it ends with OK.
     *
     * @param runs      what, at most {@link ChunkLease#MAX_RUNS}.
     * @param timeoutNs deadline.
     * @return the call, for the chunks that were got.
     */
    public ControlCall<List<ChunkRun>> claimChunks(final List<ChunkRun> runs, final long timeoutNs)
    {
        return proxy.call(
            ControlMethod.CLAIM_CHUNKS,
            (buffer, offset) -> ChunkRunsDescriptor.encode(0, 0, runs, buffer, offset),
            (buffer, offset, lengthBytes) -> ChunkRunsDescriptor.decode(buffer, offset, lengthBytes).runs(),
            timeoutNs);
    }

    /**
     * Takes claimed chunks over and opens them again; may be made again when its answer was lost.
     *
     * @param runs      what, at most {@link ChunkLease#MAX_RUNS}.
     * @param timeoutNs deadline.
     * @return the call.
     */
    public ControlCall<Void> adoptChunks(final List<ChunkRun> runs, final long timeoutNs)
    {
        return proxy.call(
            ControlMethod.ADOPT_CHUNKS,
            (buffer, offset) -> ChunkRunsDescriptor.encode(0, 0, runs, buffer, offset),
            (buffer, offset, lengthBytes) -> null,
            timeoutNs);
    }

    /**
     * Returns chunks. May be made again when its answer was lost, if it says which leases it means: then chunks that
     * are free, or were leased to somebody later, count as returned.
     *
     * @param runs        what, at most {@link ChunkLease#MAX_RUNS}.
     * @param newestLease number of a lease, not older than those by which the chunks were had; 0 for a call that is
     *                    not made again.
     * @param timeoutNs   deadline.
     * @return the call.
     */
    public ControlCall<Void> returnChunks(final List<ChunkRun> runs, final long newestLease, final long timeoutNs)
    {
        return proxy.call(
            ControlMethod.RETURN_CHUNKS,
            (buffer, offset) -> ChunkRunsDescriptor.encode(0, newestLease, runs, buffer, offset),
            (buffer, offset, lengthBytes) -> null,
            timeoutNs);
    }

    /**
     * Asks for one step of a lease that all members of a group record. May be made again when its answer was lost.
     *
     * @param action    what to do.
     * @param chunk     whose lease it is about; its index and count say where to look and are 0 or more for CHOOSE.
     * @param purpose   of the lease; regarded by RECORD only.
     * @param requestId of the lease, not 0 for RECORD; for RETURN 0 is any; not regarded by others.
     * @param timeoutNs deadline.
     * @return the call.
     */
    public ControlCall<MirrorAnswer> mirrorChunk(
        final MirrorAction action,
        final MirroredChunk chunk,
        final ChunkPurpose purpose,
        final long requestId,
        final long timeoutNs)
    {
        return proxy.call(
            ControlMethod.MIRROR_CHUNK,
            (buffer, offset) ->
                MirrorChunkDescriptor.encodeRequest(action, chunk, purpose, requestId, buffer, offset),
            MirrorChunkDescriptor::decodeReply,
            timeoutNs);
    }

    /**
     * Fences one life of a node: when it ends with OK, no access of that node lands here any more.
     *
     * @param identity  whom.
     * @param timeoutNs deadline.
     * @return the call.
     */
    public ControlCall<Void> fence(final PeerIdentity identity, final long timeoutNs)
    {
        return proxy.call(
            ControlMethod.FENCE,
            (buffer, offset) -> IdentityDescriptor.encode(identity, buffer, offset),
            (buffer, offset, lengthBytes) -> null,
            timeoutNs);
    }

    /**
     * Has a view closed: when it ends with OK, nothing lands here any more with a key that was used under it.
     *
     * @param view      closing.
     * @param timeoutNs deadline.
     * @return the call.
     */
    public ControlCall<Void> closeView(final View view, final long timeoutNs)
    {
        return proxy.call(
            ControlMethod.CLOSE_VIEW,
            (buffer, offset) -> ControlProxy.encode(buffer, offset, (at) -> ViewDescriptor.encode(view, buffer, at)),
            (buffer, offset, lengthBytes) -> null,
            timeoutNs);
    }

    /**
     * Says who fills a memory node while its group's view is active: that compute node may enter leases.
     *
     * @param view      filling.
     * @param timeoutNs deadline.
     * @return the call.
     */
    public ControlCall<Void> fillView(final View view, final long timeoutNs)
    {
        return proxy.call(
            ControlMethod.FILL_VIEW,
            (buffer, offset) -> ControlProxy.encode(buffer, offset, (at) -> ViewDescriptor.encode(view, buffer, at)),
            (buffer, offset, lengthBytes) -> null,
            timeoutNs);
    }

    /**
     * Names what this node has left, before it asks for a key by connecting.
     *
     * @param left      the newest view of each group that was left, at most {@link LeftViewsDescriptor#MAX_VIEWS}.
     * @param timeoutNs deadline.
     * @return the call, for views that are closed there and not left here: first their records have to be heard.
     */
    public ControlCall<List<LeftView>> nameViews(final List<LeftView> left, final long timeoutNs)
    {
        return proxy.call(
            ControlMethod.NAME_VIEWS,
            (buffer, offset) ->
                ControlProxy.encode(buffer, offset, (at) -> LeftViewsDescriptor.encode(left, 0, buffer, at)),
            ControlProxy.body(LeftViewsDescriptor::decode),
            timeoutNs);
    }

    /**
     * Asks for the key to make copies of a group equal.
     *
     * @param attempt   for which this node was named.
     * @param timeoutNs deadline.
     * @return the call, for the region under that key.
     */
    public ControlCall<RemoteRegion> reconcilerKey(final ViewAttempt attempt, final long timeoutNs)
    {
        return proxy.call(
            ControlMethod.RECONCILER_KEY,
            (buffer, offset) ->
                ControlProxy.encode(buffer, offset, (at) -> ViewAttemptDescriptor.encode(attempt, false, buffer, at)),
            ControlProxy.body(RegionKeyDescriptor::decode),
            timeoutNs);
    }

    /**
     * Has a memory node that comes into a group free each chunk that a lease of the group has there and that was not
     * entered in the attempt: after all leases that the group has now, so that none of its chunks is free in between.
     * May be made again within the attempt. Whoever does not know what became of it gives the attempt up: it would
     * free what is in use, if it came in the next view.
     *
     * @param attempt   for which this node was named.
     * @param timeoutNs deadline.
     * @return the call.
     */
    public ControlCall<Void> releaseLeases(final ViewAttempt attempt, final long timeoutNs)
    {
        return proxy.call(
            ControlMethod.ENTER_LEASE,
            (buffer, offset) -> ControlProxy.encode(
                buffer, offset, (at) -> EnterLeaseDescriptor.encodeRelease(attempt, buffer, at)),
            (buffer, offset, lengthBytes) -> null,
            timeoutNs);
    }

    /**
     * Has a memory node that comes into a group record a lease that the group has, also where another lease of the
     * group stands. May be made again within the attempt; whoever does not know what became of it gives the attempt up.
     *
     * @param attempt   for which this node was named.
     * @param lease     of the attempt's group.
     * @param timeoutNs deadline.
     * @return the call; EXHAUSTED when something else stands in the chunk: that memory node cannot come in.
     */
    public ControlCall<Void> enterLease(final ViewAttempt attempt, final EnteredLease lease, final long timeoutNs)
    {
        return proxy.call(
            ControlMethod.ENTER_LEASE,
            (buffer, offset) -> ControlProxy.encode(
                buffer, offset, (at) -> EnterLeaseDescriptor.encodeRecord(attempt, lease, buffer, at)),
            (buffer, offset, lengthBytes) -> null,
            timeoutNs);
    }

    /**
     * Asks for checksums of pages, which the memory node calculates of its memory: XXH3 of 128 bits each. Who compares
     * those of two memory nodes takes a new seed each time: pages that differ may have one checksum with one seed, and
     * hardly with the next.
     *
     * @param offset      of the first page, in bytes from where the memory begins: a multiple of
     *                    {@link PageChecksumsDescriptor#PAGE_BYTES}.
     * @param lengthBytes 1 to {@link PageChecksumsDescriptor#MAX_LENGTH_BYTES}; the last page may be short.
     * @param seed        of the function.
     * @param timeoutNs   deadline.
     * @return the call, for the low half and the high half of each page in turn; INVALID_REQUEST when there are no such
     *     pages.
     */
    public ControlCall<long[]> pageChecksums(
        final long offset, final int lengthBytes, final long seed, final long timeoutNs)
    {
        return proxy.call(
            ControlMethod.PAGE_CHECKSUMS,
            (buffer, at) -> ControlProxy.encode(buffer, at, (body) ->
                PageChecksumsDescriptor.encodeRequest(offset, lengthBytes, seed, buffer, body)),
            ControlProxy.body((reply, at, replyBytes) ->
                PageChecksumsDescriptor.decodeReply(PageChecksumsDescriptor.pages(lengthBytes), reply, at, replyBytes)),
            timeoutNs);
    }

    /**
     * @param timeoutNs deadline.
     * @return the call, for the state of the memory node.
     */
    public ControlCall<MemoryNodeStat> stat(final long timeoutNs)
    {
        return proxy.call(
            ControlMethod.STAT,
            ControlProxy::encodeHeader,
            StatDescriptor::decode,
            timeoutNs);
    }
}
