package io.verbena.memory;

import io.verbena.memory.checkpoint.CheckpointDamage;
import io.verbena.memory.checkpoint.CheckpointException;
import io.verbena.memory.checkpoint.CheckpointStore;
import io.verbena.protocol.view.RestoredGroup;
import io.verbena.protocol.view.View;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.TableDescriptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.util.List;
import java.util.Properties;

import static io.verbena.table.format.ChunkDescriptor.STATE_FREE;
import static io.verbena.table.format.ChunkDescriptor.STATE_INDEX;
import static io.verbena.table.format.ChunkDescriptor.STATE_ORPHAN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What is restored of a table of a group, beside a table of the memory node alone. */
@Timeout(60)
class GroupRestoreTest extends GroupCheckpointRig
{
    @Test
    void shouldRestoreTheTablesOfAGroupUnderItsLeases()
    {
        final long beforeMs = nowMs.get();
        make();
        assertThat(checkpointer.records()).as("of both").isEqualTo(3);
        assertThat(folder.lastCheckpoint()).containsEntry("group_records", "2");
        assertThat(property("view")).isEqualTo("1");
        assertThat(property("group")).isEqualTo("9");
        assertThat(property("place")).isEqualTo("primary");
        final View lost = VIEW.closing(3, PeerIdentity.UNREGISTERED);
        final RestoredGroup restored = restore(lost, ALONE, COPIED);
        assertThat(restored.records()).isEqualTo(2);
        assertThat(restored.number()).isEqualTo(1);
        assertThat(restored.isOfPrimary()).isTrue();
        assertThat(restored.startedMs()).isBetween(beforeMs, nowMs.get());
        assertThat(words(0)).isEqualTo(1);
        assertThat(words(2)).isEqualTo(2);
        assertThat(chunks.state(2)).isEqualTo(STATE_INDEX);
        assertThat(chunks.state(3)).isEqualTo(STATE_ORPHAN);
        for (final int chunk : List.of(2, 3))
        {
            assertThat(chunks.leaseNames().group(chunk)).isEqualTo(GROUP);
            assertThat(chunks.leaseNames().view(chunk)).isEqualTo(1);
            assertThat(chunks.leaseNames().count(chunk)).isEqualTo(1);
        }
        assertThat(chunks.leaseNames().isMirrored(0)).isFalse();
        assertThat(chunks.leaseNames().isMirrored(1)).isFalse();
    }

    @Test
    void shouldGiveUpWhatItRestored()
    {
        make();
        restore(VIEW, ALONE, COPIED);
        new MirrorLeases(chunks, CHUNK_BYTES).giveUp(GROUP);
        assertThat(chunks.state(2)).isEqualTo(STATE_FREE);
        assertThat(chunks.state(3)).isEqualTo(STATE_FREE);
        assertThat(chunks.state(0)).isEqualTo(STATE_INDEX);
        assertThat(chunks.state(1)).isEqualTo(STATE_ORPHAN);
    }

    /** The group leases the chunk again, and has not formatted it yet: what was in it counted in a view before. */
    @Test
    void shouldNotTakeWhatWasGivenUpForThatOfTheNextLease()
    {
        make();
        restore(VIEW, ALONE, COPIED);
        new MirrorLeases(chunks, CHUNK_BYTES).giveUp(GROUP);
        name(2, GROUP);
        chunks.leaseToGroup(2, STATE_INDEX, null, null, 0);
        restart();
        make();
        assertThat(property("records")).isEqualTo("0");
    }

    @Test
    void shouldRestoreNothingOfAGroupThatDoesNotNameIt()
    {
        make();
        final View without = View.first(GROUP, List.of(new PeerIdentity(1, 5)));
        assertThat(restore(without, ALONE, COPIED)).isNull();
        assertThat(words(0)).isEqualTo(1);
        assertThat(chunks.state(2)).isEqualTo(STATE_FREE);
    }

