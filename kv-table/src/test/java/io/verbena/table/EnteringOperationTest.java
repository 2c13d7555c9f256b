package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.raas.OneSidedPort;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.Subtable;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.growth.TableSplit;
import io.verbena.table.mirror.LastMemberPort;
import io.verbena.table.mirror.MirrorPort;
import io.verbena.table.mirror.SlotReconciliation;
import io.verbena.table.mirror.SubtableReconciliation;
import io.verbena.table.moving.SlotMove;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;
import io.verbena.table.operation.TableRequest;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/** Operations that are cut off in the view of an only member, and go on in the next one where a node has come in. */
class EnteringOperationTest
{
    private static final int NODE = 3;
    private static final int MEMBER = 1;
    private static final int ENTERING = 2;
    private static final int TABLE_AT = 4096;
    private static final int FIRST_AT = 8192;
    private static final int SECOND_AT = 12288;
    private static final int BLOCKS_AT = 16384;
    private static final int MOST_STEPS = 100_000;
    private static final long STEP_NS = 1_000;
    private static final long TIMEOUT_NS = 1_000_000_000;
    private static final long NEVER_NS = Long.MAX_VALUE / 2;
    private final StepFabric fabric = new StepFabric(1);
    private final MemorySegment key = new PreparedSubtables(null, 42).keyOf(0, 0, 0);
    private TableEngine engine;
    private OpenTable table;
    private StepFabric.StepPort port;
    /** Of the next view, head first. */
    private final StepFabric.StepPort[] ports = new StepFabric.StepPort[2];
    private MirrorPort mirror;
    private int batchesLeft = Integer.MAX_VALUE;
    private boolean isFull;
    private long nowNs = 1;
    private int result;
    private int reports;

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

    private void open()
    {
        fabric.inOrder = true;
        final TablePlan plan = TablePlan.ofShape("t", 7, 42, 0, 1, new int[]{NODE});
        plan.place(NODE, TABLE_AT);
        new PreparedSubtables(fabric.addMemory(MEMBER, 1 << 15), 42).format(TABLE_AT, 0, 0, SlotWord.EMPTY);
        fabric.addMemory(ENTERING, 1 << 15);
        engine = TableEngine.open(new LocalDomain(), LocalDomain.attributes(false), () -> nowNs,
            new TableEngineConfiguration().operationSlots(1).writerNumber(1).locationCacheEntries(16)
                .operationListener(op ->
                {
                    result = op.result();
                    reports++;
                }).chunkSource(node -> { }).repeatsLostOutcomes(true));
        port = fabric.connect(MEMBER, this::onBatch);
        engine.attach(NODE, new LastMemberPort(port));
        engine.chunkLeased(NODE, BLOCKS_AT, 1 << 14);
        table = engine.openTable(plan.descriptor());
    }

    /** The next batch is not posted any more when the last of them is complete. */
    private void onBatch(final int cookie, final int status)
    {
        if (--batchesLeft == 0 && isFull)
        {
            port.maxBatchRequests = 0;
        }
        else if (batchesLeft == 0)
        {
            port.fail(false);
        }
        engine.onBatchComplete(cookie, status);
    }

    private void begin(final int kind, final int number, final long deadlineNs)
    {
        final TableRequest request = new TableRequest().of(kind, table, deadlineNs, 1).key(key, 0, 8);
        if (OperationKind.takesValue(kind))
        {
            ClientView.giveValue(request, kind, number, false);
        }
        result = -1;
        engine.begin(request);
    }

    private void run()
    {
        for (int i = 0; i < MOST_STEPS && engine.active() > 0 && batchesLeft > 0; i++)
        {
            nowNs += STEP_NS;
            engine.poll();
            fabric.step();
            if (mirror != null)
            {
                mirror.poll();
            }
        }
    }

