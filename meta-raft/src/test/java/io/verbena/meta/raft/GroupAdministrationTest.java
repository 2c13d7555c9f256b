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
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

import static io.verbena.meta.raft.GroupChangeException.Category.REFUSED;
import static io.verbena.meta.raft.GroupChangeException.Category.UNAVAILABLE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Members that are added, removed and replaced, with the log as it is, in one process. */
@Timeout(240)
class GroupAdministrationTest
{
    private static final long LEASE_NS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final long WRITE_NS = TimeUnit.SECONDS.toNanos(60);
    private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(100);
    private static final int PORTS = 4;
    private static final NanoClock CLOCK = SystemNanoClock.INSTANCE;
    private static final UUID GROUP = new UUID(1, 2);

    @TempDir
    private Path directory;
    private final List<String> addresses = new ArrayList<>();
    private final Map<Integer, RaftMember> members = new LinkedHashMap<>();
    private final Map<Integer, Leadership> leaderships = new LinkedHashMap<>();
    private GroupAdministration group;
    private int snapshotEntries = 1_000;
    private String segment = "1MB";

    @BeforeEach
    void chooseFreePorts() throws IOException
    {
        final List<ServerSocket> sockets = new ArrayList<>();
        for (int i = 0; i < PORTS; i++)
        {
            sockets.add(new ServerSocket(0, 1, InetAddress.getLoopbackAddress()));
            addresses.add("127.0.0.1:" + sockets.getLast().getLocalPort());
        }
        for (final ServerSocket socket : sockets)
        {
            socket.close();
        }
        group = new GroupAdministration(GROUP, addresses.subList(0, 3), TimeUnit.SECONDS.toNanos(30));
    }

    @AfterEach
    void closeAll()
    {
        group.close();
        CloseHelper.quietCloseAll(members.values());
    }

    private Path folder(final int member)
    {
        return directory.resolve("m" + member);
    }

    private String start(final int place, final GroupOptions options)
    {
        final RaftMember member = RaftMember.open(options, snapshotEntries, segment);
        members.put(place, member);
        leaderships.put(place, new Leadership(member, member.name(), CLOCK, LEASE_NS));
        return member.name();
    }

    private void start(final int member, final boolean isNew)
    {
        start(member, new GroupOptions(GROUP, member, addresses.subList(0, 3), folder(member), isNew));
    }

    private String join(final int place)
    {
        return start(place, GroupOptions.join(GROUP, addresses.get(place - 1), folder(place)));
    }

    private void stop(final int place)
    {
        members.remove(place).close();
        leaderships.remove(place);
    }

    private void lose(final int place) throws IOException
    {
        stop(place);
        try (Stream<Path> files = Files.walk(directory))
        {
            for (final Path file : files.filter((each) -> each.startsWith(folder(place)) ||
                each.equals(directory.resolve("m" + place + ".member"))).sorted(Comparator.reverseOrder()).toList())
            {
                Files.delete(file);
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
            leaderships.forEach((place, leadership) ->
            {
                leadership.poll(CLOCK.nanoTime());
                leader[0] = leadership.isHeld() ? place : leader[0];
            });
            return 0 != leader[0];
        });
        return leader[0];
    }

    private void write(final MetaBatch batch)
    {
        final int leader = leader();
        new GroupMetaStore(members.get(leader), leaderships.get(leader), CLOCK, WRITE_NS).write(batch);
    }

    private static MetaBatch table(final String name)
    {
        return new MetaBatch().table(new StoredTable(name, 1, new byte[100]));
    }

    private void awaitTables(final int place, final int count)
    {
        await(() -> !members.get(place).state().isEmpty() &&
            members.get(place).state().load().tables().size() == count);
    }

    private void startGroup()
    {
        start(1, true);
        start(2, true);
        start(3, true);
        write(table("a").counters(MetaCounters.initial(7)));
        awaitTables(1, 1);
        awaitTables(2, 1);
        awaitTables(3, 1);
    }

    private List<String> names()
    {
        return group.members().stream().filter(MemberStat::isMember).map(MemberStat::name).toList();
    }

    /** The log of the others begins behind most of what it has to learn. */
    @Test
    void shouldFillAnAddedMemberByASnapshot()
    {
        snapshotEntries = 20;
        segment = "4KB";
        startGroup();
        for (int i = 1; i < 80; i++)
        {
            write(table("t" + i));
        }
        for (int place = 1; place <= 3; place++)
        {
            final Path log = folder(place);
            await(() -> RaftMemberTest.logBeginsAt(log) > 1);
        }
        final String name = join(4);
        assertThat(group.add(addresses.get(3))).isEqualTo(name);
        awaitTables(4, 80);
        assertThat(RaftMemberTest.logBeginsAt(folder(4))).as("a log without the first entries").isGreaterThan(1);
        assertThat(members.get(4).stat().snapshotIndex()).isPositive();
        write(table("last"));
        awaitTables(4, 81);
    }

