package io.verbena.meta.raft;

import io.verbena.meta.store.MetaCommand;
import io.verbena.meta.store.MetaCommandDescriptor;
import io.verbena.meta.store.MetaStoreException;
import io.verbena.meta.store.ReplicatedState;
import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.grpc.GrpcConfigKeys;
import org.apache.ratis.proto.RaftProtos.CommitInfoProto;
import org.apache.ratis.proto.RaftProtos.RaftGroupIdProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.RoleInfoProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.TransferLeadershipRequest;
import org.apache.ratis.rpc.SupportedRpcType;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.metrics.RaftLogMetricsBase;
import org.apache.ratis.server.metrics.SegmentedRaftLogMetrics;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.util.SizeInBytes;
import org.apache.ratis.util.TimeDuration;
import org.agrona.CloseHelper;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import static io.verbena.meta.store.MetaStoreException.Category.CORRUPT;
import static io.verbena.meta.store.MetaStoreException.Category.FOREIGN;
import static io.verbena.meta.store.MetaStoreException.Category.UNKNOWN_VERSION;

/**
 * One member of a group of meta servers: the log, by Apache Ratis over gRPC. Thread-safe. Closed by its opener.
 */
public final class RaftMember implements GroupLog, AutoCloseable
{
    /** Largest command: what the log takes as one entry. */
    public static final int MAX_COMMAND_BYTES = 3 << 20;
    /**
     * A follower that hears nothing for so long wants to lead: at least, and at most. The library looks once in such a
     * time, so that up to twice as much passes.
     */
    static final int ELECTION_MIN_MS = 500;
    private static final int ELECTION_MAX_MS = 700;
    private static final int SNAPSHOT_ENTRIES = 4_096;
    private static final String SEGMENT = "8MB";
    private static final String PREALLOCATED = "64KB";
    private static final int SNAPSHOTS_KEPT = 2;
    private static final String INSTEAD = "start it with --join HOST:PORT in the place of --peers and --member, and " +
        "then type './verbena meta add HOST:PORT' and './verbena meta remove' for the member that is lost";
    /** Until another member has answered; of a new group they are not there yet, which is known at once. */
    private static final long ASK_NS = TimeUnit.SECONDS.toNanos(2);
    private static final long TRANSFER_TIMEOUT_MS = 3_000;
    /** A leader whose own disk has not written an entry for so long gives way: it can commit nothing before that. */
    private static final long SLOW_DISK_NS = TimeUnit.SECONDS.toNanos(2);
    private static final NanoClock CLOCK = SystemNanoClock.INSTANCE;
    /** For the answer to an announcement, which is made again later. */
    private static final long ANNOUNCE_NS = TimeUnit.SECONDS.toNanos(3);
    /** A member from which the leader has heard nothing for so long counts as unreachable. */
    private static final long UNREACHABLE_MS = 3_000;

    private final GroupOptions options;
    private final String name;
    private final RaftServer server;
    private final RaftServer.Division division;
    private final MetaStateMachine machine;
    private final GroupSignal signal;
    private final LeaderWatch watch;
    private final RaftGroupId groupId;
    private final ClientId client = ClientId.randomId();
    private final AtomicLong calls = new AtomicLong();
    /** The last entry that was seen on this member's disk, and when all were there or this one was new. */
    private long writtenIndex;
    private long writtenAtNs = CLOCK.nanoTime();
    private int transfers;
    private volatile CompletableFuture<RaftClientReply> transfer;
    private volatile CompletableFuture<Void> announcement = CompletableFuture.completedFuture(null);
    private volatile boolean isClosed;

    /** This member, for {@link LeaderWatch}. */
    private final class Follower implements LeaderWatch.Follower
    {
        @Override
        public LeaderWatch.Following following()
        {
            final RaftPeerId leader = division.getInfo().getLeaderId();
            final RoleInfoProto role = null == leader ? null : division.getInfo().getRoleInfoProto();
            if (null == role || !role.hasFollowerInfo())
            {
                return null;
            }
            final SortedMap<String, String> addresses = new TreeMap<>();
            division.getRaftConf().getCurrentPeers().forEach((peer) ->
                addresses.put(peer.getId().toString(), peer.getAddress()));
            return new LeaderWatch.Following(leader.toString(), division.getInfo().getCurrentTerm(),
                role.getFollowerInfo().getLeaderInfo().getLastRpcElapsedTimeMs(), addresses);
        }

