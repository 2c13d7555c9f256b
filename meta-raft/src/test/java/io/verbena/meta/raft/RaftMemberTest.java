package io.verbena.meta.raft;

import io.verbena.meta.store.MetaBatch;
import io.verbena.meta.store.MetaCommand;
import io.verbena.meta.store.MetaCounters;
import io.verbena.meta.store.MetaStoreException;
import io.verbena.meta.store.StoredTable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import static io.verbena.meta.raft.TestMembers.CLOCK;
import static io.verbena.meta.raft.TestMembers.MEMBERS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Three members in one process, with the log as it is. */
@Timeout(240)
class RaftMemberTest
{
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

    private static StoredTable table(final String name)
    {
        return new StoredTable(name, 1, new byte[100]);
    }

    private void awaitSame(final int member, final int other)
    {
        TestMembers.await(() -> members.get(member).stat().appliedIndex() == members.get(other).stat().appliedIndex());
    }

    @Test
    void shouldGoOnWithoutItsLeaderAndKnowAllAfterARestartOfAll()
    {
        members.startAll(true);
        final int first = members.leader();
        assertThat(first).as("of a new group the first member leads first").isEqualTo(1);
        members.store(first).write(new MetaBatch().counters(MetaCounters.initial(7)).table(table("a")));
        members.stop(first);

        final int second = members.leader();
        assertThat(members.leadership(second).number()).isGreaterThan(1);
        assertThat(members.state(second).tables()).hasSize(1);
        members.store(second).write(new MetaBatch().table(table("b")));
        members.start(first, false);
        members.awaitTables(first, 2);

        members.stopAll();
        members.startAll(false);
        final int third = members.leader();
        assertThat(members.state(third).tables()).hasSize(2);
        assertThat(members.state(third).counters().clusterId()).isEqualTo(7);
        for (int member = 1; member <= MEMBERS; member++)
        {
            members.awaitTables(member, 2);
        }
        final GroupStat stat = members.get(third).stat();
        assertThat(stat.leader()).isEqualTo("meta-" + third);
        assertThat(stat.unreachable()).isEmpty();
        assertThat(stat.commitIndex()).isGreaterThanOrEqualTo(3);
    }

    /** A member that follows has nothing to give. */
    @Test
    void shouldGiveTheLeadToAnotherMember()
    {
        members.startNewGroup();
        final int first = members.leader();
        members.write(new MetaBatch().counters(MetaCounters.initial(7)).table(table("a")));
        members.get(first % MEMBERS + 1).giveWay();
        members.get(first).giveWay();
        TestMembers.await(() -> members.leader() != first);
        members.write(new MetaBatch().table(table("b")));
        assertThat(members.state(members.leader()).tables()).hasSize(2);
    }

    /** The first member may bring what a single meta server had; the others wait for it, and ask again and again. */
    @Test
    void shouldGiveWayToTheFirstMemberOfANewGroupHoweverLateItStarts()
    {
        members.start(2, true);
        members.start(3, true);
        TestMembers.await(() -> members.get(2).stat().leader().startsWith("meta-"));
        final long sinceNs = CLOCK.nanoTime();
        // Longer than a request to another one to lead may take: the first of them has failed by then.
        while (CLOCK.nanoTime() - sinceNs < TimeUnit.SECONDS.toNanos(4))
        {
            assertThat(members.get(2).mayLead()).isFalse();
            assertThat(members.get(3).mayLead()).isFalse();
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
        }
        members.start(1, true);
        assertThat(members.leader()).isEqualTo(1);
        members.write(new MetaBatch().counters(MetaCounters.initial(7)));
        TestMembers.await(() -> !members.get(2).state().isEmpty() && !members.get(3).state().isEmpty());
        members.stop(1);
        assertThat(members.leader()).as("from now on any of them").isNotEqualTo(1);
    }

    @Test
    void shouldLetNoFollowerLead()
    {
        members.startAll(true);
        members.write(new MetaBatch().counters(MetaCounters.initial(7)));
        final int leader = members.leader();
        for (int member = 1; member <= MEMBERS; member++)
        {
            final int other = member;
            TestMembers.await(() -> !members.get(other).state().isEmpty());
            assertThat(members.get(other).mayLead()).as("member %s, while %s leads", other, leader)
                .isEqualTo(other == leader);
        }
    }

    /** By whom the thread that polls it is woken: by its clock it would notice each step of an election late. */
    @Test
    void shouldSignalThatItMayLeadAndEachAnswer()
    {
        members.startAll(true);
        members.write(new MetaBatch().counters(MetaCounters.initial(7)));
        final int leader = members.leader();
        final AtomicInteger signals = new AtomicInteger();
        final List<Integer> left =
            IntStream.rangeClosed(1, MEMBERS).filter((place) -> place != leader).boxed().toList();
        left.forEach((place) -> members.get(place).onProgress(signals::incrementAndGet));
        members.stop(leader);
        TestMembers.await(() -> signals.get() > 0);
        final RaftMember next = members.get(left.stream().filter((place) -> members.get(place).mayLead()).findFirst()
            .orElseThrow());
        final int elected = signals.get();
        assertThat(next.latestLeadership().join()).isPositive();
        TestMembers.await(() -> signals.get() > elected);
        final int asked = signals.get();
        assertThat(next.append(MetaCommand.write(0, new MetaBatch())).join()).as("of no leadership").isFalse();
        TestMembers.await(() -> signals.get() > asked);
        final int answered = signals.get();
        next.close();
        assertThat(next.latestLeadership()).failsWithin(Duration.ofSeconds(60));
        assertThat(signals.get()).as("once it is closed").isEqualTo(answered);
    }

