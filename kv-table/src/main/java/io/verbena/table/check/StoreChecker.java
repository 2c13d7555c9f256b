package io.verbena.table.check;

import io.verbena.table.allocation.HeldRange;
import io.verbena.table.directory.Subtable;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.FormatException;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SizeClasses;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.SuperblockDescriptor;
import io.verbena.table.format.TableDescriptor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.agrona.collections.Int2ObjectHashMap;
import org.agrona.concurrent.UnsafeBuffer;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * Checks all tables of a store and the memory they live in: each {@link TableChecker table} for itself, and that each
 * byte of a chunk leased for blocks has exactly one owner: one committed word that names it, or one node that holds it.
 * A doubly owned byte will be overwritten while it is used; one without an owner is lost until the chunk is swept.
 *
 * <p>Beside writers, all words of a memory node are read while the store holds, and its chunk headers after them: then
 * no block has two words unless it had them at one instant, and no chunk can have changed its state under a word. A
 * block lies on the node of its words, so the nodes are held one after the other. Where writers would have to
 * wait for it, it begins anew, and after {@link #MOST_HOLDS} times says that it could not judge that node. What nodes
 * hold is not known of a live store, and nothing is reported lost.
 */
public final class StoreChecker
{
    private static final int MAX_LEFTOVERS = 100_000;
    private static final int MAX_HEADER_LOOKS = 1_000;
    /** How often the words of a memory node are begun to be read, before they are not judged. */
    public static final int MOST_HOLDS = 3;

    /** A subtable that a descriptor names, or a link. */
    private record IndexPart(TableDescriptor table, Subtable subtable)
    {
    }

    /** Hears how far a check is, on its thread. */
    @FunctionalInterface
    public interface Listener
    {
        /**
         * Some slots were checked.
         *
         * @param fraction that is done of all, 0 to 1; it never goes back.
         * @param slots    read so far: each is read twice, first its word and then its block.
         */
        void onProgress(double fraction, long slots);
    }

    private final CheckedStore store;
    private final List<HeldRange> held;
    private final Int2ObjectHashMap<CheckedNode> nodes = new Int2ObjectHashMap<>();
    private StoreCheck check;
    private List<TableDescriptor> tables = List.of();
    private int onlyNodeId;
    private String onlyTable;
    private Listener listener = (fraction, slots) ->
    {
    };
    private long readGroups;
    private long leastReadGroups;

    /**
     * @param reader of the memory nodes.
     * @param tables all there are; nobody changes them, nor memory.
     * @param held   what all living nodes hold; memory of others counts as lost.
     */
    public StoreChecker(final RegionReader reader, final List<TableDescriptor> tables, final List<HeldRange> held)
    {
        store = CheckedStore.atRest(reader, tables);
        this.held = List.copyOf(held);
    }

    /** @param store to check. */
    public StoreChecker(final CheckedStore store)
    {
        this.store = store;
        held = List.of();
    }

    /**
     * Leaves out the blocks of other tables; where they are is looked at all the same.
     *
     * @param tableName of the one table.
     * @return this.
     */
    public StoreChecker only(final String tableName)
    {
        onlyTable = tableName;
        return this;
    }

    /**
     * Sets who hears how far it is; nobody does otherwise.
     *
     * @param hears called often.
     * @return this.
     */
    public StoreChecker listener(final Listener hears)
    {
        listener = hears;
        return this;
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

    /**
     * Checks.
     *
     * @param memoryNodeIds all there are; groups are checked too.
     * @return what was found.
     */
    public StoreCheck check(final List<Integer> memoryNodeIds)
    {
        check = new StoreCheck();
        nodes.clear();
        memoryNodeIds.forEach(this::readSuperblock);
        if (0 == onlyNodeId)
        {
            store.groupIds().forEach(this::readSuperblock);
        }
        readGroups = 0;
        leastReadGroups = 0;
        store.tables().forEach((table) ->
            leastReadGroups += groups(table) * (onlyTable == null || onlyTable.equals(table.name()) ? 2 : 1));
        checkWords();
        for (final TableDescriptor table : tables)
        {
            if (onlyTable != null && !onlyTable.equals(table.name()))
            {
                continue;
            }
            check.tables().put(table.name(), new TableChecker(table, store)
                .forStore(onlyNodeId, this::regionLengthBytes, this::onGroups)
                .check());
            compareCopies(table);
        }
        for (final HeldRange range : held)
        {
            noteHeld(nodes.get(range.memoryNodeId()), range);
        }
        nodes.values().forEach((node) -> node.sum(!store.isLive()));
        nodes.values().forEach(this::listQuarantined);
        keepLeftovers();
        return check;
    }

    private void compareCopies(final TableDescriptor table)
    {
        final CopyCheck found = new CopyChecker(store, this::regionLengthBytes).check(table, onlyNodeId);
        check.differences().addAll(found.differences());
        check.unjudged().addAll(found.unjudged());
        found.differences().stream().filter((difference) -> !difference.isLeft())
            .forEach((difference) -> check.problem(difference.toString()));
    }

    private void listQuarantined(final CheckedNode node)
    {
        node.space().quarantinedChunks.stream().forEach((chunk) -> check.quarantined().add(String.format(Locale.ROOT,
            "memory node %d: chunk %d, %,d bytes at 0x%x: its header was damaged; its records are served, and its " +
            "memory is not used again", node.id(), chunk, node.view().chunkLengthBytes(), node.view().offset(chunk))));
    }

    private static long groups(final TableDescriptor table)
    {
        return (long)table.subtableCount() * table.groupCount();
    }

    private void onGroups(final int groups)
    {
        readGroups += groups;
        // What has to be read again adds to both, as what is split meanwhile does.
        leastReadGroups = Math.max(leastReadGroups, readGroups);
        listener.onProgress((double)readGroups / leastReadGroups, readGroups * BucketDescriptor.SLOTS_PER_GROUP);
    }

    private long regionLengthBytes(final int memoryNodeId)
    {
        return nodes.containsKey(memoryNodeId) ? nodes.get(memoryNodeId).regionLengthBytes() : 0;
    }

    private void readSuperblock(final int memoryNodeId)
    {
        try (Arena arena = Arena.ofConfined())
        {
            final MemorySegment page = arena.allocate(SuperblockDescriptor.READ_BYTES, 64);
            store.read(memoryNodeId, 0, new UnsafeBuffer(page.address(), (int)page.byteSize()),
                SuperblockDescriptor.READ_BYTES);
            final CheckedNode node = new CheckedNode(memoryNodeId, SuperblockDescriptor.read(page));
            nodes.put(memoryNodeId, node);
            check.spaces().add(node.space());
        }
        catch (final FormatException ex)
        {
            check.problem("memory node " + memoryNodeId + ": " + ex.getMessage());
        }
    }

    private void checkWords()
    {
        for (final int memoryNodeId : nodes.keySet().stream().sorted().toList())
        {
            int holds = 1;
            while (!checkWords(memoryNodeId, true))
            {
                // What was held is free again before the next time.
                if (!store.awaitOthers() || ++holds > MOST_HOLDS)
                {
                    checkWords(memoryNodeId, false);
                    check.unjudged().add("memory node " + memoryNodeId + ": whether each block has one word, and" +
                        " undecided inserts: reading all words takes longer than writers can wait; check it when they" +
                        " write less");
                    break;
                }
            }
        }
        tables = store.tables();
        tables.forEach(this::refuseUnknownNodes);
    }

    /**
     * Words and links of one memory node first, its chunk headers after them, and nothing is used again between: what a
     * link leads to was leased before the link was made, so a header that is read later shows it as an index.
     *
     * @param readsWords whether to judge more than headers and indexes.
     * @return false when writers would have had to wait: nothing is noted then.
     */
    private boolean checkWords(final int memoryNodeId, final boolean readsWords)
    {
        final CheckedNode node = nodes.get(memoryNodeId).afresh();
        check.spaces().set(check.spaces().indexOf(nodes.put(memoryNodeId, node).space()), node.space());
        final int problemsBefore = check.problems().size();
        final int leftoversBefore = check.leftovers().size();
        store.hold();
        try (Arena arena = Arena.ofConfined())
        {
            final List<TableDescriptor> held = store.tables();
            if (readsWords && !noteWords(node, held, arena))
            {
                check.problems().subList(problemsBefore, check.problems().size()).clear();
                check.leftovers().subList(leftoversBefore, check.leftovers().size()).clear();
                nodes.put(memoryNodeId, node.afresh());
                check.spaces().set(check.spaces().indexOf(node.space()), nodes.get(memoryNodeId).space());
                return false;
            }
            final UnsafeBuffer header = new UnsafeBuffer(
                arena.allocate(ChunkDescriptor.HEADER_BYTES, 64).address(), ChunkDescriptor.HEADER_BYTES);
            final List<IndexPart> index = new ArrayList<>();
            held.forEach((table) -> collectIndex(node, table, header, index));
            final List<Long> elsewhere = new ArrayList<>();
            index.forEach((part) -> collectElsewhere(node, part, header, elsewhere));
            readHeaders(node, header);
            index.forEach((part) -> node.noteIndex(part.subtable.offset(),
                "subtable " + part.subtable.suffix() + " of table " + part.table.name(), check));
            elsewhere.forEach(node::noteIndexElsewhere);
            node.checkStates(check);
            return true;
        }
        finally
        {
            store.release();
        }
    }

    /** @return false when it had to be given up. */
    private boolean noteWords(final CheckedNode node, final List<TableDescriptor> held, final Arena arena)
    {
        final TableWords words = new TableWords(store, arena, this::regionLengthBytes);
        for (int copy = 0; copy < store.copyCount(node.id()) - 1; copy++)
        {
            // Before the primary, as words go.
            final int of = copy;
            final TableWords elsewhere = new TableWords((id, offset, target, lengthBytes) ->
                store.readCopy(id, of, offset, target, lengthBytes), arena, this::regionLengthBytes);
            if (!noteWords(node, held, elsewhere, false))
            {
                return false;
            }
        }
        return noteWords(node, held, words, true);
    }

    private boolean noteWords(
        final CheckedNode node, final List<TableDescriptor> held, final TableWords words, final boolean isPrimary)
    {
        for (final TableDescriptor table : held)
        {
            for (final Subtable subtable : Subtable.of(table))
            {
                if (subtable.memoryNodeId() == node.id() && !noteWords(node, table, subtable, words, isPrimary))
                {
                    return false;
                }
            }
        }
        return true;
    }

    private boolean noteWords(
        final CheckedNode node,
        final TableDescriptor table,
        final Subtable subtable,
        final TableWords words,
        final boolean isPrimary)
    {
        final TableWords.Sink sink = new TableWords.Sink()
        {
            @Override
            public void onWord(final TableWords.Slot slot, final long word)
            {
                if (SlotWord.isCommitted(word) && !isPrimary)
                {
                    node.noteNamedElsewhere(word);
                }
                else if (SlotWord.isCommitted(word))
                {
                    node.noteNamed(word, check);
                }
                else if (isPrimary && SlotWord.isTentative(word) && check.leftovers().size() < MAX_LEFTOVERS)
                {
                    check.leftovers().add(new StoreCheck.Leftover(node.id(), table.name(), slot.offset(), word));
                }
            }

            @Override
            public void onWrongBucket(final Subtable wrong, final int group, final int bucket)
            {
                // reported by the check of the table
            }
        };
        for (int group = 0; group < table.groupCount(); group += TableWords.pieceLength(table, group))
        {
            if (!store.mayHoldOn())
            {
                return false;
            }
            words.forEach(table, subtable, group, sink);
            onGroups(TableWords.pieceLength(table, group));
        }
        return true;
    }

    private void readHeaders(final CheckedNode node, final UnsafeBuffer header)
    {
        for (int i = 0; i < node.view().chunkCount(); i++)
        {
            int looks = 0;
            do
            {
                store.read(node.id(), node.headerOffset(i), header, ChunkDescriptor.HEADER_BYTES);
            }
            while (!node.view().read(i, header, 0) && store.isLive() && ++looks < MAX_HEADER_LOOKS);
            if (!store.hasChunksOf(node.id(), node.view().group(i)))
            {
                node.noteOthers(i);
            }
            try
            {
                ChunkDescriptor.check(header, 0);
            }
            catch (final FormatException ex)
            {
                check.problem("memory node " + node.id() + ": chunk " + i + ": " + ex.getMessage());
            }
        }
    }

    private void collectIndex(
        final CheckedNode node, final TableDescriptor table, final UnsafeBuffer header, final List<IndexPart> index)
    {
        for (final Subtable subtable : Subtable.of(table))
        {
            if (subtable.memoryNodeId() == node.id())
            {
                collectIndex(node, new IndexPart(table, subtable), header, index);
            }
        }
    }

    /** What a link leads to that another copy has, and the primary has not: it may be committed still. */
    private void collectElsewhere(
        final CheckedNode node, final IndexPart part, final UnsafeBuffer header, final List<Long> elsewhere)
    {
        for (int copy = 0; copy < store.copyCount(node.id()) - 1 &&
            part.subtable.isWithin(node.regionLengthBytes(), part.table.groupCount()); copy++)
        {
            store.readCopy(node.id(), copy, part.subtable.offset(), header, SubtableDescriptor.HEADER_BYTES);
            final long link = SubtableDescriptor.split(header, 0);
            if (MergeLink.isLink(link))
            {
                elsewhere.add(MergeLink.merged(link));
            }
            else if (link != SplitLink.NONE)
            {
                elsewhere.add(SplitLink.offset(link, 0));
                elsewhere.add(SplitLink.offset(link, 1));
            }
        }
    }

    private void refuseUnknownNodes(final TableDescriptor table)
    {
        for (final Subtable subtable : Subtable.of(table))
        {
            if (!nodes.containsKey(subtable.memoryNodeId()) &&
                (0 == onlyNodeId || onlyNodeId == subtable.memoryNodeId()))
            {
                check.problem(
                    "subtable " + subtable.suffix() + " of table " + table.name() + " is at an unknown memory node");
            }
        }
    }

    /** One that is split goes back when the table's descriptor does not name it any more. */
    private void collectIndex(
        final CheckedNode node, final IndexPart part, final UnsafeBuffer header, final List<IndexPart> index)
    {
        index.add(part);
        if (!part.subtable.isWithin(node.regionLengthBytes(), part.table.groupCount()))
        {
            return;
        }
        store.read(node.id(), part.subtable.offset(), header, SubtableDescriptor.HEADER_BYTES);
        final long link = SubtableDescriptor.split(header, 0);
        if (MergeLink.isLink(link))
        {
            // Named by both that are merged, taken once; proposed or decided, its memory is taken.
            if (part.subtable.depth() > 0 && part.subtable.side() == 0)
            {
                collectIndex(node, new IndexPart(part.table, part.subtable.merged(link)), header, index);
            }
            return;
        }
        for (int side = 0; side < 2 && link != SplitLink.NONE && part.subtable.depth() < BucketDescriptor.MAX_DEPTH;
            side++)
        {
            collectIndex(node, new IndexPart(part.table, part.subtable.child(link, side)), header, index);
        }
    }

    private void noteHeld(final CheckedNode node, final HeldRange range)
    {
        if (node == null)
        {
            check.problem(range + " is outside of a chunk");
            return;
        }
        node.noteHeld(range, check);
    }

    /** An undecided insert that outlives everything begun before it was seen has nobody who will decide it. */
    private void keepLeftovers()
    {
        if (check.leftovers().isEmpty() || !store.isLive())
        {
            return;
        }
        if (!store.awaitOthers())
        {
            check.leftovers().clear();
            check.unjudged().add("whether undecided inserts were left by dead nodes: operations did not end in time");
            return;
        }
        try (Arena arena = Arena.ofConfined())
        {
            final UnsafeBuffer word = new UnsafeBuffer(arena.allocate(Long.BYTES, Long.BYTES).address(), Long.BYTES);
            final List<StoreCheck.Leftover> left = new ArrayList<>();
            for (final StoreCheck.Leftover leftover : check.leftovers())
            {
                store.read(leftover.memoryNodeId(), leftover.slotOffset(), word, Long.BYTES);
                if (word.getLong(0, LITTLE_ENDIAN) == leftover.word())
                {
                    left.add(leftover);
                }
            }
            check.leftovers().clear();
            check.leftovers().addAll(left);
        }
    }
}