    /** The group had returned the chunk, and a table of this node alone got it. */
    @Test
    void shouldLeaveAGroupOutWhoseChunkAnotherTableHas()
    {
        make();
        assertThat(restore(VIEW, ALONE, COPIED, table("other", 8, NODE_ID, 2)))
            .isEqualTo(RestoredGroup.nothing(GROUP));
        assertThat(words(0)).isEqualTo(1);
        assertThat(words(2)).isZero();
        assertThat(chunks.leaseNames().isMirrored(2)).isFalse();
        assertThat(chunks.state(3)).isEqualTo(STATE_FREE);
    }

    /** Of a time at which the place was the group's, and the other one of a time at which it was not. */
    @Test
    void shouldPutNoBlockOfAGroupIntoAChunkOfTheNodeAlone()
    {
        make();
        answered = null;
        put(ALONE, 0, "d", offset(3) + 4 * BLOCK_BYTES);
        make();
        assertThat(restore(VIEW, ALONE, COPIED).records()).isEqualTo(2);
        assertThat(words(0)).isEqualTo(2);
        assertThat(words(2)).isEqualTo(2);
        for (long at = offset(2) + SubtableDescriptor.GROUPS_OFFSET; at < offset(3); at += Long.BYTES)
        {
            final long word = region.get(ValueLayout.JAVA_LONG, at);
            if (at % BucketDescriptor.BUCKET_BYTES != 0 && SlotWord.isCommitted(word))
            {
                final int chunk = (int)((SlotWord.blockOffset(word) - offset(0)) / CHUNK_BYTES);
                assertThat(chunks.leaseNames().group(chunk)).isEqualTo(GROUP);
            }
        }
        assertThat(chunks.leaseNames().isMirrored(3)).as("tables of the node come first").isFalse();
    }

    /** Records of copies in a checkpoint of the node alone count for nothing: an earlier build put them there. */
    @Test
    void shouldLeaveOutRecordsOfAGroupInTheCheckpointOfTheNodeAlone()
    {
        chunks.leaseNames().clear(2);
        chunks.restoredIndex(2);
        answered = null;
        make();
        assertThat(checkpointer.records()).isEqualTo(3);
        assertThat(restore(VIEW, ALONE, COPIED)).isEqualTo(RestoredGroup.nothing(GROUP));
        assertThat(words(0)).isEqualTo(1);
        assertThat(words(2)).isZero();
    }

    /** Where no table is kept here alone the group's will do; else nothing is lost that could be kept. */
    @Test
    void shouldRestoreAGroupWithoutACheckpointOfTheNodeAlone() throws IOException
    {
        Files.createFile(directory.resolve("node/checkpoint"));
        answer();
        assertThat(checkpointer.poll()).isFalse();
        assertThat(checkpointer.failure()).as("its own").isNotEmpty();
        assertThat(property("records")).isEqualTo("2");
        Files.delete(directory.resolve("node/checkpoint"));
        assertThatThrownBy(() -> restore(VIEW, ALONE, COPIED)).isInstanceOf(CheckpointException.class)
            .hasMessageContaining("memory of node 3 is gone").hasMessageContaining("Drop these tables, and start it")
            .hasMessageEndingWith(folder.path() + ": alone");
        assertThat(restore(VIEW, COPIED).records()).isEqualTo(2);
    }

    /** Others may have one of the group, and wait for what this one says. */
    @Test
    void shouldStartWithNothingWhereOtherMembersMayHaveACheckpoint()
    {
        assertThat(RegionAdoption.look(arena.allocate(superblock().regionLengthBytes(), 4096), folder, superblock()))
            .isEqualTo(RegionAdoption.Kind.TO_RESTORE);
        assertThatThrownBy(() -> restore(VIEW, ALONE, COPIED)).isInstanceOf(CheckpointException.class)
            .hasMessageContaining("memory of node 3 is gone");
        assertThat(restore(VIEW, COPIED)).isEqualTo(RestoredGroup.nothing(GROUP));
        assertThat(words(2)).isZero();
    }

