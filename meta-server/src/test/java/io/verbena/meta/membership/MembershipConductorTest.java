package io.verbena.meta.membership;

import io.verbena.meta.store.DurableWriteError;
import io.verbena.meta.store.InMemoryMetaStore;
import io.verbena.meta.store.MetaBatch;
import io.verbena.meta.store.MetaState;
import io.verbena.meta.store.MetaStore;
import io.verbena.meta.store.StoredNodeState;
import io.verbena.protocol.message.NodeRegistration;
import io.verbena.raas.ReadTargetAddress;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.directory.NodeRole;
import io.verbena.rdma.verbs.DeviceAddress;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/** The rules one by one, with a clock moved by hand. */
class MembershipConductorTest
{
    private static final long LEASE_NS = 1_000;
    private static final long MARGIN_NS = 100;
    private static final long STEP_NS = 50;

    private final InMemoryMetaStore store = new InMemoryMetaStore();
    private final List<String> events = new ArrayList<>();
    private final List<Integer> fenceCalls = new ArrayList<>();
    private long devices = 2;
    private boolean storeFails;
    private boolean nodesAreGone;
    private long nowNs = -5_000;
    private MembershipConductor conductor = start();

    @Test
    void shouldGiveEachRegistrationNumbersOfItsOwn()
    {
        final Member first = register(NodeRole.COMPUTE_NODE);
        final Member second = register(NodeRole.COMPUTE_NODE);
        final Member memory = register(NodeRole.MEMORY_NODE);

        assertThat(second.incarnation()).isGreaterThan(first.incarnation());
        assertThat(memory.incarnation()).isGreaterThan(second.incarnation());
        assertThat(second.nodeId()).isNotEqualTo(first.nodeId()).isBetween(1, 65_535);
        assertThat(second.node().writerNumber()).isNotEqualTo(first.node().writerNumber()).isBetween(1, 65_535);
        assertThat(memory.node().writerNumber()).isZero();
        assertThat(conductor.table().version()).isEqualTo(3);
    }

    @Test
    void shouldKeepALeaseUntilItsMarginIsOverWhenNothingIsHeard()
    {
        final Member member = register(NodeRole.COMPUTE_NODE);
        register(NodeRole.MEMORY_NODE);

        passTime(LEASE_NS + MARGIN_NS - STEP_NS);
        assertThat(member.isLive()).isTrue();
        assertThat(conductor.idleNs(nowNs)).as("the lease ends next, or an epoch begins").isBetween(0L, STEP_NS);
        passTime(STEP_NS);
        assertThat(member.node().state()).isEqualTo(StoredNodeState.FENCING);
        assertThat(events).contains("ended " + member.nodeId());
    }

    @Test
    void shouldRenewFromTheMomentTheHeartbeatCame()
    {
        final Member member = register(NodeRole.COMPUTE_NODE);
        passTime(LEASE_NS);
        conductor.heartbeat(member.nodeId(), member.incarnation(), 0, nowNs);
        passTime(LEASE_NS);
        assertThat(member.isLive()).isTrue();
    }

    @Test
    void shouldRefuseHeartbeatsWhenLeaseEndedOrIdentityIsWrong()
    {
        final Member member = register(NodeRole.COMPUTE_NODE);
        assertRefused(member.nodeId(), member.incarnation() + 1, 0, MembershipRefusedException.Reason.UNKNOWN_NODE);
        assertRefused(member.nodeId() + 1, member.incarnation(), 0, MembershipRefusedException.Reason.UNKNOWN_NODE);
        assertRefused(member.nodeId(), member.incarnation(), 99, MembershipRefusedException.Reason.IMPOSSIBLE);
        passTime(LEASE_NS + MARGIN_NS);
        assertRefused(member.nodeId(), member.incarnation(), 0, MembershipRefusedException.Reason.UNKNOWN_NODE);
    }

    @Test
    void shouldNotBlameNodesWhenTheServerItselfWasAway()
    {
        final Member member = register(NodeRole.COMPUTE_NODE);
        passTime(LEASE_NS / 2);

        nowNs += 100 * LEASE_NS;
        doWork();

        assertThat(member.isLive()).isTrue();
        passTime(LEASE_NS / 2 + MARGIN_NS);
        assertThat(member.isLive()).isFalse();
    }