        /**
         * Sends itself the request with which a leader gives the lead away; without an entry of the leader's term it
         * does not stand.
         */
        @Override
        public boolean stand(final LeaderWatch.Following following) throws IOException
        {
            final TermIndex last = division.getRaftLog().getLastEntryTermIndex();
            return null != last && last.getTerm() == following.term() &&
                server.startLeaderElection(StartLeaderElectionRequestProto.newBuilder()
                    .setServerRequest(RaftRpcRequestProto.newBuilder()
                        .setRequestorId(RaftPeerId.valueOf(following.leader()).toByteString())
                        .setReplyId(server.getId().toByteString())
                        .setRaftGroupId(RaftGroupIdProto.newBuilder().setId(groupId.toByteString())))
                    .setLeaderLastEntry(last.toProto())
                    .build()).getServerReply().getSuccess();
        }
    }

    private RaftMember(
        final GroupOptions options, final String name, final RaftServer server, final RaftGroupId groupId,
        final MetaStateMachine machine)
        throws IOException
    {
        this.options = options;
        this.name = name;
        this.server = server;
        this.groupId = groupId;
        this.machine = machine;
        signal = machine.signal();
        division = server.getDivision(groupId);
        watch = new LeaderWatch(name, new Follower()).start();
    }

    /**
     * Starts the member on its folder.
     *
     * @param options how.
     * @return the member, which looks for the others.
     * @throws MetaStoreException when the folder is not as it must be, in use or damaged, or the port is taken.
     */
    public static RaftMember open(final GroupOptions options)
    {
        return open(options, SNAPSHOT_ENTRIES, SEGMENT);
    }

    /** With another number of entries between snapshots, and another size of the files of the log. */
    static RaftMember open(final GroupOptions options, final int snapshotEntries, final String segment)
    {
        requireFolder(options);
        final String name = options.joins() ? MemberName.of(options.folder()) : GroupOptions.name(options.member());
        final boolean isFirstStart = !Files.exists(options.folder());
        final RaftGroupId groupId = RaftGroupId.valueOf(options.key().groupId());
        final List<RaftPeer> peers = new ArrayList<>();
        // Who joins knows no members: so it neither votes nor wants to lead until the group has added it.
        for (int i = 1; !options.joins() && i <= options.peers().size(); i++)
        {
            peers.add(RaftPeer.newBuilder().setId(GroupOptions.name(i)).setAddress(options.peers().get(i - 1)).build());
        }
        final MetaStateMachine machine = new MetaStateMachine();
        RaftServer server = null;
        try
        {
            server = RaftServer.newBuilder()
                .setServerId(RaftPeerId.valueOf(name))
                .setGroup(RaftGroup.valueOf(groupId, peers))
                .setStateMachine(machine)
                .setProperties(properties(options, snapshotEntries, segment))
                .setParameters(MemberTls.parameters(options.key()))
                .setOption(isFirstStart ? RaftStorage.StartupOption.FORMAT : RaftStorage.StartupOption.RECOVER)
                .build();
            server.start();
            requireWhole(options, server.getDivision(groupId), machine);
            return new RaftMember(options, name, server, groupId, machine);
        }
        catch (final MetaStoreException ex)
        {
            CloseHelper.quietClose(server);
            throw ex;
        }
        catch (final IOException | RuntimeException ex)
        {
            CloseHelper.quietClose(server);
            requireKnown(options, ex);
            throw new MetaStoreException(CORRUPT, "member " + (options.joins() ? name : options.member()) +
                " of the group cannot start on " + options.folder() + " and " + options.address() + ": " +
                GroupChangeException.reason(ex) +
                "; is the folder in use, or the port? A damaged folder is refused", ex);
        }
    }

    /** The library starts on a log whose beginning is gone with the snapshot that had it, and applies what is left. */
    private static void requireWhole(
        final GroupOptions options, final RaftServer.Division division, final MetaStateMachine machine)
    {
        final long first = division.getRaftLog().getStartIndex();
        if (null != division.getRaftLog().getLastEntryTermIndex() && first > machine.snapshotIndex() + 1)
        {
            throw new MetaStoreException(CORRUPT, "the log in " + options.folder() + " begins with entry " + first +
                ", and " + (machine.snapshotIndex() < 0 ? "there is no snapshot" : "the latest snapshot ends with " +
                "entry " + machine.snapshotIndex()) + ": a snapshot was lost, and this member must not take part " +
                "without it; " + INSTEAD, null);
        }
    }

    /** A folder that another build wrote is not damaged. */
    private static void requireKnown(final GroupOptions options, final Exception ex)
    {
        for (Throwable cause = ex; null != cause; cause = cause.getCause())
        {
            if (cause instanceof final MetaStoreException known && UNKNOWN_VERSION == known.category())
            {
                throw new MetaStoreException(UNKNOWN_VERSION, "member on " + options.folder() + " cannot start: " +
                    known.getMessage(), ex);
            }
        }
    }

