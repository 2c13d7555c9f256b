package io.verbena.embedded;

import io.verbena.memory.KeyedRegions;
import io.verbena.memory.MemoryNode;
import io.verbena.rdma.sim.device.SimHost;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.Superblock;
import io.verbena.table.format.SuperblockDescriptor;

import org.agrona.concurrent.UnsafeBuffer;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Watches all memory nodes of a cluster for requests that change a chunk which nobody has, or that look for a key in
 * one: who sends those believes in memory that is somebody else's at any moment. READs of other lengths are left out:
 * scans may read what went back meanwhile, and find out afterwards.
 */
final class ReturnedChunks implements AutoCloseable
{
    private static final int MOST_TOLD = 5;
    private static final long MAX_STEPS = 20_000_000;

    private final Arena arena = Arena.ofConfined();
    private final UnsafeBuffer header = new UnsafeBuffer(
        arena.allocate(ChunkDescriptor.HEADER_BYTES, 64).address(), ChunkDescriptor.HEADER_BYTES);
    private final SimCluster cluster;
    private final Map<MemoryNode, KeyedRegions> regions = new HashMap<>();
    private final Map<SimHost, Superblock> superblocks = new HashMap<>();
    private final List<String> reached = new ArrayList<>();

    private ReturnedChunks(final SimCluster cluster)
    {
        this.cluster = cluster;
        VerbWatch.watch(cluster.world(), this::onVerb);
    }

    /** From now on. */
    static ReturnedChunks watch(final SimCluster cluster)
    {
        return new ReturnedChunks(cluster);
    }

    /** With one more compute node, which serves. */
    static ReturnedChunks watchAtOnce(final SimCluster cluster)
    {
        final ReturnedChunks watching = watch(cluster);
        cluster.world().runUntil(cluster.addComputeNode()::isServing, MAX_STEPS);
        return watching;
    }

    /** What should not have been sent, one line each, the first ones. */
    List<String> reached()
    {
        return reached;
    }

    private void onVerb(
        final SimHost target, final String requester, final boolean isRead, final long address,
        final int lengthBytes)
    {
        final MemoryNode node = cluster.memoryHosts().stream()
            .filter((host) -> host.machine().device().host() == target)
            .map(SimMemoryHost::node).findFirst().orElse(null);
        if (null == node || isRead && BucketDescriptor.COMBINED_BYTES != lengthBytes)
        {
            return;
        }
        final long offset = regions.computeIfAbsent(node, KeyedRegions::new).offset(address);
        if (KeyedRegions.OUTSIDE == offset)
        {
            return;
        }
        final Superblock superblock = superblocks.computeIfAbsent(target, (device) -> superblock(node));
        final long inChunks = offset - superblock.chunksOffset();
        final long chunk = inChunks / superblock.chunkLengthBytes();
        if (inChunks >= 0 && chunk < superblock.chunkCount() && isFree(node, superblock, chunk) &&
            reached.size() < MOST_TOLD)
        {
            reached.add(cluster.world().clock().nanoTime() + ": " + requester + (isRead ? " reads " : " changes ") +
                lengthBytes + " bytes in chunk " + chunk + " of " + target.name() + ", which nobody has");
        }
    }

    private boolean isFree(final MemoryNode node, final Superblock superblock, final long chunk)
    {
        node.readRegion(superblock.chunkHeadersOffset() + chunk * ChunkDescriptor.HEADER_BYTES, header,
            ChunkDescriptor.HEADER_BYTES);
        return ChunkDescriptor.STATE_FREE == ChunkDescriptor.state(header, 0);
    }

    private Superblock superblock(final MemoryNode node)
    {
        final MemorySegment page = arena.allocate(SuperblockDescriptor.READ_BYTES, 64);
        node.readRegion(0, new UnsafeBuffer(page.address(), (int)page.byteSize()), SuperblockDescriptor.READ_BYTES);
        return SuperblockDescriptor.read(page);
    }

    @Override
    public void close()
    {
        arena.close();
    }
}
