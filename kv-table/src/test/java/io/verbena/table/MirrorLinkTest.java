package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.raas.OneSidedPort;
import io.verbena.table.access.Scratch;
import io.verbena.table.access.SlotRound;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SplitLink;
import io.verbena.table.mirror.MirrorPort;
import io.verbena.table.mirror.SlotReconciliation;
import io.verbena.table.operation.MirrorMutation;
import io.verbena.test.Mutation;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * Rounds of bucket headers and links over several copies. The two top bits of a link are those of an offset: of memory
 * from 32 GiB on they are what a committed slot word has, from 64 GiB on a tentative one, from 96 GiB on a frozen one.
 */
class MirrorLinkTest
{
    private static final long GIB = 1L << 30;
    private static final int WORD_AT = 4096;
    private static final int MEMORY_BYTES = 1 << 17;
    /** The low bits of a link that leads here name, as those of a slot word, what lies behind 32 KiB. */
    private static final int NEAR = 8192;
    private static final long HEADER = BucketDescriptor.header(7, 0, 0);
    /** What else the first member holds, and the second one is made to. */
    private static final long WORD = 0x0101_0101_0101_0101L;
    private final StepFabric fabric = new StepFabric(1);
    private final List<StepFabric.StepPort> ports = new ArrayList<>();
    private final Scratch scratch = new Scratch(new LocalDomain(), 64);
    private MirrorPort mirror;
    private int copies;

    /** All else that the members hold is different, so that a block that is copied shows. */
    private void open(final int members, final long base)
    {
        fabric.inOrder = true;
        copies = members;
        for (int id = 1; id <= copies; id++)
        {
            final UnsafeBuffer memory = fabric.addMemory(id, MEMORY_BYTES);
            memory.setMemory(0, MEMORY_BYTES, (byte)id);
            memory.putLong(WORD_AT, base, LITTLE_ENDIAN);
            ports.add(fabric.connect(id, (cookie, status) -> mirror.onMemberComplete(cookie, status)));
        }
        mirror = new MirrorPort(
            new LocalDomain(), 1, ports.toArray(new OneSidedPort[0]), (cookie, status) -> { });
    }

    @AfterEach
    void tearDown()
    {
        ports.forEach(port -> port.fail(false));
        if (mirror != null)
        {
            mirror.close();
        }
        scratch.close();
        fabric.close();
    }

    private static long link(final boolean isMerge, final long gib)
    {
        return isMerge ? MergeLink.of(NEAR, gib * GIB) : SplitLink.of(NEAR, gib * GIB);
    }

    private long propose(final long base, final long link)
    {
        mirror.begin();
        SlotRound.proposeLink(mirror, scratch.region, 0, WORD_AT, base, link);
        mirror.complete(1);
        fabric.drain();
        return scratch.word(0);
    }

    private void atMember(final int member, final long word)
    {
        fabric.memory(member).putLong(WORD_AT, word, LITTLE_ENDIAN);
    }

