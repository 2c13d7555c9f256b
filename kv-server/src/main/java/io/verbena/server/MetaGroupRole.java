package io.verbena.server;

import io.verbena.meta.raft.GroupHealth;
import io.verbena.meta.raft.GroupLog;
import io.verbena.meta.raft.GroupMetaStore;
import io.verbena.meta.raft.GroupOptions;
import io.verbena.meta.raft.GroupProblem;
import io.verbena.meta.raft.GroupStat;
import io.verbena.meta.raft.Leadership;
import io.verbena.meta.raft.NodeSilence;
import io.verbena.meta.raft.RaftMember;
import io.verbena.meta.store.DurableWriteError;
import io.verbena.meta.store.MetaState;
import io.verbena.meta.store.MetaStoreException;
import io.verbena.meta.store.RocksMetaStore;
import io.verbena.protocol.bootstrap.BootstrapException;
import io.verbena.protocol.bootstrap.ClusterAddress;
import io.verbena.rdma.verbs.CompletionChannel;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.server.metrics.Measurements;
import io.verbena.server.metrics.Metric;

import org.agrona.CloseHelper;
import org.agrona.concurrent.NanoClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * One of a group of meta servers: it follows the log, and is the meta server while it leads. A meta server that begins
 * to lead is to all others one that was started again at another place: it has the same state, and gives every node a
 * whole lease to be heard of.
 */
public final class MetaGroupRole implements Role
{
    /** Folder of the log, in the data folder. */
    public static final String FOLDER = "meta-group";
    /**
     * Of a leader: what another one waits before it leads, and a part more. Where a busy machine lets it run out, the
     * leader is silent until it is renewed, and remains the leader.
     */
    private static final long LEADER_LEASE_NS = TimeUnit.MILLISECONDS.toNanos(450);
    private static final long WRITE_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(3);
    private static final long NO_LEADERSHIP = -1;
    /** A follower has caught up by then, and its start is over for whoever waits for it. */
    private static final long WARM_UP_DELAY_NS = TimeUnit.SECONDS.toNanos(2);
    private static final String WARM_UP = "meta-warm-up";
    private static final double NS_PER_S = TimeUnit.SECONDS.toNanos(1);
    private static final String TAKEN_OVER = "meta.taken-over";
    private static final Logger LOGGER = LoggerFactory.getLogger(MetaGroupRole.class);

    private final Device device;
    private final CompletionChannel channel;
    private final NanoClock clock;
    private final RaftMember member;
    private final GroupLog log;
    private final Leadership leadership;
    private final MetaServerPlace place;
    private final FigurePace pace;
    private final GroupHealth groupHealth;
    private final NodeSilence silence;
    private final LeaderWarmUp warmUp;
    private final long warmUpAtNs;
    private final boolean isFirst;
    private MetaServerRole server;
    private boolean draining;
    private volatile String failure = "";
    private volatile MetaServerRole shown;
    private volatile GroupStat stat;
    private volatile long leadershipNumber;
    private volatile long leaseLeftNs;
    /** Of the leadership in force; -1: none. Written before the time below is read as its. */
    private volatile long heldNumber = NO_LEADERSHIP;
    private volatile long heldUntilNs;
    private volatile Map<GroupProblem, String> problems = Map.of();

    private MetaGroupRole(
        final Device device, final CompletionChannel channel, final RaftMember member, final GroupOptions options,
        final MetaServerPlace place, final LeaderWarmUp warmUp)
    {
        this.warmUp = warmUp;
        this.device = device;
        this.channel = channel;
        this.member = member;
        isFirst = 1 == options.member();
        this.place = place;
        log = member;
        clock = device.clock();
        leadership = new Leadership(log, member.name(), clock, LEADER_LEASE_NS);
        final long nowNs = clock.nanoTime();
        groupHealth = new GroupHealth(member.name(), nowNs);
        silence = new NodeSilence(place.configuration().leaseNs());
        warmUpAtNs = nowNs + WARM_UP_DELAY_NS;
        pace = new FigurePace(nowNs);
        stat = member.stat();
        if (null != channel && channel.canWake())
        {
            member.onProgress(channel::wake);
        }
    }

