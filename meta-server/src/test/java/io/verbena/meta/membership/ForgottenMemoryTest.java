package io.verbena.meta.membership;

import io.verbena.meta.membership.MembershipRefusedException.Reason;
import io.verbena.meta.store.MetaState;
import io.verbena.meta.store.MetaStore;
import io.verbena.meta.store.RocksMetaStore;
import io.verbena.meta.store.StoredNode;
import io.verbena.meta.store.StoredNodeState;
import io.verbena.protocol.message.NodeRegistration;
import io.verbena.raas.ReadTargetAddress;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.directory.PeerRecord;
import io.verbena.rdma.verbs.DeviceAddress;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/** Memory nodes that never come back, with a clock moved by hand and the durable store. */
class ForgottenMemoryTest
{
    private static final long LEASE_NS = 1_000;
    private static final long MARGIN_NS = 100;
    private static final long STEP_NS = 50;
    private static final int MAX_NODES = 4;

    @TempDir
    private Path folder;

    private MetaStore store;
    private MembershipConductor conductor;
    private boolean nodesAreGone;
    private long devices;
    private long nowNs = -5_000;

    @BeforeEach
    void start()
    {
        store = RocksMetaStore.open(folder.resolve("meta"));
        final MetaState state = store.load();
        conductor = new MembershipConductor(
            MembershipConductor.openLedger(store, state, 1, TestSecrets.first()),
            state,
            new ConductorOptions(
                new MembershipOptions(LEASE_NS, MARGIN_NS, MAX_NODES), STEP_NS, STEP_NS, STEP_NS, nodesAreGone),
            new Unheard(),
            nowNs);
    }

    @AfterEach
    void stop()
    {
        store.close();
    }

    @Test
    void shouldPassEpochsAgainWhenAMemoryNodeThatIsLostForGoodIsForgotten()
    {
        final Member lost = memory(0);
        final Member ended = conductor.register(endpoint(NodeRole.COMPUTE_NODE, 0), nowNs);
        final Member alive = conductor.register(endpoint(NodeRole.COMPUTE_NODE, 0), nowNs);
        passTime(4 * LEASE_NS, alive);
        assertThat(lost.node().state()).isEqualTo(StoredNodeState.LOST);
        assertThat(ended.node().state()).isEqualTo(StoredNodeState.FENCING);
        final long stoppedEpoch = conductor.epoch();
        passTime(4 * LEASE_NS, alive);
        assertThat(conductor.epoch()).as("a silent memory node stops epochs").isEqualTo(stoppedEpoch);

        assertThat(conductor.forgetMemory(lost.nodeId())).isTrue();
        passTime(4 * LEASE_NS, alive);

        assertThat(conductor.safeEpoch()).isGreaterThan(stoppedEpoch);
        assertThat(conductor.rounds()).isEmpty();
        assertThat(conductor.table().member(ended.nodeId())).as("its place").isNull();
    }

    @Test
    void shouldFenceWithoutAForgottenMemoryNode()
    {
        final Member lost = memory(0);
        passTime(2 * LEASE_NS);
        conductor.forgetMemory(lost.nodeId());
        final Member ended = conductor.register(endpoint(NodeRole.COMPUTE_NODE, 0), nowNs);

        conductor.leave(ended.nodeId(), ended.incarnation(), nowNs);
        passTime(STEP_NS);

        assertThat(conductor.rounds()).isEmpty();
    }

    @Test
    void shouldReturnThePlacesOfMemoryNodesThatAreLostOrLeft()
    {
        for (int i = 0; i < 100; i++)
        {
            final Member left = memory(0);
            assertThat(conductor.leave(left.nodeId(), left.incarnation(), nowNs)).isTrue();
            memory(0);
            passTime(LEASE_NS + MARGIN_NS);
        }

        assertThat(conductor.table().members()).hasSize(200)
            .extracting(Member::nodeId).as("ids that tables may name").doesNotHaveDuplicates();
        assertThat(conductor.table().members()).extracting((member) -> member.node().state())
            .containsOnly(StoredNodeState.LEFT, StoredNodeState.LOST);
    }

    @Test
    void shouldNeedAPlaceToComeBack()
    {
        final Member back = memory(77);
        passTime(2 * LEASE_NS);
        final Member[] others = new Member[MAX_NODES];

        for (int i = 0; i < MAX_NODES; i++)
        {
            others[i] = memory(0);
        }

        assertRefused(Reason.EXHAUSTED, "--max-nodes", () -> memory(77));
        assertRefused(Reason.EXHAUSTED, "4 of 4 nodes", () -> memory(0));
        conductor.leave(others[0].nodeId(), others[0].incarnation(), nowNs);
        assertThat(memory(77).nodeId()).isEqualTo(back.nodeId());
        assertRefused(Reason.EXHAUSTED, "--max-nodes", () -> memory(0));
        assertThat(memory(77).nodeId()).as("it has its place already").isEqualTo(back.nodeId());
    }

    @Test
    void shouldKeepThePlaceOfAComputeNodeThatIsNotFencedEverywhere()
    {
        memory(0);
        passTime(2 * LEASE_NS);

        for (int i = 0; i < MAX_NODES; i++)
        {
            final Member member = conductor.register(endpoint(NodeRole.COMPUTE_NODE, 0), nowNs);
            conductor.leave(member.nodeId(), member.incarnation(), nowNs);
        }

        assertRefused(Reason.EXHAUSTED, "4 of 4 nodes", () -> memory(0));
    }

