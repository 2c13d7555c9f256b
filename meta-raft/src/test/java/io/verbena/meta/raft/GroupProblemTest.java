package io.verbena.meta.raft;

import org.apache.ratis.proto.RaftProtos.CommitInfoProto;
import org.apache.ratis.proto.RaftProtos.LeaderInfoProto;
import org.apache.ratis.proto.RaftProtos.RaftPeerProto;
import org.apache.ratis.proto.RaftProtos.RoleInfoProto;
import org.apache.ratis.proto.RaftProtos.ServerRpcProto;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** Each reason for which a group is not healthy, alone and at its limit. */
class GroupProblemTest
{
    private static final long LIMIT_NS = TimeUnit.SECONDS.toNanos(5);

    private static GroupStat stat(final int members, final List<String> unreachable, final List<String> behind)
    {
        return new GroupStat("meta-1", 3, 10, 10, -1, members, unreachable, behind);
    }

    private static CommitInfoProto member(final String name, final long commitIndex)
    {
        return CommitInfoProto.newBuilder().setCommitIndex(commitIndex)
            .setServer(RaftPeerProto.newBuilder().setId(ByteString.copyFromUtf8(name))).build();
    }

    @Test
    void shouldBeHealthyUntilALimitIsReached()
    {
        final GroupStat well = stat(3, List.of(), List.of());
        assertThat(GroupProblem.of(well, 0, 0, "", false)).isEmpty();
        assertThat(GroupProblem.of(well, LIMIT_NS - 1, LIMIT_NS - 1, "", false)).isEmpty();
        assertThat(GroupProblem.of(stat(0, List.of(), List.of()), 9 * LIMIT_NS, 0, "", false))
            .as("one that waits to be added").isEmpty();
    }

    @Test
    void shouldNameEachReason()
    {
        final GroupStat well = stat(5, List.of(), List.of());
        assertThat(GroupProblem.of(well, LIMIT_NS, 0, "", false)).isEqualTo(Map.of(GroupProblem.NO_LEADER,
            "no leader for 5 s: fewer than 3 of 5 meta servers reach each other; start the others"));
        assertThat(GroupProblem.of(well, 0, LIMIT_NS, "", false)).isEqualTo(Map.of(GroupProblem.NO_LEASE,
            "a leader that may not answer for 5 s: no majority of 5 meta servers confirms its leadership; see " +
            "whether their disks are slow, and of a new group start member 1"));
        assertThat(GroupProblem.of(stat(3, List.of("meta-2", "meta-3"), List.of()), 0, 0, "", false))
            .isEqualTo(Map.of(GroupProblem.UNREACHABLE, "meta-2, meta-3"));
        assertThat(GroupProblem.of(stat(3, List.of(), List.of("meta-2")), 0, 0, "", false))
            .isEqualTo(Map.of(GroupProblem.BEHIND, "meta-2"));
        assertThat(GroupProblem.of(well, 0, 0, "the log cannot be written: disk full", false))
            .isEqualTo(Map.of(GroupProblem.LOG_FAILED, "the log cannot be written: disk full"));
        assertThat(GroupProblem.of(well, 0, 0, "", true)).containsOnlyKeys(GroupProblem.REMOVED);
        assertThat(GroupProblem.of(stat(3, List.of("a"), List.of("b")), LIMIT_NS, LIMIT_NS, "c", true))
            .containsOnlyKeys(GroupProblem.values());
    }

    /** That a leader is elected is not enough: without a lease it answers nobody. */
    @Test
    void shouldNameAnElectedLeaderThatGetsNoLease()
    {
        final GroupStat elected = stat(3, List.of(), List.of());
        final GroupHealth health = new GroupHealth("meta-1", -LIMIT_NS);
        assertThat(health.problems(-1, elected, 0, "", false)).isEmpty();
        assertThat(health.problems(0, elected, 0, "", false)).containsOnlyKeys(GroupProblem.NO_LEASE);
        assertThat(health.problems(1, elected, 1, "", false)).as("with a lease").isEmpty();
        assertThat(health.problems(LIMIT_NS, elected, 0, "", false)).as("again since then").isEmpty();
        assertThat(health.problems(LIMIT_NS + 1, elected, 0, "", false)).containsOnlyKeys(GroupProblem.NO_LEASE);
        final GroupHealth follower = new GroupHealth("meta-2", 0);
        assertThat(follower.problems(LIMIT_NS, elected, 0, "", false)).as("a follower needs none").isEmpty();
    }

    @Test
    void shouldNameAGroupThatHasNoLeaderForLong()
    {
        final GroupStat none = new GroupStat("", 3, 10, 10, -1, 3, List.of(), List.of());
        final GroupHealth health = new GroupHealth("meta-1", 0);
        assertThat(health.problems(LIMIT_NS - 1, none, 0, "", false)).isEmpty();
        assertThat(health.problems(LIMIT_NS, none, 0, "", false)).containsOnlyKeys(GroupProblem.NO_LEADER);
        assertThat(health.problems(LIMIT_NS + 1, stat(3, List.of(), List.of()), 1, "", false)).isEmpty();
        assertThat(health.problems(2 * LIMIT_NS, none, 0, "", false)).as("again since then").isEmpty();
    }

    private static ServerRpcProto follower(final String name, final long silentMs)
    {
        return ServerRpcProto.newBuilder().setLastRpcElapsedTimeMs(silentMs)
            .setId(RaftPeerProto.newBuilder().setId(ByteString.copyFromUtf8(name))).build();
    }

    @Test
    void shouldCountAsUnreachableWhomTheLeaderHasNotHeardForLong()
    {
        final RoleInfoProto leader = RoleInfoProto.newBuilder().setLeaderInfo(LeaderInfoProto.newBuilder()
            .addFollowerInfo(follower("meta-2", 3_000)).addFollowerInfo(follower("meta-3", 3_001))).build();
        assertThat(RaftMember.unreachable(leader)).containsExactly("meta-3");
        assertThat(RaftMember.unreachable(RoleInfoProto.newBuilder().build())).as("a follower").isEmpty();
    }

    @Test
    void shouldCountAsBehindWhoAnswersAndIsFarBehind()
    {
        final long commitIndex = 5_000;
        assertThat(RaftMember.behind(List.of(member("meta-1", commitIndex),
            member("meta-2", commitIndex - GroupProblem.MOST_BEHIND), member("meta-3",
            commitIndex - GroupProblem.MOST_BEHIND - 1), member("meta-4", -1)), commitIndex, List.of("meta-4")))
            .containsExactly("meta-3");
    }
}
