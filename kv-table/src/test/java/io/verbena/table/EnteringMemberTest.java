package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.raas.OneSidedPort;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.Subtable;
import io.verbena.table.directory.TableCreator;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.growth.SubtableWork;
import io.verbena.table.growth.TableMerge;
import io.verbena.table.growth.TableSplit;
import io.verbena.table.mirror.LastMemberPort;
import io.verbena.table.mirror.MirrorPort;
import io.verbena.table.mirror.SlotReconciliation;
import io.verbena.table.mirror.SubtableReconciliation;
import java.util.List;
import java.util.stream.IntStream;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/** What is formatted when a memory node comes in, and named by nothing yet, is formatted there, too. */
class EnteringMemberTest
{
    private static final int NODE = 3;
    private static final int OTHER_NODE = 4;
    private static final int UNUSED_NODE = 5;
    private static final int MEMBER = 1;
    private static final int ENTERING = 2;
    private static final int TABLE_AT = 4096;
    /** More than go with one WRITE of a split. */
    private static final int GROUPS = 70;
    private static final int SUBTABLE_BYTES = (int)SubtableDescriptor.lengthBytes(GROUPS);
    private static final int FIRST_AT = TABLE_AT + SUBTABLE_BYTES;
    private static final int SECOND_AT = FIRST_AT + SUBTABLE_BYTES;
    private static final int MERGED_AT = SECOND_AT + SUBTABLE_BYTES;
    private static final int MEMORY_BYTES = MERGED_AT + SUBTABLE_BYTES;
    private static final int MOST_STEPS = 1_000_000;
    private static final long NEVER_NS = Long.MAX_VALUE / 2;
    private final StepFabric fabric = new StepFabric(1);
    private final TablePlan plan = TablePlan.ofShape("t", 7, 42, 0, GROUPS, new int[]{NODE});
    private TableEngine engine;
    private MirrorPort mirror;
    private OpenTable table;

    @BeforeEach
    void setUp()
    {
        fabric.inOrder = true;
        fabric.tearing = false;
        for (final int id : new int[]{MEMBER, ENTERING, OTHER_NODE})
        {
            fabric.addMemory(id, MEMORY_BYTES);
        }
        engine = TableEngine.open(new LocalDomain(), LocalDomain.attributes(false), () -> 1,
            new TableEngineConfiguration().operationSlots(1).writerNumber(1).operationListener(op -> { })
                .chunkSource(node -> { }));
        engine.attach(NODE, new LastMemberPort(fabric.connect(MEMBER, engine::onBatchComplete)));
        engine.attach(OTHER_NODE, fabric.connect(OTHER_NODE, engine::onBatchComplete));
    }

    @AfterEach
    void tearDown()
    {
        if (mirror != null)
        {
            mirror.close();
        }
        engine.detach(NODE);
        engine.close();
        fabric.close();
    }

    /** Begins a batch, and completes it. */
    private void step()
    {
        engine.poll();
        do
        {
            fabric.drain();
        }
        while (mirror != null && mirror.poll() > 0);
    }

    private void createTable()
    {
        plan.place(NODE, TABLE_AT);
        final TableCreator creator = engine.createTable(plan, NEVER_NS);
        run(creator);
        table = engine.openTable(creator.descriptor());
    }

    private void run(final TableCreator creator)
    {
        for (int i = 0; i < MOST_STEPS && creator.state() == TableCreator.State.RUNNING; i++)
        {
            step();
        }
        assertThat(creator.state()).isEqualTo(TableCreator.State.DONE);
    }

    private void run(final SubtableWork work, final String until)
    {
        for (int i = 0; i < MOST_STEPS && !work.isFinished() && !work.toString().contains(until); i++)
        {
            step();
        }
        assertThat(work.toString()).contains(until);
    }

    /** Between two batches: a node with nothing but what words name. */
    private void enter(final boolean hasNewMember)
    {
        engine.detach(NODE);
        final SlotReconciliation words =
            new SlotReconciliation(List.of(copyOf(MEMBER)), new boolean[]{true}, List.of(copyOf(ENTERING)));
        final SubtableReconciliation all = new SubtableReconciliation(words,
            table == null ? List.of() : Subtable.of(table.descriptor()), GROUPS);
        while (all.goOn())
        {
            assertThat(all.subtables()).isLessThanOrEqualTo(4);
        }
        final OneSidedPort[] ports = new OneSidedPort[2];
        for (int i = 0; i < ports.length; i++)
        {
            ports[i] = fabric.connect(ENTERING - i, (cookie, status) -> mirror.onMemberComplete(cookie, status));
        }
        mirror = new MirrorPort(new LocalDomain(), 2, ports, engine::onBatchComplete);
        engine.attach(NODE, mirror, hasNewMember);
    }

