package io.verbena.meta.membership;

import io.verbena.meta.store.InMemoryMetaStore;
import io.verbena.meta.store.MetaState;
import io.verbena.meta.store.StoredNodeState;
import io.verbena.protocol.control.MetaService;
import io.verbena.protocol.message.NodeRegistration;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.verbs.DeviceAddress;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Epochs beside a fence that a lost memory node does not confirm, with a clock moved by hand. */
class LostMemoryNodesTest
{
    private static final long LEASE_NS = 1_000;
    private static final long MARGIN_NS = 100;
    private static final long STEP_NS = 50;

    private final InMemoryMetaStore store = new InMemoryMetaStore();
    private final ModelEvents events = new ModelEvents();
    private MembershipConductor conductor;
    private long devices;
    private long nowNs = -5_000;

    LostMemoryNodesTest()
    {
        start();
    }

    private void start()
    {
        final MetaState state = store.load();
        conductor = new MembershipConductor(
            MembershipConductor.openLedger(store, state, 1, TestSecrets.first()),
            state,
            new ConductorOptions(
                new MembershipOptions(LEASE_NS, MARGIN_NS, 64), STEP_NS, STEP_NS, STEP_NS, false),
            events,
            nowNs);
    }

    @Test
    void shouldPassEpochsWhenAllHaveLeftTheLostMemoryNodeAndFenceTheNodeStill()
    {
        final Member lost = memory();
        final Member ended = compute();
        final Member first = compute();
        final Member second = compute();
        passTime(4 * LEASE_NS, first, second);
        assertThat(lost.node().state()).isEqualTo(StoredNodeState.LOST);
        assertThat(ended.node().state()).isEqualTo(StoredNodeState.FENCING);
        assertThat(conductor.memoryNodesToLeave()).containsExactly(lost.node().identity());
        final long stoppedEpoch = conductor.epoch();

        leave(first, lost);
        passTime(LEASE_NS, first, second);
        assertThat(conductor.epoch()).as("the other one uses it still").isEqualTo(stoppedEpoch);
        assertThat(conductor.idleNs(nowNs)).as("epochs wait").isZero();
        leave(second, lost);
        passTime(LEASE_NS, first, second);

        assertThat(conductor.idleNs(nowNs)).as("it is asked again by then").isBetween(1L, STEP_NS);
        assertThat(conductor.safeEpoch()).isGreaterThan(stoppedEpoch + 3);
        assertThat(events.counts()).containsEntry("passed over", 1).doesNotContainKey("fenced");
        assertThat(conductor.passedEpochs()).doesNotContainKey(ended.nodeId());
        assertThat(conductor.table().member(ended.nodeId())).as("its id and its writer number").isSameAs(ended);
        assertThat(conductor.rounds()).hasSize(1).first()
            .matches((round) -> round.isPending(lost.nodeId()), "is asked on and on");
    }

    /** A memory node that is back soon is not left. */
    @Test
    void shouldWaitForALeaseFromWhenAFenceWaitsForALostMemoryNode()
    {
        final Member lost = memory();
        final Member ended = compute();
        final Member alive = compute();
        passTime(4 * LEASE_NS, ended, alive);
        assertThat(conductor.memoryNodesToLeave()).as("nobody is fenced").isEmpty();
        conductor.leave(ended.nodeId(), ended.incarnation(), nowNs);
        passTime(LEASE_NS, ended, alive);
        assertThat(conductor.memoryNodesToLeave()).isEmpty();
        passTime(2 * STEP_NS, alive);
        assertThat(conductor.memoryNodesToLeave()).containsExactly(lost.node().identity());

        final Member back = conductor.rejoin(endpoint(NodeRole.MEMORY_NODE), lost.nodeId(), nowNs);
        passTime(2 * STEP_NS, alive, back);
        assertThat(conductor.memoryNodesToLeave()).isEmpty();
        assertThat(conductor.rounds()).isEmpty();
    }

