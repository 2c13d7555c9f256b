package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.raas.OneSidedPort;
import io.verbena.table.check.CheckedStore;
import io.verbena.table.check.CopyChecker;
import io.verbena.table.check.CopyDifference;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.TableDescriptor;
import io.verbena.table.mirror.MirrorPort;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.TableRequest;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/** What a comparison of copies says when words and blocks of one of them are changed. */
class CopyCheckerTest
{
    private static final int NODE = 3;
    private static final int TABLE_AT = 4096;
    private static final int CHUNK_AT = 1 << 16;
    private static final int MEMORY_BYTES = 1 << 17;
    private static final long NEVER_NS = Long.MAX_VALUE / 2;
    private static final int HEADER_AT = TABLE_AT + SubtableDescriptor.GROUPS_OFFSET;
    private final StepFabric fabric = new StepFabric(1);
    private final List<StepFabric.StepPort> ports = new ArrayList<>();
    private int copies;
    private TableEngine engine;
    private MirrorPort mirror;
    private OpenTable table;
    private TableDescriptor descriptor;
    /** Runs before the second look at words. */
    private Runnable meanwhile;
    private boolean isLive;

    private final class Store implements FabricCopies
    {
        @Override
        public boolean isLive()
        {
            return isLive;
        }

        @Override
        public boolean awaitOthers()
        {
            if (meanwhile != null)
            {
                meanwhile.run();
            }
            return isLive;
        }

        @Override
        public StepFabric fabric()
        {
            return fabric;
        }

        @Override
        public int copies()
        {
            return copies;
        }

        @Override
        public List<TableDescriptor> tables()
        {
            return List.of(descriptor);
        }
    }

    private void open(final int count)
    {
        copies = count;
        fabric.inOrder = true;
        for (int id = 1; id <= count; id++)
        {
            new PreparedSubtables(fabric.addMemory(id, MEMORY_BYTES), 42).format(TABLE_AT, 0, 0, SlotWord.EMPTY);
            ports.add(fabric.connect(id, (cookie, status) -> mirror.onMemberComplete(cookie, status)));
        }
        engine = TableEngine.open(new LocalDomain(), LocalDomain.attributes(false), () -> 1,
            new TableEngineConfiguration().operationSlots(1).writerNumber(1).operationListener(op -> { })
                .locationCacheEntries(0).chunkSource(node -> { }));
        mirror = new MirrorPort(
            new LocalDomain(), 1, ports.toArray(new OneSidedPort[0]), engine::onBatchComplete);
        engine.attach(NODE, mirror);
        engine.chunkLeased(NODE, CHUNK_AT, 1 << 14);
        final TablePlan plan = TablePlan.ofShape("mirror", 7, 42, 0, 1, new int[]{NODE});
        plan.place(NODE, TABLE_AT);
        descriptor = plan.descriptor();
        table = engine.openTable(descriptor);
        put();
    }

    private void put()
    {
        final MemorySegment key = new PreparedSubtables(null, 42).keyOf(0, 0, 0);
        engine.begin(new TableRequest().of(OperationKind.PUT, table, NEVER_NS, 1).key(key, 0, 8)
            .value(MemorySegment.ofArray(new byte[16]), 0, 16));
        while (engine.active() > 0)
        {
            fabric.step();
            mirror.poll();
            engine.poll();
        }
    }

    @AfterEach
    void tearDown()
    {
        ports.forEach(port -> port.fail(false));
        mirror.close();
        engine.detach(NODE);
        engine.close();
        fabric.close();
    }

    private List<CopyDifference> differences()
    {
        final CheckedStore store = new Store();
        return new CopyChecker(store).check(descriptor).differences();
    }

    private long word(final int copy, final int offset)
    {
        return fabric.memory(copy + 1).getLong(offset, LITTLE_ENDIAN);
    }

    private void change(final int copy, final int offset, final LongUnaryOperator change)
    {
        fabric.memory(copy + 1).putLong(offset, change.applyAsLong(word(copy, offset)), LITTLE_ENDIAN);
    }

    private int slot(final boolean isTaken)
    {
        for (int slot = 0; slot < BucketDescriptor.SLOTS_PER_GROUP; slot++)
        {
            if (SlotWord.isCommitted(word(0, (int)EnteringRun.slotAt(slot))) == isTaken)
            {
                return (int)EnteringRun.slotAt(slot);
            }
        }
        throw new AssertionError("no such slot");
    }

