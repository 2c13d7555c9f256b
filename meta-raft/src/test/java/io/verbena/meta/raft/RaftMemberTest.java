package io.verbena.meta.raft;

import io.verbena.meta.store.MetaBatch;
import io.verbena.meta.store.MetaCommand;
import io.verbena.meta.store.MetaCounters;
import io.verbena.meta.store.MetaState;
import io.verbena.meta.store.MetaStoreException;
import io.verbena.meta.store.StoredTable;
import org.agrona.CloseHelper;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Three members in one process, with the log as it is. */
@Timeout(240)
class RaftMemberTest
{
    private static final long LEASE_NS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final long WRITE_NS = TimeUnit.SECONDS.toNanos(60);
    private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(100);
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

    private GroupOptions options(final int member, final boolean isNew)
    {
        return new GroupOptions(new UUID(1, 2), member, peers, directory.resolve("m" + member), isNew);
    }

    private void start(final int member, final boolean isNew)
    {
        members[member - 1] = RaftMember.open(options(member, isNew), snapshotEntries, segment);
        leaderships[member - 1] =
            new Leadership(members[member - 1], members[member - 1].name(), CLOCK, LEASE_NS);
    }

    private void startAll(final boolean isNew)
    {
        for (int member = 1; member <= MEMBERS; member++)
        {
            start(member, isNew);
        }
    }

