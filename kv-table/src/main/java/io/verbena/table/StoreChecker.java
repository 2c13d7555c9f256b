package io.verbena.table;

import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.FormatException;
import io.verbena.table.format.SizeClasses;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.Superblock;
import io.verbena.table.format.SuperblockDescriptor;
import io.verbena.table.format.TableDescriptor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.agrona.collections.Int2ObjectHashMap;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Checks all tables of a store and the memory they live in, while nobody changes them: each {@link TableChecker table}
 * for itself, and that each byte of a chunk leased for blocks is in exactly one hand: named by one committed word, or
 * held by one node. A byte in two hands will be overwritten under somebody; one in none is lost until the chunk is
 * swept. Independent of how memory is read.
 */
public final class StoreChecker
{
    private static final int GRANULE_BYTES = SlotWord.BLOCK_ALIGNMENT_BYTES;

    private final RegionReader reader;
    private final List<TableDescriptor> tables;
    private final List<HeldStretch> held;
    private int onlyNodeId;

    /** One memory node while it is checked. */
    private static final class Node
    {
        private final SpaceReport space;
        private final ChunkView view;
        private final BitSet named;
        private final BitSet heldGranules;
        private final Set<Integer> indexChunks = new HashSet<>();

        private Node(final SpaceReport space, final ChunkView view)
        {
            this.space = space;
            this.view = view;
            final int granules = (int)((long)view.chunkCount() * view.chunkLengthBytes() / GRANULE_BYTES);
            named = new BitSet(granules);
            heldGranules = new BitSet(granules);
        }

        private int granule(final long offset)
        {
            return (int)((offset - view.offset(0)) / GRANULE_BYTES);
        }

        private boolean isInside(final long offset, final long lengthBytes)
        {
            return offset >= view.offset(0) && offset + lengthBytes <= view.offset(view.chunkCount()) &&
                offset % GRANULE_BYTES == 0 && view.index(offset) == view.index(offset + lengthBytes - 1);
        }
    }

    /**
     * @param reader of the memory nodes.
     * @param tables all there are.
     * @param held   what all living nodes hold; memory of others counts as lost.
     */
    public StoreChecker(final RegionReader reader, final List<TableDescriptor> tables, final List<HeldStretch> held)
    {
        this.reader = reader;
        this.tables = List.copyOf(tables);
        this.held = List.copyOf(held);
    }

    /**
     * Checks.
     *
     * @param memoryNodeIds all there are.
     * @return what was found.
     */
    public StoreCheck check(final List<Integer> memoryNodeIds)
    {
        final StoreCheck check = new StoreCheck();
        final Int2ObjectHashMap<Node> nodes = new Int2ObjectHashMap<>();
        for (final int memoryNodeId : memoryNodeIds)
        {
            final Node node = readNode(memoryNodeId, check);
            if (node != null)
            {
                nodes.put(memoryNodeId, node);
                check.spaces().add(node.space);
            }
        }
        for (final TableDescriptor table : tables)
        {
            noteIndex(table, nodes, check);
            check.tables().put(table.name(), new TableChecker(table, reader).onlyAt(onlyNodeId)
                .committedWords((memoryNodeId, word) -> noteNamed(nodes.get(memoryNodeId), word, check))
                .check());
        }
        for (final HeldStretch stretch : held)
        {
            noteHeld(nodes.get(stretch.memoryNodeId()), stretch, check);
        }
        nodes.values().forEach((node) -> sum(node, check));
        return check;
    }

    private Node readNode(final int memoryNodeId, final StoreCheck check)
    {
        try (Arena arena = Arena.ofConfined())
        {
            final MemorySegment page = arena.allocate(SuperblockDescriptor.READ_BYTES, 64);
            reader.read(memoryNodeId, 0, new UnsafeBuffer(page.address(), (int)page.byteSize()),
                SuperblockDescriptor.READ_BYTES);
            final Superblock superblock = SuperblockDescriptor.read(page);
            final ChunkView view = new ChunkView(superblock);
            final UnsafeBuffer header = new UnsafeBuffer(arena.allocate(64, 64).address(), 64);
            for (int i = 0; i < superblock.chunkCount(); i++)
            {
                reader.read(memoryNodeId, superblock.chunkHeadersOffset() + (long)i * ChunkDescriptor.HEADER_BYTES,
                    header, ChunkDescriptor.HEADER_BYTES);
                ChunkDescriptor.check(header, 0);
                view.read(i, header, 0);
            }
            return new Node(new SpaceReport(memoryNodeId), view);
        }
        catch (final FormatException ex)
        {
            check.problem("memory node " + memoryNodeId + ": " + ex.getMessage());
            return null;
        }
    }

