package io.verbena.meta.membership;

import io.verbena.meta.store.InMemoryMetaStore;
import io.verbena.meta.store.MetaState;
import io.verbena.meta.store.StoredNodeState;
import io.verbena.protocol.message.NodeRegistration;
import io.verbena.raas.ReadTargetAddress;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.directory.TcpAddress;
import io.verbena.rdma.verbs.DeviceAddress;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/** Spares are members like any compute node, but for clients, who are not sent to them. */
class SpareMembershipTest
{
    private static final long LEASE_NS = 1_000;
    private static final long MARGIN_NS = 100;
    private static final long EPOCH_NS = 10;

    private final InMemoryMetaStore store = new InMemoryMetaStore();
    private final List<String> events = new ArrayList<>();
    private long devices;
    private long nowNs = 77;
    private MembershipConductor conductor = start();

    private MembershipConductor start()
    {
        final MetaState state = store.load();
        return new MembershipConductor(
            MembershipConductor.openLedger(store, state, 1, TestSecrets.first()), state,
            new ConductorOptions(
                new MembershipOptions(LEASE_NS, MARGIN_NS, 8), EPOCH_NS, EPOCH_NS, 2 * LEASE_NS, false),
            new Events(), nowNs);
    }

    private Member register(final NodeRole role, final boolean isSpare)
    {
        return conductor.register(new NodeRegistration(0, role, new DeviceAddress(1, ++devices), 2,
            new RemoteRegion(4096, 4096, 7), 0, 0, ReadTargetAddress.NONE, TcpAddress.NONE, isSpare), nowNs);
    }

    private void doWork()
    {
        conductor.doWork(nowNs, (memoryNodeId, round) -> round.onAnswer(memoryNodeId, true, nowNs));
    }

    private void activate(final Member member)
    {
        conductor.activate(member.nodeId(), member.incarnation());
    }

    private MembershipRefusedException.Reason refusal(final int nodeId, final int incarnation)
    {
        return catchThrowableOfType(
            MembershipRefusedException.class, () -> conductor.activate(nodeId, incarnation)).reason();
    }

    @Test
    void shouldActivateASpareOnceAndRaiseTheVersion()
    {
        final Member spare = register(NodeRole.COMPUTE_NODE, true);
        assertThat(spare.isStandby()).isTrue();
        assertThat(spare.isLive()).isTrue();
        final long version = conductor.table().version();
        activate(spare);
        assertThat(spare.isStandby()).isFalse();
        assertThat(spare.isLive()).isTrue();
        assertThat(conductor.table().version()).isEqualTo(version + 1);
        activate(spare);
        assertThat(conductor.table().version()).isEqualTo(version + 1);
        assertThat(events).containsExactly("joined 1", "activated 1");
    }

    @Test
    void shouldKnowSparesAndActivationsAfterARestart()
    {
        final Member first = register(NodeRole.COMPUTE_NODE, true);
        final Member second = register(NodeRole.COMPUTE_NODE, true);
        activate(second);
        conductor = start();
        assertThat(conductor.table().member(first.nodeId()).isStandby()).isTrue();
        assertThat(conductor.table().member(second.nodeId()).isStandby()).isFalse();
        assertThat(conductor.table().members()).allMatch(Member::isLive);
    }

    @Test
    void shouldRefuseWhatIsNoLiveComputeNode()
    {
        final Member memory = register(NodeRole.MEMORY_NODE, false);
        final Member spare = register(NodeRole.COMPUTE_NODE, true);
        assertThat(refusal(memory.nodeId(), memory.incarnation())).isEqualTo(
            MembershipRefusedException.Reason.IMPOSSIBLE);
        assertThat(refusal(99, 1)).isEqualTo(MembershipRefusedException.Reason.UNKNOWN_NODE);
        assertThat(refusal(spare.nodeId(), spare.incarnation() + 1)).isEqualTo(
            MembershipRefusedException.Reason.UNKNOWN_NODE);
        conductor.leave(spare.nodeId(), spare.incarnation(), nowNs);
        assertThat(refusal(spare.nodeId(), spare.incarnation())).isEqualTo(
            MembershipRefusedException.Reason.UNKNOWN_NODE);
        assertThat(events).doesNotContain("activated " + spare.nodeId());
    }

    @Test
    void shouldFenceASpareWhoseLeaseEnds()
    {
        final Member memory = register(NodeRole.MEMORY_NODE, false);
        conductor.heartbeat(memory.nodeId(), memory.incarnation(), 0, nowNs);
        final Member spare = register(NodeRole.COMPUTE_NODE, true);
        nowNs += LEASE_NS / 2;
        conductor.heartbeat(memory.nodeId(), memory.incarnation(), 0, nowNs);
        doWork();
        for (int i = 0; i < 20 && spare.isLive(); i++)
        {
            nowNs += MARGIN_NS;
            conductor.heartbeat(memory.nodeId(), memory.incarnation(), 0, nowNs);
            doWork();
        }
        assertThat(spare.node().state()).isEqualTo(StoredNodeState.FENCING);
        doWork();
        assertThat(conductor.table().member(spare.nodeId())).as("its id is free again").isNull();
    }

    @Test
    void shouldCountASpareForTheEpochAsItCanReachMemory()
    {
        final Member serving = register(NodeRole.COMPUTE_NODE, false);
        final Member spare = register(NodeRole.COMPUTE_NODE, true);
        final long epoch = conductor.epoch();
        nowNs += EPOCH_NS;
        doWork();
        assertThat(conductor.epoch()).isEqualTo(epoch + 1);
        conductor.wantEpoch();
        nowNs += EPOCH_NS;
        conductor.heartbeat(serving.nodeId(), serving.incarnation(), epoch, nowNs);
        doWork();
        assertThat(conductor.epoch()).as("the spare has not passed it").isEqualTo(epoch + 1);
        assertThat(conductor.hasChanges(
            spare.nodeId(), spare.incarnation(), epoch + 1, conductor.table().version()))
            .as("so it is asked to beat at once").isTrue();
        conductor.heartbeat(spare.nodeId(), spare.incarnation(), epoch, nowNs);
        doWork();
        assertThat(conductor.epoch()).isEqualTo(epoch + 2);
    }

    private final class Events implements MembershipListener
    {
        @Override
        public void onJoined(final Member member)
        {
            events.add("joined " + member.nodeId());
        }

        @Override
        public void onActivated(final Member member)
        {
            events.add("activated " + member.nodeId());
        }

        @Override
        public void onEnded(final Member member)
        {
            events.add("ended " + member.nodeId());
        }

        @Override
        public void onFenced(final Member member)
        {
            events.add("fenced " + member.nodeId());
        }
    }
}