    private void enter()
    {
        engine.detach(NODE);
        final SlotReconciliation words = new SlotReconciliation(List.of(new MemoryCopy(fabric.memory(MEMBER))),
            new boolean[]{true}, List.of(new MemoryCopy(fabric.memory(ENTERING))));
        final SubtableReconciliation all =
            new SubtableReconciliation(words, Subtable.of(table.descriptor()), 1);
        while (all.goOn())
        {
            assertThat(all.subtables()).isLessThanOrEqualTo(3);
        }
        for (int i = 0; i < ports.length; i++)
        {
            ports[i] = fabric.connect(ENTERING - i, (cookie, status) -> mirror.onMemberComplete(cookie, status));
        }
        mirror = new MirrorPort(new LocalDomain(), 2, Arrays.copyOf(ports, ports.length, OneSidedPort[].class),
            engine::onBatchComplete);
        engine.attach(NODE, mirror, true);
    }

    /** Where the slot is frozen, and the words of the new subtables are not at the primary. */
    private void moveAtHead()
    {
        for (int slot = 0; slot < BucketDescriptor.SLOTS_PER_GROUP; slot++)
        {
            final int at = (int)EnteringRun.slotAt(slot) - EnteringRun.TABLE_AT;
            final UnsafeBuffer head = fabric.memory(ENTERING);
            final long old = head.getLong(TABLE_AT + at, LITTLE_ENDIAN);
            for (int side = 0; side < 2 && SlotWord.isFrozen(old) && SlotWord.namesBlock(old); side++)
            {
                final int newAt = (side == 0 ? FIRST_AT : SECOND_AT) + at;
                if (head.getLong(newAt, LITTLE_ENDIAN) == SlotWord.UNINITIALISED)
                {
                    head.putLong(newAt, SlotMove.moved(old, 1, side, false, 0), LITTLE_ENDIAN);
                }
            }
        }
    }

    /** Of all slots of the table as it is in the end. */
    private void assertCopiesEqual()
    {
        for (int slot = 0; slot < BucketDescriptor.SLOTS_PER_GROUP; slot++)
        {
            final int at = (int)EnteringRun.slotAt(slot);
            assertThat(fabric.memory(ENTERING).getLong(at, LITTLE_ENDIAN)).as("slot %d", slot)
                .isEqualTo(fabric.memory(MEMBER).getLong(at, LITTLE_ENDIAN));
        }
    }

    /**
     * Its deadline passes while its claim stands, and there is no room for the request that takes that back. It has
     * been reported, and does nothing else; the head never gets back what the claim was put on.
     */
    @Test
    void shouldNotBeginAgainWhatWasReported()
    {
        open();
        claimAndWait(OperationKind.PUT, TIMEOUT_NS);
        nowNs = TIMEOUT_NS;
        engine.poll();
        assertThat(reports).isOne();
        assertThat(result).isEqualTo(OperationResult.TIMED_OUT_NOT_APPLIED);
        assertThat(engine.active()).as("it has to take its claim back").isOne();
        enter();
        run();
        assertThat(reports).isOne();
        assertThat(ports[1].counters.reads).as("looks at the primary").isZero();
        assertCopiesEqual();
        begin(OperationKind.GET, 0, NEVER_NS);
        run();
        assertThat(result).isEqualTo(OperationResult.NOT_FOUND);
    }

    private void coldCache()
    {
        engine.onEpoch(engine.passedEpoch() + 3, 0);
        engine.epochs().forgetLocations();
    }

    private void claimAndWait(final int kind, final long deadlineNs)
    {
        batchesLeft = 2;
        isFull = true;
        begin(kind, 1, deadlineNs);
        run();
        batchesLeft = Integer.MAX_VALUE;
        assertThat(reports).isZero();
    }

