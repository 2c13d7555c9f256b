package io.verbena.meta.raft;

import org.agrona.concurrent.SystemNanoClock;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.client.RaftClientConfigKeys;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.proto.RaftProtos.CommitInfoProto;
import org.apache.ratis.proto.RaftProtos.LogInfoProto;
import org.apache.ratis.protocol.GroupInfoReply;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.SetConfigurationRequest;
import org.apache.ratis.retry.RetryPolicies;
import org.apache.ratis.util.TimeDuration;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;

import static io.verbena.meta.raft.GroupChangeException.Category.OUTCOME_UNKNOWN;
import static io.verbena.meta.raft.GroupChangeException.Category.REFUSED;
import static io.verbena.meta.raft.GroupChangeException.Category.UNAVAILABLE;

/**
 * Asks the members of a group from outside, and changes who they are, one at a time. One thread. Each call ends within
 * some seconds over the timeout, and fails with a {@link GroupChangeException}.
 */
public final class GroupAdministration implements AutoCloseable
{
    /** What a member has to answer how it is; one that stands still must not use up the time of the others. */
    private static final long INFO_NS = TimeUnit.SECONDS.toNanos(2);
    private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final int FEWEST_TO_SPARE_ONE = 3;

    /** All that was answered, by address, and who the members are. */
    private record View(Map<String, GroupInfoReply> replies, Collection<RaftPeer> members)
    {
        RaftPeer leader()
        {
            return replies.values().stream().filter((reply) -> null != reply &&
                reply.getRoleInfoProto().hasLeaderInfo()).findFirst().map((reply) -> find(id(reply))).orElse(null);
        }

        RaftPeer find(final String nameOrAddress)
        {
            return members.stream().filter((peer) -> peer.getId().toString().equals(nameOrAddress) ||
                peer.getAddress().equals(nameOrAddress)).findFirst().orElse(null);
        }

        boolean isAnswering(final RaftPeer peer)
        {
            final GroupInfoReply reply = replies.get(peer.getAddress());
            return null != reply && id(reply).equals(peer.getId().toString());
        }
    }

    private final RaftGroupId groupId;
    private final Parameters parameters;
    private final List<String> addresses;
    private final long timeoutNs;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    /**
     * @param key       of the group.
     * @param addresses of some of its members, {@code host:port}; these know of the others.
     * @param timeoutNs for each call.
     */
    public GroupAdministration(final GroupKey key, final List<String> addresses, final long timeoutNs)
    {
        groupId = RaftGroupId.valueOf(key.groupId());
        parameters = MemberTls.parameters(key);
        this.addresses = List.copyOf(addresses);
        this.timeoutNs = timeoutNs;
    }

    /** @return the members, as the one knows them that knows most, and whoever else answered at the addresses. */
    public List<MemberStat> members()
    {
        final View view = view(addresses);
        final List<MemberStat> stats = new ArrayList<>();
        final RaftPeer leader = view.leader();
        for (final RaftPeer peer : view.members())
        {
            stats.add(stat(peer.getId().toString(), peer.getAddress(), true, peer.equals(leader),
                view.isAnswering(peer) ? view.replies().get(peer.getAddress()) : null));
        }
        view.replies().forEach((address, reply) ->
        {
            final String name = null == reply ? "" : id(reply);
            // A silent address that no member has is one of before.
            final boolean isKnown = null == reply ? !view.members().isEmpty() : null != view.find(name);
            if (!isKnown)
            {
                stats.add(stat(name, address, false, false, reply));
            }
        });
        return stats;
    }

    private static MemberStat stat(
        final String name, final String address, final boolean isMember, final boolean isLeader,
        final GroupInfoReply reply)
    {
        if (null == reply)
        {
            return new MemberStat(name, address, isMember, false, isLeader, -1, -1, -1, -1, -1);
        }
        final LogInfoProto log = reply.getLogInfoProto();
        return new MemberStat(name, address, isMember, true, isLeader, term(reply),
            log.hasCommitted() ? log.getCommitted().getIndex() : -1,
            log.hasApplied() ? log.getApplied().getIndex() : -1,
            log.hasLastSnapshot() ? log.getLastSnapshot().getIndex() : -1,
            log.hasLastEntry() ? log.getLastEntry().getIndex() : -1);
    }

