package io.verbena.compute.group;

import io.verbena.compute.session.RequestNumbers;
import io.verbena.protocol.message.ChunkPurpose;
import io.verbena.protocol.message.MirroredChunk;
import io.verbena.protocol.mirror.GroupMembers;
import io.verbena.protocol.mirror.MirroredLease;
import io.verbena.protocol.mirror.MirroredReturn;
import io.verbena.raas.failure.Backoff;
import io.verbena.table.TableEngine;
import io.verbena.table.format.Superblock;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Supplier;

import org.agrona.collections.Int2ObjectHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Chunks that all members of a group lease, one after another: for blocks of the engine, and for indexes of tables.
 * What a lease that failed has left is returned before anything else is leased, and indexes that went out of use when
 * nobody can look there any more. Goes on over views: what was leased in an earlier one is recorded by all members of a
 * later one, too. Owned by the node's thread.
 */
public final class GroupChunks
{
    private static final Logger LOGGER = LoggerFactory.getLogger(GroupChunks.class);
    /** How long one lease may take: 2 s; giving back may take as long again. */
    private static final long LEASE_LIMIT_NS = 2_000_000_000L;
    /** Before any epoch: nobody but this node ever knew of the chunk. */
    private static final long NEVER_USED = Long.MIN_VALUE / 2;

    /** Chunks for the index of a table. */
    public static final class IndexRequest
    {
        private final int wanted;
        private final List<MirroredChunk> chunks = new ArrayList<>();
        private final List<Long> offsets = new ArrayList<>();
        private String failure = "";
        private boolean isExhausted;

        private IndexRequest(final int wanted)
        {
            this.wanted = wanted;
        }

        /** @return whether it was leased, or has failed. */
        public boolean isDone()
        {
            return chunks.size() == wanted || !failure.isEmpty();
        }

        /** @return why not all could be leased, one line; empty while they may be. */
        public String failure()
        {
            return failure;
        }

        /** @return whether it failed because there are too few chunks that are free on all members. */
        public boolean isExhausted()
        {
            return isExhausted;
        }

        /** @return offset of each, the same at all members. */
        public List<Long> offsets()
        {
            return offsets;
        }
    }

    /**
     * A lease to be returned.
     *
     * @param requestId under which it was asked for, when no answer said that this node has it; or 0.
     * @param epoch     that all must have passed first.
     */
    private record Left(MirroredChunk chunk, long requestId, long epoch)
    {
        private Left(final MirroredChunk chunk, final long requestId)
        {
            this(chunk, requestId, NEVER_USED);
        }
    }

    private final TableEngine engine;
    private final int group;
    private final RequestNumbers numbers;
    private final long timeoutNs;
    private final Supplier<Backoff> backoffs;
    private final List<Left> toReturn = new ArrayList<>();
    private final Deque<IndexRequest> requests = new ArrayDeque<>();
    /** What was asked for and is not made known yet, nor given back. */
    private final List<IndexRequest> underWay = new ArrayList<>();
    /** By index the latest lease of this node for an index. */
    private final Int2ObjectHashMap<MirroredChunk> ownIndexes = new Int2ObjectHashMap<>();
    private GroupMembers members;
    private Superblock layout;
    private long view;
    private MirroredLease lease;
    private MirroredReturn returning;
    private boolean isLeasing;
    /** What is being returned, or null. */
    private Left underReturn;
    private boolean isForIndex;
    private boolean wantsBlocks;
    private int nextIndex;
    private long againAtNs;
    private final Backoff backoff;
    private long refusals;

    GroupChunks(
        final TableEngine engine, final int group, final RequestNumbers numbers, final long timeoutNs,
        final Supplier<Backoff> backoffs, final long nowNs)
    {
        this.engine = engine;
        this.group = group;
        this.numbers = numbers;
        this.timeoutNs = timeoutNs;
        this.backoffs = backoffs;
        backoff = backoffs.get();
        againAtNs = nowNs;
    }

    /** Leases a chunk for blocks as soon as the group can be used; see {@code ChunkSource}. */
    public void requestBlocks()
    {
        wantsBlocks = true;
    }

    /** @return chunks for an index, to be leased; they stay leased until they are given back. */
    public IndexRequest requestIndex(final int count)
    {
        final IndexRequest request = new IndexRequest(count);
        requests.add(request);
        underWay.add(request);
        return request;
    }

    /** What was leased is made known, or can be found by links. */
    public void end(final IndexRequest request)
    {
        underWay.remove(request);
    }

    /** @return whether a lease of this node for an index is known to nobody else yet, or goes back. */
    boolean isUnderWay(final int index, final long count)
    {
        return toReturn.stream().anyMatch((left) -> isOf(left.chunk, index, count)) || underWay.stream().anyMatch(
            (request) -> request.chunks.stream().anyMatch((chunk) -> isOf(chunk, index, count)));
    }

    private static boolean isOf(final MirroredChunk lease, final int index, final long count)
    {
        return lease.index() == index && lease.count() == count;
    }

    /** Gives up a request, and what it has leased: nobody else knows of it. */
    public void giveBack(final IndexRequest request)
    {
        requests.remove(request);
        underWay.remove(request);
        request.chunks.forEach((chunk) -> toReturn.add(new Left(chunk, 0)));
        request.chunks.clear();
        request.failure = "given back";
    }

