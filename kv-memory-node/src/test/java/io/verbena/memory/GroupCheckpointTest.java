package io.verbena.memory;

import io.verbena.protocol.view.RestoredGroup;
import io.verbena.protocol.view.View;
import io.verbena.raas.identity.PeerIdentity;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** When checkpoints of a table of a group are made, beside one of the memory node alone. */
@Timeout(60)
class GroupCheckpointTest extends GroupCheckpointRig
{
    @Test
    void shouldKeepTheCheckpointOfBeforeWhenItMayMakeNone()
    {
        make();
        final String before = property("started_ms");
        put(COPIED, 2, "e", offset(3) + 2 * BLOCK_BYTES);
        answered = null;
        make();
        assertThat(property("started_ms")).as("the meta server does not answer").isEqualTo(before);
        assertThat(folder.lastCheckpoint()).containsEntry("groups_left_out", "9");
        answered = MIDDLE;
        make();
        assertThat(property("started_ms")).as("a middle").isEqualTo(before);
        assertThat(folder.lastCheckpoint()).as("others make one").containsEntry("groups_left_out", "");
        answered = VIEW.closing(0, PeerIdentity.UNREGISTERED).reconciling();
        make();
        assertThat(property("started_ms")).as("copies are made equal").isEqualTo(before);
        assertThat(checkpointer.groupsLeftOut()).isEqualTo("9");
        assertThat(restore(VIEW, ALONE, COPIED).records()).isEqualTo(2);
    }

    /** Whatever was read when the group's memory may be changed by others than its operations is dropped. */
    @Test
    void shouldBeginAgainWhenCopiesAreMadeEqualMeanwhile()
    {
        make();
        final String before = property("started_ms");
        final int[] loads = {0};
        checkpointer.make((mapped) -> changing(mapped, () ->
        {
            loads[0]++;
            if (1 == loads[0])
            {
                put(COPIED, 2, "e", offset(3) + 2 * BLOCK_BYTES);
                coverage.changed(GROUP, 1);
                answered = next(VIEW);
            }
        }));
        assertThat(checkpointer.failure()).isEmpty();
        assertThat(property("started_ms")).as("the second attempt").isNotEqualTo(before);
        assertThat(restore(VIEW, ALONE, COPIED).records()).isEqualTo(3);
    }

    @Test
    void shouldLeaveTheGroupOutWhenItChangesAgainAndAgain()
    {
        make();
        final String before = property("started_ms");
        put(COPIED, 2, "e", offset(3) + 2 * BLOCK_BYTES);
        checkpointer.make((mapped) -> changing(mapped, () -> coverage.changed(GROUP, 0)));
        assertThat(checkpointer.failure()).as("that of the node alone is made").isEmpty();
        assertThat(property("started_ms")).isEqualTo(before);
        assertThat(restore(VIEW, ALONE, COPIED).records()).isEqualTo(2);
    }

    /** A middle has none, and may be the last one that is left. */
    @Test
    void shouldMakeOneAtOnceWhenItHasBecomePrimary()
    {
        answered = MIDDLE;
        make();
        assertThat(checkpointer.poll()).isFalse();
        answered = MIDDLE.closing(5, PeerIdentity.UNREGISTERED).reconciling().next();
        answer();
        assertThat(checkpointer.poll()).isTrue();
        assertThat(property("view")).isEqualTo("2");
        assertThat(property("place")).isEqualTo("primary");
        assertThat(property("records")).isEqualTo("2");
        answer();
        assertThat(checkpointer.poll()).as("once").isFalse();
    }

    @Test
    void shouldMakeOneOfTheGroupAloneAtOnce()
    {
        make();
        final String before = folder.lastCheckpoint().getProperty("started_ms");
        answered = next(VIEW);
        answer();
        put(COPIED, 2, "e", offset(3) + 2 * BLOCK_BYTES);
        answered = null;
        assertThat(checkpointer.poll()).as("the meta server does not answer").isFalse();
        assertThat(property("view")).isEqualTo("1");
        answered = next(VIEW);
        assertThat(checkpointer.poll()).as("it is tried again").isTrue();
        assertThat(property("records")).isEqualTo("3");
        assertThat(folder.lastCheckpoint()).containsEntry("started_ms", before);
    }

    @Test
    void shouldMakeNoneAtOnceOfAViewThatItHasOneOf()
    {
        make();
        final String before = property("started_ms");
        restart();
        answer();
        assertThat(checkpointer.poll()).isFalse();
        assertThat(property("started_ms")).isEqualTo(before);
        answered = next(VIEW);
        answer();
        make();
        assertThat(checkpointer.poll()).as("all of them were made meanwhile").isFalse();
        assertThat(property("view")).isEqualTo("2");
    }

    @Test
    void shouldNotTryAgainAtOnceWhatFails() throws IOException
    {
        final Path inTheWay = Files.createFile(directory.resolve("node/checkpoint-group-9"));
        answer();
        assertThat(checkpointer.poll()).isFalse();
        assertThat(checkpointer.failure()).startsWith("no checkpoint of group 9: ");
        final long failedMs = checkpointer.failedMs();
        Files.delete(inTheWay);
        assertThat(checkpointer.poll()).isFalse();
        assertThat(checkpointer.failedMs()).isEqualTo(failedMs);
        nowNs.addAndGet(TimeUnit.SECONDS.toNanos(10));
        assertThat(checkpointer.poll()).isTrue();
        assertThat(property("records")).isEqualTo("2");
    }