    private static long term(final GroupInfoReply reply)
    {
        return reply.getRoleInfoProto().hasLeaderInfo() ? reply.getRoleInfoProto().getLeaderInfo().getTerm() :
            reply.getLogInfoProto().hasLastEntry() ? reply.getLogInfoProto().getLastEntry().getTerm() : -1;
    }

    /**
     * @param name of a member.
     * @return whether another one remembers that it had an entry of the log.
     */
    boolean hasHeardOf(final String name)
    {
        for (final GroupInfoReply reply : ask(addresses).values())
        {
            if (null != reply)
            {
                for (final CommitInfoProto info : reply.getCommitInfos())
                {
                    if (info.getCommitIndex() >= 0 && name.equals(info.getServer().getId().toStringUtf8()))
                    {
                        return true;
                    }
                }
            }
        }
        return false;
    }

    /**
     * Adds a server that was started to join. The leader first sends it all that the group knows; only then does it
     * count, and vote.
     *
     * @param address where it is, {@code host:port}.
     * @return its name.
     */
    public String add(final String address)
    {
        final List<String> all = new ArrayList<>(addresses);
        all.remove(address);
        final View view = view(all);
        final RaftPeer leader = requireLeader(view);
        final RaftPeer present = view.find(address);
        final GroupInfoReply reply = ask(List.of(address), (replies) -> null != replies.get(address)).get(address);
        if (null == reply)
        {
            throw new GroupChangeException(UNAVAILABLE, "nobody of this group answers at " + address + ": start " +
                "'./verbena meta-server --join " + address + "' there first, with the same token", null);
        }
        final String name = id(reply);
        if (null != view.find(name))
        {
            throw new GroupChangeException(REFUSED, name + " at " + address + " is a member already", null);
        }
        if (null != present)
        {
            throw new GroupChangeException(REFUSED, name + " is at " + address + ", the address of member " +
                present.getId() + ": type './verbena meta remove " + present.getId() + "' first, or use another port",
                null);
        }
        final List<RaftPeer> next = new ArrayList<>(view.members());
        next.add(RaftPeer.newBuilder().setId(name).setAddress(address).build());
        change(view, leader, next, "add " + name);
        return name;
    }

    /**
     * Removes a member, which takes part no more; when it leads, another one does first.
     *
     * @param nameOrAddress of the member.
     * @param isFewerMeant  whether the group may be left so that one more death stops it.
     * @return its name.
     */
    public String remove(final String nameOrAddress, final boolean isFewerMeant)
    {
        View view = view(addresses);
        RaftPeer leader = requireLeader(view);
        final RaftPeer gone = requireMember(view, nameOrAddress);
        final List<RaftPeer> rest = new ArrayList<>(view.members());
        rest.remove(gone);
        final long answering = rest.stream().filter(view::isAnswering).count();
        final int majority = rest.size() / 2 + 1;
        if (rest.isEmpty() || answering < majority)
        {
            throw new GroupChangeException(REFUSED, "without " + gone.getId() + " the group has " + rest.size() +
                " members, and " + answering + " of them answer: " + majority + " are needed. Start the others, or " +
                "add one first", null);
        }
        if (!isFewerMeant && (rest.size() < FEWEST_TO_SPARE_ONE || answering < majority + 1))
        {
            throw new GroupChangeException(REFUSED, "without " + gone.getId() + " the group has " + rest.size() +
                " members, of which " + answering + " answer, and stops when one more dies: add one first, or give " +
                "--fewer", null);
        }
        if (gone.equals(leader))
        {
            moveLeader(rest.stream().filter(view::isAnswering).findFirst().orElseThrow().getId().toString());
            view = view(addresses);
            leader = requireLeader(view);
        }
        change(view, leader, rest, "remove " + gone.getId());
        return gone.getId().toString();
    }