    /** Returns a lease of a chunk that others may use until they have passed an epoch; of whatever node it is. */
    void retire(final MirroredChunk lease, final long epoch)
    {
        toReturn.add(new Left(lease, 0, epoch));
    }

    /** @return whether anything goes back. */
    boolean isReturning()
    {
        return !toReturn.isEmpty();
    }

    /** @return whether something that goes back waits for epochs. */
    boolean wantsEpochs()
    {
        return toReturn.stream().anyMatch((left) -> !engine.isReusable(left.epoch));
    }

    /** @return by which leases this node has, or had last, the chunks of indexes, by their numbers; a new map. */
    Int2ObjectHashMap<MirroredChunk> ownIndexes()
    {
        return new Int2ObjectHashMap<>(ownIndexes);
    }

    /** @return how often no chunk for blocks was free on all members. */
    public long refusals()
    {
        return refusals;
    }

    /** @return whether something is under way, or due. */
    boolean isBusy()
    {
        return isLeasing || null != underReturn;
    }

    /** The group can be used in a view. */
    void begin(final long inView, final GroupMembers newMembers, final Superblock newLayout)
    {
        view = inView;
        members = newMembers;
        layout = newLayout;
        lease = new MirroredLease(members, timeoutNs, backoffs.get());
        returning = new MirroredReturn(members, timeoutNs, backoffs.get());
    }

    /** It cannot any more. */
    void end()
    {
        if (isLeasing)
        {
            lease.abandon();
            onLeaseEnded();
        }
        members = null;
        underReturn = null;
    }

    /**
     * Goes on.
     *
     * @param nowNs time now, by the clock of the device.
     * @return work done.
     */
    int poll(final long nowNs)
    {
        if (null == members)
        {
            return 0;
        }
        if (null != underReturn)
        {
            return pollReturning(nowNs);
        }
        if (isLeasing)
        {
            return pollLeasing(nowNs);
        }
        if (againAtNs - nowNs > 0)
        {
            return 0;
        }
        underReturn = nextToReturn();
        if (null != underReturn)
        {
            returning.begin(underReturn.chunk, underReturn.requestId, members.count() - 1);
            return 1;
        }
        if (wantsBlocks || !requests.isEmpty())
        {
            isForIndex = !requests.isEmpty();
            wantsBlocks &= isForIndex;
            isLeasing = true;
            lease.begin(new MirroredChunk(group, view, nextIndex, layout.chunkLengthBytes(), 0),
                isForIndex ? ChunkPurpose.INDEX : ChunkPurpose.BLOCKS, numbers.next(), nowNs, LEASE_LIMIT_NS);
            return 1;
        }
        return 0;
    }

    private Left nextToReturn()
    {
        for (int i = 0; i < toReturn.size(); i++)
        {
            if (engine.isReusable(toReturn.get(i).epoch))
            {
                return toReturn.get(i);
            }
        }
        return null;
    }

    private int pollReturning(final long nowNs)
    {
        final int workCount = returning.poll(nowNs);
        if (returning.isDone())
        {
            if (!returning.refusal().isEmpty())
            {
                LOGGER.warn("{} stays taken: {}", underReturn.chunk, returning.refusal());
            }
            toReturn.remove(underReturn);
            underReturn = null;
        }
        return workCount;
    }

    private int pollLeasing(final long nowNs)
    {
        final int workCount = lease.poll(nowNs);
        switch (lease.state())
        {
            case LEASED -> onLeased();
            case EXHAUSTED -> onExhausted();
            case FAILED ->
            {
                onLeaseEnded();
                againAtNs = nowNs + backoff.nextPauseNs();
            }
            default ->
            {
                return workCount;
            }
        }
        return workCount + 1;
    }

    private void onLeased()
    {
        isLeasing = false;
        backoff.reset();
        final MirroredChunk chunk = lease.chunk();
        final long offset = layout.chunksOffset() + (long)chunk.index() * layout.chunkLengthBytes();
        nextIndex = (chunk.index() + 1) % layout.chunkCount();
        if (!isForIndex)
        {
            engine.chunkLeased(group, offset, layout.chunkLengthBytes());
            return;
        }
        ownIndexes.put(chunk.index(), chunk);
        final IndexRequest request = requests.peek();
        if (null == request)
        {
            toReturn.add(new Left(chunk, 0)); // it was given up meanwhile
            return;
        }
        request.chunks.add(chunk);
        request.offsets.add(offset);
        if (request.isDone())
        {
            requests.remove();
        }
    }

    private void onExhausted()
    {
        isLeasing = false;
        if (!isForIndex)
        {
            refusals++;
            engine.chunkRefused(group);
        }
        else if (!requests.isEmpty())
        {
            final IndexRequest request = requests.remove();
            request.isExhausted = true;
            request.failure = "group " + group + " has no chunk any more that is free on all its members";
        }
    }

    /** Whoever wanted it wants it still. */
    private void onLeaseEnded()
    {
        isLeasing = false;
        wantsBlocks |= !isForIndex;
        if (null != lease.left())
        {
            toReturn.add(new Left(lease.left(), lease.requestId()));
        }
    }

    @Override
    public String toString()
    {
        return "GroupChunks{group=" + group + ", leasing=" + isLeasing + ", toReturn=" + toReturn.size() +
            ", requests=" + requests.size() + ", refusals=" + refusals + '}';
    }
}
