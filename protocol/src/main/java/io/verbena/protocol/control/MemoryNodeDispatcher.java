package io.verbena.protocol.control;

import io.verbena.protocol.message.ChunkLease;
import io.verbena.protocol.view.EnterLeaseDescriptor;
import io.verbena.protocol.view.LeftViewsDescriptor;
import io.verbena.protocol.view.PageChecksumsDescriptor;
import io.verbena.protocol.view.RegionKeyDescriptor;
import io.verbena.protocol.view.ViewAttempt;
import io.verbena.protocol.view.ViewAttemptDescriptor;
import io.verbena.protocol.view.ViewDescriptor;
import io.verbena.raas.RpcReply;
import io.verbena.raas.identity.PeerIdentity;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/** Answers the messages of {@link MemoryNodeClient} by calling a {@link MemoryNodeService}. One thread. */
public final class MemoryNodeDispatcher extends ControlDispatcher
{
    private final MemoryNodeService service;
    private final long[] checksums = new long[2 * PageChecksumsDescriptor.MAX_PAGES];

    /** @param service answers. */
    public MemoryNodeDispatcher(final MemoryNodeService service)
    {
        super("memory node");
        this.service = service;
    }

    @Override
    int dispatch(
        final PeerIdentity caller,
        final int method,
        final DirectBuffer request,
        final int offset,
        final int lengthBytes,
        final RpcReply to)
    {
        final MutableDirectBuffer reply = to.buffer();
        final int replyOffset = to.offset();
        return switch (method)
        {
            case ControlMethod.LEASE_CHUNKS -> leaseChunks(caller, request, offset, lengthBytes, reply, replyOffset);
            case ControlMethod.RETURN_CHUNKS ->
            {
                final ChunkLease returned = ChunkRunsDescriptor.decode(request, offset, lengthBytes);
                service.returnChunks(caller, returned.runs(), returned.newestLease());
                yield ControlProxy.encodeHeader(reply, replyOffset);
            }
            case ControlMethod.CLAIM_CHUNKS -> ChunkRunsDescriptor.encode(
                0,
                0,
                service.claimChunks(caller, ChunkRunsDescriptor.decode(request, offset, lengthBytes).runs()),
                reply,
                replyOffset);
            case ControlMethod.ADOPT_CHUNKS ->
            {
                service.adoptChunks(caller, ChunkRunsDescriptor.decode(request, offset, lengthBytes).runs());
                yield ControlProxy.encodeHeader(reply, replyOffset);
            }
            case ControlMethod.MIRROR_CHUNK -> mirrorChunk(caller, request, offset, lengthBytes, reply, replyOffset);
            case ControlMethod.CLOSE_VIEW, ControlMethod.NAME_VIEWS, ControlMethod.RECONCILER_KEY,
                ControlMethod.ENTER_LEASE, ControlMethod.FILL_VIEW, ControlMethod.PAGE_CHECKSUMS ->
                ControlProxy.encode(reply, replyOffset, (at) -> views(caller, method, request,
                    offset + ControlHeaderDescriptor.LENGTH_BYTES, lengthBytes - ControlHeaderDescriptor.LENGTH_BYTES,
                    reply, at));
            case ControlMethod.FENCE ->
            {
                service.fence(caller, IdentityDescriptor.decode(request, offset, lengthBytes));
                yield ControlProxy.encodeHeader(reply, replyOffset);
            }
            case ControlMethod.STAT -> StatDescriptor.encode(service.stat(), reply, replyOffset);
            default -> UNKNOWN_METHOD;
        };
    }

    private int leaseChunks(
        final PeerIdentity caller,
        final DirectBuffer request,
        final int offset,
        final int lengthBytes,
        final MutableDirectBuffer reply,
        final int replyOffset)
    {
        LeaseRequestDescriptor.require(lengthBytes);
        final ChunkLease lease = service.leaseChunks(
            caller,
            LeaseRequestDescriptor.requestId(request, offset),
            LeaseRequestDescriptor.purpose(request, offset),
            LeaseRequestDescriptor.chunkCount(request, offset),
            LeaseRequestDescriptor.isContiguous(request, offset));
        return ChunkRunsDescriptor.encode(
            lease.chunkLengthBytes(), lease.newestLease(), lease.runs(), reply, replyOffset);
    }

    /** What follows the headers of request and reply. */
    private int views(
        final PeerIdentity caller,
        final int method,
        final DirectBuffer request,
        final int offset,
        final int lengthBytes,
        final MutableDirectBuffer reply,
        final int replyOffset)
    {
        return switch (method)
        {
            case ControlMethod.CLOSE_VIEW ->
            {
                service.closeView(caller, ViewDescriptor.decode(request, offset, lengthBytes));
                yield 0;
            }
            case ControlMethod.FILL_VIEW ->
            {
                service.fillView(caller, ViewDescriptor.decode(request, offset, lengthBytes));
                yield 0;
            }
            case ControlMethod.NAME_VIEWS -> LeftViewsDescriptor.encode(
                service.nameViews(caller, LeftViewsDescriptor.decode(request, offset, lengthBytes)),
                0, reply, replyOffset);
            case ControlMethod.ENTER_LEASE ->
            {
                enterLease(caller, request, offset, lengthBytes);
                yield 0;
            }
            case ControlMethod.PAGE_CHECKSUMS ->
                pageChecksums(caller, request, offset, lengthBytes, reply, replyOffset);
            default -> RegionKeyDescriptor.encode(
                service.reconcilerKey(caller, ViewAttemptDescriptor.decode(request, offset, lengthBytes)),
                reply, replyOffset);
        };
    }

    private void enterLease(
        final PeerIdentity caller, final DirectBuffer request, final int offset, final int lengthBytes)
    {
        final ViewAttempt attempt = EnterLeaseDescriptor.attempt(request, offset, lengthBytes);
        if (EnterLeaseDescriptor.isRelease(request, offset))
        {
            service.releaseLeases(caller, attempt);
        }
        else
        {
            service.enterLease(caller, attempt, EnterLeaseDescriptor.lease(request, offset));
        }
    }

    private int pageChecksums(
        final PeerIdentity caller,
        final DirectBuffer request,
        final int offset,
        final int lengthBytes,
        final MutableDirectBuffer reply,
        final int replyOffset)
    {
        PageChecksumsDescriptor.require(request, offset, lengthBytes);
        final int rangeBytes = PageChecksumsDescriptor.rangeLengthBytes(request, offset);
        service.pageChecksums(caller, PageChecksumsDescriptor.rangeOffset(request, offset), rangeBytes,
            PageChecksumsDescriptor.seed(request, offset), checksums);
        return PageChecksumsDescriptor.encodeReply(
            checksums, PageChecksumsDescriptor.pages(rangeBytes), reply, replyOffset);
    }

    private int mirrorChunk(
        final PeerIdentity caller,
        final DirectBuffer request,
        final int offset,
        final int lengthBytes,
        final MutableDirectBuffer reply,
        final int replyOffset)
    {
        MirrorChunkDescriptor.requireRequest(lengthBytes);
        return MirrorChunkDescriptor.encodeReply(
            service.mirrorChunk(
                caller,
                MirrorChunkDescriptor.action(request, offset),
                MirrorChunkDescriptor.chunk(request, offset),
                MirrorChunkDescriptor.purpose(request, offset),
                MirrorChunkDescriptor.requestId(request, offset)),
            reply,
            replyOffset);
    }
}