    /** It writes its block again where the member is, and when there is one. */
    @ParameterizedTest
    @CsvSource({"3, false, 1", "3, true, 2", "4, true, 1"})
    void shouldWriteAgainForANewMemberOnly(final int node, final boolean hasNewMember, final int writes)
    {
        open();
        claimAndWait(OperationKind.PUT, NEVER_NS);
        engine.detach(node);
        final StepFabric.StepPort next = fabric.connect(MEMBER, engine::onBatchComplete);
        engine.attach(node, new LastMemberPort(next), hasNewMember);
        port.maxBatchRequests = next.maxBatchRequests;
        run();
        assertThat(result).isEqualTo(OperationResult.STORED);
        assertThat(port.counters.writes + next.counters.writes).isEqualTo(writes);
    }

    /** Somebody else has inserted the key meanwhile; it takes no claim back that is gone. */
    @Test
    void shouldForgetItsClaim()
    {
        open();
        begin(OperationKind.PUT, 2, NEVER_NS);
        run();
        final int slotAt = EnteringRun.slotOf(fabric.memory(MEMBER));
        final long word = fabric.memory(MEMBER).getLong(slotAt, LITTLE_ENDIAN);
        fabric.memory(MEMBER).putLong(slotAt, SlotWord.EMPTY, LITTLE_ENDIAN);
        coldCache();
        reports = 0;
        claimAndWait(OperationKind.PUT_IF_ABSENT, NEVER_NS);
        fabric.memory(MEMBER).putLong(slotAt + Long.BYTES, word, LITTLE_ENDIAN);
        enter();
        run();
        assertThat(result).isEqualTo(OperationResult.EXISTS);
        assertThat(ports[0].counters.compareSwaps).isZero();
    }

    /** In the view of an only member, a batch is answered that is under way when its port is taken. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void shouldInsertWithABlockThatAllHave(final int batches)
    {
        open();
        batchesLeft = batches;
        begin(OperationKind.PUT, 1, NEVER_NS);
        run();
        batchesLeft = Integer.MAX_VALUE;
        enter();
        run();
        assertThat(result).isEqualTo(OperationResult.STORED);
        assertCopiesEqual();
        engine.detach(NODE);
        mirror.close();
        engine.attach(NODE, new LastMemberPort(fabric.connect(ENTERING, engine::onBatchComplete)), false);
        begin(OperationKind.GET, 0, NEVER_NS);
        run();
        assertThat(result).isEqualTo(OperationResult.FOUND);
    }

    /** In the next view somebody else has moved the record at the head, and not at the primary yet. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5})
    void shouldNotUpdateWhereTheRecordIsNotYet(final int batches)
    {
        open();
        begin(OperationKind.PUT, 1, NEVER_NS);
        run();
        assertThat(result).isEqualTo(OperationResult.STORED);
        final TableSplit split = engine.growth().begin(table, 0, FIRST_AT, SECOND_AT, nowNs + 2);
        while (!split.toString().contains("phase=GROUPS"))
        {
            engine.poll(nowNs);
            fabric.drain();
        }
        engine.poll(nowNs + 2);
        assertThat(split.isFinished()).isTrue();
        coldCache();

        batchesLeft = batches;
        begin(OperationKind.PUT, 2, NEVER_NS);
        run();
        batchesLeft = Integer.MAX_VALUE;
        enter();
        moveAtHead();
        run();
        for (final int at : new int[]{FIRST_AT, SECOND_AT})
        {
            for (int slot = 0; slot < BucketDescriptor.SLOTS_PER_GROUP; slot++)
            {
                final int wordAt = at + (int)EnteringRun.slotAt(slot) - EnteringRun.TABLE_AT;
                final long word = fabric.memory(ENTERING).getLong(wordAt, LITTLE_ENDIAN);
                assertThat(!SlotWord.isCommitted(word) ||
                    word == fabric.memory(MEMBER).getLong(wordAt, LITTLE_ENDIAN)).as("slot %d", slot).isTrue();
            }
        }
        assertThat(result).isEqualTo(OperationResult.STORED);
        assertThat(SubtableDescriptor.split(fabric.memory(MEMBER), TABLE_AT)).isNotZero();
    }
}