    /** What a meta server writes together is one entry, and costs each member one sync of its disk. */
    @Test
    void shouldSyncOnceForEachWriteAtEachMember()
    {
        members.startAll(true);
        members.write(new MetaBatch().counters(MetaCounters.initial(7)));
        final int leader = members.leader();
        for (int member = 1; member <= MEMBERS; member++)
        {
            awaitSame(member, leader);
        }
        final long[] before = new long[MEMBERS + 1];
        for (int member = 1; member <= MEMBERS; member++)
        {
            before[member] = members.get(member).logSyncs();
        }
        final long entryBefore = members.get(leader).stat().appliedIndex();
        final int writes = 8;
        final int nodes = 100;
        for (int i = 0; i < writes; i++)
        {
            final MetaBatch batch = new MetaBatch();
            for (int node = 0; node < nodes; node++)
            {
                batch.table(table("t" + i + '-' + node));
            }
            members.store(leader).write(batch);
        }
        assertThat(members.get(leader).stat().appliedIndex() - entryBefore).as("entries").isEqualTo(writes);
        for (int member = 1; member <= MEMBERS; member++)
        {
            members.awaitTables(member, writes * nodes);
            assertThat(members.get(member).logSyncs() - before[member]).as("syncs at member %s", member)
                .isBetween(1L, (long)writes);
        }
    }

    /** What it missed is not in the log any more. */
    @Test
    void shouldBringAMemberUpToDateByASnapshot()
    {
        members.useSmallLogs(20);
        members.startAll(true);
        final int leader = members.leader();
        members.store(leader).write(new MetaBatch().counters(MetaCounters.initial(7)));
        final int away = leader % MEMBERS + 1;
        awaitSame(away, leader);
        final long known = members.get(away).stat().appliedIndex();
        members.stop(away);
        for (int i = 0; i < 120; i++)
        {
            members.write(new MetaBatch().table(table("t" + i)));
        }
        // Whichever of the two others leads later.
        for (int member = 1; member <= MEMBERS; member++)
        {
            final int other = member;
            TestMembers.await(() -> other == away || members.logBeginsAt(other) > known + 1);
        }
        members.start(away, false);
        members.awaitTables(away, 120);
        assertThat(members.logBeginsAt(away)).as("a log without what it missed").isGreaterThan(known + 1);
        TestMembers.await(() -> members.get(away).stat().snapshotIndex() > known);
        members.stop(away);
        members.start(away, false);
        members.awaitTables(away, 120);
    }

    @Test
    void shouldRefuseAFolderThatIsGoneOrThereOrInUse()
    {
        assertThatThrownBy(() -> members.start(1, false)).isInstanceOf(MetaStoreException.class)
            .hasMessageContaining("there is no folder").hasMessageContaining("must not come back");
        members.start(1, true);
        assertThatThrownBy(() -> RaftMember.open(members.options(1, false))).isInstanceOf(MetaStoreException.class)
            .hasMessageContaining("is the folder in use");
        members.stop(1);
        assertThatThrownBy(() -> members.start(1, true)).isInstanceOf(MetaStoreException.class)
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
        members.startAll(true);
        final int leader = members.leader();
        members.store(leader).write(new MetaBatch().counters(MetaCounters.initial(7)));
        for (int member = 1; member <= MEMBERS; member++)
        {
            if (member != leader)
            {
                members.stop(member);
            }
        }
        final CompletableFuture<Boolean> written = members.get(leader).append(
            MetaCommand.write(members.leadership(leader).number(), new MetaBatch().table(table("a"))));
        // On a slow machine it has lost them before: then its log has nothing that others do not have.
        Assumptions.assumeFalse(written.isCompletedExceptionally(), "lost the others before it could write");
        TestMembers.await(() -> members.get(leader).stat().leader().isEmpty());
        members.start(leader % MEMBERS + 1, false);
        final long sinceNs = CLOCK.nanoTime();
        TestMembers.await(() -> members.get(leader).stat().leader().equals("meta-" + leader));
        // By default the library lets 10 s pass.
        assertThat(CLOCK.nanoTime() - sinceNs).isLessThan(TimeUnit.SECONDS.toNanos(8));
        members.awaitTables(leader % MEMBERS + 1, 1);
    }

    @Test
    void shouldRefuseADamagedLog() throws IOException
    {
        members.startAll(true);
        members.write(new MetaBatch().counters(MetaCounters.initial(7)).table(table("a")));
        members.write(new MetaBatch().table(table("b")));
        members.awaitTables(2, 2);
        members.stop(2);
        try (Stream<Path> files = Files.walk(directory.resolve("m2")))
        {
            final Path log = files.filter((file) -> file.getFileName().toString().startsWith("log_"))
                .sorted().findFirst().orElseThrow();
            final byte[] bytes = Files.readAllBytes(log);
            bytes[60] ^= 0x10;
            Files.write(log, bytes);
        }
        assertThatThrownBy(() -> members.start(2, false)).isInstanceOf(MetaStoreException.class)
            .hasMessageContaining("member 2 of the group cannot start");
        members.write(new MetaBatch().table(table("c")));
    }
}