    @Test
    void shouldNotTakeItsOwnSleepForAnAbsence()
    {
        final MetaState state = store.load();
        final MembershipConductor sleeper = new MembershipConductor(
            MembershipConductor.openLedger(store, state, 1, TestSecrets.first()),
            state,
            new ConductorOptions(
                new MembershipOptions(LEASE_NS, MARGIN_NS, 8), 9 * LEASE_NS, 9 * LEASE_NS, LEASE_NS, nodesAreGone),
            new Events(), nowNs);
        final Member member = sleeper.register(endpoint(NodeRole.MEMORY_NODE), nowNs);
        final long sinceNs = nowNs;

        while (nowNs - sinceNs < LEASE_NS + MARGIN_NS)
        {
            final long idleNs = sleeper.idleNs(nowNs);
            assertThat(idleNs).isBetween(1L, LEASE_NS / 16);
            nowNs += 2 * idleNs; // it wakes up late
            sleeper.doWork(nowNs, (memoryNodeId, round) -> fenceCalls.add(memoryNodeId));
        }

        assertThat(member.isLive()).as("its lease was not made longer").isFalse();
    }

    @Test
    void shouldHoldTheEpochAndTheNumbersUntilEveryMemoryNodeHasAnswered()
    {
        final Member memory1 = register(NodeRole.MEMORY_NODE);
        final Member memory2 = register(NodeRole.MEMORY_NODE);
        final Member member = register(NodeRole.COMPUTE_NODE);
        passTime(STEP_NS);
        final long safeEpoch = conductor.safeEpoch();
        conductor.leave(member.nodeId(), member.incarnation(), nowNs);
        doWork();
        assertThat(fenceCalls).containsExactlyInAnyOrder(memory1.nodeId(), memory2.nodeId());
        final FencingRound round = conductor.rounds().getFirst();

        round.onAnswer(memory1.nodeId(), true, nowNs);
        round.onAnswer(memory2.nodeId(), false, nowNs);
        passTimeWithHeartbeats(10 * LEASE_NS, memory1, memory2);
        assertThat(conductor.safeEpoch()).isEqualTo(safeEpoch);
        assertThat(conductor.table().member(member.nodeId())).isSameAs(member);
        assertThat(events).doesNotContain("fenced " + member.nodeId());
        assertThat(fenceCalls.stream().filter((id) -> id == memory2.nodeId()).count()).isEqualTo(2);
        assertThat(conductor.idleNs(nowNs)).as("fencing goes on").isZero();

        round.onAnswer(memory2.nodeId(), true, nowNs);
        passTimeWithHeartbeats(10 * STEP_NS, memory1, memory2);
        assertThat(conductor.safeEpoch()).isGreaterThan(safeEpoch);
        assertThat(conductor.table().member(member.nodeId())).isNull();
        assertThat(events).contains("fenced " + member.nodeId());
    }

    @Test
    void shouldWaitForALostMemoryNodeUntilItComesBackOrWasGoneInGoodOrder()
    {
        final Member lost = register(NodeRole.MEMORY_NODE);
        conductor.heartbeat(lost.nodeId(), lost.incarnation(), 0, nowNs);
        passTime(LEASE_NS + MARGIN_NS);
        final Member left = register(NodeRole.MEMORY_NODE);
        final Member member = register(NodeRole.COMPUTE_NODE);
        assertThat(lost.node().state()).isEqualTo(StoredNodeState.LOST);

        conductor.leave(member.nodeId(), member.incarnation(), nowNs);
        conductor.leave(left.nodeId(), left.incarnation(), nowNs);
        doWork();
        assertThat(conductor.rounds()).hasSize(1);
        final Member back = conductor.rejoin(endpoint(NodeRole.MEMORY_NODE), lost.nodeId(), nowNs);
        doWork();

        assertThat(conductor.rounds()).isEmpty();
        assertThat(back.nodeId()).isEqualTo(lost.nodeId());
        assertThat(back.incarnation()).isGreaterThan(member.incarnation());
    }

    @Test
    void shouldNotWaitForAMemoryNodeThatWasNeverHeardOf()
    {
        final Member unheard = register(NodeRole.MEMORY_NODE);
        final Member member = register(NodeRole.COMPUTE_NODE);
        conductor.leave(member.nodeId(), member.incarnation(), nowNs);
        doWork();
        assertThat(conductor.rounds()).hasSize(1);

        passTime(LEASE_NS + MARGIN_NS);

        assertThat(conductor.rounds()).isEmpty();
        assertThat(unheard.node().state()).isEqualTo(StoredNodeState.LEFT);
    }

