package io.verbena.meta.raft;

import io.verbena.meta.store.MetaBatch;
import io.verbena.meta.store.MetaCommand;
import io.verbena.meta.store.MetaCommandDescriptor;
import io.verbena.meta.store.MetaCounters;
import io.verbena.meta.store.MetaStoreException;
import io.verbena.meta.store.StoredTable;
import io.verbena.test.UnusedPorts;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.StateMachineLogEntryProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.retry.RetryPolicies;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.util.SizeInBytes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What a member does when its disk fails or its files are damaged; groups of one, which start soon. */
@Timeout(120)
class RaftFaultsTest
{
    private static final RaftGroupId GROUP = RaftGroupId.valueOf(new UUID(1, 2));
    private static final int SNAPSHOT_ENTRIES = 10;
    /** See docs/format/meta-command.md. */
    private static final int VERSION_OFFSET = 4;
    private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(60);

    @TempDir
    private Path directory;
    private final MetaStateMachine machine = new MetaStateMachine();

    private static LogEntryProto entry(final long index, final byte[] data)
    {
        return LogEntryProto.newBuilder().setTerm(1).setIndex(index).setStateMachineLogEntry(
            StateMachineLogEntryProto.newBuilder().setLogData(ByteString.copyFrom(data))).build();
    }

    private CompletableFuture<Message> apply(final long index, final byte[] data)
    {
        final LogEntryProto entry = entry(index, data);
        return machine.applyTransaction(
            TransactionContext.newBuilder().setStateMachine(machine).setLogEntry(entry)
                .setStateMachineLogEntry(entry.getStateMachineLogEntry()).build());
    }

    private static byte[] takeLeadership(final long after)
    {
        return MetaCommandDescriptor.encode(MetaCommand.takeLeadership(after, "meta-1"));
    }

    private static byte[] write(final long leadership, final String table)
    {
        return MetaCommandDescriptor.encode(MetaCommand.write(leadership, new MetaBatch()
            .counters(MetaCounters.initial(7)).table(new StoredTable(table, 1, new byte[100]))));
    }

    @Test
    void shouldSayWhetherAnEntryHadAnEffect()
    {
        assertThat(apply(0, takeLeadership(0)).join().getContent()).isEqualTo(MetaStateMachine.APPLIED.getContent());
        assertThat(apply(1, takeLeadership(0)).join().getContent())
            .isNotEqualTo(MetaStateMachine.APPLIED.getContent());
        machine.notifyTermIndexUpdated(1, 2);
        assertThat(machine.state().index()).as("an entry of the group alone counts").isEqualTo(2);
        assertThat(apply(3, write(1, "a")).join().getContent()).isEqualTo(MetaStateMachine.APPLIED.getContent());
        assertThat(machine.getLastAppliedTermIndex().getIndex()).isEqualTo(3);
        assertThat(machine.state().load().tables()).hasSize(1);
        assertThat(machine.failure()).isEmpty();
    }

    /** To skip an entry would make it another member than the others: it stops, and applies no later one either. */
    @Test
    void shouldStopForGoodAtAnEntryThatItCannotApply()
    {
        apply(0, takeLeadership(0)).join();
        final byte[] damaged = write(1, "a");
        damaged[damaged.length - 1] ^= 1;
        assertThat(apply(1, damaged)).isCompletedExceptionally();
        assertThat(machine.failure()).startsWith("entry 1 of the log cannot be applied: ").contains("checksum");
        assertThat(apply(2, write(1, "b"))).isCompletedExceptionally();
        machine.notifyTermIndexUpdated(1, 3);
        assertThat(machine.state().index()).isLessThan(2);
        assertThat(machine.state().isEmpty()).isTrue();
    }

    @Test
    void shouldStopForGoodWhenItsLogCannotBeWritten()
    {
        apply(0, takeLeadership(0)).join();
        machine.notifyLogFailed(new IOException("No space left on device"), null);
        assertThat(machine.failure()).contains("the log cannot be written").contains("No space left on device");
        assertThat(machine.hasLogFailed()).isTrue();
        assertThat(apply(1, write(1, "a"))).isCompletedExceptionally();
        assertThat(machine.state().index()).isZero();
    }

    private RaftStorage storage(final String folder) throws IOException
    {
        final RaftStorage storage = RaftStorage.newBuilder().setDirectory(directory.resolve(folder).toFile())
            .setStorageFreeSpaceMin(SizeInBytes.ONE_KB).setOption(RaftStorage.StartupOption.FORMAT).build();
        storage.initialize();
        return storage;
    }