    /**
     * Starts the member.
     *
     * @param fabric  open; closed by the caller after the role.
     * @param place   where it is.
     * @param options of the group; what its first member has as the folder of a single meta server is taken over when
     *                the group is new.
     * @return the role, ready as a member.
     * @throws MetaStoreException when a folder cannot be used.
     */
    public static MetaGroupRole open(final Fabric fabric, final MetaServerPlace place, final GroupOptions options)
    {
        if (options.isNew() && 1 != options.member() && Files.exists(place.data().resolve(MetaServerRole.FOLDER)))
        {
            throw new MetaStoreException(MetaStoreException.Category.FOREIGN, "folder " + place.data() +
                " is that of a single meta server, which the first member of a new group takes over: give it to " +
                "member 1, and member " + options.member() + " an empty one", null);
        }
        final Device device = fabric.openDevice("meta-server-" + (options.joins() ?
            options.address().substring(options.address().lastIndexOf(':') + 1) : options.member()));
        CompletionChannel channel = null;
        RaftMember member = null;
        try
        {
            channel = Channels.create(device);
            member = RaftMember.open(options);
            return new MetaGroupRole(device, channel, member, options, place,
                new LeaderWarmUp(fabric, place.data().resolve(WARM_UP)));
        }
        catch (final RuntimeException ex)
        {
            final CompletionChannel opened = channel;
            CloseHelper.quietCloseAll(member, null == opened ? null : () -> Channels.close(opened), device);
            throw ex;
        }
    }

    /** @return where the cluster is found while this member leads. */
    public ClusterAddress address()
    {
        return place.listen();
    }

    @Override
    public String name()
    {
        return "meta-server";
    }

    @Override
    public Device device()
    {
        return device;
    }

    @Override
    public CompletionChannel completionChannel()
    {
        return channel;
    }

    @Override
    public int doWork()
    {
        final long nowNs = clock.nanoTime();
        int workCount = leadership.poll(nowNs);
        if (Leadership.State.FOLLOWING != leadership.state())
        {
            warmUp.cancel();
        }
        if (!member.failure().isEmpty())
        {
            failure = member.failure();
        }
        if (failure.isEmpty() && member.isRemoved())
        {
            failure = "member " + member.name() + " was removed from its group, and takes part no more: to bring " +
                "this server back, give it an empty folder and --join, and type './verbena meta add'";
        }
        if (null != server && Leadership.State.LEADING != leadership.state())
        {
            stepDown(false);
            workCount++;
        }
        if (null == server && Leadership.State.LEADING == leadership.state() && leadership.isHeld() && !draining)
        {
            lead();
            workCount++;
        }
        if (null != server && leadership.isHeld())
        {
            workCount += server.doWork();
            if (!server.failure().isEmpty())
            {
                LOGGER.warn("{}", server.failure());
                leadership.resign(server.failure());
                stepDown(false);
            }
        }
        hold();
        if (pace.isDue(workCount, nowNs))
        {
            giveWayIfSilent(nowNs);
            show(nowNs);
        }
        return workCount;
    }

    /** While the members reach it and no node does, each of these may lose its lease although another one is there. */
    private void giveWayIfSilent(final long nowNs)
    {
        if (null != server && !draining && leadership.isHeld() && server.isTooSilent(silence, nowNs))
        {
            LOGGER.warn("no node was heard of for half of a lease: another member is to lead, which they may reach");
            member.giveWay();
        }
    }

    /** For other threads: until when the lease lasts, whatever this thread does meanwhile. */
    private void hold()
    {
        if (null == server || draining)
        {
            heldNumber = NO_LEADERSHIP;
            return;
        }
        final long nowNs = clock.nanoTime(); // before the lease is read: rather too short than too long
        heldUntilNs = nowNs + leadership.leaseLeftNs();
        heldNumber = leadership.number();
    }

    /**
     * What this process may do as the leader, it may do while this stays the same. Any thread.
     *
     * @return number of the leadership whose lease this member holds at this moment; -1 where it holds none.
     */
    public long leadershipInForce()
    {
        final long number = heldNumber;
        final boolean isHeld = heldUntilNs - clock.nanoTime() > 0;
        return isHeld && number == heldNumber ? number : NO_LEADERSHIP;
    }

    private void lead()
    {
        final GroupMetaStore store = new GroupMetaStore(log, leadership, clock, WRITE_TIMEOUT_NS);
        try
        {
            takeOver(store);
            server = MetaServerRole.lead(device, channel, store, place, leadership::isHeld, this::members);
            shown = server;
            silence.begin(clock.nanoTime());
        }
        catch (final DurableWriteError ex)
        {
            LOGGER.warn("{}", ex.getMessage());
            leadership.resign(ex.getMessage());
        }
        catch (final BootstrapException | MetaStoreException | RdmaException ex)
        {
            failure = ex.getMessage();
        }
    }

    private List<ClusterAddress> members()
    {
        return member.addresses().stream().map(ClusterAddress::parse).toList();
    }

