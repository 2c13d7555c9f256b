package io.verbena.meta.raft;

import io.verbena.meta.store.MetaBatch;
import io.verbena.meta.store.MetaCounters;
import io.verbena.meta.store.MetaStoreException;
import io.verbena.meta.store.StoredTable;
import org.agrona.CloseHelper;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

import static io.verbena.meta.store.MetaStoreException.Category.CORRUPT;
import static io.verbena.meta.store.MetaStoreException.Category.FOREIGN;
import static io.verbena.meta.store.MetaStoreException.Category.LOCKED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What is left of a group, as real members have written it. */
@Timeout(240)
class MemberRemainsTest
{
    private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(100);
    private static final long LEASE_NS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final int MEMBERS = 3;
    private static final NanoClock CLOCK = SystemNanoClock.INSTANCE;

    @TempDir
    private Path directory;
    private final List<String> peers = new ArrayList<>();
    private final RaftMember[] members = new RaftMember[MEMBERS];
    private final Leadership[] leaderships = new Leadership[MEMBERS];
    private int snapshotEntries = 1_000;
    private String segment = "1MB";

    @BeforeEach
    void chooseFreePorts() throws IOException
    {
        final List<ServerSocket> sockets = new ArrayList<>();
        for (int i = 0; i < MEMBERS; i++)
        {
            sockets.add(new ServerSocket(0, 1, InetAddress.getLoopbackAddress()));
            peers.add("127.0.0.1:" + sockets.getLast().getLocalPort());
        }
        for (final ServerSocket socket : sockets)
        {
            socket.close();
        }
    }

    @AfterEach
    void closeAll()
    {
        CloseHelper.quietCloseAll(members);
    }

    private Path folder(final int member)
    {
        return directory.resolve("m" + member);
    }

    private void startAll()
    {
        for (int i = 1; i <= MEMBERS; i++)
        {
            members[i - 1] = RaftMember.open(
                new GroupOptions(new UUID(1, 2), i, peers, folder(i), true), snapshotEntries, segment);
            leaderships[i - 1] = new Leadership(members[i - 1], members[i - 1].name(), CLOCK, LEASE_NS);
        }
        write(new MetaBatch().counters(MetaCounters.initial(7)));
    }

    private void stop(final int member)
    {
        members[member - 1].close();
        members[member - 1] = null;
        leaderships[member - 1] = null;
    }

    private void stopAll()
    {
        for (int member = 1; member <= MEMBERS; member++)
        {
            if (null != members[member - 1])
            {
                stop(member);
            }
        }
    }

    private void await(final BooleanSupplier condition)
    {
        final long sinceNs = CLOCK.nanoTime();
        while (!condition.getAsBoolean())
        {
            assertThat(CLOCK.nanoTime() - sinceNs).as("time until it holds").isLessThan(DEADLINE_NS);
            LockSupport.parkNanos(1_000_000);
        }
    }

    private int leader()
    {
        final int[] leader = {0};
        await(() ->
        {
            for (int i = 0; i < MEMBERS; i++)
            {
                if (null != leaderships[i])
                {
                    leaderships[i].poll(CLOCK.nanoTime());
                    leader[0] = leaderships[i].isHeld() ? i + 1 : leader[0];
                }
            }
            return 0 != leader[0];
        });
        return leader[0];
    }

    private void write(final MetaBatch batch)
    {
        final int leader = leader();
        new GroupMetaStore(members[leader - 1], leaderships[leader - 1], CLOCK, DEADLINE_NS).write(batch);
    }

    private void writeTables(final int from, final int to)
    {
        for (int i = from; i < to; i++)
        {
            write(new MetaBatch().table(new StoredTable("t" + i, 1, new byte[100])));
        }
    }

    private void awaitTables(final int member, final int count)
    {
        await(() -> !members[member - 1].state().isEmpty() &&
            members[member - 1].state().load().tables().size() == count);
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
        final int away = leader() % MEMBERS + 1;
        awaitTables(away, 2);
        stop(away);
        writeTables(2, 5);
        final int last = leader();
        stopAll();

        final Map<Path, ByteBuffer> before = contents(folder(away));
        final MemberRemains early = MemberRemains.read(folder(away));
        final MemberRemains late = MemberRemains.read(folder(last));
        assertThat(contents(folder(away))).as("nothing is changed").isEqualTo(before);
        assertThat(early.state().tables()).hasSize(2);
        assertThat(late.state().tables()).hasSize(5);
        assertThat(late.state().counters().clusterId()).isEqualTo(7);
        assertThat(late.index()).isGreaterThan(early.index());
        assertThat(early.damage() + late.damage()).isEmpty();
        assertThat(MemberRemains.latest(List.of(late, early))).isSameAs(late);
        assertThat(MemberRemains.latest(List.of(early, late))).isSameAs(late);
    }