    private void stop(final int member)
    {
        members[member - 1].close();
        members[member - 1] = null;
        leaderships[member - 1] = null;
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

    /** Number of the member that leads. */
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

    private GroupMetaStore store(final int member)
    {
        return new GroupMetaStore(members[member - 1], leaderships[member - 1], CLOCK, WRITE_NS);
    }

    private static StoredTable table(final String name)
    {
        return new StoredTable(name, 1, new byte[100]);
    }

    private MetaState state(final int member)
    {
        return members[member - 1].state().load();
    }

    private void awaitSame(final int member, final int other)
    {
        await(() -> members[member - 1].stat().appliedIndex() == members[other - 1].stat().appliedIndex());
    }

    private long logBeginsAt(final int member)
    {
        return logBeginsAt(directory.resolve("m" + member));
    }

    /** Index of the first entry that is still in the log of this folder: files are log_FIRST-LAST. */
    static long logBeginsAt(final Path folder)
    {
        try (Stream<Path> files = Files.walk(folder))
        {
            return files.map((file) -> file.getFileName().toString()).filter((file) -> file.startsWith("log_"))
                .mapToLong((file) -> Long.parseLong(file.substring(4).replace("inprogress_", "").split("-")[0]))
                .min().orElse(-1);
        }
        catch (final IOException | UncheckedIOException ex)
        {
            return -1;
        }
    }

    private void awaitTables(final int member, final int count)
    {
        await(() -> !members[member - 1].state().isEmpty() && state(member).tables().size() == count);
    }

    @Test
    void shouldGoOnWithoutItsLeaderAndKnowAllAfterARestartOfAll()
    {
        startAll(true);
        final int first = leader();
        assertThat(first).as("of a new group the first member leads first").isEqualTo(1);
        store(first).write(new MetaBatch().counters(MetaCounters.initial(7)).table(table("a")));
        stop(first);

        final int second = leader();
        assertThat(leaderships[second - 1].number()).isGreaterThan(1);
        assertThat(state(second).tables()).hasSize(1);
        store(second).write(new MetaBatch().table(table("b")));
        start(first, false);
        awaitTables(first, 2);

        for (int member = 1; member <= MEMBERS; member++)
        {
            stop(member);
        }
        startAll(false);
        final int third = leader();
        assertThat(state(third).tables()).hasSize(2);
        assertThat(state(third).counters().clusterId()).isEqualTo(7);
        for (int member = 1; member <= MEMBERS; member++)
        {
            awaitTables(member, 2);
        }
        final GroupStat stat = members[third - 1].stat();
        assertThat(stat.leader()).isEqualTo("meta-" + third);
        assertThat(stat.unreachable()).isEmpty();
        assertThat(stat.commitIndex()).isGreaterThanOrEqualTo(3);
    }

    /** What it missed is not in the log any more. */
    @Test
    void shouldBringAMemberUpToDateByASnapshot()
    {
        snapshotEntries = 20;
        segment = "4KB";
        startAll(true);
        final int leader = leader();
        store(leader).write(new MetaBatch().counters(MetaCounters.initial(7)));
        final int away = leader % MEMBERS + 1;
        awaitSame(away, leader);
        final long known = members[away - 1].stat().appliedIndex();
        stop(away);
        for (int i = 0; i < 120; i++)
        {
            final int now = leader();
            store(now).write(new MetaBatch().table(table("t" + i)));
        }
        // Whichever of the two others leads later.
        for (int member = 1; member <= MEMBERS; member++)
        {
            final int other = member;
            await(() -> other == away || logBeginsAt(other) > known + 1);
        }
        start(away, false);
        awaitTables(away, 120);
        assertThat(logBeginsAt(away)).as("a log without what it missed").isGreaterThan(known + 1);
        await(() -> members[away - 1].stat().snapshotIndex() > known);
        stop(away);
        start(away, false);
        awaitTables(away, 120);
    }

    @Test
    void shouldRefuseAFolderThatIsGoneOrThereOrInUse()
    {
        assertThatThrownBy(() -> start(1, false)).isInstanceOf(MetaStoreException.class)
            .hasMessageContaining("there is no folder").hasMessageContaining("must not come back");
        start(1, true);
        assertThatThrownBy(() -> RaftMember.open(options(1, false))).isInstanceOf(MetaStoreException.class)
            .hasMessageContaining("is the folder in use");
        stop(1);
        assertThatThrownBy(() -> start(1, true)).isInstanceOf(MetaStoreException.class)
            .hasMessageContaining("made before");
    }

    /**
     * Both others end, so it leads no more; its log has an entry that they do not have, so that nobody else can lead
     * when one of them is back. A leader that stands still for a while, and one that has just been started and does not
     * reach the others in time, is in that place as well.
     */
    @Test
    void shouldLeadAgainSoonAfterItHasLostTheOthers()
    {
        startAll(true);
        final int leader = leader();
        store(leader).write(new MetaBatch().counters(MetaCounters.initial(7)));
        for (int member = 1; member <= MEMBERS; member++)
        {
            if (member != leader)
            {
                stop(member);
            }
        }
        final CompletableFuture<Boolean> written = members[leader - 1].append(
            MetaCommand.write(leaderships[leader - 1].number(), new MetaBatch().table(table("a"))));
        // On a slow machine it has lost them before: then its log has nothing that others do not have.
        Assumptions.assumeFalse(written.isCompletedExceptionally(), "lost the others before it could write");
        await(() -> members[leader - 1].stat().leader().isEmpty());
        start(leader % MEMBERS + 1, false);
        final long sinceNs = CLOCK.nanoTime();
        await(() -> members[leader - 1].stat().leader().equals("meta-" + leader));
        System.out.printf("leads again after %.1f s%n", (CLOCK.nanoTime() - sinceNs) / 1e9);
        awaitTables(leader % MEMBERS + 1, 1);
    }

    @Test
    void shouldRefuseADamagedLog() throws IOException
    {
        startAll(true);
        store(leader()).write(new MetaBatch().counters(MetaCounters.initial(7)).table(table("a")));
        store(leader()).write(new MetaBatch().table(table("b")));
        awaitTables(2, 2);
        stop(2);
        try (Stream<Path> files = Files.walk(directory.resolve("m2")))
        {
            final Path log = files.filter((file) -> file.getFileName().toString().startsWith("log_"))
                .sorted().findFirst().orElseThrow();
            final byte[] bytes = Files.readAllBytes(log);
            bytes[60] ^= 0x10;
            Files.write(log, bytes);
        }
        assertThatThrownBy(() -> start(2, false)).isInstanceOf(MetaStoreException.class)
            .hasMessageContaining("member 2 of the group cannot start");
        store(leader()).write(new MetaBatch().table(table("c")));
    }
}