    @Test
    void shouldForgetThePastWhenItsNodesAreKnownToBeGone()
    {
        final Member memory = register(NodeRole.MEMORY_NODE);
        final Member member = register(NodeRole.COMPUTE_NODE);
        final Member ending = register(NodeRole.COMPUTE_NODE);
        conductor.leave(ending.nodeId(), ending.incarnation(), nowNs);
        nodesAreGone = true;

        conductor = start();

        assertThat(conductor.rounds()).isEmpty();
        assertThat(conductor.table().member(member.nodeId())).isNull();
        assertThat(conductor.table().member(memory.nodeId()).node().state()).isEqualTo(StoredNodeState.LEFT);
        final Member next = register(NodeRole.COMPUTE_NODE);
        assertThat(next.incarnation()).isGreaterThan(ending.incarnation());
        assertThat(next.nodeId()).isNotEqualTo(memory.nodeId());
        nowNs += 10;
        doWork();
        assertThat(conductor.epoch()).isGreaterThan(1);
    }

    @Test
    void shouldKnowAMemoryNodeAgainThatDidNotHearTheAnswer()
    {
        final NodeRegistration endpoint = endpoint(NodeRole.MEMORY_NODE);
        final Member unheard = conductor.register(endpoint, nowNs);
        final Member other = register(NodeRole.MEMORY_NODE);
        final Member again = conductor.register(endpoint, nowNs);

        assertThat(again.nodeId()).isEqualTo(unheard.nodeId()).isNotEqualTo(other.nodeId());
        assertThat(again.incarnation()).isGreaterThan(other.incarnation());
        assertThat(conductor.table().members()).containsExactly(other, again);
        assertRefused(
            unheard.nodeId(), unheard.incarnation(), 0, MembershipRefusedException.Reason.UNKNOWN_NODE);
        final Member back = conductor.rejoin(endpoint, again.nodeId(), nowNs);
        assertThat(back.incarnation()).isGreaterThan(again.incarnation());

        // Whoever was heard of has an id, and asks with it.
        conductor.heartbeat(back.nodeId(), back.incarnation(), 0, nowNs);
        assertThat(conductor.register(endpoint, nowNs).nodeId()).isNotEqualTo(back.nodeId());
        assertThat(back.isLive()).isTrue();
        assertThat(catchThrowableOfType(
            MembershipRefusedException.class,
            () -> conductor.rejoin(endpoint, back.nodeId(), nowNs)).reason())
            .isEqualTo(MembershipRefusedException.Reason.TRY_LATER);
    }

    @Test
    void shouldKnowTheMemoryOfANodeThatDidNotHearTheAnswerBeforeTheRestart()
    {
        final Member unheard = conductor.register(memoryEndpoint(77), nowNs);
        conductor = start();

        final Member again = conductor.register(memoryEndpoint(77), nowNs);

        assertThat(again.nodeId()).isEqualTo(unheard.nodeId());
        assertThat(again.incarnation()).isGreaterThan(unheard.incarnation());
        assertThat(conductor.table().members()).containsExactly(again);
        assertFencesAreNotHeldUp(again);
    }

    @Test
    void shouldKnowTheMemoryOfAProcessThatEndedBeforeItWroteItsIdDown()
    {
        final Member first = conductor.register(memoryEndpoint(77), nowNs);
        conductor.heartbeat(first.nodeId(), first.incarnation(), 0, nowNs);

        final Member next = conductor.register(memoryEndpointElsewhere(77), nowNs);

        assertThat(next.nodeId()).isEqualTo(first.nodeId());
        assertThat(next.incarnation()).isGreaterThan(first.incarnation());
        assertThat(next.node().record().device()).isNotEqualTo(first.node().record().device());
        assertThat(conductor.table().members()).containsExactly(next);
        assertFencesAreNotHeldUp(next);

        passTime(LEASE_NS + MARGIN_NS);
        assertThat(next.node().state()).isEqualTo(StoredNodeState.LOST);
        final Member back = conductor.register(memoryEndpointElsewhere(77), nowNs);
        assertThat(back.nodeId()).isEqualTo(first.nodeId());
        assertFencesAreNotHeldUp(back);
    }