    /** The state machine asks it for its name only. */
    private static RaftServer server()
    {
        return (RaftServer)Proxy.newProxyInstance(RaftServer.class.getClassLoader(), new Class<?>[]{RaftServer.class},
            (proxy, method, arguments) -> "getId".equals(method.getName()) ? RaftPeerId.valueOf("meta-1") : null);
    }

    /** A snapshot of a leader has arrived here, and its file is damaged or not. */
    private void receiveSnapshot(final RaftStorage here, final boolean isDamaged) throws IOException
    {
        final MetaStateMachine leader = new MetaStateMachine();
        try (RaftStorage there = storage("leader"))
        {
            leader.initialize(server(), GROUP, there);
            final LogEntryProto entry = entry(3, takeLeadership(0));
            leader.applyTransaction(TransactionContext.newBuilder().setStateMachine(leader).setLogEntry(entry)
                .setStateMachineLogEntry(entry.getStateMachineLogEntry()).build()).join();
            leader.takeSnapshot();
            final Path folder = there.getStorageDir().getStateMachineDir().toPath();
            machine.initialize(server(), GROUP, here);
            machine.pause();
            try (Stream<Path> files = Files.list(folder))
            {
                for (final Path file : files.toList())
                {
                    final Path arrived =
                        here.getStorageDir().getStateMachineDir().toPath().resolve(file.getFileName());
                    Files.copy(file, arrived);
                    if (isDamaged && !arrived.toString().endsWith(".md5"))
                    {
                        damage(arrived);
                    }
                }
            }
        }
    }

    @Test
    void shouldGoOnFromASnapshotOfTheLeader() throws IOException
    {
        try (RaftStorage here = storage("m"))
        {
            receiveSnapshot(here, false);
            machine.reinitialize();
            assertThat(machine.failure()).isEmpty();
            assertThat(machine.snapshotIndex()).isEqualTo(3);
            assertThat(machine.getLastAppliedTermIndex().getIndex()).isEqualTo(3);
            assertThat(machine.state().leadership().number()).isEqualTo(1);
            assertThat(apply(4, write(1, "a")).join().getContent())
                .isEqualTo(MetaStateMachine.APPLIED.getContent());
        }
    }

    /** Its state is that of before, which the log does not continue. */
    @Test
    void shouldStopForGoodWhenASnapshotOfTheLeaderCannotBeLoaded() throws IOException
    {
        try (RaftStorage here = storage("m"))
        {
            receiveSnapshot(here, true);
            assertThatThrownBy(machine::reinitialize).isInstanceOf(IOException.class);
            assertThat(machine.failure()).startsWith("the snapshot from the leader cannot be loaded: ")
                .contains("checksum");
            assertThat(machine.snapshotIndex()).isEqualTo(-1);
            assertThat(apply(4, takeLeadership(0))).isCompletedExceptionally();
            assertThat(machine.takeSnapshot()).as("no snapshot of what it is not").isEqualTo(-1);
        }
    }

    /** Else it would end as if the group had removed it. */
    @Test
    void shouldStopForGoodWhenNoSnapshotHasArrived() throws IOException
    {
        try (RaftStorage here = storage("m"))
        {
            machine.initialize(server(), GROUP, here);
            machine.pause();
            assertThatThrownBy(machine::reinitialize).isInstanceOf(IOException.class);
            assertThat(machine.failure()).isEqualTo("the snapshot from the leader cannot be loaded: there is none");
        }
    }

    private RaftMember open(final boolean isNew, final String address)
    {
        return RaftMember.open(
            new GroupOptions(new GroupKey(new UUID(1, 2), new byte[16]), 1, List.of(address),
            directory.resolve("m"), isNew), SNAPSHOT_ENTRIES, "4KB");
    }

    private static void awaitLeader(final RaftMember member)
    {
        final long deadlineNs = System.nanoTime() + DEADLINE_NS;
        while (!member.mayLead())
        {
            assertThat(System.nanoTime() - deadlineNs).as("in time").isNegative();
            LockSupport.parkNanos(1_000_000);
        }
    }

    private Path newest(final String prefix) throws IOException
    {
        try (Stream<Path> files = Files.walk(directory.resolve("m")))
        {
            return files.filter((file) -> file.getFileName().toString().startsWith(prefix) &&
                !file.getFileName().toString().endsWith(".md5"))
                .max(Comparator.comparingLong((file) -> file.toFile().lastModified())).orElseThrow();
        }
    }