    /** An empty folder is that of a new group only: an old one's member would vote as if it had promised nothing. */
    private static void requireFolder(final GroupOptions options)
    {
        final boolean isThere = Files.exists(options.folder());
        if (isThere && options.isNew())
        {
            throw new MetaStoreException(FOREIGN, "folder " + options.folder() + " belongs to a group that was made " +
                "before: start it without --new-group, or give an empty folder to all", null);
        }
        if (options.isNew())
        {
            requireNoGroup(options);
        }
        if (!isThere && !options.isNew() && !options.joins())
        {
            throw new MetaStoreException(FOREIGN, "there is no folder " + options.folder() + " of a member: give " +
                "--new-group to all members when the group is made. A member whose disk was lost must not come back " +
                "with an empty one, because it has promised what it does not know any more: " + INSTEAD, null);
        }
    }

    /** Whether another one remembers this member with a log, which is not here any more. */
    private static void requireNoGroup(final GroupOptions options)
    {
        final List<String> others = new ArrayList<>(options.peers());
        others.remove(options.member() - 1);
        try (GroupAdministration group = new GroupAdministration(options.key(), others, ASK_NS))
        {
            final String name = GroupOptions.name(options.member());
            if (group.hasHeardOf(name))
            {
                throw new MetaStoreException(FOREIGN, "--new-group: the group is there, and member " + name + " had " +
                    "its log. A member whose disk was lost must not come back with an empty one, because it has " +
                    "promised what it does not know any more: " + INSTEAD, null);
            }
        }
    }

    private static RaftProperties properties(
        final GroupOptions options, final int snapshotEntries, final String segment)
    {
        final String own = options.address();
        final int colon = own.lastIndexOf(':');
        final RaftProperties properties = new RaftProperties();
        RaftConfigKeys.Rpc.setType(properties, SupportedRpcType.GRPC);
        GrpcConfigKeys.Server.setHost(properties, own.substring(0, colon));
        GrpcConfigKeys.Server.setPort(properties, Integer.parseInt(own.substring(colon + 1)));
        RaftServerConfigKeys.setStorageDir(properties, List.of(options.folder().toFile()));
        RaftServerConfigKeys.Rpc.setTimeoutMin(properties, milliseconds(ELECTION_MIN_MS));
        RaftServerConfigKeys.Rpc.setTimeoutMax(properties, milliseconds(ELECTION_MAX_MS));
        // A leader that loses the others stands again as soon as it reaches one: it may be the only one with all of the
        // log. By default it lets 10 s pass, while a whole lease of every node runs out.
        RaftServerConfigKeys.LeaderElection.setLeaderStepDownWaitTime(properties, milliseconds(ELECTION_MIN_MS));
        RaftServerConfigKeys.Read.setOption(properties, RaftServerConfigKeys.Read.Option.LINEARIZABLE);
        RaftServerConfigKeys.Snapshot.setAutoTriggerEnabled(properties, true);
        RaftServerConfigKeys.Snapshot.setAutoTriggerThreshold(properties, snapshotEntries);
        RaftServerConfigKeys.Snapshot.setRetentionFileNum(properties, SNAPSHOTS_KEPT);
        RaftServerConfigKeys.Log.setSegmentSizeMax(properties, SizeInBytes.valueOf(segment));
        // No larger than a segment.
        RaftServerConfigKeys.Log.setPreallocatedSize(properties, SizeInBytes.valueOf(SEGMENT.equals(segment) ?
            PREALLOCATED : segment));
        RaftServerConfigKeys.Log.setPurgeUptoSnapshotIndex(properties, true);
        // Else a snapshot of fewer entries than 1,024 frees no file.
        RaftServerConfigKeys.Log.setPurgeGap(properties, snapshotEntries);
        // Else each commit is an entry of its own, with a sync: what is committed the next leader finds out anyway.
        RaftServerConfigKeys.Log.setLogMetadataEnabled(properties, false);
        return properties;
    }

    private static TimeDuration milliseconds(final int milliseconds)
    {
        return TimeDuration.valueOf(milliseconds, TimeUnit.MILLISECONDS);
    }

    /**
     * {@inheritDoc} As long as nothing was ever written only the first member does, because it may bring what a single
     * meta server had; another one gives way to it.
     */
    @Override
    public boolean mayLead()
    {
        if (!machine.failure().isEmpty() || !division.getInfo().isLeaderReady())
        {
            return false;
        }
        final boolean isDiskSlow = unwrittenNs() > SLOW_DISK_NS;
        if (!isDiskSlow && (1 == options.member() || !machine.state().isEmpty()))
        {
            return true;
        }
        if (null == transfer || transfer.isDone())
        {
            giveWayTo(isDiskSlow ? nextFollower() : RaftPeerId.valueOf(GroupOptions.name(1)));
        }
        return false;
    }