    @Test
    void shouldGiveAnotherMemoryAnIdOfItsOwn()
    {
        final Member memory = conductor.register(memoryEndpoint(77), nowNs);
        final Member unnamed = conductor.register(memoryEndpoint(0), nowNs);
        conductor.heartbeat(memory.nodeId(), memory.incarnation(), 0, nowNs);
        conductor.heartbeat(unnamed.nodeId(), unnamed.incarnation(), 0, nowNs);

        final Member other = conductor.register(memoryEndpoint(78), nowNs);
        final Member otherUnnamed = conductor.register(memoryEndpoint(0), nowNs);
        final Member compute = conductor.register(
            new NodeRegistration(0, NodeRole.COMPUTE_NODE, new DeviceAddress(1, 2), 1,
            new RemoteRegion(0, 0, 0), 77, 0, ReadTargetAddress.NONE), nowNs);

        assertThat(conductor.table().members())
            .containsExactly(memory, unnamed, other, otherUnnamed, compute)
            .extracting(Member::nodeId).doesNotHaveDuplicates();
    }

    /** A request from before may be handled after its sender was admitted by another one, and has admitted others. */
    @Test
    void shouldStillFenceAtAMemoryNodeWhoseFirstRequestComesLate()
    {
        final Member memory = conductor.register(memoryEndpoint(77), nowNs);
        conductor.heartbeat(memory.nodeId(), memory.incarnation(), 0, nowNs);
        final Member member = register(NodeRole.COMPUTE_NODE);
        conductor.leave(member.nodeId(), member.incarnation(), nowNs);

        final Member late = conductor.register(memoryEndpoint(77), nowNs);
        passTime(LEASE_NS + MARGIN_NS);

        assertThat(late.node().state()).isEqualTo(StoredNodeState.LOST);
        assertThat(conductor.rounds()).as("nobody said that it was cut off").hasSize(1);
        conductor.rejoin(memoryEndpoint(77), late.nodeId(), nowNs);
        doWork();
        assertThat(conductor.rounds()).isEmpty();
    }

    @Test
    void shouldTellNobodyOfAnEndToAMemoryNodeThatAsksAgain()
    {
        final NodeRegistration endpoint = endpoint(NodeRole.MEMORY_NODE);
        conductor.register(endpoint, nowNs);
        final Member member = register(NodeRole.COMPUTE_NODE);
        conductor.leave(member.nodeId(), member.incarnation(), nowNs);
        assertThat(conductor.rounds()).hasSize(1);
        conductor.register(endpoint, nowNs);
        doWork();
        assertThat(conductor.rounds()).as("who is fenced was never admitted").isEmpty();
    }

    @Test
    void shouldRefuseToGiveAnIdAwayWhenItsHolderLivesOrIsNoMemoryNode()
    {
        final Member memory = register(NodeRole.MEMORY_NODE);
        final Member compute = register(NodeRole.COMPUTE_NODE);

        assertThat(catchThrowableOfType(
            MembershipRefusedException.class,
            () -> conductor.rejoin(endpoint(NodeRole.MEMORY_NODE), memory.nodeId(), nowNs)).reason())
            .isEqualTo(MembershipRefusedException.Reason.TRY_LATER);

        for (final int nodeId : new int[]{compute.nodeId(), 999})
        {
            assertThat(catchThrowableOfType(
                MembershipRefusedException.class,
                () -> conductor.rejoin(endpoint(NodeRole.MEMORY_NODE), nodeId, nowNs)).reason())
                .isEqualTo(MembershipRefusedException.Reason.UNKNOWN_NODE);
        }
    }