    /** Nobody says what has become of it, and a request does not wait for an answer behind each attempt. */
    @Test
    void shouldWantNoneOnceItHasLostItsLease()
    {
        answer();
        assertThat(coverage.wanted()).containsKey(GROUP);
        coverage.lost();
        assertThat(checkpointer.poll()).isFalse();
    }

    /** Its memory may be lost before the first period is over, or there is none. */
    @Test
    void shouldMakeOneOfTheNodeAloneWithTheFirstOfAGroup()
    {
        answer();
        assertThat(checkpointer.poll()).isTrue();
        final RestoredGroup restored = restore(VIEW, ALONE, COPIED);
        assertThat(restored.records()).isEqualTo(2);
        assertThat(words(0)).isEqualTo(1);
    }

    /** What a head has written over pages of a primary's may have words of operations that are refused later. */
    @Test
    void shouldSayThatPagesAreThoseOfAHeadWhenItIsCutShort()
    {
        make();
        assertThat(property("place")).isEqualTo("primary");
        answered = View.first(GROUP, List.of(SELF, new PeerIdentity(1, 5))).closing(0, PeerIdentity.UNREGISTERED)
            .reconciling().next();
        put(COPIED, 2, "e", offset(3) + 2 * BLOCK_BYTES);
        checkpointer.make((mapped) -> changing(mapped, () -> coverage.changed(GROUP, 0)));
        assertThat(property("view")).isEqualTo("1");
        assertThat(property("place")).isEqualTo("head");
        assertThat(restore(VIEW, ALONE, COPIED).isOfPrimary()).isFalse();
    }

    @Test
    void shouldMakeTheOthersWhenThatOfOneGroupFails() throws IOException
    {
        others = List.of(FIRST);
        index(table("first", 5, OTHER_GROUP, 4), 4, OTHER_GROUP);
        Files.createFile(directory.resolve("node/checkpoint-group-8"));
        checkpointer.make();
        assertThat(checkpointer.failure()).startsWith("no checkpoint of group 8: ");
        assertThat(checkpointer.records()).isEqualTo(3);
        assertThat(folder.lastCheckpoint()).containsEntry("records", "3").containsEntry("group_records", "2")
            .containsEntry("groups_left_out", "8").containsKey("failed_ms").containsKey("finished_ms");
        assertThat(folder.lastCheckpoint().getProperty("failure")).startsWith("no checkpoint of group 8: ");
        assertThat(property("records")).isEqualTo("2");
    }

    @Test
    void shouldMakeThoseOfGroupsWhenItsOwnFails() throws IOException
    {
        Files.createFile(directory.resolve("node/checkpoint"));
        checkpointer.make();
        assertThat(checkpointer.failure()).isNotEmpty();
        assertThat(folder.lastCheckpoint()).containsKey("failed_ms").doesNotContainKey("finished_ms");
        assertThat(property("records")).isEqualTo("2");
    }

    @Test
    void shouldRemoveThatOfAGroupThatGoesOnWithoutIt()
    {
        make();
        final View without = VIEW.closing(2, PeerIdentity.UNREGISTERED).reconciling().next();
        answered = without.filling(SELF, new PeerIdentity(8, 8));
        make();
        assertThat(folder.groupCheckpoints()).as("it comes in").containsExactly(GROUP);
        answered = null;
        make();
        assertThat(folder.groupCheckpoints()).as("nobody answers").containsExactly(GROUP);
        answered = FIRST;
        make();
        assertThat(folder.groupCheckpoints()).as("the group is not known").containsExactly(GROUP);
        answered = VIEW.closing(2, PeerIdentity.UNREGISTERED);
        make();
        assertThat(folder.groupCheckpoints()).as("it may return").containsExactly(GROUP);
        answered = without;
        make();
        assertThat(folder.groupCheckpoints()).isEmpty();
        assertThat(folder.hasCheckpoint(GROUP)).isFalse();
    }

    @Test
    void shouldKeepThatOfALaterViewThanItHearsOf()
    {
        answered = next(next(VIEW));
        make();
        answered = VIEW.closing(2, PeerIdentity.UNREGISTERED).reconciling().next();
        make();
        assertThat(property("view")).isEqualTo("3");
    }

    /** The group may have tables again when its memory is lost; without a checkpoint it would stay closed. */
    @Test
    void shouldKeepAnEmptyOneOfAGroupWithoutTables()
    {
        make();
        new MirrorLeases(chunks, CHUNK_BYTES).giveUp(GROUP);
        answered = next(VIEW);
        make();
        assertThat(property("view")).isEqualTo("2");
        assertThat(property("records")).isEqualTo("0");
        assertThat(restore(next(VIEW), ALONE, COPIED).number()).isEqualTo(2);
    }

    @Test
    void shouldKeepOneThatCannotBeReadWhenTheGroupGoesOnWithoutIt() throws IOException
    {
        make();
        Files.write(directory.resolve("node/checkpoint-group-9/CURRENT"), new byte[]{1, 2});
        answered = View.first(GROUP, List.of(new PeerIdentity(1, 5))).closing(0, PeerIdentity.UNREGISTERED)
            .reconciling().next();
        new MirrorLeases(chunks, CHUNK_BYTES).giveUp(GROUP);
        make();
        assertThat(folder.groupCheckpoints()).containsExactly(GROUP);
    }
}
