package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.raas.OneSidedPort;
import io.verbena.table.access.RegionAccess;
import io.verbena.table.allocation.ChunkView;
import io.verbena.table.check.IndexWalk;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.Superblock;
import io.verbena.table.mirror.MirrorPort;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/** Which chunks hold subtables, where links stand on some of the copies only. */
class MirrorIndexWalkTest
{
    private static final int NODE = 3;
    private static final int CHUNK_BYTES = 4096;
    private static final int CHUNKS = 6;
    private static final int LINK_AT = CHUNK_BYTES + SubtableDescriptor.SPLIT_OFFSET;
    private final StepFabric fabric = new StepFabric(1);
    private final RegionAccess access = new RegionAccess(new LocalDomain(), 5);
    private StepFabric.StepPort[] ports;
    private MirrorPort mirror;

    /** A table in chunk 1, and what two splits would make of it in chunks 2 and 3, and of the first one in 4 and 5. */
    private void open(final int copies)
    {
        fabric.inOrder = true;
        ports = IntStream.rangeClosed(1, copies).mapToObj(id ->
        {
            final PreparedSubtables subtables =
                new PreparedSubtables(fabric.addMemory(id, CHUNKS * CHUNK_BYTES), 42);
            subtables.format(CHUNK_BYTES, 0, 0, SlotWord.EMPTY);
            subtables.format(2 * CHUNK_BYTES, 0, 1, SlotWord.EMPTY);
            subtables.format(3 * CHUNK_BYTES, 1, 1, SlotWord.EMPTY);
            subtables.format(4 * CHUNK_BYTES, 0, 2, SlotWord.EMPTY);
            subtables.format(5 * CHUNK_BYTES, 2, 2, SlotWord.EMPTY);
            return fabric.connect(id, (cookie, status) -> mirror.onMemberComplete(cookie, status));
        }).toArray(StepFabric.StepPort[]::new);
        mirror = new MirrorPort(new LocalDomain(), 1, List.of(ports).toArray(new OneSidedPort[0]),
            (cookie, status) -> access.onComplete(status));
    }

    @AfterEach
    void tearDown()
    {
        List.of(ports).forEach(port -> port.fail(false));
        mirror.close();
        access.close();
        fabric.close();
    }

    private void put(final int member, final int at, final long word)
    {
        fabric.memory(member).putLong(at, word, LITTLE_ENDIAN);
    }

    private String inUse()
    {
        final TablePlan plan = TablePlan.ofShape("mirror", 7, 42, 0, 1, new int[]{NODE});
        plan.place(NODE, CHUNK_BYTES);
        final IndexWalk walk = new IndexWalk(access, mirror, NODE, new ChunkView(
            new Superblock(NODE, 1, CHUNKS * CHUNK_BYTES, 0, CHUNK_BYTES, CHUNKS, 0)), List.of(plan.descriptor()));
        for (int i = 0; i < 1000 && !walk.isDone(); i++)
        {
            walk.poll();
            mirror.poll();
            fabric.step();
        }
        assertThat(walk.isComplete()).isTrue();
        final StringBuilder chunks = new StringBuilder();
        IntStream.range(0, CHUNKS).filter(walk::isInUse).forEach(chunks::append);
        return chunks.toString();
    }

    @ParameterizedTest
    @CsvSource({"2, 0, 1", "2, 1, 123", "2, 2, 123", "3, 1, 123", "3, 2, 123", "3, 3, 123"})
    void shouldFollowALinkThatOneCopyHas(final int copies, final int member, final String inUse)
    {
        open(copies);
        if (member > 0)
        {
            put(member, LINK_AT, SplitLink.of(2 * CHUNK_BYTES, 3 * CHUNK_BYTES));
        }
        assertThat(inUse()).isEqualTo(inUse);
    }

    /** Each header line is read once on each copy, however many copies have the links to it. */
    @ParameterizedTest
    @CsvSource({"2, 10", "3, 15"})
    void shouldReadEachHeaderLineOnce(final int copies, final long reads)
    {
        open(copies);
        for (int member = 1; member <= copies; member++)
        {
            put(member, LINK_AT, SplitLink.of(2 * CHUNK_BYTES, 3 * CHUNK_BYTES));
            put(member, LINK_AT + CHUNK_BYTES, SplitLink.of(4 * CHUNK_BYTES, 5 * CHUNK_BYTES));
        }
        assertThat(inUse()).isEqualTo("12345");
        assertThat(List.of(ports).stream().mapToLong(port -> port.counters.reads).sum()).isEqualTo(reads);
    }

    /** What is left of a proposal is no damaged link where there are several copies. */
    @ParameterizedTest
    @CsvSource({"2", "3"})
    void shouldGoOnWhereAProposalWasTakenBack(final int copies)
    {
        open(copies);
        IntStream.rangeClosed(1, copies).forEach(
            member -> put(member, LINK_AT, MergeLink.withdrawn(SlotWord.emptied(1, 1))));
        assertThat(inUse()).isEqualTo("1");
    }
}