    @Test
    void shouldLetWhoHasTheMemoryTakeItsIdOverAtOnceAndNobodyElse()
    {
        final Member memory = conductor.register(memoryEndpoint(77), nowNs);
        conductor.heartbeat(memory.nodeId(), memory.incarnation(), 0, nowNs);
        final Member member = register(NodeRole.COMPUTE_NODE);
        conductor.leave(member.nodeId(), member.incarnation(), nowNs);
        assertThat(conductor.rounds()).hasSize(1);

        for (final long other : new long[]{0, 78})
        {
            assertThat(catchThrowableOfType(
                MembershipRefusedException.class,
                () -> conductor.rejoin(memoryEndpoint(other), memory.nodeId(), nowNs)).reason())
                .isEqualTo(MembershipRefusedException.Reason.IMPOSSIBLE);
        }

        final Member back = conductor.rejoin(memoryEndpoint(77), memory.nodeId(), nowNs);
        assertThat(back.nodeId()).isEqualTo(memory.nodeId());
        assertThat(back.incarnation()).isGreaterThan(member.incarnation());
        doWork();
        assertThat(conductor.rounds()).as("who is fenced has no connection to the new life").isEmpty();
    }

    @Test
    void shouldHoldTheFenceForAMemoryNodeThatIsSilentSinceARestart()
    {
        final Member memory = register(NodeRole.MEMORY_NODE);
        conductor.heartbeat(memory.nodeId(), memory.incarnation(), 0, nowNs);
        final Member member = register(NodeRole.COMPUTE_NODE);
        conductor.leave(member.nodeId(), member.incarnation(), nowNs);

        conductor = start();
        passTime(2 * (LEASE_NS + MARGIN_NS));

        assertThat(conductor.table().member(memory.nodeId()).node().state()).isEqualTo(StoredNodeState.LOST);
        assertThat(conductor.rounds()).as("its memory may still be reached").hasSize(1);
    }

    @Test
    void shouldRefuseMoreNodesWhenFull()
    {
        for (int i = 0; i < 8; i++)
        {
            register(NodeRole.COMPUTE_NODE);
        }

        assertThat(catchThrowableOfType(
            MembershipRefusedException.class, () -> register(NodeRole.COMPUTE_NODE)).reason())
            .isEqualTo(MembershipRefusedException.Reason.EXHAUSTED);
    }

    @Test
    void shouldTakeUpLeasesFencingAndNumbersWhenRestarted()
    {
        final Member memory = register(NodeRole.MEMORY_NODE);
        final Member alive = register(NodeRole.COMPUTE_NODE);
        final Member ending = register(NodeRole.COMPUTE_NODE);
        conductor.leave(ending.nodeId(), ending.incarnation(), nowNs);
        passTime(LEASE_NS / 2);
        final long epoch = conductor.epoch();
        final long version = conductor.table().version();

        conductor = start();

        assertThat(conductor.epoch()).isGreaterThan(epoch);
        assertThat(conductor.safeEpoch()).isZero();
        assertThat(conductor.table().version()).isEqualTo(version);
        passTime(LEASE_NS);
        assertThat(conductor.table().member(alive.nodeId()).isLive()).isTrue();
        assertThat(conductor.heartbeat(alive.nodeId(), alive.incarnation(), 0, nowNs).node()).isEqualTo(alive.node());
        assertThat(conductor.rounds()).singleElement()
            .satisfies((round) -> assertThat(round.isPending(memory.nodeId())).isTrue());
        final Member next = register(NodeRole.COMPUTE_NODE);
        assertThat(next.incarnation()).isGreaterThan(ending.incarnation());
        assertThat(next.node().writerNumber())
            .isNotIn(alive.node().writerNumber(), ending.node().writerNumber());
    }

    @Test
    void shouldBeAsBeforeWhenTheStoreFails()
    {
        final Member member = register(NodeRole.COMPUTE_NODE);
        storeFails = true;

        assertThatThrownBy(() -> register(NodeRole.COMPUTE_NODE)).isInstanceOf(DurableWriteError.class);
        assertThatThrownBy(() -> conductor.leave(member.nodeId(), member.incarnation(), nowNs))
            .isInstanceOf(DurableWriteError.class);
        assertThat(member.isLive()).isTrue();
        assertThat(conductor.table().members()).containsExactly(member);
        assertThatThrownBy(() -> passTime(LEASE_NS + MARGIN_NS)).isInstanceOf(DurableWriteError.class);
        assertThat(member.isLive()).isTrue();
        assertThat(conductor.rounds()).isEmpty();

        storeFails = false;
        doWork();
        doWork();
        assertThat(conductor.table().members()).isEmpty();
        assertThat(register(NodeRole.COMPUTE_NODE).incarnation()).isEqualTo(member.incarnation() + 1);
    }