    /** A member with a snapshot and some entries behind it; its address. */
    private String closed() throws Exception
    {
        final String address = "127.0.0.1:" + UnusedPorts.next();
        try (RaftMember member = open(true, address))
        {
            awaitLeader(member);
            assertThat(member.append(MetaCommand.takeLeadership(0, "meta-1")).get(60, TimeUnit.SECONDS)).isTrue();
            for (int i = 0; i < SNAPSHOT_ENTRIES + 5; i++)
            {
                assertThat(member.append(MetaCommand.write(1, new MetaBatch().counters(MetaCounters.initial(7))
                    .table(new StoredTable("t" + i, 1, new byte[300])))).get(60, TimeUnit.SECONDS)).isTrue();
            }
            final long deadlineNs = System.nanoTime() + DEADLINE_NS;
            while (member.stat().snapshotIndex() < 0)
            {
                assertThat(System.nanoTime() - deadlineNs).as("in time").isNegative();
                LockSupport.parkNanos(1_000_000);
            }
        }
        return address;
    }

    private void damage(final Path file) throws IOException
    {
        final byte[] bytes = Files.readAllBytes(file);
        bytes[bytes.length / 2] ^= 0x10;
        Files.write(file, bytes);
    }

    @Test
    void shouldHaveAllOfItAfterARestartAndRefuseADamagedSnapshot() throws Exception
    {
        final String address = closed();
        try (RaftMember member = open(false, address))
        {
            awaitLeader(member);
            assertThat(member.state().load().tables()).hasSize(SNAPSHOT_ENTRIES + 5);
            assertThat(member.state().leadership().number()).isEqualTo(1);
            assertThat(member.state().leadership().leader()).isEqualTo("meta-1");
        }
        damage(newest("snapshot."));
        assertThatThrownBy(() -> open(false, address).close()).isInstanceOf(MetaStoreException.class)
            .hasMessageContaining("member 1 of the group cannot start");
    }

    private List<Path> files(final String pattern) throws IOException
    {
        try (Stream<Path> files = Files.walk(directory.resolve("m")))
        {
            return files.filter((file) -> file.getFileName().toString().matches(pattern)).sorted().toList();
        }
    }

