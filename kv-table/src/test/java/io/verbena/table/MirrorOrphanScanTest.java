package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.raas.OneSidedPort;
import io.verbena.table.access.EmptiedWords;
import io.verbena.table.access.RegionAccess;
import io.verbena.table.allocation.ChunkView;
import io.verbena.table.check.OrphanScan;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.Superblock;
import io.verbena.table.mirror.MirrorPort;
import io.verbena.table.operation.MirrorMutation;
import io.verbena.test.Mutation;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/** What a scan of closed chunks sees and kills where there are several copies of a slot. */
class MirrorOrphanScanTest
{
    private static final int NODE = 3;
    private static final int TABLE_AT = 4096;
    private static final int CHUNK_BYTES = 1 << 15;
    private static final int CHUNKS = 4;
    private static final int CLOSED = 2;
    private static final int SLOT_AT =
        TABLE_AT + SubtableDescriptor.GROUPS_OFFSET + BucketDescriptor.SLOTS_OFFSET;
    private static final long NAMING = SlotWord.committed(17, 0, 3, 0, (long)CLOSED * CHUNK_BYTES);
    private static final long CLAIM = SlotWord.withKind(NAMING, SlotWord.KIND_TENTATIVE);
    private static final long BASE = SlotWord.emptied(2, 7);
    private static final long REPLACED = SlotWord.emptied(2, 8);
    private final StepFabric fabric = new StepFabric(1);
    private final List<StepFabric.StepPort> ports = new ArrayList<>();
    private final EmptiedWords emptied = new EmptiedWords(1);
    private RegionAccess access;
    private MirrorPort mirror;
    private OrphanScan scan;

    private void open(final int copies)
    {
        fabric.inOrder = true;
        access = new RegionAccess(new LocalDomain(), 5);
        for (int id = 1; id <= copies; id++)
        {
            new PreparedSubtables(fabric.addMemory(id, CHUNKS * CHUNK_BYTES), 42).format(TABLE_AT, 0, 0, BASE);
            ports.add(fabric.connect(id, (cookie, status) -> mirror.onMemberComplete(cookie, status)));
        }
        mirror = new MirrorPort(new LocalDomain(), 1, ports.toArray(new OneSidedPort[0]),
            (cookie, status) -> access.onComplete(status));
        final TablePlan plan = TablePlan.ofShape("mirror", 7, 42, 0, 1, new int[]{NODE});
        plan.place(NODE, TABLE_AT);
        final BitSet closed = new BitSet();
        closed.set(CLOSED);
        scan = new OrphanScan(access, mirror, NODE, new ChunkView(
            new Superblock(NODE, 1, CHUNKS * CHUNK_BYTES, 0, CHUNK_BYTES, CHUNKS, 0)), closed,
            List.of(plan.descriptor()), () -> true, emptied);
    }

    @AfterEach
    void tearDown()
    {
        ports.forEach(port -> port.fail(false));
        mirror.close();
        access.close();
        fabric.close();
    }

    private void put(final int member, final long word)
    {
        fabric.memory(member).putLong(SLOT_AT, word, LITTLE_ENDIAN);
    }

    private long word(final int member)
    {
        return fabric.memory(member).getLong(SLOT_AT, LITTLE_ENDIAN);
    }

    private void step()
    {
        scan.poll();
        mirror.poll();
        fabric.step();
    }

