package io.verbena.embedded;

import io.verbena.memory.MemoryNode;
import io.verbena.protocol.view.View;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.table.allocation.ChunkView;
import io.verbena.table.allocation.HeldRange;
import io.verbena.table.check.CheckedStore;
import io.verbena.table.check.StoreCheck;
import io.verbena.table.check.StoreChecker;
import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.Superblock;
import io.verbena.table.format.SuperblockDescriptor;
import io.verbena.table.format.TableDescriptor;

import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** The memory of the one group of a simulated cluster as its members have it now; nobody may work on it. */
final class MirroredStore implements CheckedStore
{
    private final SimCluster cluster;
    private final View view;
    private final List<MemoryNode> members;

    private MirroredStore(final SimCluster cluster)
    {
        this.cluster = cluster;
        view = cluster.metaServer().views().getFirst();
        members = view.members().stream().map(this::node).toList();
    }

    private MemoryNode node(final PeerIdentity member)
    {
        return cluster.memoryHosts().stream().map(SimMemoryHost::node)
            .filter((node) -> node.nodeId() == member.nodeId()).findFirst().orElseThrow();
    }

    /** Checks all tables on all members, and every byte of them. */
    static StoreCheck check(final SimCluster cluster)
    {
        final MirroredStore store = new MirroredStore(cluster);
        return new StoreChecker(store).check(List.of(store.view.group()));
    }

    /** Checks the primary with what all compute nodes hold: what nobody has is lost. */
    static StoreCheck space(final SimCluster cluster)
    {
        final MirroredStore store = new MirroredStore(cluster);
        final List<HeldRange> held = cluster.spaces().stream().flatMap((space) -> space.held().stream())
            .filter((range) -> range.memoryNodeId() == store.view.group()).toList();
        return new StoreChecker(store::read, store.tables(), held).check(List.of(store.view.group()));
    }

    /** @return how many chunks of the group are in a state, at each member. */
    static List<Long> chunks(final SimCluster cluster, final int state)
    {
        return new MirroredStore(cluster).count(state);
    }

    private List<Long> count(final int state)
    {
        return members.stream().map(this::headers).map((chunks) ->
        {
            long count = 0;
            for (int i = 0; i < chunks.chunkCount(); i++)
            {
                count += chunks.group(i) == view.group() && chunks.state(i) == state ? 1 : 0;
            }
            return count;
        }).toList();
    }

    private ChunkView headers(final MemoryNode node)
    {
        try (Arena arena = Arena.ofConfined())
        {
            final MemorySegment page = arena.allocate(SuperblockDescriptor.READ_BYTES, 64);
            node.readRegion(0, new UnsafeBuffer(page.address(), (int)page.byteSize()), (int)page.byteSize());
            final Superblock superblock = SuperblockDescriptor.read(page);
            final ChunkView chunks = new ChunkView(superblock);
            final UnsafeBuffer header = new UnsafeBuffer(page.address(), (int)page.byteSize());
            for (int i = 0; i < superblock.chunkCount(); i++)
            {
                node.readRegion(superblock.chunkHeadersOffset() + (long)i * ChunkDescriptor.HEADER_BYTES, header,
                    ChunkDescriptor.HEADER_BYTES);
                chunks.read(i, header, 0);
            }
            return chunks;
        }
    }

    @Override
    public List<TableDescriptor> tables()
    {
        return cluster.tables();
    }

    @Override
    public int copyCount(final int memoryNodeId)
    {
        return members.size();
    }

    @Override
    public boolean isOfGroup(final int memoryNodeId)
    {
        return true;
    }

    @Override
    public void readCopy(
        final int memoryNodeId, final int copy, final long offset, final MutableDirectBuffer target,
        final int lengthBytes)
    {
        members.get(copy).readRegion(offset, target, lengthBytes);
    }

    @Override
    public void read(
        final int memoryNodeId, final long offset, final MutableDirectBuffer target, final int lengthBytes)
    {
        members.getLast().readRegion(offset, target, lengthBytes);
    }

    @Override
    public boolean isLive()
    {
        return false;
    }

    @Override
    public void hold()
    {
        // nobody changes it
    }

    @Override
    public void release()
    {
        // nobody changes it
    }

    @Override
    public boolean awaitOthers()
    {
        return true;
    }
}
