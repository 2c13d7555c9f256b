package io.verbena.meta.raft;

import io.verbena.meta.store.MetaBatch;
import io.verbena.meta.store.MetaCounters;
import io.verbena.meta.store.MetaStoreException;
import io.verbena.meta.store.StoredTable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

import static io.verbena.meta.raft.TestMembers.MEMBERS;
import static io.verbena.meta.store.MetaStoreException.Category.CORRUPT;
import static io.verbena.meta.store.MetaStoreException.Category.FOREIGN;
import static io.verbena.meta.store.MetaStoreException.Category.LOCKED;
import static io.verbena.meta.store.MetaStoreException.Category.UNKNOWN_VERSION;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What is left of a group, as real members have written it. */
@Timeout(240)
class MemberRemainsTest
{
    /** Of the number that says how a snapshot is written. */
    private static final int VERSION_OFFSET = 4;

    @TempDir
    private Path directory;
    private TestMembers members;

    @BeforeEach
    void choosePorts()
    {
        members = new TestMembers(directory, MEMBERS);
    }

    @AfterEach
    void closeAll()
    {
        members.close();
    }

    private void startAll()
    {
        members.startAll(true);
        members.write(new MetaBatch().counters(MetaCounters.initial(7)));
    }

    private void writeTables(final int from, final int to)
    {
        for (int i = from; i < to; i++)
        {
            members.write(new MetaBatch().table(new StoredTable("t" + i, 1, new byte[100])));
        }
    }

    private static Map<Path, ByteBuffer> contents(final Path folder) throws IOException
    {
        final Map<Path, ByteBuffer> contents = new TreeMap<>();
        try (Stream<Path> files = Files.walk(folder))
        {
            for (final Path file : files.filter(Files::isRegularFile).toList())
            {
                contents.put(file, ByteBuffer.wrap(Files.readAllBytes(file)));
            }
        }
        return contents;
    }

    private static List<Path> files(final Path folder, final String name) throws IOException
    {
        try (Stream<Path> files = Files.walk(folder))
        {
            return files.filter((file) -> file.getFileName().toString().matches(name)).sorted().toList();
        }
    }

    private static void damage(final Path file, final int offset) throws IOException
    {
        final byte[] bytes = Files.readAllBytes(file);
        bytes[offset] ^= 0x10;
        Files.write(file, bytes);
    }

    @Test
    void shouldKnowWhatEachMemberKnewAndWhichIsTheLatest() throws IOException
    {
        startAll();
        writeTables(0, 2);
        final int away = members.leader() % MEMBERS + 1;
        members.awaitTables(away, 2);
        members.stop(away);
        writeTables(2, 5);
        final int last = members.leader();
        members.stopAll();

        final Map<Path, ByteBuffer> before = contents(members.folder(away));
        final MemberRemains early = MemberRemains.read(members.folder(away));
        final MemberRemains late = MemberRemains.read(members.folder(last));
        assertThat(contents(members.folder(away))).as("nothing is changed").isEqualTo(before);
        assertThat(early.state().tables()).hasSize(2);
        assertThat(late.state().tables()).hasSize(5);
        assertThat(late.state().counters().clusterId()).isEqualTo(7);
        assertThat(late.index()).isGreaterThan(early.index());
        assertThat(early.damage()).isEmpty();
        assertThat(late.damage()).isEmpty();
        assertThat(MemberRemains.latest(List.of(late, early))).isSameAs(late);
        assertThat(MemberRemains.latest(List.of(early, late))).isSameAs(late);
    }

    /** The term decides, as in an election: a longer log of an earlier term has what nobody agreed on. */
    @Test
    void shouldTakeTheLaterTerm()
    {
        startAll();
        members.stopAll();
        final MemberRemains one = MemberRemains.read(members.folder(1));
        final MemberRemains longer = new MemberRemains(
            members.folder(2), one.state(), one.index() + 9, one.term(), one.lastWritten(), List.of());
        final MemberRemains later = new MemberRemains(
            members.folder(3), one.state(), one.index(), one.term() + 1, one.lastWritten(), List.of());
        assertThat(MemberRemains.latest(List.of(longer, later))).isSameAs(later);
        assertThat(MemberRemains.latest(List.of(later, longer))).isSameAs(later);
    }

    @Test
    void shouldGoOnFromTheLatestSnapshotThatIsWhole() throws IOException
    {
        members.useSmallLogs(20);
        startAll();
        writeTables(0, 90);
        final int last = members.leader();
        TestMembers.await(() -> 1 < members.logBeginsAt(last) && 2 == snapshots(last).size());
        members.stopAll();
        final MemberRemains all = MemberRemains.read(members.folder(last));
        assertThat(all.state().tables()).hasSize(90);
        assertThat(all.damage()).isEmpty();

        final Path newest = snapshots(last).getLast();
        damage(newest, 40);
        final MemberRemains older = MemberRemains.read(members.folder(last));
        assertThat(older.damage().getFirst()).contains(newest.toString());
        assertThat(older.state().tables()).hasSizeBetween(1, 90);
        assertThat(older.index()).isLessThanOrEqualTo(all.index());
        damage(snapshots(last).getFirst(), 40);
        assertThatThrownBy(() -> MemberRemains.read(members.folder(last)))
            .isInstanceOfSatisfying(MetaStoreException.class, (ex) -> assertThat(ex.category()).isEqualTo(CORRUPT))
            .hasMessageContaining(newest.toString()).hasMessageContaining("what comes before it ends with -1");
    }

