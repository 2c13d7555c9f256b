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
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import static io.verbena.meta.raft.GroupChangeException.Category.REFUSED;
import static io.verbena.meta.raft.GroupChangeException.Category.UNAVAILABLE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Members that are added, removed and replaced, with the log as it is, in one process. */
@Timeout(240)
class GroupAdministrationTest
{
    private static final int PLACES = 4;

    @TempDir
    private Path directory;
    private TestMembers members;
    private List<String> addresses;
    private GroupAdministration group;

    @BeforeEach
    void choosePorts()
    {
        members = new TestMembers(directory, PLACES);
        addresses = members.addresses();
        group = new GroupAdministration(
            TestMembers.GROUP, addresses.subList(0, TestMembers.MEMBERS), TimeUnit.SECONDS.toNanos(30));
    }

    @AfterEach
    void closeAll()
    {
        group.close();
        members.close();
    }

    private void lose(final int place) throws IOException
    {
        members.stop(place);
        try (Stream<Path> files = Files.walk(directory))
        {
            for (final Path file : files.filter((each) -> each.startsWith(members.folder(place)) ||
                each.equals(directory.resolve("m" + place + ".member"))).sorted(Comparator.reverseOrder()).toList())
            {
                Files.delete(file);
            }
        }
    }

    private static MetaBatch table(final String name)
    {
        return new MetaBatch().table(new StoredTable(name, 1, new byte[100]));
    }

    private void startGroup()
    {
        members.startAll(true);
        members.write(table("a").counters(MetaCounters.initial(7)));
        members.awaitTables(1, 1);
        members.awaitTables(2, 1);
        members.awaitTables(3, 1);
    }

    private List<String> names()
    {
        return group.members().stream().filter(MemberStat::isMember).map(MemberStat::name).toList();
    }

    /** The log of the others begins behind most of what it has to learn. */
    @Test
    void shouldFillAnAddedMemberByASnapshot()
    {
        members.useSmallLogs(20);
        startGroup();
        for (int i = 1; i < 80; i++)
        {
            members.write(table("t" + i));
        }
        for (int place = 1; place <= 3; place++)
        {
            final int member = place;
            TestMembers.await(() -> members.logBeginsAt(member) > 1);
        }
        final String name = members.join(4);
        assertThat(group.add(addresses.get(3))).isEqualTo(name);
        members.awaitTables(4, 80);
        assertThat(members.logBeginsAt(4)).as("a log without the first entries").isGreaterThan(1);
        assertThat(members.get(4).stat().snapshotIndex()).isPositive();
        members.write(table("last"));
        members.awaitTables(4, 81);
    }

    /** On a busy machine a server that has just started takes longer for its first answer than for others. */
    @Test
    void shouldAskOnceMoreWhoDoesNotAnswerInTime() throws Exception
    {
        startGroup();
        final String address = addresses.get(3);
        final List<Socket> asked = new CopyOnWriteArrayList<>();
        try (ServerSocket silent = new ServerSocket(
            Integer.parseInt(address.substring(address.lastIndexOf(':') + 1)), 50, InetAddress.getLoopbackAddress()))
        {
            Thread.ofVirtual().start(() ->
            {
                try
                {
                    while (true)
                    {
                        asked.add(silent.accept());
                    }
                }
                catch (final IOException ignore)
                {
                    // closed at the end
                }
            });
            assertThatThrownBy(() -> group.add(address)).isInstanceOfSatisfying(GroupChangeException.class,
                (ex) -> assertThat(ex.category()).isEqualTo(UNAVAILABLE)).hasMessageContaining("--join " + address);
        }
        assertThat(asked).hasSize(2);
        for (final Socket socket : asked)
        {
            socket.close();
        }
    }

    /** A disk is lost, and an empty server takes the member's place. */
    @Test
    void shouldReplaceAMemberWhoseDiskWasLost() throws IOException
    {
        startGroup();
        assertThat(members.leader()).isEqualTo(1);
        lose(2);
        assertThatThrownBy(() -> members.start(2, true)).isInstanceOf(MetaStoreException.class)
            .hasMessageContaining("must not come back").hasMessageContaining("--join")
            .hasMessageContaining("./verbena meta add");
        assertThatThrownBy(() -> members.start(2, false)).isInstanceOf(MetaStoreException.class)
            .hasMessageContaining("must not come back").hasMessageContaining("./verbena meta add");
        assertThatThrownBy(() -> group.remove("meta-2", false)).isInstanceOfSatisfying(GroupChangeException.class,
            (ex) -> assertThat(ex.category()).isEqualTo(REFUSED)).hasMessageContaining("--fewer");

        final String name = members.join(4);
        assertThat(members.get(4).stat().members()).as("it knows no group").isZero();
        assertThat(group.add(addresses.get(3))).isEqualTo(name);
        members.awaitTables(4, 1);
        assertThat(names()).containsExactlyInAnyOrder("meta-1", "meta-2", "meta-3", name);
        assertThatThrownBy(() -> group.remove("meta-3", false)).as("two of the rest answer, and both are needed")
            .hasMessageContaining("--fewer");
        assertThat(group.remove("meta-2", false)).isEqualTo("meta-2");
        assertThat(names()).containsExactlyInAnyOrder("meta-1", "meta-3", name);
        members.stop(1);
        members.write(table("b"));
        members.awaitTables(4, 2);

        members.stop(4);
        assertThat(members.join(4)).as("its folder says who it is").isEqualTo(name);
        members.awaitTables(4, 2);
        lose(4);
        assertThat(members.join(4)).as("an empty folder is another member's").isNotEqualTo(name);
        assertThatThrownBy(() -> group.add(addresses.get(3))).isInstanceOf(GroupChangeException.class)
            .satisfies((ex) -> assertThat(((GroupChangeException)ex).category()).isIn(REFUSED, UNAVAILABLE));
    }