    private static void cut(final Path file, final long bytes) throws IOException
    {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE))
        {
            channel.truncate(channel.size() - bytes);
        }
    }

    private void assertRefused(final String address, final String what)
    {
        assertThatThrownBy(() -> open(false, address).close()).isInstanceOf(MetaStoreException.class)
            .hasMessageContaining("member 1 of the group cannot start").hasMessageContaining(what);
    }

    /** As by a loss of power while an entry is written: all is there but that one, which was not acknowledged. */
    @Test
    void shouldGoOnWithoutTheEntryThatWasWrittenInParts() throws Exception
    {
        final Path lost = directory.resolve("lost-power");
        final String address = "127.0.0.1:" + UnusedPorts.next();
        try (RaftMember member = open(true, address))
        {
            awaitLeader(member);
            assertThat(member.append(MetaCommand.takeLeadership(0, "meta-1")).get(60, TimeUnit.SECONDS)).isTrue();
            appendTable(member, "whole");
            appendTable(member, "torn");
            // With the snapshot that an orderly end makes the log would not be read.
            for (final Path file : files(".*"))
            {
                final Path copy = lost.resolve(directory.resolve("m").relativize(file));
                if (Files.isDirectory(file))
                {
                    Files.createDirectories(copy);
                }
                else if (!file.endsWith("in_use.lock"))
                {
                    Files.copy(file, copy);
                }
            }
        }
        Files.move(directory.resolve("m"), directory.resolve("ended"));
        Files.move(lost, directory.resolve("m"));
        final Path last = files("log_inprogress.*").getLast();
        final byte[] bytes = Files.readAllBytes(last);
        int end = bytes.length;
        while (0 == bytes[end - 1])
        {
            end--; // room for more entries
        }
        cut(last, bytes.length - end + 20);
        try (RaftMember member = open(false, address))
        {
            awaitLeader(member);
            TestMembers.await(() -> !member.state().isEmpty());
            assertThat(member.state().load().tables()).extracting(StoredTable::name).containsExactly("whole");
            appendTable(member, "more");
            assertThat(member.state().load().tables()).hasSize(2);
        }
    }

    private static void appendTable(final RaftMember member, final String name) throws Exception
    {
        assertThat(member.append(MetaCommand.write(1, new MetaBatch().counters(MetaCounters.initial(7))
            .table(new StoredTable(name, 1, new byte[300])))).get(60, TimeUnit.SECONDS)).isTrue();
    }

    /** The library takes the file for one that ends there, and sees that the next one does not begin behind it. */
    @Test
    void shouldRefuseALogWhoseCompleteFileWasCut() throws Exception
    {
        final String address = closed();
        cut(files("log_\\d+-\\d+").getLast(), 50);
        assertRefused(address, "Found a gap between logs");
    }

    @Test
    void shouldRefuseASnapshotThatWasCut() throws Exception
    {
        final String address = closed();
        cut(newest("snapshot."), 30);
        assertRefused(address, newest("snapshot.") + " is damaged: its checksum does not match");
    }

    /** What is left of the log would be applied to nothing, and this member would know less than it has promised. */
    @Test
    void shouldRefuseALogWhoseBeginningIsInALostSnapshot() throws Exception
    {
        final String address = closed();
        for (final Path file : files("snapshot.*"))
        {
            Files.delete(file);
        }
        assertThatThrownBy(() -> open(false, address).close()).isInstanceOf(MetaStoreException.class)
            .hasMessageContaining("begins with entry").hasMessageContaining("there is no snapshot")
            .hasMessageContaining("--join");
    }

    /** As a newer build would write it. */
    private static byte[] ofTheNextVersion(final byte[] command)
    {
        final byte[] newer = command.clone();
        newer[VERSION_OFFSET]++;
        return newer;
    }

    /** A leader of another version: what it wrote stays in the log, and the build that knows it can go on there. */
    @Test
    void shouldStopAtAnEntryOfAnotherVersionNamingBothAndKeepAllBeforeIt() throws Exception
    {
        apply(0, takeLeadership(0)).join();
        apply(1, write(1, "a")).join();
        assertThat(apply(2, ofTheNextVersion(write(1, "b")))).isCompletedExceptionally();
        assertThat(machine.failure()).hasLineCount(1).contains("entry 2 of the log cannot be applied",
            "has format version 5, this build knows versions 1 to 4: use the build that wrote it");
        assertThat(machine.hasLogFailed()).as("the disk is well").isFalse();
        assertThat(machine.takeSnapshot()).as("the last entry that it knows").isEqualTo(1);
        assertThat(machine.state().load().tables()).hasSize(1);
    }

    @Test
    void shouldRefuseASnapshotOfAnotherVersionNamingBothAndLeaveItAsItIs() throws Exception
    {
        final String address = closed();
        final Path snapshot = newest("snapshot.");
        final byte[] newer = ofTheNextVersion(Files.readAllBytes(snapshot));
        Files.write(snapshot, newer);
        assertThatThrownBy(() -> open(false, address).close()).isInstanceOfSatisfying(MetaStoreException.class,
            (ex) -> assertThat(ex.category()).isEqualTo(MetaStoreException.Category.UNKNOWN_VERSION))
            .message().hasLineCount(1).endsWith(
                "has format version 5, this build knows versions 1 to 4: use the build that wrote it");
        assertThat(snapshot).hasBinaryContent(newer);
    }

    /** It is still the one that the log follows, and must not act as if it knew what the log says. */
    @Test
    void shouldNotLeadOnceItCannotApplyAnEntry() throws Exception
    {
        final String address = closed();
        final GroupKey key = new GroupKey(new UUID(1, 2), new byte[16]);
        final RaftPeer peer = RaftPeer.newBuilder().setId("meta-1").setAddress(address).build();
        try (RaftMember member = open(false, address); RaftClient client = RaftClient.newBuilder()
            .setProperties(new RaftProperties()).setParameters(MemberTls.parameters(key))
            .setRaftGroup(RaftGroup.valueOf(GROUP, peer)).setLeaderId(peer.getId())
            .setRetryPolicy(RetryPolicies.noRetry()).build())
        {
            awaitLeader(member);
            client.async().send(Message.valueOf("no command"));
            final long deadlineNs = System.nanoTime() + DEADLINE_NS;
            while (member.failure().isEmpty())
            {
                assertThat(System.nanoTime() - deadlineNs).as("in time").isNegative();
                LockSupport.parkNanos(1_000_000);
            }
            assertThat(member.failure()).contains("cannot be applied");
            assertThat(member.stat().leader()).as("whom the log follows").isEqualTo("meta-1");
            assertThat(member.mayLead()).isFalse();
        }
    }

    @Test
    void shouldRefuseATooLargeChangeAndGoOn() throws Exception
    {
        final String address = closed();
        final RaftMember closed;
        try (RaftMember member = open(false, address))
        {
            closed = member;
            awaitLeader(member);
            assertThat(member.append(MetaCommand.write(1, new MetaBatch()
                .table(new StoredTable("large", 1, new byte[RaftMember.MAX_COMMAND_BYTES])))))
                .failsWithin(1, TimeUnit.SECONDS).withThrowableThat().withMessageContaining("too large for the log");
            assertThat(member.append(MetaCommand.write(1, new MetaBatch()
                .table(new StoredTable("small", 1, new byte[10])))).get(60, TimeUnit.SECONDS)).isTrue();
        }
        assertThat(closed.isRemoved()).as("closed, not removed").isFalse();
    }
}