    @Test
    void shouldGoRoundWhenNumbersEnd()
    {
        Member last = null;
        final Member stays = register(NodeRole.COMPUTE_NODE);
        final Member memory = register(NodeRole.MEMORY_NODE);

        for (int i = 0; i < 65_600; i++)
        {
            if (null != last)
            {
                conductor.leave(last.nodeId(), last.incarnation(), nowNs);
                conductor.rounds().getFirst().onAnswer(memory.nodeId(), true, nowNs);
                doWork();
            }

            last = register(NodeRole.COMPUTE_NODE);
            assertThat(last.nodeId()).isBetween(1, 65_535).isNotIn(stays.nodeId(), memory.nodeId());
            assertThat(last.node().writerNumber()).isBetween(1, 65_535).isNotEqualTo(stays.node().writerNumber());
        }
    }

    private MembershipConductor start()
    {
        final MetaState state = store.load();
        final MetaStore writes = new FailingStore();
        return new MembershipConductor(
            MembershipConductor.openLedger(writes, state, 1, TestSecrets.first()),
            state,
            new ConductorOptions(new MembershipOptions(LEASE_NS, MARGIN_NS, 8), 10, 10, 2 * LEASE_NS, nodesAreGone),
            new Events(),
            nowNs);
    }

    private Member register(final NodeRole role)
    {
        return conductor.register(endpoint(role), nowNs);
    }

    /** Of a node of its own. */
    private NodeRegistration endpoint(final NodeRole role)
    {
        return new NodeRegistration(0, role, new DeviceAddress(1, ++devices), 1,
            new RemoteRegion(4096, 4096, 7), 0, 0, ReadTargetAddress.NONE);
    }

    private static NodeRegistration memoryEndpoint(final long memoryId)
    {
        return new NodeRegistration(0, NodeRole.MEMORY_NODE, new DeviceAddress(1, 2), 1,
            new RemoteRegion(4096, 4096, 7), memoryId, 0, ReadTargetAddress.NONE);
    }

    /** Of another process. */
    private NodeRegistration memoryEndpointElsewhere(final long memoryId)
    {
        return new NodeRegistration(0, NodeRole.MEMORY_NODE, new DeviceAddress(1, ++devices), 1,
            new RemoteRegion(4096, 4096, 7), memoryId, 0, ReadTargetAddress.NONE);
    }

    /** Long enough for the lease of anything else to end. */
    private void assertFencesAreNotHeldUp(final Member memory)
    {
        passTimeWithHeartbeats(2 * (LEASE_NS + MARGIN_NS), memory);
        final Member member = register(NodeRole.COMPUTE_NODE);
        conductor.leave(member.nodeId(), member.incarnation(), nowNs);
        conductor.rounds().getFirst().onAnswer(memory.nodeId(), true, nowNs);
        doWork();
        assertThat(conductor.rounds()).isEmpty();
        assertThat(conductor.table().member(member.nodeId())).isNull();
    }

    private void passTime(final long durationNs)
    {
        passTimeWithHeartbeats(durationNs);
    }

    private void passTimeWithHeartbeats(final long durationNs, final Member... members)
    {
        for (long passedNs = 0; passedNs < durationNs; passedNs += STEP_NS)
        {
            nowNs += STEP_NS;

            for (final Member member : members)
            {
                conductor.heartbeat(member.nodeId(), member.incarnation(), 0, nowNs);
            }

            doWork();
        }
    }

    private void doWork()
    {
        conductor.doWork(nowNs, (memoryNodeId, round) -> fenceCalls.add(memoryNodeId));
    }

    private void assertRefused(
        final int nodeId, final int incarnation, final long passed, final MembershipRefusedException.Reason reason)
    {
        assertThat(catchThrowableOfType(
            MembershipRefusedException.class,
            () -> conductor.heartbeat(nodeId, incarnation, passed, nowNs)).reason()).isEqualTo(reason);
    }

    private final class FailingStore implements MetaStore
    {
        @Override
        public MetaState load()
        {
            return store.load();
        }

        @Override
        public void write(final MetaBatch batch)
        {
            if (storeFails)
            {
                throw new DurableWriteError("disk full", null);
            }

            store.write(batch);
        }

        @Override
        public void close()
        {
            store.close();
        }
    }

    private final class Events implements MembershipListener
    {
        @Override
        public void onJoined(final Member member)
        {
            events.add("joined " + member.nodeId());
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