    /** It may confirm without a lease: then it runs, and the next fence is confirmed soon, too. */
    @Test
    void shouldWaitForALeaseAnewWhenNoFenceWaitedForItMeanwhile()
    {
        final Member lost = memory();
        final Member first = compute();
        final Member second = compute();
        final Member alive = compute();
        passTime(4 * LEASE_NS, second, alive);
        assertThat(conductor.memoryNodesToLeave()).containsExactly(lost.node().identity());
        assertThat(conductor.rounds().getFirst().nodeId()).isEqualTo(first.nodeId());
        conductor.rounds().getFirst().onAnswer(lost.nodeId(), true, nowNs);
        passTime(2 * STEP_NS, second, alive);
        assertThat(conductor.rounds()).isEmpty();
        assertThat(conductor.memoryNodesToLeave()).isEmpty();
        conductor.leave(second.nodeId(), second.incarnation(), nowNs);
        passTime(LEASE_NS, alive);
        assertThat(conductor.memoryNodesToLeave()).isEmpty();
        passTime(2 * STEP_NS, alive);
        assertThat(conductor.memoryNodesToLeave()).containsExactly(lost.node().identity());
    }

    @Test
    void shouldAskNobodyToLeaveAMemoryNodeThatLivesAndDoesNotConfirm()
    {
        final Member silent = memory();
        final Member lost = memory();
        final Member ended = compute();
        final Member alive = compute();
        passTime(4 * LEASE_NS, alive, silent);
        assertThat(conductor.memoryNodesToLeave()).containsExactly(lost.node().identity());
        leave(alive, lost);
        leave(alive, silent);
        final long stoppedEpoch = conductor.epoch();
        passTime(4 * LEASE_NS, alive, silent);
        assertThat(conductor.epoch()).as("whatever is said of it").isEqualTo(stoppedEpoch);
        passTime(4 * LEASE_NS, silent);
        assertThat(alive.node().state()).isEqualTo(StoredNodeState.FENCING);
        assertThat(conductor.passedEpochs()).as("nobody has to leave, and it may admit whoever comes")
            .containsOnlyKeys(ended.nodeId(), alive.nodeId());
    }

    /** As a node that has not said yet what it knows: it may have looked up the memory node before. */
    @Test
    void shouldWaitForANodeThatRegistersWhenTheMemoryNodeIsToBeLeft()
    {
        final Member lost = memory();
        compute();
        final Member alive = compute();
        passTime(4 * LEASE_NS, alive);
        final Member late = compute();
        leave(alive, lost);
        final long stoppedEpoch = conductor.epoch();
        passTime(LEASE_NS, alive, late);
        assertThat(conductor.epoch()).isLessThanOrEqualTo(stoppedEpoch + 1);
        leave(late, lost);
        passTime(LEASE_NS, alive, late);
        assertThat(conductor.safeEpoch()).isGreaterThan(stoppedEpoch + 3);
    }

    /** A node without a lease has stopped by its own clock. */
    @Test
    void shouldNotWaitForNodesWithoutALease()
    {
        final Member lost = memory();
        compute();
        final Member silent = compute();
        final Member alive = compute();
        passTime(3 * LEASE_NS, alive, silent);
        leave(alive, lost);
        passTime(4 * LEASE_NS, alive);
        assertThat(silent.node().state()).isEqualTo(StoredNodeState.FENCING);
        assertThat(events.counts()).containsEntry("passed over", 2);
    }

    @Test
    void shouldNotCountWhatWasLeftOfAnEarlierIncarnation()
    {
        final Member lost = memory();
        compute();
        final Member alive = compute();
        passTime(4 * LEASE_NS, alive);
        leave(alive, lost);
        passTime(LEASE_NS, alive);
        assertThat(events.counts()).containsEntry("passed over", 1);
        final Member back = conductor.rejoin(endpoint(NodeRole.MEMORY_NODE), lost.nodeId(), nowNs);
        final Member next = compute();
        passTime(STEP_NS, alive, back, next);
        conductor.leave(next.nodeId(), next.incarnation(), nowNs);
        passTime(4 * LEASE_NS, alive);

        assertThat(back.node().state()).isEqualTo(StoredNodeState.LOST);
        assertThat(conductor.memoryNodesToLeave()).containsExactly(back.node().identity());
        leave(alive, lost);
        final long stoppedEpoch = conductor.epoch();
        passTime(LEASE_NS, alive);
        assertThat(conductor.epoch()).isEqualTo(stoppedEpoch);
        leave(alive, back);
        leave(alive, lost);
        passTime(LEASE_NS, alive);
        assertThat(conductor.safeEpoch()).as("a late report takes nothing back").isGreaterThan(stoppedEpoch + 3);
    }