    private SlotReconciliation.Copy copyOf(final int id)
    {
        return new MemoryCopy(fabric.memory(id));
    }

    private boolean isEqual(final int from, final int to)
    {
        return new UnsafeBuffer(fabric.memory(ENTERING), from, to - from)
            .equals(new UnsafeBuffer(fabric.memory(MEMBER), from, to - from));
    }

    private TableSplit split()
    {
        return engine.growth().begin(table, 0, FIRST_AT, SECOND_AT, NEVER_NS);
    }

    /** @param batches of the phase before the node comes in. */
    @ParameterizedTest
    @CsvSource({"FORMAT, 0", "FORMAT, 1", "FORMAT, 2", "FORMAT, 3", "LINK, 0", "GROUPS, 0", "GROUPS, 7", "FINISH, 0"})
    void shouldSplit(final String phase, final int batches)
    {
        createTable();
        final TableSplit split = split();
        run(split, "phase=" + phase);
        IntStream.range(0, batches).forEach(i -> step());
        assertThat(split.toString()).contains("phase=" + phase);
        enter(true);
        run(split, "state=DONE");
        assertThat(split.usesGivenMemory()).isTrue();
        assertThat(isEqual(TABLE_AT, MERGED_AT)).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"FORMAT, 0", "FORMAT, 1", "PROPOSE, 0", "DECIDE, 0", "UNIT, 0", "UNIT, 7", "FINISH, 0"})
    void shouldMerge(final String phase, final int batches)
    {
        createTable();
        run(split(), "state=DONE");
        final TableMerge merge = engine.growth().beginMerge(table, 0, MERGED_AT, NEVER_NS);
        run(merge, "phase=" + phase);
        IntStream.range(0, batches).forEach(i -> step());
        assertThat(merge.toString()).contains("phase=" + phase);
        enter(true);
        run(merge, "state=DONE");
        assertThat(merge.usesGivenMemory()).isTrue();
        assertThat(isEqual(TABLE_AT, MEMORY_BYTES)).isTrue();
    }

    /** Where no member comes in, nothing is written again, as on two members that were those of the view before. */
    @ParameterizedTest
    @CsvSource({"FORMAT, 3, false", "LINK, 0, false", "FORMAT, 3, true", "LINK, 0, true"})
    void shouldWriteAgainForWhoComesInOnly(final String phase, final int batches, final boolean hasNewMember)
    {
        createTable();
        final TableSplit split = split();
        run(split, "phase=" + phase);
        IntStream.range(0, batches).forEach(i -> step());
        final long before = split.verbs();
        enter(hasNewMember);
        run(split, "phase=GROUPS");
        assertThat(split.verbs() - before > 3).isEqualTo(hasNewMember);
        assertThat(isEqual(FIRST_AT, MERGED_AT)).isEqualTo(hasNewMember);
    }

    @Test
    void shouldGoOnAtAnotherMemoryNode()
    {
        createTable();
        final TableSplit split = split();
        run(split, "phase=LINK");
        final StepFabric.StepPort port = fabric.connect(OTHER_NODE, engine::onBatchComplete);
        engine.detach(OTHER_NODE);
        engine.attach(OTHER_NODE, port, true);
        assertThat(split.toString()).contains("phase=LINK");
        run(split, "state=DONE");
    }

    @Test
    void shouldGoOnCreatingATableElsewhere()
    {
        plan.place(NODE, TABLE_AT);
        final TableCreator creator = engine.createTable(plan, NEVER_NS);
        step();
        engine.attach(UNUSED_NODE, fabric.connect(OTHER_NODE, engine::onBatchComplete), true);
        step();
        assertThat(creator.state()).as("two batches in all").isEqualTo(TableCreator.State.DONE);
    }

    /** The first subtable is at the node, and the third; nobody has the table's descriptor yet. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 5, 7})
    void shouldCreateATable(final int batches)
    {
        final TablePlan parts = TablePlan.ofShape("t", 7, 42, 2, GROUPS, new int[]{NODE, OTHER_NODE});
        for (final int at : new int[]{FIRST_AT, SECOND_AT})
        {
            parts.place(NODE, at);
            parts.place(OTHER_NODE, at);
        }
        final TableCreator creator = engine.createTable(parts, NEVER_NS);
        IntStream.range(0, batches).forEach(i -> step());
        enter(true);
        run(creator);
        assertThat(isEqual(FIRST_AT, MERGED_AT)).isTrue();
        final UnsafeBuffer formatted = new UnsafeBuffer(fabric.memory(MEMBER), FIRST_AT, Long.BYTES);
        assertThat(formatted.getInt(0, LITTLE_ENDIAN)).isEqualTo(SubtableDescriptor.MAGIC);
    }
}