    /** The term decides, as in an election: a longer log of an earlier term has what nobody agreed on. */
    @Test
    void shouldTakeTheLaterTerm()
    {
        startAll();
        stopAll();
        final MemberRemains one = MemberRemains.read(folder(1));
        final MemberRemains longer =
            new MemberRemains(folder(2), one.state(), one.index() + 9, one.term(), one.lastWritten(), "");
        final MemberRemains later =
            new MemberRemains(folder(3), one.state(), one.index(), one.term() + 1, one.lastWritten(), "");
        assertThat(MemberRemains.latest(List.of(longer, later))).isSameAs(later);
        assertThat(MemberRemains.latest(List.of(later, longer))).isSameAs(later);
    }

    @Test
    void shouldGoOnFromTheLatestSnapshotThatIsWhole() throws IOException
    {
        snapshotEntries = 20;
        segment = "4KB";
        startAll();
        writeTables(0, 90);
        final int last = leader();
        await(() -> 1 < RaftMemberTest.logBeginsAt(folder(last)) &&
            2 == snapshots(last).size());
        stopAll();
        final MemberRemains all = MemberRemains.read(folder(last));
        assertThat(all.state().tables()).hasSize(90);
        assertThat(all.damage()).isEmpty();

        damage(snapshots(last).getLast(), 40);
        final MemberRemains older = MemberRemains.read(folder(last));
        assertThat(older.state().tables()).hasSizeBetween(1, 90);
        assertThat(older.index()).isLessThanOrEqualTo(all.index());
        damage(snapshots(last).getFirst(), 40);
        assertThatThrownBy(() -> MemberRemains.read(folder(last))).isInstanceOfSatisfying(MetaStoreException.class,
            (ex) -> assertThat(ex.category()).isEqualTo(CORRUPT)).hasMessageContaining("comes behind entry -1");
    }

    private List<Path> snapshots(final int member)
    {
        try
        {
            return files(folder(member), "snapshot\\.\\d+_\\d+").stream().sorted((one, other) -> Long.compare(
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
        final int last = leader();
        stopAll();
        // Made at an orderly end.
        for (final Path snapshot : snapshots(last))
        {
            Files.delete(snapshot);
        }
        // Behind its entries a file has zero bytes, and there is one with the first entry alone.
        final Path log = contents(folder(last)).entrySet().stream().filter((file) ->
            file.getKey().getFileName().toString().startsWith("log_") && 4_400 < file.getValue().limit() &&
            !new String(file.getValue().array(), 4_000, 400, StandardCharsets.ISO_8859_1).matches("\\x00*"))
            .findFirst().orElseThrow().getKey();
        final long whole = MemberRemains.read(folder(last)).index();
        damage(log, 4_000);
        final MemberRemains remains = MemberRemains.read(folder(last));
        assertThat(remains.index()).isBetween(1L, whole - 1);
        assertThat(remains.state().tables()).hasSizeBetween(1, 39);
        assertThat(remains.damage()).startsWith(log.getFileName() + ": ").hasLineCount(1);
    }

    @Test
    void shouldRefuseWhatIsInUseOrNoFolderOfAMember() throws IOException
    {
        startAll();
        assertThatThrownBy(() -> MemberRemains.read(folder(1))).isInstanceOfSatisfying(MetaStoreException.class,
            (ex) -> assertThat(ex.category()).isEqualTo(LOCKED)).hasMessageContaining("stop it first");
        stopAll();
        assertThatThrownBy(() -> MemberRemains.read(directory.resolve("none")))
            .isInstanceOfSatisfying(MetaStoreException.class, (ex) -> assertThat(ex.category()).isEqualTo(FOREIGN))
            .hasMessageContaining("has no log of a member");
        Files.createDirectories(folder(1).resolve("another").resolve("current"));
        assertThatThrownBy(() -> MemberRemains.read(folder(1)))
            .isInstanceOfSatisfying(MetaStoreException.class, (ex) -> assertThat(ex.category()).isEqualTo(FOREIGN))
            .hasMessageContaining("the logs of 2 groups");
    }
}