    /** All others are asked, the last one of the list as well. */
    @Test
    void shouldRefuseANewDiskThatTheLastMemberAloneRemembers() throws IOException
    {
        startGroup();
        lose(2);
        members.stop(1);
        assertThatThrownBy(() -> members.start(2, true)).isInstanceOf(MetaStoreException.class)
            .hasMessageContaining("member meta-2 had its log");
    }

    @Test
    void shouldMoveTheLeaderAndRemoveIt()
    {
        startGroup();
        assertThat(group.moveLeader("meta-3")).isEqualTo("meta-3");
        TestMembers.await(() -> 3 == members.leader());
        assertThat(group.moveLeader("meta-3")).as("it leads already").isEqualTo("meta-3");
        assertThatThrownBy(() -> group.moveLeader("meta-9")).hasMessageContaining("no member; these are: meta-1");
        assertThatThrownBy(() -> group.add(addresses.get(0))).hasMessageContaining("is a member already");
        assertThatThrownBy(() -> group.add(addresses.get(3))).hasMessageContaining("--join " + addresses.get(3));
        final String name = members.join(4);
        group.add(addresses.get(3));

        assertThat(group.remove("meta-3", false)).isEqualTo("meta-3");
        assertThat(names()).containsExactlyInAnyOrder("meta-1", "meta-2", name);
        TestMembers.await(() -> members.get(3).isRemoved());
        members.stop(3);
        members.write(table("b"));
        members.awaitTables(4, 2);
        final List<MemberStat> all = group.members();
        assertThat(all).filteredOn(MemberStat::isLeader).hasSize(1);
        assertThat(all).filteredOn(MemberStat::isMember).allMatch(MemberStat::isAnswering)
            .allMatch((stat) -> stat.appliedIndex() >= 3 && stat.term() > 0);
        assertThat(group.remove(addresses.get(3), true)).as("by its address, with --fewer").isEqualTo(name);
        assertThat(names()).containsExactlyInAnyOrder("meta-1", "meta-2");
    }

    /** As each member does it by and by. */
    private void announce(final int... places)
    {
        for (final int place : places)
        {
            members.get(place).announce("verbena://h:" + place);
        }
    }

    /** Each says it once, whoever leads; one that joins when it is a member, and one that goes is named no more. */
    @Test
    void shouldKnowWhereEachMemberListens()
    {
        startGroup();
        TestMembers.await(() ->
        {
            announce(1, 2, 3);
            return members.get(3).addresses().equals(List.of("verbena://h:1", "verbena://h:2", "verbena://h:3"));
        });
        final long index = members.get(1).stat().commitIndex();
        members.join(4);
        announce(4);
        group.add(addresses.get(3));
        TestMembers.await(() ->
        {
            announce(1, 2, 3, 4);
            return members.get(1).addresses().contains("verbena://h:4");
        });
        group.remove("meta-3", false);
        TestMembers.await(() ->
        {
            announce(1, 2, 4);
            return members.get(2).addresses().equals(List.of("verbena://h:1", "verbena://h:2", "verbena://h:4"));
        });
        assertThat(members.get(1).state().addresses()).as("until somebody announces something").hasSize(4);
        // It listens elsewhere since it was started again.
        TestMembers.await(() ->
        {
            members.get(2).announce("verbena://h:1");
            return members.get(4).addresses().equals(List.of("verbena://h:1", "verbena://h:4"));
        });
        assertThat(members.get(4).state().addresses()).as("with that the one that went was forgotten").hasSize(3);
        assertThat(members.get(1).state().addresses().get("meta-2")).isEqualTo("verbena://h:1");
        assertThat(members.get(1).stat().commitIndex() - index).as("entries: 2 announcements, 4 changes of members, " +
            "with what the library adds to them").isLessThan(20);
    }

    @Test
    void shouldSayThatNoneLeadsAndThatAMemberIsAway()
    {
        startGroup();
        members.stop(3);
        assertThat(group.members()).filteredOn((stat) -> !stat.isAnswering()).extracting(MemberStat::name)
            .containsExactly("meta-3");
        assertThatThrownBy(() -> group.moveLeader("meta-3")).hasMessageContaining("does not answer");
        assertThatThrownBy(() -> group.remove("meta-2", true)).hasMessageContaining("2 are needed");
        members.stop(2);
        members.stop(1);
        assertThatThrownBy(() -> group.remove("meta-3", false)).isInstanceOfSatisfying(GroupChangeException.class,
            (ex) -> assertThat(ex.category()).isEqualTo(UNAVAILABLE)).hasMessageContaining("none leads");
    }
}
