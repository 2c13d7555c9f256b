package io.verbena.compute.group;

import io.verbena.compute.MemoryRig;
import io.verbena.compute.MetaRig;
import io.verbena.compute.memory.MemoryLink;
import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.table.mirror.ByteRanges;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Two memory nodes, each in a world of its own, answer with checksums that differ where a test says so. */
class PageComparisonTest
{
    private static final int PAGE = 4_096;
    /** The longest range that is asked for. */
    private static final int MOST_BYTES = 128 * PAGE;
    private static final long SEED = 0x1122334455667788L;
    private static final long STEP_NS = 100_000;
    private static final int MOST_STEPS = 2_000;

    /** A memory node, by its checksums. */
    private static final class Memory
    {
        private final MemoryRig rig = new MemoryRig();
        private final MemoryLink link = rig.reach();
        /** By page: what its low and its high half are changed by. */
        private final Map<Long, long[]> changes = new HashMap<>();
        private final List<String> asked = new ArrayList<>();

        private Memory()
        {
            rig.answer("pageChecksums", this::answer);
        }

        private Object answer(final Object[] arguments)
        {
            final long offset = (long)arguments[1];
            final int lengthBytes = (int)arguments[2];
            final long[] checksums = (long[])arguments[4];
            asked.add(lengthBytes + " at " + offset);
            for (int i = 0; i < (lengthBytes + PAGE - 1) / PAGE; i++)
            {
                final long page = offset / PAGE + i;
                final long[] change = changes.getOrDefault(page, new long[2]);
                checksums[2 * i] = (long)arguments[3] * 31 + page ^ change[0];
                checksums[2 * i + 1] = (long)arguments[3] * 37 - page ^ change[1];
            }
            return null;
        }

        private void change(final long... pages)
        {
            for (final long page : pages)
            {
                changes.put(page, new long[]{5, 6});
            }
        }
    }

    private final Memory primary = new Memory();
    private final Memory another = new Memory();
    private PageComparison comparison;

    @AfterEach
    void close()
    {
        primary.rig.close();
        another.rig.close();
    }

    private void begin(final int chunkLengthBytes, final long... chunkOffsets)
    {
        comparison = new PageComparison(
            primary.link, another.link, chunkOffsets, chunkLengthBytes, SEED, MetaRig.TIMEOUT_NS);
    }

    private void run()
    {
        for (int i = 0; i < MOST_STEPS && !comparison.isDone() && comparison.failure().isEmpty(); i++)
        {
            comparison.poll();
            primary.rig.meta.runFor(STEP_NS);
            another.rig.meta.runFor(STEP_NS);
        }
    }

    private void shouldDiffer(final long... offsetsAndLengths)
    {
        run();
        assertThat(comparison.failure()).isEmpty();
        assertThat(comparison.isDone()).as("%s", comparison).isTrue();
        final ByteRanges differing = comparison.differing();
        final List<Long> found = new ArrayList<>();
        for (int i = 0; i < differing.count(); i++)
        {
            found.add(differing.offset(i));
            found.add(differing.lengthBytes(i));
        }
        assertThat(found).containsExactly(Arrays.stream(offsetsAndLengths).boxed().toArray(Long[]::new));
        assertThat(comparison.poll()).isZero();
    }

    private void shouldFail(final String... texts)
    {
        run();
        assertThat(comparison.failure()).contains(texts).doesNotContain("\n");
        final long asked = primary.rig.count("pageChecksums") + another.rig.count("pageChecksums");
        for (int i = 0; i < 10; i++)
        {
            assertThat(comparison.poll()).isZero();
            primary.rig.meta.runFor(STEP_NS);
            another.rig.meta.runFor(STEP_NS);
        }
        assertThat(primary.rig.count("pageChecksums") + another.rig.count("pageChecksums")).isEqualTo(asked);
        assertThat(comparison.isDone()).isFalse();
        assertThatThrownBy(() -> comparison.differing()).isInstanceOf(IllegalStateException.class)
            .hasMessageContaining("not all pages were compared");
    }

    @Test
    void shouldFindThePagesThatDifferAndNoOther()
    {
        primary.change(1, 9);
        another.change(2, 5, 6, 7, 40);
        begin(8 * PAGE, PAGE, 33 * PAGE);
        shouldDiffer(PAGE, 2 * PAGE, 5 * PAGE, 3 * PAGE, 40 * PAGE, PAGE);
        assertThat(comparison.bytesCompared()).isEqualTo(16 * PAGE);
        assertThat(another.asked).containsExactly("32768 at 4096", "32768 at 135168").isEqualTo(primary.asked);
    }

    @Test
    void shouldFindNothingWhereAllIsEqual()
    {
        primary.change(3);
        another.change(3, 0, 17);
        begin(16 * PAGE, PAGE);
        shouldDiffer();
        assertThat(comparison.differing()).isEqualTo(ByteRanges.NONE);
        assertThat(comparison.bytesCompared()).isEqualTo(16 * PAGE);
    }