    /** A disk is lost, and an empty server takes the member's place. */
    @Test
    void shouldReplaceAMemberWhoseDiskWasLost() throws IOException
    {
        startGroup();
        assertThat(leader()).isEqualTo(1);
        lose(2);
        assertThatThrownBy(() -> start(2, true)).isInstanceOf(MetaStoreException.class)
            .hasMessageContaining("must not come back").hasMessageContaining("--join")
            .hasMessageContaining("./verbena meta add");
        assertThatThrownBy(() -> start(2, false)).isInstanceOf(MetaStoreException.class)
            .hasMessageContaining("must not come back").hasMessageContaining("./verbena meta add");
        assertThatThrownBy(() -> group.remove("meta-2", false)).isInstanceOfSatisfying(GroupChangeException.class,
            (ex) -> assertThat(ex.category()).isEqualTo(REFUSED)).hasMessageContaining("--fewer");

        final String name = join(4);
        assertThat(members.get(4).stat().members()).as("it knows no group").isZero();
        assertThat(group.add(addresses.get(3))).isEqualTo(name);
        awaitTables(4, 1);
        assertThat(names()).containsExactlyInAnyOrder("meta-1", "meta-2", "meta-3", name);
        assertThat(group.remove("meta-2", false)).isEqualTo("meta-2");
        assertThat(names()).containsExactlyInAnyOrder("meta-1", "meta-3", name);
        stop(1);
        write(table("b"));
        awaitTables(4, 2);

        stop(4);
        assertThat(join(4)).as("its folder says who it is").isEqualTo(name);
        awaitTables(4, 2);
        lose(4);
        assertThat(join(4)).as("an empty folder is another member's").isNotEqualTo(name);
        assertThatThrownBy(() -> group.add(addresses.get(3))).isInstanceOf(GroupChangeException.class)
            .satisfies((ex) -> assertThat(((GroupChangeException)ex).category()).isIn(REFUSED, UNAVAILABLE));
    }

    @Test
    void shouldMoveTheLeaderAndRemoveIt()
    {
        startGroup();
        assertThat(group.moveLeader("meta-3")).isEqualTo("meta-3");
        await(() -> 3 == leader());
        assertThat(group.moveLeader("meta-3")).as("it leads already").isEqualTo("meta-3");
        assertThatThrownBy(() -> group.moveLeader("meta-9")).hasMessageContaining("no member; these are: meta-1");
        assertThatThrownBy(() -> group.add(addresses.get(0))).hasMessageContaining("is a member already");
        assertThatThrownBy(() -> group.add(addresses.get(3))).hasMessageContaining("--join " + addresses.get(3));
        final String name = join(4);
        group.add(addresses.get(3));

        assertThat(group.remove("meta-3", false)).isEqualTo("meta-3");
        assertThat(names()).containsExactlyInAnyOrder("meta-1", "meta-2", name);
        await(() -> members.get(3).isRemoved());
        stop(3);
        write(table("b"));
        awaitTables(4, 2);
        final List<MemberStat> all = group.members();
        assertThat(all).filteredOn(MemberStat::isLeader).hasSize(1);
        assertThat(all).filteredOn(MemberStat::isMember).allMatch(MemberStat::isAnswering)
            .allMatch((stat) -> stat.appliedIndex() >= 3 && stat.term() > 0);
    }

    @Test
    void shouldSayThatNoneLeadsAndThatAMemberIsAway()
    {
        startGroup();
        stop(3);
        assertThat(group.members()).filteredOn((stat) -> !stat.isAnswering()).extracting(MemberStat::name)
            .containsExactly("meta-3");
        assertThatThrownBy(() -> group.moveLeader("meta-3")).hasMessageContaining("does not answer");
        assertThatThrownBy(() -> group.remove("meta-2", true)).hasMessageContaining("2 are needed");
        stop(2);
        stop(1);
        assertThatThrownBy(() -> group.remove("meta-3", false)).isInstanceOfSatisfying(GroupChangeException.class,
            (ex) -> assertThat(ex.category()).isEqualTo(UNAVAILABLE)).hasMessageContaining("none leads");
    }
}
