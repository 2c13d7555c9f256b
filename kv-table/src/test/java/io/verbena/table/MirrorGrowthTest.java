package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.raas.OneSidedPort;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.growth.SubtableWork;
import io.verbena.table.growth.TableMerge;
import io.verbena.table.growth.TableSplit;
import io.verbena.table.mirror.MirrorPort;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.TableRequest;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/** Links that another node has decided at the head, as one engine finds them in a table with two copies. */
class MirrorGrowthTest
{
    private static final int NODE = 3;
    private static final int TABLE_AT = 4096;
    private static final int CHILDREN_AT = 8192;
    /** Where the low bits of a link seem to name a block. */
    private static final int BLOCK_AT = 1 << 15;
    private static final int CHUNK_AT = 1 << 16;
    private static final int MEMORY_BYTES = 1 << 17;
    private static final int MOST_STEPS = 100_000;
    private static final long NEVER_NS = Long.MAX_VALUE / 2;
    private final StepFabric fabric = new StepFabric(1);
    private final List<StepFabric.StepPort> ports = new ArrayList<>();
    private TableEngine engine;
    private MirrorPort mirror;
    private OpenTable table;

    @BeforeEach
    void setUp()
    {
        fabric.inOrder = true;
        for (int id = 1; id <= 2; id++)
        {
            final UnsafeBuffer memory = fabric.addMemory(id, MEMORY_BYTES);
            new PreparedSubtables(memory, 42).format(TABLE_AT, 0, 0, SlotWord.EMPTY);
            memory.setMemory(BLOCK_AT, CHUNK_AT - BLOCK_AT, (byte)id);
            ports.add(fabric.connect(id, (cookie, status) -> mirror.onMemberComplete(cookie, status)));
        }
        final TablePlan plan = TablePlan.ofShape("mirror", 7, 42, 0, 1, new int[]{NODE});
        plan.place(NODE, TABLE_AT);
        engine = TableEngine.open(new LocalDomain(), LocalDomain.attributes(false), () -> 1,
            new TableEngineConfiguration().operationSlots(1).writerNumber(1).operationListener(op -> { })
                .chunkSource(node -> { }));
        mirror = new MirrorPort(
            new LocalDomain(), 1, ports.toArray(new OneSidedPort[0]), engine::onBatchComplete);
        engine.attach(NODE, mirror);
        engine.chunkLeased(NODE, CHUNK_AT, 1 << 14);
        table = engine.openTable(plan.descriptor());
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

    private void step()
    {
        fabric.step();
        mirror.poll();
        engine.poll();
    }

    private long primaryWord(final long offset)
    {
        return fabric.memory(2).getLong((int)offset, LITTLE_ENDIAN);
    }

    /** An insert that sees at the head that its bucket has a link finishes the round of that link, as one of a link. */
    @Test
    void shouldSettleAHeaderAsALink()
    {
        final int header = TABLE_AT + SubtableDescriptor.GROUPS_OFFSET;
        final long link = SplitLink.of(BLOCK_AT / 4, 32L << 30);
        fabric.memory(1).putLong(header, link, LITTLE_ENDIAN);
        final MemorySegment key = new PreparedSubtables(null, 42).keyOf(0, 0, 0);
        engine.begin(new TableRequest().of(OperationKind.PUT, table, NEVER_NS, 1).key(key, 0, 8)
            .value(MemorySegment.ofArray(new byte[16]), 0, 16));
        for (int i = 0; i < MOST_STEPS && primaryWord(header) != link; i++)
        {
            step();
        }
        assertThat(primaryWord(header)).isEqualTo(link);
        for (int at = BLOCK_AT; at < CHUNK_AT; at += Long.BYTES)
        {
            assertThat(fabric.memory(2).getByte(at)).as("byte %d of the primary", at).isEqualTo((byte)2);
        }
    }

    /**
     * Another node has decided that the second subtable has no predecessor any more, so that its round takes longer
     * than those that follow: they wait.
     */
    @Test
    void shouldEndASplitInOrder()
    {
        final long second = CHILDREN_AT + SubtableDescriptor.lengthBytes(1);
        final TableSplit split = engine.growth().begin(table, 0, CHILDREN_AT, second, NEVER_NS);
        while (!split.toString().contains("phase=FINISH"))
        {
            step();
        }
        fabric.memory(1).putLong((int)second + SubtableDescriptor.PREDECESSOR_OFFSET, 0, LITTLE_ENDIAN);
        for (int i = 0; i < MOST_STEPS && !split.isFinished(); i++)
        {
            final boolean isSecondWhole = primaryWord(second + SubtableDescriptor.PREDECESSOR_OFFSET) == 0;
            final boolean isFirstWhole = primaryWord(CHILDREN_AT + SubtableDescriptor.PREDECESSOR_OFFSET) == 0;
            final long link = primaryWord(TABLE_AT + SubtableDescriptor.SPLIT_OFFSET);
            assertThat(!isFirstWhole || isSecondWhole).as("the second one is whole before the first").isTrue();
            assertThat(!SplitLink.isComplete(link) || isFirstWhole).as("both are before the split says so").isTrue();
            step();
        }
        assertThat(split.state()).isEqualTo(TableSplit.State.DONE);
        assertThat(SplitLink.isComplete(primaryWord(TABLE_AT + SubtableDescriptor.SPLIT_OFFSET))).isTrue();
    }

    private void withdrawProposal(final long subtable)
    {
        for (int id = 1; id <= 2; id++)
        {
            fabric.memory(id).putLong((int)subtable + SubtableDescriptor.SPLIT_OFFSET,
                MergeLink.withdrawn(SlotWord.emptied(2, 5)), LITTLE_ENDIAN);
        }
    }

    private void run(final SubtableWork work, final String until)
    {
        for (int i = 0; i < MOST_STEPS && !work.isFinished() && !work.toString().contains(until); i++)
        {
            step();
        }
        assertThat(work.toString()).contains(until);
    }

    /** A proposal to merge them comes and goes, before a split or a merge reads the line or behind that. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldSplitAndMergeWhereProposalsWereTakenBack(final boolean isLate)
    {
        final long second = CHILDREN_AT + SubtableDescriptor.lengthBytes(1);
        final long merged = second + SubtableDescriptor.lengthBytes(1);
        if (!isLate)
        {
            withdrawProposal(TABLE_AT);
        }
        final TableSplit split = engine.growth().begin(table, 0, CHILDREN_AT, second, NEVER_NS);
        run(split, "phase=LINK");
        withdrawProposal(TABLE_AT);
        run(split, "state=DONE");
        assertThat(split.usesGivenMemory()).isTrue();
        if (!isLate)
        {
            withdrawProposal(CHILDREN_AT);
        }
        final TableMerge merge = engine.growth().beginMerge(table, 0, merged, NEVER_NS);
        run(merge, "phase=PROPOSE");
        withdrawProposal(CHILDREN_AT);
        run(merge, "state=DONE");
        assertThat(merge.usesGivenMemory()).isTrue();
        assertThat(primaryWord(CHILDREN_AT + SubtableDescriptor.SPLIT_OFFSET)).isEqualTo(MergeLink.of(merged, second));
    }
}
