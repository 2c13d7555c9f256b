package io.verbena.compute.group;

import io.verbena.compute.MemoryRig;
import io.verbena.compute.memory.MemoryLink;
import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.EnteredLease;
import io.verbena.protocol.view.ViewAttempt;
import io.verbena.table.format.ChunkDescriptor;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** In which order a memory node that comes in is asked to record leases, and to free others. */
class EnteringCallsTest
{
    private static final int GROUP = 9;
    private static final long SECOND_NS = 1_000_000_000;
    private static final ViewAttempt ATTEMPT = new ViewAttempt(GROUP, 4, 1);

    private final MemoryRig primary = new MemoryRig();
    private final MemoryRig another = new MemoryRig(MemoryRig.MEMORY_NODE + 1);
    /** What the memory node was asked for: the index of a chunk to record, or -1 to free the rest. */
    private final List<Integer> asked = new ArrayList<>();
    private int refusedIndex = Integer.MIN_VALUE;
    private ControlStatus refusal = ControlStatus.EXHAUSTED;

    @AfterEach
    void close()
    {
        another.close();
        primary.close();
    }

    private EnteringMember entering()
    {
        return entering(true);
    }

    private EnteringMember entering(final boolean releasesOthers)
    {
        another.answer("enterLease",
            (arguments) -> answer(arguments[1], ((EnteredLease)arguments[2]).chunk().index()));
        another.answer("releaseLeases", (arguments) -> answer(arguments[1], -1));
        final MemoryLink source = primary.reach();
        final EnteringMember entering = new EnteringMember(ATTEMPT, source, another.reach(), SECOND_NS, releasesOthers);
        another.meta.run((_) -> entering.poll());
        return entering;
    }

    private Object answer(final Object attempt, final int index)
    {
        assertThat(attempt).isEqualTo(ATTEMPT);
        asked.add(index);
        if (refusedIndex == index)
        {
            throw new ControlException(refusal, "something stands there");
        }
        return null;
    }

    @Test
    void shouldFreeTheRestWhenAllLeasesAreRecorded()
    {
        primary.groupIndex(0, GROUP, 2, 1);
        primary.groupIndex(1, GROUP + 1, 2, 1);
        primary.groupIndex(3, GROUP, 3, 8);
        final EnteringMember entering = entering();
        assertThat(entering.isDone()).isFalse();
        another.meta.runUntil(() -> asked.size() == 2);
        assertThat(entering.isDone()).as("the rest is not freed").isFalse();
        another.meta.runUntil(entering::isDone);
        assertThat(asked).containsExactly(0, 3, -1);
        assertThat(entering.failure()).isEmpty();
        assertThat(entering.chunkOffsets()).containsExactly(MemoryRig.offset(0), MemoryRig.offset(3));
        another.meta.runFor(SECOND_NS);
        assertThat(asked).as("each once").hasSize(3);
        assertThat(entering.toString()).contains("leases=2 of 2");
    }

    @Test
    void shouldFreeWhatStandsThereWhenTheGroupHasNothing()
    {
        final EnteringMember entering = entering();
        another.meta.runUntil(entering::isDone);
        assertThat(asked).containsExactly(-1);
    }

    /** What is written there late must not land in memory of others. */
    @Test
    void shouldFreeNothingWhileTheViewIsActive()
    {
        primary.groupIndex(0, GROUP, 2, 1);
        primary.groupIndex(3, GROUP, 3, 8);
        final EnteringMember entering = entering(false);
        assertThat(entering.isDone()).isFalse();
        another.meta.runUntil(entering::isDone);
        assertThat(asked).as("all are answered").containsExactly(0, 3);
        another.meta.runFor(SECOND_NS);
        assertThat(asked).containsExactly(0, 3);
        assertThat(entering.isDone()).isTrue();
    }

    /** Who does not know of the attempt yet is asked again, and who has something else there is not. */
    @ParameterizedTest
    @CsvSource({"UNAVAILABLE, true, false", "EXHAUSTED, false, true", "INVALID_REQUEST, false, true",
        "FORBIDDEN, false, false"})
    void shouldTellWhetherItMayComeInLater(
        final ControlStatus status, final boolean isRefused, final boolean isFinal)
    {
        refusal = status;
        refusedIndex = 1;
        primary.groupIndex(1, GROUP, 2, 1);
        final EnteringMember entering = entering(false);
        assertThat(entering.isRefused()).isFalse();
        assertThat(entering.isFinal()).isFalse();
        another.meta.runUntil(() -> !entering.failure().isEmpty());
        assertThat(entering.isDone()).isFalse();
        assertThat(entering.isRefused()).isEqualTo(isRefused);
        assertThat(entering.isFinal()).isEqualTo(isFinal);
    }

    @Test
    void shouldNotComeInWhereAHeaderOfThePrimaryWasDamaged()
    {
        primary.groupIndex(1, 0, 0, ChunkDescriptor.UNREAD_COUNT);
        final EnteringMember entering = entering(false);
        another.meta.runFor(SECOND_NS);
        assertThat(entering.failure()).contains("the header of chunk 1 of the primary was damaged");
        assertThat(entering.isFinal()).isTrue();
        assertThat(entering.isRefused()).isFalse();
        assertThat(entering.isDone()).isFalse();
        assertThat(asked).isEmpty();
    }

    @Test
    void shouldFreeNothingWhenSomethingElseStandsInAChunk()
    {
        refusedIndex = 1;
        for (int i = 0; i < 3; i++)
        {
            primary.groupIndex(i, GROUP, 2, 1);
        }
        final EnteringMember entering = entering();
        another.meta.runUntil(() -> !entering.failure().isEmpty());
        another.meta.runFor(SECOND_NS);
        assertThat(entering.isDone()).isFalse();
        assertThat(entering.failure()).contains("something stands there");
        assertThat(asked).containsExactly(0, 1, 2);
    }

    @Test
    void shouldNotBeDoneWhenTheRestIsNotFreed()
    {
        refusedIndex = -1;
        primary.groupIndex(2, GROUP, 2, 1);
        final EnteringMember entering = entering();
        another.meta.runUntil(() -> !entering.failure().isEmpty());
        assertThat(entering.isDone()).isFalse();
        assertThat(asked).containsExactly(2, -1);
    }
}
