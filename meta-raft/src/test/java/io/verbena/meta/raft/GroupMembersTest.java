package io.verbena.meta.raft;

import org.apache.ratis.proto.RaftProtos.FollowerInfoProto;
import org.apache.ratis.proto.RaftProtos.LeaderInfoProto;
import org.apache.ratis.proto.RaftProtos.LogInfoProto;
import org.apache.ratis.proto.RaftProtos.RaftConfigurationProto;
import org.apache.ratis.proto.RaftProtos.RoleInfoProto;
import org.apache.ratis.proto.RaftProtos.TermIndexProto;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.GroupInfoReply;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.junit.jupiter.api.Test;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import static org.assertj.core.api.Assertions.assertThat;

/** Whose list of members counts, when those that answer have different ones. */
class GroupMembersTest
{
    private static final RaftGroupId GROUP = RaftGroupId.valueOf(new UUID(1, 2));
    private static final long NOTHING = -1;

    /** In the order in which they were asked. */
    private final Map<String, GroupInfoReply> replies = new LinkedHashMap<>();

    /** Its list has one member, of this name. */
    private void reply(final String member, final boolean leads, final long committed)
    {
        final RoleInfoProto.Builder role = RoleInfoProto.newBuilder();
        final LogInfoProto.Builder log = LogInfoProto.newBuilder();
        if (leads)
        {
            role.setLeaderInfo(LeaderInfoProto.getDefaultInstance());
        }
        else
        {
            role.setFollowerInfo(FollowerInfoProto.getDefaultInstance());
        }
        if (NOTHING != committed)
        {
            log.setCommitted(TermIndexProto.newBuilder().setTerm(1).setIndex(committed));
        }
        replies.put(member, new GroupInfoReply(ClientId.randomId(), RaftPeerId.valueOf(member), GROUP, 1, List.of(),
            RaftGroup.valueOf(GROUP, RaftPeer.newBuilder().setId(member).build()), role.build(), true,
            RaftConfigurationProto.getDefaultInstance(), log.build()));
    }

    private List<String> members()
    {
        return GroupAdministration.members(replies).stream().map((peer) -> peer.getId().toString()).toList();
    }

    @Test
    void shouldTakeTheListOfTheLeaderWhateverOthersHave()
    {
        reply("before", false, 100);
        reply("leader", true, 7);
        reply("behind", false, 1_000);
        assertThat(members()).containsExactly("leader");
    }

    @Test
    void shouldTakeTheListOfWhoKnowsMostWhereNoneLeads()
    {
        reply("joins", false, NOTHING);
        reply("first", false, 0);
        reply("most", false, 8);
        reply("some", false, 7);
        assertThat(members()).containsExactly("most");
    }

    /** A member that has the first entry knows more than one that was never added. */
    @Test
    void shouldTakeTheFirstEntryForMoreThanNone()
    {
        reply("joins", false, NOTHING);
        reply("first", false, 0);
        assertThat(members()).containsExactly("first");
    }

    @Test
    void shouldTakeAnyListWhereNobodyKnowsAnEntryAndNoneWhereNobodyAnswers()
    {
        replies.put("silent", null);
        assertThat(members()).isEmpty();
        reply("joins", false, NOTHING);
        replies.put("silent too", null);
        assertThat(members()).containsExactly("joins");
    }
}
