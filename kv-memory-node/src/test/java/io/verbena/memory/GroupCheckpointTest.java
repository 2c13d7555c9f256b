package io.verbena.memory;

import io.verbena.memory.checkpoint.CheckpointDamage;
import io.verbena.memory.checkpoint.CheckpointException;
import io.verbena.memory.checkpoint.CheckpointStore;
import io.verbena.memory.checkpoint.MappedLoads;
import io.verbena.memory.checkpoint.RegionLoads;
import io.verbena.protocol.view.RestoredGroup;
import io.verbena.protocol.view.View;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.KeyHash;
import io.verbena.table.format.SizeClasses;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.Superblock;
import io.verbena.table.format.SuperblockDescriptor;
import io.verbena.table.format.TableDescriptor;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

import static io.verbena.table.format.ChunkDescriptor.STATE_FREE;
import static io.verbena.table.format.ChunkDescriptor.STATE_INDEX;
import static io.verbena.table.format.ChunkDescriptor.STATE_ORPHAN;
import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Checkpoints of a table of a group, beside a table of the memory node alone, and what is restored of them. */
@Timeout(60)
class GroupCheckpointTest
{
    private static final int GROUP = 9;
    private static final int NODE_ID = 3;
    private static final int CHUNKS = 8;
    private static final int CHUNK_BYTES = 64 << 10;
    private static final int BLOCK_BYTES = 1280;
    private static final PeerIdentity SELF = new PeerIdentity(NODE_ID, 7);
    private static final int OTHER_GROUP = 8;
    private static final View FIRST = View.first(OTHER_GROUP, List.of(SELF, new PeerIdentity(1, 5)));
    private static final View VIEW = View.first(GROUP, List.of(new PeerIdentity(1, 5), SELF));
    private static final TableDescriptor ALONE = table("alone", 6, NODE_ID, 0);
    private static final TableDescriptor COPIED = table("copied", 7, GROUP, 2);

    private static final View MIDDLE = View.first(GROUP, List.of(new PeerIdentity(1, 5), SELF, new PeerIdentity(2, 6)));

    @TempDir
    private Path directory;
    private final Arena arena = Arena.ofShared();
    private final KeyHash hash = new KeyHash();
    private final AtomicLong nowMs = new AtomicLong(1_000);
    private final AtomicLong nowNs = new AtomicLong();
    private GroupCoverage coverage;
    private MemorySegment region = region();
    private ChunkTable chunks;
    private MemoryFolder folder;
    private Checkpointer checkpointer;
    private View answered = VIEW;
    private List<View> others = List.of();

    private static TableDescriptor table(final String name, final int tableId, final int homeId, final int chunk)
    {
        return new TableDescriptor(
            name, tableId, 0, 300, 99, new long[]{DirectoryEntry.stable(0, homeId, offset(chunk))});
    }

    @BeforeEach
    void open()
    {
        folder = MemoryFolder.open(directory.resolve("node"), 0, superblock().regionLengthBytes());
        folder.joined(NODE_ID, 99, SELF.incarnation());
        chunks = chunks();
        index(ALONE, 0, 0);
        index(COPIED, 2, GROUP);
        blocks(1, 0);
        blocks(3, GROUP);
        put(ALONE, 0, "a", offset(1));
        put(COPIED, 2, "b", offset(3));
        put(COPIED, 2, "c", offset(3) + BLOCK_BYTES);
        restart();
    }

    @AfterEach
    void close()
    {
        folder.close();
        arena.close();
    }

    /** As the node's thread does; where there is no answer, time passes. */
    private void answer()
    {
        nowNs.addAndGet(100_000_000);
        if (null != answered)
        {
            coverage.answer(coverage.question(), SELF, Stream.concat(others.stream(), Stream.of(answered)).toList());
        }
    }

    private static View next(final View view)
    {
        return view.closing(0, PeerIdentity.UNREGISTERED).reconciling().next();
    }

    /** The next process of the node, on the same memory. */
    private void restart()
    {
        coverage = new GroupCoverage();
        checkpointer = new Checkpointer(folder, region, 0, nowNs::get, nowMs::incrementAndGet).coverGroups(
            new GroupCheckpoints(folder, region, coverage, nowNs::get, nowMs::get));
        checkpointer.pause(this::answer);
    }

    private MemorySegment region()
    {
        final MemorySegment made = arena.allocate(superblock().regionLengthBytes(), 4096);
        SuperblockDescriptor.writeBoth(made, superblock());
        return made;
    }

    private static Superblock superblock()
    {
        return new Superblock(NODE_ID, SELF.incarnation(),
            offset(CHUNKS) + (long)CHUNKS * ChunkDescriptor.HEADER_BYTES, SuperblockDescriptor.SPACE_BYTES,
            CHUNK_BYTES, CHUNKS, offset(CHUNKS));
    }