    /**
     * Has another member lead.
     *
     * @param nameOrAddress of the one that shall.
     * @return its name.
     */
    public String moveLeader(final String nameOrAddress)
    {
        final View view = view(addresses);
        final RaftPeer leader = requireLeader(view);
        final RaftPeer next = requireMember(view, nameOrAddress);
        if (next.equals(leader))
        {
            return next.getId().toString();
        }
        if (!view.isAnswering(next))
        {
            throw new GroupChangeException(REFUSED, next.getId() + " at " + next.getAddress() +
                " does not answer, so it cannot lead: start it first", null);
        }
        final long endNs = SystemNanoClock.INSTANCE.nanoTime() + timeoutNs;
        try (RaftClient client = client(view.members(), leader.getId(), timeoutNs))
        {
            require(client.admin().transferLeadership(next.getId(), leader.getId(),
                TimeUnit.NANOSECONDS.toMillis(timeoutNs)), "move the leadership to " + next.getId());
        }
        catch (final IOException ex)
        {
            throw unknown("move the leadership to " + next.getId(), ex);
        }
        while (!next.equals(view(addresses).leader()))
        {
            if (SystemNanoClock.INSTANCE.nanoTime() - endNs > 0)
            {
                throw unknown("move the leadership to " + next.getId(), null);
            }
            LockSupport.parkNanos(POLL_NS);
        }
        return next.getId().toString();
    }

    private void change(
        final View view, final RaftPeer leader, final List<RaftPeer> next, final String what)
    {
        try (RaftClient client = client(view.members(), leader.getId(), timeoutNs))
        {
            require(client.admin().setConfiguration(SetConfigurationRequest.Arguments.newBuilder()
                .setMode(SetConfigurationRequest.Mode.COMPARE_AND_SET)
                .setServersInCurrentConf(List.copyOf(view.members()))
                .setServersInNewConf(next).build()), what);
        }
        catch (final IOException ex)
        {
            throw unknown(what, ex);
        }
    }

    private static void require(final RaftClientReply reply, final String what) throws IOException
    {
        if (!reply.isSuccess())
        {
            throw new IOException(reply.getException());
        }
    }

    private GroupChangeException unknown(final String what, final Exception ex)
    {
        return new GroupChangeException(OUTCOME_UNKNOWN, what + ": " + (null == ex ? "not so within " +
            TimeUnit.NANOSECONDS.toMillis(timeoutNs) + " ms" : GroupChangeException.reason(ex)) +
            "; './verbena meta list' shows what is so", ex);
    }

    private RaftPeer requireLeader(final View view)
    {
        final RaftPeer leader = view.leader();
        if (null == leader)
        {
            final long answering = view.members().stream().filter(view::isAnswering).count();
            throw new GroupChangeException(UNAVAILABLE, answering + " of " + view.members().size() +
                " members of the group at " + String.join(",", addresses) + " answer, and none leads: start " +
                "the others, and try again", null);
        }
        return leader;
    }

    private static RaftPeer requireMember(final View view, final String nameOrAddress)
    {
        final RaftPeer peer = view.find(nameOrAddress);
        if (null == peer)
        {
            throw new GroupChangeException(REFUSED, "'" + nameOrAddress + "' is no member; these are: " +
                String.join(", ", view.members().stream().map((each) -> each.getId().toString()).toList()), null);
        }
        return peer;
    }

    /** The leader knows who the members are; without one, who knows most of the log. */
    private View view(final List<String> asked)
    {
        final Map<String, GroupInfoReply> replies = ask(asked, GroupAdministration::hasLeader);
        Collection<RaftPeer> members = members(replies);
        final List<String> more = members.stream().map(RaftPeer::getAddress)
            .filter((address) -> !replies.containsKey(address)).toList();
        if (!more.isEmpty())
        {
            replies.putAll(ask(more));
            members = members(replies);
        }
        return new View(replies, members);
    }

