package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.raas.OneSidedPort;
import io.verbena.rdma.verbs.VerbCounters;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.format.KeyHash;
import io.verbena.table.format.SlotWord;
import io.verbena.table.mirror.MirrorPort;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;
import io.verbena.table.operation.TableRequest;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Round trips and verbs of operations on a table with two and three copies, where nobody else is in the way, and how
 * often an insert withdraws where marks of deletes are.
 */
class MirrorBudgetTest
{
    private static final int NODE = 3;
    private static final int WRITER = 1;
    private static final int TABLE_AT = 4096;
    private static final int CHUNK_AT = 1 << 16;
    private static final long STEP_NS = 1_000;
    private static final long LONGEST_NS = 1_000_000_000;
    private static final long NEVER_NS = Long.MAX_VALUE / 2;
    private final StepFabric fabric = new StepFabric(1);
    private final List<StepFabric.StepPort> ports = new ArrayList<>();
    /** Of one pair of buckets. */
    private MemorySegment key = new PreparedSubtables(null, 42).keyOf(0, 0, 0);
    private TableEngine engine;
    private long nowNs = 1;
    private MirrorPort mirror;
    private OpenTable table;
    private int result;

    private void open(final int copies)
    {
        fabric.inOrder = true;
        final TablePlan plan = TablePlan.ofShape("mirror", 7, 42, 0, 1, new int[]{NODE});
        plan.place(NODE, TABLE_AT);
        for (int id = 1; id <= copies; id++)
        {
            final UnsafeBuffer memory = fabric.addMemory(id, 1 << 17);
            new PreparedSubtables(memory, 42).format(TABLE_AT, 0, 0, SlotWord.EMPTY);
            ports.add(fabric.connect(id, (cookie, status) -> mirror.onMemberComplete(cookie, status)));
        }
        engine = TableEngine.open(new LocalDomain(), LocalDomain.attributes(false), () -> nowNs,
            new TableEngineConfiguration().operationSlots(2).writerNumber(WRITER).locationCacheEntries(16)
                .operationListener(op -> result = op.result()).chunkSource(node -> { }));
        mirror = new MirrorPort(new LocalDomain(), 1,
            ports.toArray(new OneSidedPort[0]), engine::onBatchComplete);
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

    /** @return round trips and verbs. */
    private String run(final int kind)
    {
        final long steps = mirror.stepsPosted();
        final VerbCounters before = new VerbCounters();
        ports.forEach(port -> before.add(port.counters));
        final TableRequest request = new TableRequest().of(kind, table, NEVER_NS, 1).key(key, 0, 8).delta(1);
        if (OperationKind.takesValue(kind))
        {
            request.value(MemorySegment.ofArray(new byte[16]), 0, 16);
        }
        final long startNs = nowNs;
        engine.begin(request);
        while (engine.active() > 0)
        {
            nowNs += STEP_NS;
            assertThat(nowNs).as("time until it ends").isLessThan(startNs + LONGEST_NS);
            fabric.step();
            mirror.poll();
            engine.poll();
        }
        final VerbCounters after = new VerbCounters();
        ports.forEach(port -> after.add(port.counters));
        return mirror.stepsPosted() - steps + " trips, r" + (after.reads - before.reads) + " w" +
            (after.writes - before.writes) + " c" + (after.compareSwaps - before.compareSwaps);
    }

    private void coldCache()
    {
        engine.onEpoch(engine.passedEpoch() + 3, 0);
        engine.epochs().forgetLocations();
    }

    @ParameterizedTest
    @CsvSource({
        "2, '4 trips, r2 w2 c3', '2 trips, r0 w2 c2', '2 trips, r0 w0 c2', '4 trips, r2 w2 c2'",
        "3, '4 trips, r2 w3 c4', '2 trips, r0 w3 c3', '2 trips, r0 w0 c3', '4 trips, r2 w3 c3'"})
    void shouldTakeRoundTrips(
        final int copies, final String insert, final String update, final String delete, final String coldUpdate)
    {
        open(copies);
        assertThat(run(OperationKind.GET)).isEqualTo("1 trips, r1 w0 c0");
        assertThat(run(OperationKind.PUT)).isEqualTo(insert);
        assertThat(result).isEqualTo(OperationResult.STORED);
        assertThat(run(OperationKind.GET)).isEqualTo("1 trips, r2 w0 c0");
        assertThat(result).isEqualTo(OperationResult.FOUND);
        assertThat(run(OperationKind.PUT)).isEqualTo(update);
        assertThat(result).isEqualTo(OperationResult.STORED);
        coldCache();
        assertThat(run(OperationKind.GET)).isEqualTo("2 trips, r2 w0 c0");
        coldCache();
        assertThat(run(OperationKind.PUT)).isEqualTo(coldUpdate);
        assertThat(run(OperationKind.PUT_IF_ABSENT)).startsWith("1 trips");
        assertThat(result).isEqualTo(OperationResult.EXISTS);
        assertThat(run(OperationKind.DELETE)).isEqualTo(delete);
        assertThat(result).isEqualTo(OperationResult.DELETED);
        assertThat(run(OperationKind.GET)).startsWith("1 trips");
        assertThat(result).isEqualTo(OperationResult.NOT_FOUND);
    }

    /** A key of this pair of buckets, whose fingerprint is where marks of deletes have the writer's number. */
    private static MemorySegment keyLikeMarks()
    {
        final int fingerprint = SlotWord.fingerprint(SlotWord.tombstone(WRITER, SlotWord.committed(1, 1, 1, 1, 64)));
        final KeyHash hash = new KeyHash();
        try (Arena arena = Arena.ofConfined())
        {
            final MemorySegment bytes = arena.allocate(Long.BYTES);
            do
            {
                bytes.set(ValueLayout.JAVA_LONG, 0, bytes.get(ValueLayout.JAVA_LONG, 0) - 1);
                hash.compute(KeyHash.function(42), bytes);
            }
            while (KeyHash.side1(hash.low()) != 0 || KeyHash.fingerprint(hash.high()) != fingerprint);
            return MemorySegment.ofArray(bytes.toArray(ValueLayout.JAVA_BYTE));
        }
    }

    /**
     * The marks stay until no retry asks for them any more; a key with the fingerprint in which they have the writer's
     * number meets all of them in its buckets. An insert behind them took each in turn for one that is
     * under way and had come in between, and gave way for ever.
     */
    @ParameterizedTest
    @CsvSource({"2, 1", "2, 2", "2, 3", "3, 3", "2, 6"})
    void shouldInsertBehindTheMarksOfSeveralDeletes(final int copies, final int marks)
    {
        open(copies);
        for (int operation : new int[]{OperationKind.PUT, OperationKind.DELETE})
        {
            for (int i = 0; i < marks; i++)
            {
                key = new PreparedSubtables(null, 42).keyOf(0, 0, i);
                run(operation);
            }
        }
        key = keyLikeMarks();
        run(OperationKind.PUT);
        assertThat(result).isEqualTo(OperationResult.STORED);
        assertThat(engine.counters().withdrawals).as("then it is in a slot before the others").isEqualTo(
            Math.min(marks, 2));
        run(OperationKind.GET);
        assertThat(result).isEqualTo(OperationResult.FOUND);
        for (int i = 0; i < marks; i++)
        {
            key = new PreparedSubtables(null, 42).keyOf(0, 0, i);
            run(OperationKind.GET);
            assertThat(result).as("key %d", i).isEqualTo(OperationResult.NOT_FOUND);
        }
    }
}