    /** What a later build wrote is not damaged: nothing older is taken in its place. */
    @Test
    void shouldRefuseWhatAnotherBuildWrote() throws IOException
    {
        startAll();
        members.stopAll();
        damage(snapshots(1).getLast(), VERSION_OFFSET);
        assertThatThrownBy(() -> MemberRemains.read(members.folder(1)))
            .isInstanceOfSatisfying(MetaStoreException.class,
                (ex) -> assertThat(ex.category()).isEqualTo(UNKNOWN_VERSION))
            .hasMessageContaining("use the build that wrote it");
    }

    @Test
    void shouldNoticeThatAFileWasCutShort() throws IOException
    {
        members.useSmallLogs(1_000);
        startAll();
        writeTables(0, 60);
        final int last = members.leader();
        members.stopAll();
        deleteSnapshots(last);
        assertThat(MemberRemains.read(members.folder(last)).damage()).isEmpty();
        final List<Path> closed = files(members.folder(last), "log_\\d+-\\d+").stream()
            .filter((file) -> file.toFile().length() > 2_000).toList();
        final Path cut = closed.getFirst();
        Files.write(cut, Arrays.copyOf(Files.readAllBytes(cut), 2_000));
        final MemberRemains remains = MemberRemains.read(members.folder(last));
        assertThat(remains.damage()).singleElement().asString().contains(cut.toString(), "ends with entry " +
            remains.index() + ", and not with ");
        assertThat(remains.state().tables()).hasSizeBetween(1, 40);
    }

    /** A member makes one at an orderly end. */
    private void deleteSnapshots(final int member) throws IOException
    {
        for (final Path snapshot : snapshots(member))
        {
            Files.delete(snapshot);
        }
    }

    private List<Path> snapshots(final int member)
    {
        try
        {
            return files(members.folder(member), "snapshot\\.\\d+_\\d+").stream().sorted((one, other) -> Long.compare(
                index(one), index(other))).toList();
        }
        catch (final IOException ex)
        {
            return List.of();
        }
    }

    private static long index(final Path snapshot)
    {
        final String name = snapshot.getFileName().toString();
        return Long.parseLong(name.substring(name.indexOf('_') + 1));
    }

    @Test
    void shouldTakeWhatComesBeforeTheDamage() throws IOException
    {
        startAll();
        writeTables(0, 40);
        final int last = members.leader();
        members.stopAll();
        deleteSnapshots(last);
        // Behind its entries a file has zero bytes, and there is one with the first entry alone.
        final Path log = contents(members.folder(last)).entrySet().stream().filter((file) ->
            file.getKey().getFileName().toString().startsWith("log_") && 4_400 < file.getValue().limit() &&
            !new String(file.getValue().array(), 4_000, 400, StandardCharsets.ISO_8859_1).matches("\\x00*"))
            .findFirst().orElseThrow().getKey();
        final long whole = MemberRemains.read(members.folder(last)).index();
        damage(log, 4_000);
        final MemberRemains remains = MemberRemains.read(members.folder(last));
        assertThat(remains.index()).isBetween(1L, whole - 1);
        assertThat(remains.state().tables()).hasSizeBetween(1, 39);
        assertThat(remains.damage()).singleElement().asString().startsWith(log + ": ").hasLineCount(1);
    }

    @Test
    void shouldRefuseWhatIsInUseOrNoFolderOfAMember() throws IOException
    {
        startAll();
        assertThatThrownBy(() -> MemberRemains.read(members.folder(1)))
            .isInstanceOfSatisfying(MetaStoreException.class, (ex) -> assertThat(ex.category()).isEqualTo(LOCKED))
            .hasMessageContaining("stop it first");
        members.stopAll();
        assertThatThrownBy(() -> MemberRemains.read(directory.resolve("none")))
            .isInstanceOfSatisfying(MetaStoreException.class, (ex) -> assertThat(ex.category()).isEqualTo(FOREIGN))
            .hasMessageContaining("has no log of a member");
        Files.createDirectories(members.folder(1).resolve("another").resolve("current"));
        assertThatThrownBy(() -> MemberRemains.read(members.folder(1)))
            .isInstanceOfSatisfying(MetaStoreException.class, (ex) -> assertThat(ex.category()).isEqualTo(FOREIGN))
            .hasMessageContaining("the logs of 2 groups");
    }
}