    private static boolean hasLeader(final Map<String, GroupInfoReply> replies)
    {
        return replies.values().stream().anyMatch((reply) -> null != reply && reply.getRoleInfoProto().hasLeaderInfo());
    }

    /** As the leader has them, or else who knows most of what is committed; none where nobody answers. */
    static Collection<RaftPeer> members(final Map<String, GroupInfoReply> replies)
    {
        GroupInfoReply best = null;
        for (final GroupInfoReply reply : replies.values())
        {
            if (null != reply && (null == best || rank(reply) > rank(best)))
            {
                best = reply;
            }
        }
        return null == best ? List.of() : best.getGroup().getPeers();
    }

    private static long rank(final GroupInfoReply reply)
    {
        return reply.getRoleInfoProto().hasLeaderInfo() ? Long.MAX_VALUE :
            reply.getLogInfoProto().hasCommitted() ? reply.getLogInfoProto().getCommitted().getIndex() : -1;
    }

    /** Once more where that does not suffice, and was not refused but took too long. */
    private Map<String, GroupInfoReply> ask(
        final List<String> asked, final Predicate<Map<String, GroupInfoReply>> suffices)
    {
        final long sinceNs = SystemNanoClock.INSTANCE.nanoTime();
        final Map<String, GroupInfoReply> replies = ask(asked);
        if (!suffices.test(replies) && SystemNanoClock.INSTANCE.nanoTime() - sinceNs >= Math.min(INFO_NS, timeoutNs))
        {
            // The first question to a process has it load the library, as has the first one of a process: on a busy
            // machine that takes longer than an answer.
            replies.putAll(ask(asked));
        }
        return replies;
    }

    /** Null for who does not answer. All are asked at once. */
    private Map<String, GroupInfoReply> ask(final List<String> asked)
    {
        final Map<String, Future<GroupInfoReply>> answers = new LinkedHashMap<>();
        asked.forEach((address) -> answers.put(address, threads.submit(() -> info(address))));
        final Map<String, GroupInfoReply> replies = new LinkedHashMap<>();
        answers.forEach((address, answer) ->
        {
            try
            {
                replies.put(address, answer.get(2 * Math.min(INFO_NS, timeoutNs), TimeUnit.NANOSECONDS));
            }
            catch (final InterruptedException ex)
            {
                Thread.currentThread().interrupt();
                throw new GroupChangeException(UNAVAILABLE, "interrupted", ex);
            }
            catch (final Exception ignore)
            {
                replies.put(address, null);
            }
        });
        return replies;
    }

    private GroupInfoReply info(final String address) throws IOException
    {
        // Who it is it says itself.
        final RaftPeer peer = RaftPeer.newBuilder().setId("at-" + address).setAddress(address).build();
        try (RaftClient client = client(List.of(peer), peer.getId(), Math.min(INFO_NS, timeoutNs)))
        {
            return client.getGroupManagementApi(peer.getId()).info(groupId);
        }
    }

    private static String id(final GroupInfoReply reply)
    {
        return reply.getRoleInfoProto().getSelf().getId().toStringUtf8();
    }

    private RaftClient client(final Collection<RaftPeer> peers, final RaftPeerId to, final long requestNs)
    {
        return client(groupId, parameters, peers, to, requestNs);
    }

    /** One that asks a member once; closed by the caller. */
    static RaftClient client(
        final RaftGroupId groupId, final Parameters parameters, final Collection<RaftPeer> peers, final RaftPeerId to,
        final long requestNs)
    {
        final RaftProperties properties = new RaftProperties();
        RaftClientConfigKeys.Rpc.setRequestTimeout(properties, TimeDuration.valueOf(requestNs, TimeUnit.NANOSECONDS));
        return RaftClient.newBuilder().setProperties(properties).setParameters(parameters)
            .setRaftGroup(RaftGroup.valueOf(groupId, peers)).setLeaderId(to)
            .setRetryPolicy(RetryPolicies.noRetry()).build();
    }

    /** Waits for no answers. */
    @Override
    public void close()
    {
        threads.shutdownNow();
    }
}