    /** What a single meta server had becomes the first entry; its folder is set aside then, here or by the next one. */
    private void takeOver(final GroupMetaStore store)
    {
        final Path single = place.data().resolve(MetaServerRole.FOLDER);
        if (!isFirst || !Files.exists(single))
        {
            return;
        }
        if (log.state().isEmpty())
        {
            final MetaState state;
            try (RocksMetaStore before = RocksMetaStore.open(single))
            {
                state = before.load();
            }
            if (!state.isNew())
            {
                store.write(state.asBatch(place.isFresh()));
                LOGGER.info("taken over from the single meta server in {}: {} nodes, {} tables, {} users", single,
                    state.nodes().size(), state.tables().size(), state.users().size());
            }
        }
        try
        {
            Files.move(single, place.data().resolve(TAKEN_OVER));
        }
        catch (final IOException ex)
        {
            throw new MetaStoreException(MetaStoreException.Category.READ_ONLY, "folder " + single +
                " was taken over and cannot be renamed to " + TAKEN_OVER + " (" + ex + "): give this user the rights",
                ex);
        }
    }

    private void stepDown(final boolean isOrderly)
    {
        final MetaServerRole ended = server;
        heldNumber = NO_LEADERSHIP;
        server = null;
        shown = null;
        ended.stepDown(isOrderly);
    }

    private void show(final long nowNs)
    {
        if (null != place.announced())
        {
            member.announce(place.announced().toString());
        }
        stat = member.stat();
        leadershipNumber = leadership.number();
        leaseLeftNs = leadership.leaseLeftNs();
        problems = groupHealth.problems(nowNs, stat, leaseLeftNs, member.failure(), member.isRemoved());
        // Not once it is elected: that is the beginning of a leadership.
        final boolean isFollowing = !stat.leader().isEmpty() && !member.name().equals(stat.leader());
        if (isFollowing && nowNs - warmUpAtNs >= 0)
        {
            warmUp.begin();
        }
    }

    @Override
    public long idleNs()
    {
        final long ownNs = draining ? 0 : Math.min(leadership.idleNs(), pace.leftNs(clock.nanoTime()));
        return null == server ? ownNs : Math.min(ownNs, server.idleNs());
    }

    @Override
    public boolean isReady()
    {
        return !draining && failure.isEmpty() && !problems.containsKey(GroupProblem.NO_LEADER);
    }

    @Override
    public String failure()
    {
        return failure;
    }

    @Override
    public boolean hasDiskFailed()
    {
        return member.hasDiskFailed();
    }

    @Override
    public void drain()
    {
        draining = true;
        warmUp.cancel();
        if (null != server)
        {
            server.drain();
        }
    }

    @Override
    public boolean isDrained()
    {
        return draining;
    }

    @Override
    public Map<String, Object> health()
    {
        final MetaServerRole leading = shown;
        final GroupStat group = stat;
        final Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("group_member", member.name());
        figures.put("group_members", group.members());
        figures.put("group_leader", group.leader());
        figures.put("group_term", group.term());
        figures.put("group_leadership", leadershipNumber);
        figures.put("group_lease_left_ms", TimeUnit.NANOSECONDS.toMillis(leaseLeftNs));
        figures.put("group_commit_index", group.commitIndex());
        figures.put("group_applied_index", group.appliedIndex());
        figures.put("group_snapshot_index", group.snapshotIndex());
        // As of now, unlike the others: who counts what something costs reads it before and after.
        figures.put("group_log_syncs", member.logSyncs());
        final Map<GroupProblem, String> present = problems;
        figures.put("group_problem", present.getOrDefault(GroupProblem.NO_LEADER,
            present.getOrDefault(GroupProblem.NO_LEASE, "")));
        figures.put("group_unreachable", present.getOrDefault(GroupProblem.UNREACHABLE, ""));
        figures.put("group_behind", present.getOrDefault(GroupProblem.BEHIND, ""));
        if (null != leading)
        {
            figures.putAll(leading.health());
        }
        return figures;
    }

    @Override
    public void measure(final Measurements measurements)
    {
        final MetaServerRole leading = shown;
        if (null != leading)
        {
            leading.measure(measurements);
        }
        final GroupStat group = stat;
        measurements.set(Metric.GROUP_MEMBERS, group.members());
        measurements.set(Metric.GROUP_TERM, group.term());
        measurements.set(Metric.GROUP_LEASE_REMAINING, leaseLeftNs / NS_PER_S);
        measurements.set(Metric.GROUP_INDEX, group.commitIndex(), "committed");
        measurements.set(Metric.GROUP_INDEX, group.appliedIndex(), "applied");
        measurements.set(Metric.GROUP_INDEX, group.snapshotIndex(), "snapshot");
        measurements.set(Metric.GROUP_LOG_SYNCS, member.logSyncs());
        final Map<GroupProblem, String> present = problems;
        for (final GroupProblem problem : GroupProblem.values())
        {
            measurements.set(Metric.GROUP_UNHEALTHY, present.containsKey(problem) ? 1 : 0,
                problem.name().toLowerCase(Locale.ROOT));
        }
    }

    @Override
    public void close()
    {
        if (null != server)
        {
            stepDown(leadership.isHeld());
        }
        CloseHelper.closeAll(warmUp, member, () -> Channels.close(channel), device);
    }
}