    /** The group goes on from another member; this node and its own tables do not wait for that. */
    @Test
    void shouldRestoreWithoutAGroupWhoseDatabaseIsDamaged() throws IOException
    {
        make();
        try (CheckpointStore store = folder.openCheckpoint(GROUP))
        {
            CheckpointDamage.removeOneRecord(store);
        }
        requireOwnAlone(ALONE, COPIED);
        Files.write(directory.resolve("node/checkpoint-group-9/CURRENT"), new byte[]{1, 2});
        requireOwnAlone(ALONE, COPIED);
    }

    /** Else an older one of another member would be taken, and this one removed. */
    @Test
    void shouldRestoreNothingWhereAGroupDoesNotFit()
    {
        make();
        assertThatThrownBy(() -> restore(VIEW, ALONE, COPIED, table("other", 8, NODE_ID, 3),
            table("4", 9, NODE_ID, 4), table("5", 10, NODE_ID, 5), table("6", 11, NODE_ID, 6),
            table("7", 12, NODE_ID, 7))).isInstanceOf(CheckpointException.class)
            .hasMessageStartingWith("checkpoint of group 9: ").hasMessageContaining("(--memory ");
    }

    @Test
    void shouldRestoreNothingWhereItsOwnDoesNotFitBesideAGroup()
    {
        make();
        assertThatThrownBy(() -> restore(VIEW, ALONE, COPIED, table("1", 7 + 6, NODE_ID, 1),
            table("4", 9, NODE_ID, 4), table("5", 10, NODE_ID, 5), table("6", 11, NODE_ID, 6),
            table("7", 12, NODE_ID, 7))).isInstanceOf(CheckpointException.class)
            .hasMessageStartingWith("the checkpoint does not fit").hasMessageContaining("(--memory ");
    }

    /** It may be whole: no descriptors are free, say, or no room on the disk. */
    @Test
    void shouldRestoreNothingWhereTheDatabaseOfAGroupCannotBeOpened() throws IOException
    {
        make();
        Files.move(directory.resolve("node/checkpoint-group-9"), directory.resolve("aside"));
        Files.createFile(directory.resolve("node/checkpoint-group-9"));
        assertThatThrownBy(() -> restore(VIEW, ALONE, COPIED)).isInstanceOf(CheckpointException.class)
            .hasMessageStartingWith("checkpoint of group 9: ").hasMessageContaining(" does not open");
        Files.delete(directory.resolve("node/checkpoint-group-9"));
        Files.move(directory.resolve("aside"), directory.resolve("node/checkpoint-group-9"));
        assertThat(restore(VIEW, ALONE, COPIED).records()).isEqualTo(2);
    }

    /** Somebody has copied it from another memory node's folder, whose records are others. */
    @Test
    void shouldNotRestoreTheDatabaseOfAnotherMemoryNode()
    {
        make();
        try (CheckpointStore store = folder.openCheckpoint(GROUP))
        {
            final Properties state = store.state();
            state.setProperty("memory_id", "77");
            store.restate(state);
        }
        requireOwnAlone(ALONE, COPIED);
    }

    /** It was torn: what is said now takes its place. */
    @Test
    void shouldReplaceADamagedListOfRestoredGroups() throws IOException
    {
        make();
        Files.writeString(directory.resolve("node/restored.properties"), "9=\\u00");
        assertThatThrownBy(() -> RestoredGroups.of(folder, true)).isInstanceOf(MemoryNodeException.class);
        Files.writeString(directory.resolve("node/restored.properties"), "9=1 2");
        assertThatThrownBy(() -> RestoredGroups.of(folder, true)).isInstanceOf(MemoryNodeException.class)
            .hasMessageContaining("remove " + directory.resolve("node/restored.properties"));
        final View without = View.first(GROUP, List.of(new PeerIdentity(1, 5)));
        assertThat(restore(without, ALONE, COPIED)).isNull();
    }

    private void requireOwnAlone(final TableDescriptor... tables)
    {
        assertThat(restore(VIEW, tables)).isEqualTo(RestoredGroup.nothing(GROUP));
        assertThat(words(0)).isEqualTo(1);
        assertThat(words(2)).isZero();
        for (int chunk = 0; chunk < CHUNKS; chunk++)
        {
            assertThat(chunks.leaseNames().isMirrored(chunk)).as("chunk %d", chunk).isFalse();
        }
    }
}