    /** Gives the lead to another member that answers, if there is one and this one leads. Does not wait. */
    public void giveWay()
    {
        if (division.getInfo().isLeaderReady() && (null == transfer || transfer.isDone()))
        {
            giveWayTo(nextFollower());
        }
    }

    /** For how long this member's disk has written nothing of what it is to write; 0 while there is nothing. */
    private synchronized long unwrittenNs()
    {
        final TermIndex last = division.getRaftLog().getLastEntryTermIndex();
        final long written = division.getRaftLog().getFlushIndex();
        final long nowNs = CLOCK.nanoTime();
        if (null == last || written >= last.getIndex() || written != writtenIndex)
        {
            writtenIndex = written;
            writtenAtNs = nowNs;
        }
        return nowNs - writtenAtNs;
    }

    /** Of those that answer: another one each time, since its disk may be slow, too. Null: there is none. */
    private RaftPeerId nextFollower()
    {
        final List<RaftPeerId> followers = division.getInfo().getRoleInfoProto().getLeaderInfo().getFollowerInfoList()
            .stream().filter((follower) -> follower.getLastRpcElapsedTimeMs() <= UNREACHABLE_MS)
            .map((follower) -> RaftPeerId.valueOf(follower.getId().getId())).toList();
        return followers.isEmpty() ? null : followers.get(transfers++ % followers.size());
    }

    private void giveWayTo(final RaftPeerId other)
    {
        try
        {
            transfer = null == other ? null : server.transferLeadershipAsync(new TransferLeadershipRequest(client,
                server.getId(), groupId, calls.incrementAndGet(), other, TRANSFER_TIMEOUT_MS));
        }
        catch (final IOException ex)
        {
            transfer = CompletableFuture.failedFuture(ex);
        }
    }

    @Override
    public CompletableFuture<Boolean> append(final MetaCommand command)
    {
        final byte[] encoded = MetaCommandDescriptor.encode(command);
        if (encoded.length > MAX_COMMAND_BYTES)
        {
            return CompletableFuture.failedFuture(new IOException("a change of " + encoded.length +
                " bytes is too large for the log, which takes " + MAX_COMMAND_BYTES));
        }
        unwrittenNs(); // before this entry there may be none that is not written
        return signalled(submit(RaftClientRequest.writeRequestType(), Message.valueOf(ByteString.copyFrom(encoded)))
            .thenApply((reply) -> MetaStateMachine.APPLIED.getContent().equals(reply.getMessage().getContent())));
    }

    @Override
    public CompletableFuture<Long> latestLeadership()
    {
        return signalled(submit(RaftClientRequest.readRequestType(), Message.EMPTY).thenApply((reply) ->
            Long.parseLong(reply.getMessage().getContent().toStringUtf8())));
    }

    /**
     * When the log has something for the thread that polls it: this member may lead by now, or an answer is there.
     *
     * @param sleeper ends the sleep of that thread; called by any thread, and not once this is closed.
     */
    public void onProgress(final Runnable sleeper)
    {
        signal.onRaised(sleeper);
    }

    /** The future is done when the signal is raised. */
    private <T> CompletableFuture<T> signalled(final CompletableFuture<T> answer)
    {
        answer.whenComplete((result, failure) -> signal.raise());
        return answer;
    }

    private CompletableFuture<RaftClientReply> submit(final RaftClientRequest.Type type, final Message message)
    {
        try
        {
            return server.submitClientRequestAsync(RaftClientRequest.newBuilder()
                .setClientId(client)
                .setServerId(server.getId())
                .setGroupId(groupId)
                .setCallId(calls.incrementAndGet())
                .setMessage(message)
                .setType(type)
                .build()).thenCompose((reply) -> reply.isSuccess() ?
                    CompletableFuture.completedFuture(reply) : CompletableFuture.failedFuture(reply.getException()));
        }
        catch (final IOException ex)
        {
            return CompletableFuture.failedFuture(ex);
        }
    }

    @Override
    public ReplicatedState state()
    {
        return machine.state();
    }