    @Test
    void shouldRefuseToForgetWhatIsAliveOrNoMemoryNode()
    {
        final Member memory = memory(0);
        final Member compute = conductor.register(endpoint(NodeRole.COMPUTE_NODE, 0), nowNs);

        assertRefused(Reason.IMPOSSIBLE, "is alive", () -> conductor.forgetMemory(memory.nodeId()));
        assertRefused(Reason.UNKNOWN_NODE, "is not a memory node", () -> conductor.forgetMemory(compute.nodeId()));
        assertRefused(Reason.UNKNOWN_NODE, "is not a memory node", () -> conductor.forgetMemory(4711));
        assertThat(memory.isLive()).isTrue();
    }

    @Test
    void shouldNeverAdmitAForgottenMemoryNodeNorGiveItsIdAwayThroughRestarts()
    {
        final Member lost = memory(77);
        passTime(2 * LEASE_NS);
        conductor.forgetMemory(lost.nodeId());
        final long version = conductor.table().version();
        assertThat(conductor.forgetMemory(lost.nodeId())).as("again").isFalse();
        assertThat(conductor.table().version()).as("nothing changed").isEqualTo(version);

        for (int i = 0; i < 3; i++)
        {
            nodesAreGone = 2 == i;
            assertRefused(Reason.IMPOSSIBLE, "was forgotten", () -> memory(77));
            assertRefused(Reason.IMPOSSIBLE, "was forgotten", () ->
                conductor.rejoin(endpoint(NodeRole.MEMORY_NODE, 77), lost.nodeId(), nowNs));
            assertThat(memory(0).nodeId()).isNotEqualTo(lost.nodeId());
            assertThat(conductor.forgetMemory(lost.nodeId())).isFalse();
            stop();
            start();
        }

        assertThat(conductor.table().member(lost.nodeId()).node().state()).isEqualTo(StoredNodeState.FORGOTTEN);
    }

    @Test
    void shouldSayThatIdsAreUsedUp()
    {
        final List<StoredNode> nodes = new ArrayList<>();

        for (int id = 1; id <= 0xFFFE; id++)
        {
            nodes.add(new StoredNode(
                new PeerRecord(id, id, 0, NodeRole.MEMORY_NODE, new DeviceAddress(1, id), 1,
                    new RemoteRegion(4096, 4096, 7)), StoredNodeState.LEFT, 0, 0));
        }

        final MembershipTable table = new MembershipTable(
            new MetaLedger(store, store.load().counters()), new MembershipOptions(LEASE_NS, MARGIN_NS, MAX_NODES),
            nodes, nowNs);
        assertThat(table.register(endpoint(NodeRole.MEMORY_NODE, 0), nowNs).nodeId()).isEqualTo(0xFFFF);

        assertThatThrownBy(() -> table.register(endpoint(NodeRole.COMPUTE_NODE, 0), nowNs))
            .isInstanceOf(MembershipRefusedException.class).hasMessageContaining("ids are used up");
    }

    /** What it said last counts, also after the meta server was started again. */
    @Test
    void shouldKeepTheFailureDomainThatAMemoryNodeGaveLast()
    {
        final Member first = conductor.register(
            endpoint(NodeRole.MEMORY_NODE, 5).inFailureDomain("rack-1"), nowNs);
        assertThat(first.node().failureDomain()).isEqualTo("rack-1");
        conductor.leave(first.nodeId(), first.incarnation(), nowNs);
        assertThat(conductor.table().member(first.nodeId()).node().failureDomain()).isEqualTo("rack-1");
        final Member again = conductor.register(
            endpoint(NodeRole.MEMORY_NODE, 5).inFailureDomain("rack-2"), nowNs);
        assertThat(again.nodeId()).isEqualTo(first.nodeId());
        assertThat(again.node().failureDomain()).isEqualTo("rack-2");
        assertThat(store.load().nodes()).extracting(StoredNode::failureDomain).containsExactly("rack-2");
    }

    private Member memory(final long memoryId)
    {
        final Member member = conductor.register(endpoint(NodeRole.MEMORY_NODE, memoryId), nowNs);
        return conductor.heartbeat(member.nodeId(), member.incarnation(), 0, nowNs);
    }

    private NodeRegistration endpoint(final NodeRole role, final long memoryId)
    {
        return new NodeRegistration(0, role, new DeviceAddress(1, ++devices), 1,
            new RemoteRegion(4096, 4096, 7), memoryId, 0, ReadTargetAddress.NONE);
    }

    private static void assertRefused(final Reason reason, final String text, final Runnable action)
    {
        final MembershipRefusedException refusal = catchThrowableOfType(MembershipRefusedException.class, action::run);
        assertThat(refusal).hasMessageContaining(text);
        assertThat(refusal.reason()).isEqualTo(reason);
    }

    private void passTime(final long durationNs, final Member... alive)
    {
        for (long passedNs = 0; passedNs < durationNs; passedNs += STEP_NS)
        {
            nowNs += STEP_NS;

            for (final Member member : alive)
            {
                conductor.heartbeat(member.nodeId(), member.incarnation(), conductor.epoch() - 1, nowNs);
            }

            conductor.doWork(nowNs, (memoryNodeId, round) -> round.onAnswer(memoryNodeId, false, nowNs));
        }
    }
}