    /** Either half says so alone. */
    @Test
    void shouldCompareAllBitsOfAChecksum()
    {
        for (int bit = 0; bit < Long.SIZE; bit++)
        {
            primary.changes.put(1L + 2 * bit, new long[]{1L << bit, 0});
            another.changes.put(129L + 2 * bit, new long[]{0, 1L << bit});
        }
        begin(256 * PAGE, PAGE);
        run();
        assertThat(comparison.differing().count()).isEqualTo(2 * Long.SIZE);
        assertThat(comparison.differing().totalBytes()).isEqualTo(2L * Long.SIZE * PAGE);
    }

    /** As many pages as one call has, and one more that is short; pages that follow each other in two calls are one. */
    @Test
    void shouldCompareChunksInParts()
    {
        another.change(1, 128, 129, 130, 131);
        begin(MOST_BYTES + PAGE + 100, PAGE);
        shouldDiffer(PAGE, PAGE, 128 * PAGE, 2 * PAGE + 100);
        assertThat(comparison.bytesCompared()).isEqualTo(MOST_BYTES + PAGE + 100);
        assertThat(primary.asked).containsExactlyInAnyOrder(
            MOST_BYTES + " at 4096", "4196 at " + 129 * PAGE).hasSameElementsAs(another.asked);
    }

    /** Of a memory node that stands first or last, and in any order; the caller's array is the caller's. */
    @Test
    void shouldTakeChunksInAnyOrder()
    {
        final long[] offsets = {60 * PAGE, 0, 20 * PAGE, 10 * PAGE};
        another.change(0, 19, 20, 59, 60, 69, 70);
        begin(10 * PAGE, offsets);
        offsets[0] = 1;
        shouldDiffer(0, PAGE, 19 * PAGE, 2 * PAGE, 60 * PAGE, PAGE, 69 * PAGE, PAGE);
        assertThat(comparison.bytesCompared()).isEqualTo(40 * PAGE);
    }

    /** Both at the same time, and not more than a few, whoever answers first. */
    @Test
    void shouldAskForAFewRangesAtATime()
    {
        begin(20 * MOST_BYTES, 0);
        assertThat(comparison.poll()).isEqualTo(PageComparison.MOST_UNDER_WAY);
        assertThat(comparison.poll()).isZero();
        primary.rig.meta.runFor(10 * STEP_NS);
        assertThat(comparison.poll()).as("the other one has not answered").isZero();
        assertThat(comparison.bytesCompared()).isZero();
        another.rig.meta.runFor(10 * STEP_NS);
        assertThat(primary.asked).hasSize(PageComparison.MOST_UNDER_WAY).isEqualTo(another.asked);
        assertThat(comparison.poll()).isEqualTo(2 * PageComparison.MOST_UNDER_WAY);
        assertThat(comparison.bytesCompared()).isEqualTo((long)PageComparison.MOST_UNDER_WAY * MOST_BYTES);
        assertThat(comparison.isDone()).isFalse();
        shouldDiffer();
        assertThat(comparison.bytesCompared()).isEqualTo(20L * MOST_BYTES);
        assertThat(primary.asked).hasSize(20).doesNotHaveDuplicates();
    }

    @Test
    void shouldBeDoneAtOnceWithoutChunks()
    {
        begin(PAGE);
        assertThat(comparison.isDone()).isTrue();
        assertThat(comparison.poll()).isZero();
        shouldDiffer();
        assertThat(comparison.bytesCompared()).isZero();
    }

    /** Whichever it is, and whatever the other one answers. */
    @Test
    void shouldFailWhenACallDoes()
    {
        for (final Memory failing : List.of(primary, another))
        {
            failing.rig.refuse("pageChecksums", ControlStatus.UNAVAILABLE);
            begin(8 * PAGE, PAGE);
            shouldFail("memory node 2: pageChecksums: the test says so");
            failing.rig.answer("pageChecksums", failing::answer);
        }
        another.rig.answer("pageChecksums", (arguments) ->
        {
            if ((long)arguments[1] > 0)
            {
                throw new ControlException(ControlStatus.EXHAUSTED, "the last one alone");
            }
            return another.answer(arguments);
        });
        begin(MOST_BYTES + 1, 0);
        shouldFail("memory node 2: pageChecksums: the last one alone");
    }

    @Test
    void shouldFailWhereThereAreNoPages()
    {
        begin(PAGE, PAGE + 64);
        shouldFail("not at offset=4160");
        assertThat(primary.asked).isEmpty();
        assertThatThrownBy(() -> begin(PAGE, 0, 64)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> begin(0, 0)).isInstanceOf(IllegalArgumentException.class);
    }

    /** Before it asks, and while it waits; another connection may lead to other memory. */
    @Test
    void shouldFailWhenALinkGoesAway()
    {
        begin(8 * PAGE, PAGE);
        comparison.poll();
        breakLink(another);
        shouldFail("memory node 2");

        begin(8 * PAGE, PAGE);
        shouldFail("memory node 2 is not connected any more");

        reach(another);
        begin(8 * PAGE, PAGE);
        breakLink(another);
        reach(another);
        shouldFail("memory node 2 is not connected any more");

        begin(8 * PAGE, PAGE);
        shouldDiffer();
    }

    private static void breakLink(final Memory memory)
    {
        memory.rig.stop();
        memory.rig.pass(1);
        memory.rig.meta.runUntil(() -> !memory.link.isReady());
    }

    private static void reach(final Memory memory)
    {
        memory.rig.start();
        memory.rig.register();
        memory.rig.meta.runUntil(memory.link::isReady);
    }
}