    private void scan()
    {
        while (!scan.isDone())
        {
            step();
        }
        assertThat(scan.isComplete()).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"2, 1", "2, 2", "3, 1", "3, 2", "3, 3"})
    void shouldGiveNothingAwayThatOneCopyNames(final int copies, final int member)
    {
        open(copies);
        put(member, NAMING);
        scan();
        assertThat(scan.isUnnamed(CLOSED)).isFalse();
        assertThat(word(member)).isEqualTo(NAMING);
    }

    /** What is decided there is committed and replaced meanwhile: a scan that began at the primary would miss it. */
    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void shouldReadTheHeadFirst(final int copies)
    {
        open(copies);
        put(1, NAMING);
        while (ports.stream().mapToInt(port -> port.readBytes.size()).sum() < 3)
        {
            step();
        }
        IntStream.rangeClosed(1, copies).forEach(member -> put(member, REPLACED));
        scan();
        assertThat(scan.isUnnamed(CLOSED)).isFalse();
    }

    /** Nobody finishes the round later: what the claim expects stands nowhere any more. */
    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void shouldKillAClaimOnAllCopies(final int copies)
    {
        open(copies);
        put(1, CLAIM);
        scan();
        assertThat(scan.killed()).isOne();
        assertThat(scan.isUnnamed(CLOSED)).isTrue();
        IntStream.rangeClosed(1, copies).forEach(
            member -> assertThat(word(member)).as("copy %d", member).isEqualTo(SlotWord.emptied(1, 1)));
    }

    /** It is decided at the head that the claim is gone, and no other copy has that: a late commit fits there. */
    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void shouldLeaveWhatClaimsExpectWhereTheReaperProposes(final int copies)
    {
        open(copies);
        put(1, CLAIM);
        try (Mutation.Opened _ = MirrorMutation.SCAN_KILLS.open())
        {
            scan();
        }
        assertThat(word(1)).isEqualTo(SlotWord.emptied(1, 1));
        IntStream.rangeClosed(2, copies).forEach(member -> assertThat(word(member)).isEqualTo(BASE));
    }

    /** The mark of a delete that is not committed: the record counts still, and its block is in use. */
    @Test
    void shouldLeaveADeleteThatIsDecidedToWhoeverFinishesIt()
    {
        open(2);
        put(1, CLAIM);
        put(2, NAMING);
        scan();
        assertThat(scan.isUnnamed(CLOSED)).isFalse();
        assertThat(word(1)).isEqualTo(CLAIM);
        assertThat(word(2)).isEqualTo(NAMING);
    }

    /** The same where it has reached the middle: one kill for both copies. */
    @Test
    void shouldKillAMarkOnceThatSeveralCopiesHave()
    {
        open(3);
        put(1, CLAIM);
        put(2, CLAIM);
        put(3, NAMING);
        scan();
        assertThat(scan.killed()).isOne();
        assertThat(scan.isUnnamed(CLOSED)).isFalse();
    }

    /** It is committed while the scan goes on: what counts at the primary goes, though a kill of it has failed. */
    @Test
    void shouldKillAMarkThatIsCommittedMeanwhile()
    {
        open(2);
        put(1, CLAIM);
        put(2, NAMING);
        while (ports.getLast().readBytes.size() < 3)
        {
            step();
        }
        put(2, CLAIM);
        scan();
        assertThat(scan.killed()).isEqualTo(2);
        assertThat(word(1)).isEqualTo(word(2)).isEqualTo(SlotWord.emptied(1, 2));
    }

    /** The mark of a delete on all copies. */
    @Test
    void shouldKillAMarkThatCounts()
    {
        open(2);
        put(1, CLAIM);
        put(2, CLAIM);
        scan();
        assertThat(scan.isUnnamed(CLOSED)).isTrue();
        assertThat(word(1)).isEqualTo(word(2)).isEqualTo(SlotWord.emptied(1, 1));
    }

    /** It may be taken back, and what it leads to be somebody else's then. */
    @Test
    void shouldFollowNoLinkThatIsNotCommitted()
    {
        open(2);
        final int child = TABLE_AT + 4096;
        for (int member = 1; member <= 2; member++)
        {
            new PreparedSubtables(fabric.memory(member), 42).format(child, 0, 1, CLAIM);
        }
        fabric.memory(1).putLong(TABLE_AT + SubtableDescriptor.SPLIT_OFFSET,
            SplitLink.of(child, child + SubtableDescriptor.lengthBytes(1)), LITTLE_ENDIAN);
        scan();
        assertThat(scan.killed()).isZero();
    }
}