    private static long offset(final int chunk)
    {
        return SuperblockDescriptor.SPACE_BYTES + (long)chunk * CHUNK_BYTES;
    }

    private ChunkTable chunks()
    {
        return new ChunkTable(SuperblockDescriptor.SPACE_BYTES, CHUNK_BYTES, CHUNKS,
            new ChunkHeaders(region, offset(CHUNKS), CHUNKS));
    }

    private UnsafeBuffer at(final long offset, final int lengthBytes)
    {
        return new UnsafeBuffer(region.asSlice(offset, lengthBytes).address(), lengthBytes);
    }

    private void index(final TableDescriptor table, final int chunk, final int group)
    {
        name(chunk, group);
        chunks.restoredIndex(chunk);
        final UnsafeBuffer index = at(offset(chunk), CHUNK_BYTES);
        for (int at = SubtableDescriptor.GROUPS_OFFSET; at < SubtableDescriptor.lengthBytes(table.groupCount());
            at += BucketDescriptor.BUCKET_BYTES)
        {
            index.putLong(at, BucketDescriptor.header(table.tableId(), 0, 0), LITTLE_ENDIAN);
        }
        SubtableDescriptor.write(index, 0, table.tableId(), 0, 0, table.groupCount(), table.hashSeed(), 0);
    }

    private void blocks(final int chunk, final int group)
    {
        name(chunk, group);
        chunks.restoredBlocks(chunk);
    }

    private void name(final int chunk, final int group)
    {
        if (0 != group)
        {
            chunks.leaseNames().name(chunk, group, 1, 4);
        }
    }

    private void put(final TableDescriptor table, final int chunk, final String key, final long offset)
    {
        final byte[] bytes = key.getBytes(StandardCharsets.US_ASCII);
        final UnsafeBuffer block = at(offset, BLOCK_BYTES);
        try (Arena shortly = Arena.ofConfined())
        {
            hash.compute(KeyHash.function(table.hashSeed()), shortly.allocateFrom(ValueLayout.JAVA_BYTE, bytes));
        }
        BlockDescriptor.writeHeader(
            block, 0, table.tableId(), bytes.length, 0, 1, 1, 1, hash.high(), 0, 0, 0);
        block.putBytes(BlockDescriptor.KEY_OFFSET, bytes);
        final long word = SlotWord.committed(KeyHash.fingerprint(hash.high()), KeyHash.window(hash.high(), 0),
            1, SizeClasses.classFor(BLOCK_BYTES), offset);
        BlockDescriptor.seal(block, 0, word);
        final long low = hash.low();
        long slot = offset(chunk) + SubtableDescriptor.GROUPS_OFFSET + BucketDescriptor.SLOTS_OFFSET +
            (long)KeyHash.group1(low, table.groupCount()) * BucketDescriptor.GROUP_BYTES +
            2L * KeyHash.side1(low) * BucketDescriptor.BUCKET_BYTES;
        while (0 != region.get(ValueLayout.JAVA_LONG, slot))
        {
            slot += Long.BYTES;
        }
        region.set(ValueLayout.JAVA_LONG, slot, word);
    }

    private String property(final String name)
    {
        try (CheckpointStore store = folder.openCheckpoint(GROUP))
        {
            return store.state().getProperty(name);
        }
    }

    private void make()
    {
        checkpointer.make();
        assertThat(checkpointer.failure()).isEmpty();
    }

    /** Into memory that is gone; what was restored of the group. */
    private RestoredGroup restore(final View view, final TableDescriptor... tables)
    {
        region = region();
        chunks = chunks();
        final RestoredGroups restored = RestoredGroups.of(folder, false);
        RegionAdoption.restore(region, superblock(), folder,
            new GroupRestore(folder, List.of(view), restored, chunks), List.of(tables), (done, all) -> { });
        assertThat(RestoredGroups.of(folder, true).all()).as("the next process")
            .containsExactlyElementsOf(restored.all());
        return restored.of(GROUP);
    }

    private int words(final int chunk)
    {
        int words = 0;
        for (long at = offset(chunk) + SubtableDescriptor.GROUPS_OFFSET; at < offset(chunk + 1); at += Long.BYTES)
        {
            final boolean isSlot = at % BucketDescriptor.BUCKET_BYTES != 0;
            words += isSlot && SlotWord.isCommitted(region.get(ValueLayout.JAVA_LONG, at)) ? 1 : 0;
        }
        return words;
    }

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

    /** Does something behind each copy of a block of the group. */
    private static RegionLoads changing(final MemorySegment mapped, final Runnable change)
    {
        return new ChangingLoads(new MappedLoads(mapped), offset(3), BLOCK_BYTES, change);
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