    private void assertAllHold(final long link)
    {
        for (int id = 1; id <= copies; id++)
        {
            final UnsafeBuffer memory = fabric.memory(id);
            assertThat(memory.getLong(WORD_AT, LITTLE_ENDIAN)).as("member %d", id).isEqualTo(link);
            int at = 0;
            while (at < MEMORY_BYTES && (at / Long.BYTES == WORD_AT / Long.BYTES || memory.getByte(at) == id))
            {
                at++;
            }
            assertThat(at).as("member %d holds its own bytes", id).isEqualTo(MEMORY_BYTES);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "2, false, 32", "2, false, 64", "2, false, 96", "2, true, 32", "2, true, 64", "2, true, 96",
        "3, false, 32", "3, false, 64", "3, false, 96", "3, true, 32", "3, true, 64", "3, true, 96"})
    void shouldFinishTheLinkOfAnotherNode(final int members, final boolean isMerge, final long gib)
    {
        open(members, SplitLink.NONE);
        final long decided = link(isMerge, gib);
        atMember(1, decided);
        assertThat(propose(SplitLink.NONE, link(isMerge, 1))).isEqualTo(decided);
        assertAllHold(decided);
        assertThat(mirror.lost()).isEqualTo(1);
        assertThat(mirror.finished()).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({"2, 32", "2, 64", "2, 96", "3, 32", "3, 64", "3, 96"})
    void shouldFinishTheLinkInABucketHeader(final int members, final long gib)
    {
        open(members, HEADER);
        final long decided = link(false, gib);
        atMember(1, decided);
        assertThat(propose(HEADER, decided)).isEqualTo(decided);
        assertAllHold(decided);
    }

    /** From 64 GiB on it is proposed over as if it was a claim. */
    @Test
    void shouldDecideTwiceWhereLinksAreJudgedAsSlots()
    {
        open(2, SplitLink.NONE);
        atMember(1, link(false, 64));
        try (Mutation.Opened _ = MirrorMutation.LINKS_ARE_NO_SLOTS.open())
        {
            assertThat(propose(SplitLink.NONE, link(false, 1))).isEqualTo(SplitLink.NONE);
        }
    }

    /** A proposal is taken back while the swap of another node that finishes it is on its way to the primary. */
    @ParameterizedTest
    @CsvSource({"false", "true"})
    void shouldBringNoProposalBackWhereAnotherWordIsLeft(final boolean leavesNothing)
    {
        open(2, SplitLink.NONE);
        final long proposed = link(true, 1);
        final long left = leavesNothing ? SplitLink.NONE : MergeLink.withdrawn(SlotWord.emptied(1, 1));
        final MirrorPort[] late = new MirrorPort[1];
        final StepFabric.StepPort[] latePorts = new StepFabric.StepPort[2];
        for (int id = 1; id <= 2; id++)
        {
            latePorts[id - 1] = fabric.connect(id, (cookie, status) -> late[0].onMemberComplete(cookie, status));
        }
        late[0] = new MirrorPort(new LocalDomain(), 1, latePorts.clone(), (cookie, status) -> { });
        atMember(1, proposed);
        late[0].begin();
        SlotRound.proposeLink(late[0], scratch.region, 16, WORD_AT, SplitLink.NONE, proposed);
        late[0].complete(1);
        while (late[0].finished() == 0)
        {
            fabric.step();
        }
        latePorts[1].deaf = true;
        assertThat(propose(SplitLink.NONE, proposed)).isEqualTo(proposed);
        assertThat(propose(proposed, left)).isEqualTo(proposed);
        latePorts[1].deaf = false;
        fabric.drain();
        assertThat(fabric.memory(1).getLong(WORD_AT, LITTLE_ENDIAN)).isEqualTo(left);
        assertThat(fabric.memory(2).getLong(WORD_AT, LITTLE_ENDIAN)).isEqualTo(leavesNothing ? proposed : left);
        Arrays.stream(latePorts).forEach(port -> port.fail(false));
        late[0].close();
    }

    /** Whoever finishes the freezing of a slot never shows it before its bucket has the link. */
    @Test
    void shouldChangeASlotWhenTheLinkBeforeItIsCommitted()
    {
        open(2, HEADER);
        fabric.memory(2).putLong(WORD_AT + 8, WORD, LITTLE_ENDIAN);
        mirror.begin();
        SlotRound.proposeLink(mirror, scratch.region, 0, WORD_AT, HEADER, link(false, 1));
        SlotRound.propose(mirror, scratch.region, 8, WORD_AT + 8, WORD, SlotWord.RESERVED);
        mirror.complete(1);
        while (fabric.memory(2).getLong(WORD_AT, LITTLE_ENDIAN) == HEADER)
        {
            assertThat(fabric.memory(1).getLong(WORD_AT + 8, LITTLE_ENDIAN)).isEqualTo(WORD);
            fabric.step();
        }
        fabric.drain();
        assertThat(scratch.word(0)).isEqualTo(HEADER);
        assertThat(scratch.word(8)).isEqualTo(WORD);
        assertThat(fabric.memory(2).getLong(WORD_AT + 8, LITTLE_ENDIAN)).isEqualTo(SlotWord.RESERVED);
    }

    @ParameterizedTest
    @CsvSource({"2, 32", "2, 64", "2, 96", "3, 32", "3, 64", "3, 96"})
    void shouldReadALinkBehindItsRound(final int members, final long gib)
    {
        open(members, SplitLink.NONE);
        final long decided = link(false, gib);
        atMember(1, decided);
        mirror.begin();
        SlotRound.settleLink(mirror, scratch.region, 0, WORD_AT);
        mirror.complete(1);
        fabric.drain();
        assertThat(scratch.word(0)).isEqualTo(decided);
        assertAllHold(decided);
    }

    @ParameterizedTest
    @CsvSource({
        "2, false, 32", "2, false, 64", "2, false, 96", "2, true, 32", "2, true, 64", "2, true, 96",
        "3, false, 32", "3, false, 64", "3, false, 96", "3, true, 32", "3, true, 64", "3, true, 96"})
    void shouldCopyLinksAsTheyAreWhenAPrimaryIsLost(final int members, final boolean isMerge, final long gib)
    {
        open(members, SplitLink.NONE);
        final long decided = link(isMerge, gib);
        atMember(1, decided);
        final boolean[] survivors = new boolean[members];
        for (int member = 0; member < members - 1; member++)
        {
            survivors[member] = true;
        }
        final List<SlotReconciliation.Copy> all = new ArrayList<>();
        for (int id = 1; id <= copies; id++)
        {
            all.add(new MemoryCopy(fabric.memory(id)));
        }
        new SlotReconciliation(all, survivors).reconcileLink(WORD_AT);
        copies = members - 1;
        assertAllHold(decided);
    }
}
