package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.raas.OneSidedPort;
import io.verbena.table.allocation.EpochTracker;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.growth.SubtableWork;
import io.verbena.table.growth.TableMerge;
import io.verbena.table.mirror.MirrorPort;
import io.verbena.table.operation.MirrorMutation;
import io.verbena.test.Mutation;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/** Merges whose proposer has ended on its way from one copy of the deciding link to the next. */
class MirrorProposalTest
{
    private static final int NODE = 3;
    private static final int TABLE_AT = 4096;
    private static final int CHUNK_AT = 1 << 16;
    private static final int MEMORY_BYTES = 1 << 17;
    private static final int MOST_STEPS = 100_000;
    private static final long NEVER_NS = Long.MAX_VALUE / 2;
    private static final long PROPOSED_IN = 41;
    private static final long BYTES = SubtableDescriptor.lengthBytes(1);
    private static final long FIRST = 8192;
    private static final long SECOND = FIRST + BYTES;
    private static final long MERGED = SECOND + BYTES;
    private static final long NEXT_MERGED = MERGED + BYTES;
    private static final long DECIDED = MergeLink.of(MERGED, FIRST);
    private final StepFabric fabric = new StepFabric(1);
    private final List<StepFabric.StepPort> ports = new ArrayList<>();
    private TableEngine engine;
    private MirrorPort mirror;
    private OpenTable table;
    private int copies;
    private long nowNs = 1;