    private void assertOne(final int copy, final CopyDifference.Kind kind, final boolean isLeft)
    {
        assertThat(differences()).singleElement().satisfies(found ->
        {
            assertThat(found.copy()).isEqualTo(copy);
            assertThat(found.kind()).isEqualTo(kind);
            assertThat(found.isLeft()).as("%s", found).isEqualTo(isLeft);
            assertThat(found.toString()).contains("copy " + (copy + 1) + " of " + copies, "table mirror");
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void shouldFindNothingWhereCopiesAreEqual(final int count)
    {
        open(Math.max(2, count));
        copies = count;
        assertThat(differences()).isEmpty();
    }

    /** Table, depth, seed: what never changes. */
    @ParameterizedTest
    @CsvSource({"2, 0, 8", "3, 1, 24", "3, 0, 0"})
    void shouldFindHeaderLines(final int count, final int copy, final int at)
    {
        open(count);
        change(copy, TABLE_AT + at, word -> word ^ 0x100);
        assertOne(copy, CopyDifference.Kind.HEADER, false);
    }

    @ParameterizedTest
    @CsvSource({"2, 0", "3, 0", "3, 1"})
    void shouldFindBlocks(final int count, final int copy)
    {
        open(count);
        final int block = (int)SlotWord.blockOffset(word(copy, slot(true)));
        change(copy, block + BlockDescriptor.KEY_OFFSET, word -> word ^ 1);
        assertOne(copy, CopyDifference.Kind.BLOCK, false);
    }

    /** Where the record should be another word stands, or none. */
    @ParameterizedTest
    @CsvSource({"2, 0", "3, 0", "3, 1"})
    void shouldFindSlotsThatNobodyProposed(final int count, final int copy)
    {
        open(count);
        final int slot = slot(true);
        final long counting = word(copy, slot);
        for (final long wrong : new long[]{SlotWord.EMPTY, SlotWord.emptied(1, 9), SlotWord.UNINITIALISED,
            SlotWord.committed(1, 0, 1, 0, CHUNK_AT + (1 << 15)), SlotWord.RESERVED,
            SlotWord.withKind(SlotWord.committed(1, 0, 1, 0, CHUNK_AT + 4096), SlotWord.KIND_TENTATIVE)})
        {
            change(copy, slot, word -> wrong);
            assertOne(copy, CopyDifference.Kind.SLOT, false);
        }
        change(copy, slot, word -> counting);
        assertThat(differences()).isEmpty();
    }

    /** A copy that missed an update has an older record; one that is ahead has a later one. */
    @ParameterizedTest
    @CsvSource({"2, 0", "3, 0", "3, 1"})
    void shouldTellAnOlderRecordFromALaterOne(final int count, final int copy)
    {
        open(count);
        final int slot = slot(true);
        final long older = word(copy, slot);
        put();
        final long later = word(copy, slot);
        assertThat(later).isNotEqualTo(older);
        change(copy, slot, word -> older);
        assertOne(copy, CopyDifference.Kind.SLOT, false);
        for (int id = 0; id < count; id++)
        {
            final long word = id == copy ? later : older;
            change(id, slot, was -> word);
        }
        assertOne(copy, CopyDifference.Kind.SLOT, true);
    }

    /** Claims stand at the head only; the mark of a delete names the block of its record. */
    @Test
    void shouldTellClaimsAndMarks()
    {
        open(3);
        final long claim = SlotWord.withKind(
            SlotWord.committed(17, 0, 3, 0, CHUNK_AT + 8192), SlotWord.KIND_TENTATIVE);
        final int empty = slot(false);
        final long before = word(0, empty);
        change(0, empty, word -> claim);
        assertOne(0, CopyDifference.Kind.SLOT, true);
        change(0, empty, word -> before);
        change(1, empty, word -> claim);
        assertOne(1, CopyDifference.Kind.SLOT, false);
        change(1, empty, word -> before);
        final int slot = slot(true);
        final long record = word(1, slot);
        change(1, slot, word -> SlotWord.tombstone(1, record));
        assertOne(1, CopyDifference.Kind.SLOT, true);
        change(1, slot, word -> SlotWord.frozen(record));
        assertOne(1, CopyDifference.Kind.SLOT, true);
    }

    @Test
    void shouldFindLinks()
    {
        open(2);
        final int link = TABLE_AT + SubtableDescriptor.SPLIT_OFFSET;
        change(0, link, word -> SplitLink.of(8192, 16384));
        assertOne(0, CopyDifference.Kind.LINK, true);
        change(0, link, word -> MergeLink.withdrawn(SlotWord.emptied(1, 1)));
        assertOne(0, CopyDifference.Kind.LINK, true);
        change(0, link, word -> 7);
        assertOne(0, CopyDifference.Kind.LINK, false);
        change(0, link, word -> 0);
        change(0, TABLE_AT + SubtableDescriptor.PREDECESSOR_OFFSET, word -> 8192);
        assertOne(0, CopyDifference.Kind.PREDECESSOR, false);
        change(1, TABLE_AT + SubtableDescriptor.PREDECESSOR_OFFSET, word -> 8192);
        change(0, TABLE_AT + SubtableDescriptor.PREDECESSOR_OFFSET, word -> 0);
        assertOne(0, CopyDifference.Kind.PREDECESSOR, true);
        change(1, TABLE_AT + SubtableDescriptor.PREDECESSOR_OFFSET, word -> 0);
        change(0, HEADER_AT, word -> SplitLink.of(8192, 16384));
        assertOne(0, CopyDifference.Kind.BUCKET, true);
        change(0, HEADER_AT, word -> word ^ 1L << 40);
        change(0, HEADER_AT, word -> word(1, HEADER_AT) ^ 1L << 40);
        assertOne(0, CopyDifference.Kind.BUCKET, false);
    }

    /** A word that is written next is none that nobody finishes. */
    @Test
    void shouldLeaveOutWhatChangesMeanwhile()
    {
        open(2);
        isLive = true;
        final int slot = slot(true);
        final long record = word(0, slot);
        change(0, slot, word -> SlotWord.EMPTY);
        assertOne(0, CopyDifference.Kind.SLOT, false);
        meanwhile = () -> change(0, slot, word -> record);
        assertThat(differences()).isEmpty();
    }
}