    /**
     * Checks one memory node by itself: its superblock and chunk headers, and what of the tables is there.
     *
     * @param memoryNodeId whose.
     * @return what was found.
     */
    public StoreCheck checkOnly(final int memoryNodeId)
    {
        onlyNodeId = memoryNodeId;
        return check(List.of(memoryNodeId));
    }

    private void noteIndex(
        final TableDescriptor table, final Int2ObjectHashMap<Node> nodes, final StoreCheck check)
    {
        for (int suffix = 0; suffix < table.subtableCount(); suffix++)
        {
            if (0 != onlyNodeId && onlyNodeId != DirectoryEntry.memoryNodeId(table.entry(suffix)))
            {
                continue;
            }
            final Node node = nodes.get(DirectoryEntry.memoryNodeId(table.entry(suffix)));
            if (node == null)
            {
                check.problem("subtable " + suffix + " of table " + table.name() + " is at an unknown memory node");
                continue;
            }
            final int chunk = node.view.index(DirectoryEntry.subtableOffset(table.entry(suffix)));
            if (!node.indexChunks.add(chunk) || node.view.state(chunk) != ChunkDescriptor.STATE_INDEX)
            {
                check.problem("subtable " + suffix + " of table " + table.name() + " at node " +
                    node.space.memoryNodeId + ": its chunk " + chunk + " is " +
                    ChunkDescriptor.stateName(node.view.state(chunk)) + ", or another subtable's as well");
            }
        }
    }

    private static void noteNamed(final Node node, final long word, final StoreCheck check)
    {
        final long offset = SlotWord.blockOffset(word);
        final int length = SizeClasses.lengthBytes(SlotWord.sizeClass(word));
        if (node == null || !node.isInside(offset, length))
        {
            check.problem(SlotWord.toString(word) + " names memory outside of a chunk");
            return;
        }
        final int chunk = node.view.index(offset);
        final int state = node.view.state(chunk);
        if (state != ChunkDescriptor.STATE_BLOCKS && state != ChunkDescriptor.STATE_ORPHAN)
        {
            check.problem(SlotWord.toString(word) + " names memory in chunk " + chunk + " of node " +
                node.space.memoryNodeId + ", which is " + ChunkDescriptor.stateName(state));
        }
        final int first = node.granule(offset);
        if (node.named.get(first, first + length / GRANULE_BYTES).cardinality() > 0)
        {
            check.problem(SlotWord.toString(word) + " names memory that another word names");
        }
        node.named.set(first, first + length / GRANULE_BYTES);
        node.space.namedBytes += length;
        node.space.namedInOrphansBytes += state == ChunkDescriptor.STATE_ORPHAN ? length : 0;
    }

    private static void noteHeld(final Node node, final HeldStretch stretch, final StoreCheck check)
    {
        if (node == null || !node.isInside(stretch.offset(), stretch.lengthBytes()))
        {
            check.problem(stretch + " is outside of a chunk");
            return;
        }
        final int first = node.granule(stretch.offset());
        final int end = first + (int)(stretch.lengthBytes() / GRANULE_BYTES);
        final int state = node.view.state(node.view.index(stretch.offset()));
        if (state != ChunkDescriptor.STATE_BLOCKS)
        {
            check.problem(stretch + " lies in a chunk that is " + ChunkDescriptor.stateName(state));
        }
        // An operation under way may have published its block already.
        if (node.heldGranules.get(first, end).cardinality() > 0 ||
            stretch.kind() != HeldConsumer.IN_FLIGHT && node.named.get(first, end).cardinality() > 0)
        {
            check.problem(stretch + " is in two hands");
        }
        node.heldGranules.set(first, end);
        switch (stretch.kind())
        {
            case HeldConsumer.QUARANTINED -> node.space.quarantinedBytes += stretch.lengthBytes();
            case HeldConsumer.IN_FLIGHT -> node.space.inFlightBytes += stretch.lengthBytes();
            default -> node.space.heldFreeBytes += stretch.lengthBytes();
        }
    }

    private static void sum(final Node node, final StoreCheck check)
    {
        final SpaceReport space = node.space;
        final int length = node.view.chunkLengthBytes();
        final int granules = length / GRANULE_BYTES;
        node.heldGranules.or(node.named);
        for (int i = 0; i < node.view.chunkCount(); i++)
        {
            switch (node.view.state(i))
            {
                case ChunkDescriptor.STATE_BLOCKS ->
                {
                    space.leasedBytes += length;
                    final int taken = node.heldGranules.get(i * granules, (i + 1) * granules).cardinality();
                    space.lostBytes += (long)(granules - taken) * GRANULE_BYTES;
                }
                case ChunkDescriptor.STATE_INDEX ->
                {
                    space.indexBytes += length;
                    space.unnamedIndexBytes += node.indexChunks.contains(i) ? 0 : length;
                }
                case ChunkDescriptor.STATE_ORPHAN -> space.orphanBytes += length;
                default -> space.freeChunkBytes += length;
            }
        }
    }
}