    /** A table that was split once, and a proposal to merge the two that nobody goes on with. */
    private void open(final int members)
    {
        copies = members;
        fabric.inOrder = true;
        for (int id = 1; id <= copies; id++)
        {
            new PreparedSubtables(fabric.addMemory(id, MEMORY_BYTES), 42).format(TABLE_AT, 0, 0, SlotWord.EMPTY);
            ports.add(fabric.connect(id, (cookie, status) -> mirror.onMemberComplete(cookie, status)));
        }
        final TablePlan plan = TablePlan.ofShape("mirror", 7, 42, 0, 1, new int[]{NODE});
        plan.place(NODE, TABLE_AT);
        engine = TableEngine.open(new LocalDomain(), LocalDomain.attributes(false), () -> nowNs,
            new TableEngineConfiguration().operationSlots(1).writerNumber(1).operationListener(op -> { })
                .chunkSource(node -> { }));
        mirror = new MirrorPort(
            new LocalDomain(), 1, ports.toArray(new OneSidedPort[0]), engine::onBatchComplete);
        engine.attach(NODE, mirror);
        engine.chunkLeased(NODE, CHUNK_AT, 1 << 14);
        table = engine.openTable(plan.descriptor());
        run(engine.growth().begin(table, 0, FIRST, SECOND, NEVER_NS));
        engine.onEpoch(PROPOSED_IN, PROPOSED_IN - 1);
        final TableMerge merge = begin(MERGED, nowNs + 1);
        stepUntil(merge, "phase=DECIDE");
        nowNs += 2;
        run(merge);
        assertThat(link(FIRST)).isEqualTo(MergeLink.of(MERGED, SECOND));
        assertThat(link(SECOND)).isEqualTo(SplitLink.NONE);
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

    private TableMerge begin(final long memory, final long deadlineNs)
    {
        return engine.growth().beginMerge(table, 0, memory, deadlineNs);
    }

    private void stepUntil(final SubtableWork work, final String until)
    {
        for (int i = 0; i < MOST_STEPS && !work.toString().contains(until); i++)
        {
            if (!fabric.step())
            {
                mirror.poll();
                engine.poll();
            }
        }
        assertThat(work.toString()).contains(until);
    }

    private <T extends SubtableWork> T run(final T work)
    {
        for (int i = 0; i < MOST_STEPS && !work.isFinished(); i++)
        {
            fabric.step();
            mirror.poll();
            engine.poll();
        }
        assertThat(work.isFinished()).as("%s", work).isTrue();
        return work;
    }

    /** Of somebody who finds the proposal when nobody can decide it any more. */
    private TableMerge settle()
    {
        final long safeEpoch = PROPOSED_IN + EpochTracker.REPEAT_EPOCHS + EpochTracker.REUSE_DISTANCE;
        engine.onEpoch(safeEpoch + 1, safeEpoch);
        return begin(0, NEVER_NS);
    }

    private long word(final int member, final long offset)
    {
        return fabric.memory(member).getLong((int)offset, LITTLE_ENDIAN);
    }

    private void put(final int member, final long offset, final long word)
    {
        fabric.memory(member).putLong((int)offset, word, LITTLE_ENDIAN);
    }

    private void putAll(final long offset, final long word)
    {
        IntStream.rangeClosed(1, copies).forEach(member -> put(member, offset, word));
    }

    /** @return the link of a subtable, which all copies have. */
    private long link(final long subtable)
    {
        final long link = word(1, subtable + SubtableDescriptor.SPLIT_OFFSET);
        for (int member = 2; member <= copies; member++)
        {
            assertThat(word(member, subtable + SubtableDescriptor.SPLIT_OFFSET)).as("copy %d", member).isEqualTo(link);
        }
        return link;
    }

    private void decideAt(final int member)
    {
        put(member, SECOND + SubtableDescriptor.SPLIT_OFFSET, DECIDED);
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void shouldFinishAMergeThatIsDecidedAtTheHead(final int members)
    {
        open(members);
        decideAt(1);
        final TableMerge settled = run(settle());
        assertThat(settled.state()).as("%s", settled).isEqualTo(TableMerge.State.DONE);
        assertThat(link(SECOND)).isEqualTo(DECIDED);
        assertThat(table.subtableCount()).isOne();
    }

    /** The next merge finishes the link of the last one, into memory that was given back. */
    @Test
    void shouldMergeIntoMemoryGivenBackWhereADecisionIsOverlooked()
    {
        open(2);
        decideAt(1);
        try (Mutation.Opened _ = MirrorMutation.REFUSE_FIRST.open())
        {
            assertThat(run(settle()).isWithdrawn()).isTrue();
            run(begin(NEXT_MERGED, NEVER_NS));
        }
        assertThat(link(SECOND)).isEqualTo(DECIDED);
        assertThat(MergeLink.isLink(link(FIRST))).isFalse();
    }

    /** It came to the middle and not to the head: when only the middle is left it would be the decision. */
    @Test
    void shouldLeaveNoDecisionOnAMiddle()
    {
        open(3);
        decideAt(2);
        assertThat(run(settle()).isWithdrawn()).isTrue();
        assertThat(MergeLink.isWithdrawn(link(FIRST))).isTrue();
        assertThat(MergeLink.isWithdrawn(link(SECOND))).isTrue();
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void shouldMergeWhereAProposalWasRefused(final int members)
    {
        open(members);
        assertThat(run(settle()).isWithdrawn()).isTrue();
        assertThat(link(SECOND)).isNotEqualTo(link(FIRST));
        final TableMerge next = run(begin(NEXT_MERGED, NEVER_NS));
        assertThat(next.state()).as("%s", next).isEqualTo(TableMerge.State.DONE);
        assertThat(link(SECOND)).isEqualTo(MergeLink.of(NEXT_MERGED, FIRST));
        assertThat(link(FIRST)).isEqualTo(MergeLink.of(NEXT_MERGED, SECOND));
    }

    /** Each refusal costs the next merge a round trip. */
    @Test
    void shouldDecideWhereAnEarlierProposalWasRefused()
    {
        open(2);
        assertThat(run(settle()).isWithdrawn()).isTrue();
        final TableMerge next = begin(NEXT_MERGED, NEVER_NS);
        stepUntil(next, "phase=DECIDE");
        final long doorbells = next.doorbells();
        stepUntil(next, "phase=UNIT");
        assertThat(next.doorbells() - doorbells).isEqualTo(2);
    }

    /** The decision stands at the head, or on the middle only, on the word that an earlier refusal has left. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void shouldSettleAProposalBehindARefusedOne(final int decidedAt)
    {
        open(3);
        final TableMerge first = settle();
        stepUntil(first, "phase=REFUSE");
        stepUntil(first, "phase=WITHDRAW");
        nowNs = NEVER_NS;
        run(first);
        nowNs = 1;
        decideAt(decidedAt);
        final TableMerge settled = run(begin(0, NEVER_NS));
        assertThat(settled.isWithdrawn()).as("%s", settled).isEqualTo(decidedAt == 2);
        assertThat(link(SECOND) == DECIDED).isEqualTo(decidedAt == 1);
    }

    /** Its link is changed behind the look at it: to a refusal, or to the decision. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldSeeWhatComesBeforeItsRefusal(final boolean isDecided)
    {
        open(2);
        final TableMerge settled = settle();
        stepUntil(settled, "phase=REFUSE");
        final long word = isDecided ? DECIDED : MergeLink.withdrawn(SlotWord.emptied(2, 9));
        putAll(SECOND + SubtableDescriptor.SPLIT_OFFSET, word);
        run(settled);
        assertThat(link(SECOND)).isEqualTo(word);
        assertThat(settled.isWithdrawn()).as("%s", settled).isEqualTo(!isDecided);
        assertThat(table.subtableCount()).isEqualTo(isDecided ? 1 : 2);
    }

    /** What was the sibling is another table's, was split, or is being made: its memory may be anything. */
    @ParameterizedTest
    @CsvSource({"8, 0, 0", "7, 3, 0", "7, 0, 4096"})
    void shouldLeaveMemoryAloneThatIsNotTheSiblingAnyMore(final int tableId, final int link, final long predecessor)
    {
        open(2);
        final long splitLink = link == 0 ? SplitLink.NONE : SplitLink.of(MERGED, NEXT_MERGED);
        for (int member = 1; member <= copies; member++)
        {
            SubtableDescriptor.write(fabric.memory(member), (int)SECOND, tableId, 1, 1, 1, 42, predecessor);
            put(member, SECOND + SubtableDescriptor.SPLIT_OFFSET, splitLink);
        }
        assertThat(run(settle()).isWithdrawn()).isTrue();
        assertThat(link(SECOND)).isEqualTo(splitLink);
        assertThat(MergeLink.isWithdrawn(link(FIRST))).isTrue();
    }
}