    /** Another memory node that has not confirmed is one more reason to wait. */
    @Test
    void shouldWaitForEachMemoryNodeThatHasNotConfirmed()
    {
        final Member first = memory();
        final Member second = memory();
        compute();
        final Member alive = compute();
        passTime(4 * LEASE_NS, alive);
        final long stoppedEpoch = conductor.epoch();
        leave(alive, first);
        passTime(LEASE_NS, alive);
        assertThat(conductor.epoch()).isEqualTo(stoppedEpoch);
        conductor.forgetMemory(second.nodeId());
        passTime(LEASE_NS, alive);
        assertThat(conductor.safeEpoch()).isGreaterThan(stoppedEpoch + 3);
    }

    /** Nothing is on disk: what was left is reported again. */
    @Test
    void shouldCountTheNodeAgainAfterARestart()
    {
        final Member lost = memory();
        final Member ended = compute();
        final Member alive = compute();
        passTime(4 * LEASE_NS, alive);
        leave(alive, lost);
        passTime(LEASE_NS, alive);
        assertThat(conductor.passedEpochs()).doesNotContainKey(ended.nodeId());

        start();
        assertThat(conductor.passedEpochs()).containsKey(ended.nodeId());
        leave(alive, lost);
        passTime(LEASE_NS - STEP_NS, alive);
        assertThat(conductor.memoryNodesToLeave()).isEmpty();
        assertThat(conductor.safeEpoch()).isZero();
        passTime(LEASE_NS, alive);
        assertThat(conductor.memoryNodesToLeave()).containsExactly(lost.node().identity());
        assertThat(conductor.passedEpochs()).doesNotContainKey(ended.nodeId());
        assertThat(conductor.safeEpoch()).isPositive();
    }

    @Test
    void shouldAskToLeaveNoMoreThanFitIntoAMessage()
    {
        final List<PeerIdentity> lost = new ArrayList<>();
        for (int i = 0; i <= MetaService.MAX_TO_LEAVE; i++)
        {
            lost.add(memory().node().identity());
        }
        compute();
        final Member alive = compute();
        passTime(4 * LEASE_NS, alive);
        assertThat(conductor.memoryNodesToLeave()).isEqualTo(lost.subList(0, MetaService.MAX_TO_LEAVE));
        final long stoppedEpoch = conductor.epoch();
        conductor.onLeft(alive.node().identity(), lost);
        passTime(LEASE_NS, alive);
        assertThat(conductor.epoch()).as("the last one was not asked for").isEqualTo(stoppedEpoch);
        conductor.forgetMemory(lost.getFirst().nodeId());
        passTime(LEASE_NS, alive);
        assertThat(conductor.safeEpoch()).isGreaterThan(stoppedEpoch + 3);
    }

    private Member compute()
    {
        return conductor.register(endpoint(NodeRole.COMPUTE_NODE), nowNs);
    }

    private Member memory()
    {
        final Member member = conductor.register(endpoint(NodeRole.MEMORY_NODE), nowNs);
        return conductor.heartbeat(member.nodeId(), member.incarnation(), 0, nowNs);
    }

    private NodeRegistration endpoint(final NodeRole role)
    {
        return new NodeRegistration(0, role, new DeviceAddress(1, ++devices), 1,
            new RemoteRegion(4096, 4096, 7));
    }

    private void leave(final Member computeNode, final Member memoryNode)
    {
        conductor.onLeft(computeNode.node().identity(), List.of(memoryNode.node().identity()));
    }

    private void passTime(final long durationNs, final Member... alive)
    {
        for (long passedNs = 0; passedNs < durationNs; passedNs += STEP_NS)
        {
            nowNs += STEP_NS;

            for (final Member member : alive)
            {
                conductor.wantEpoch();
                if (conductor.table().member(member.nodeId()).isLive())
                {
                    conductor.heartbeat(member.nodeId(), member.incarnation(), conductor.epoch() - 1, nowNs);
                }
            }

            conductor.doWork(nowNs, (memoryNodeId, round) -> round.onAnswer(memoryNodeId, false, nowNs));
        }
    }
}