    /**
     * Tells the group where this member listens while it leads, unless the group knows. Does not wait; what fails is
     * tried again at the next call. One thread.
     *
     * @param address of this member.
     */
    public void announce(final String address)
    {
        final RaftPeerId leader = division.getInfo().getLeaderId();
        final Collection<RaftPeer> members = division.getRaftConf().getCurrentPeers();
        final Map<String, String> known = machine.state().addresses();
        if (null == leader || !announcement.isDone() || address.equals(known.get(name)) ||
            members.stream().noneMatch((peer) -> peer.getId().equals(server.getId())))
        {
            return;
        }
        final List<String> gone = new ArrayList<>(known.keySet());
        members.forEach((peer) -> gone.remove(peer.getId().toString()));
        final MetaCommand command = MetaCommand.announce(name, address, gone);
        announcement = leader.equals(server.getId()) ?
            append(command).orTimeout(ANNOUNCE_NS, TimeUnit.NANOSECONDS).thenAccept((isApplied) -> { }) :
            CompletableFuture.runAsync(() -> send(command, members, leader),
                (task) -> Thread.ofVirtual().name("verbena-announcement").start(task));
    }

    /** A follower appends nothing itself. */
    private void send(final MetaCommand command, final Collection<RaftPeer> members, final RaftPeerId leader)
    {
        try (RaftClient toLeader = GroupAdministration.client(
            groupId, MemberTls.parameters(options.key()), members, leader, ANNOUNCE_NS))
        {
            toLeader.io().send(Message.valueOf(ByteString.copyFrom(MetaCommandDescriptor.encode(command))));
        }
        catch (final IOException ignore)
        {
            // There will be a leader, and another call.
        }
    }

    /** @return where the present members listen while they lead, of those that have said so; sorted, each once. */
    public List<String> addresses()
    {
        final Map<String, String> known = machine.state().addresses();
        return division.getRaftConf().getCurrentPeers().stream().map((peer) -> known.get(peer.getId().toString()))
            .filter(Objects::nonNull).sorted().distinct().toList();
    }

    /** Elections in which it stood because its leader's process had ended, since its start. */
    long electionsAfterEnds()
    {
        return watch.elections();
    }

    /** @return name of this member. */
    public String name()
    {
        return name;
    }

    /** @return whether the group has removed this member: it takes part no more, and its folder is of no use. */
    public boolean isRemoved()
    {
        return !isClosed && machine.failure().isEmpty() && !division.getInfo().isAlive();
    }

    /** @return why it takes part no more; empty while all is well. */
    public String failure()
    {
        return machine.failure();
    }

    /** @return whether that is because its log could not be written. */
    public boolean hasDiskFailed()
    {
        return machine.hasLogFailed();
    }

    /** @return what it knows of the group; a new object. */
    public GroupStat stat()
    {
        final RoleInfoProto role = division.getInfo().getRoleInfoProto();
        final List<String> unreachable = unreachable(role);
        final RaftPeerId leader = division.getInfo().getLeaderId();
        return new GroupStat(null == leader ? "" : leader.toString(), division.getInfo().getCurrentTerm(),
            division.getRaftLog().getLastCommittedIndex(), machine.state().index(), machine.snapshotIndex(),
            division.getRaftConf().getCurrentPeers().size(), unreachable, role.hasLeaderInfo() ? behind(
                division.getCommitInfos(), division.getRaftLog().getLastCommittedIndex(), unreachable) : List.of());
    }

    /** Only a leader knows; none where another member leads. */
    static List<String> unreachable(final RoleInfoProto role)
    {
        return !role.hasLeaderInfo() ? List.of() : role.getLeaderInfo().getFollowerInfoList().stream()
            .filter((follower) -> follower.getLastRpcElapsedTimeMs() > UNREACHABLE_MS)
            .map((follower) -> follower.getId().getId().toStringUtf8()).toList();
    }

    /** Of those that answer; of one that does not, nothing is known. */
    static List<String> behind(
        final Collection<CommitInfoProto> members, final long commitIndex, final List<String> unreachable)
    {
        return members.stream().filter((member) -> commitIndex - member.getCommitIndex() > GroupProblem.MOST_BEHIND)
            .map((member) -> member.getServer().getId().toStringUtf8()).filter((name) -> !unreachable.contains(name))
            .sorted().toList();
    }

    /** @return how often its log was synced to the disk since it was started, at this moment. */
    public long logSyncs()
    {
        return division.getRaftLog().getRaftLogMetrics() instanceof final RaftLogMetricsBase metrics ?
            metrics.getRegistry().counter(SegmentedRaftLogMetrics.RAFT_LOG_FLUSH_COUNT).getCount() : 0;
    }

    /** Ends this member's part; the others go on. Idempotent. */
    @Override
    public void close()
    {
        isClosed = true;
        signal.close();
        CloseHelper.quietClose(watch);
        CloseHelper.quietClose(server);
    }
}
