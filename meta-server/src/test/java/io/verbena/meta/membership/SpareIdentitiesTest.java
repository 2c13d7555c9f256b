package io.verbena.meta.membership;

import io.verbena.meta.membership.MembershipRefusedException.Reason;
import io.verbena.meta.store.InMemoryMetaStore;
import io.verbena.meta.store.MetaBatch;
import io.verbena.meta.store.MetaCounters;
import io.verbena.meta.store.MetaState;
import io.verbena.meta.store.MetaStore;
import io.verbena.meta.store.StoredNode;
import io.verbena.meta.store.StoredNodeState;
import io.verbena.protocol.message.NodeRegistration;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.directory.NodeRole;
import io.verbena.rdma.verbs.DeviceAddress;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Identities that are on disk before somebody has them. */
class SpareIdentitiesTest
{
    private static final int WANTED = 3;
    private static final long LEASE_NS = 1_000;
    private static final long MARGIN_NS = 100;
    private static final int MAX_NODES = 6;

    private final InMemoryMetaStore store = new InMemoryMetaStore();
    private final ModelEvents events = new ModelEvents();
    private final List<Integer> fencedAt = new ArrayList<>();
    private int writes;
    private long endpoints;
    private MetaLedger ledger;
    private MembershipConductor conductor;
    private long nowNs;

    private final class CountingStore implements MetaStore
    {
        @Override
        public MetaState load()
        {
            return store.load();
        }

        @Override
        public void write(final MetaBatch batch)
        {
            writes++;
            store.write(batch);
        }

        @Override
        public void close()
        {
            store.close();
        }
    }

    @BeforeEach
    void start()
    {
        start(false);
    }

    private void start(final boolean nodesAreGone)
    {
        final MetaState state = store.load();
        ledger = MembershipConductor.openLedger(
            new CountingStore(), state, 1, TestSecrets.first());
        conductor = new MembershipConductor(ledger, state,
            new ConductorOptions(
                new MembershipOptions(LEASE_NS, MARGIN_NS, MAX_NODES), 10, 10, 2_000, nodesAreGone), events, nowNs);
    }

    private Member register(final NodeRole role)
    {
        return conductor.register(
            new NodeRegistration(0, role, new DeviceAddress(1, ++endpoints), 7, new RemoteRegion(4096, 4096, 1)),
            nowNs);
    }

    private Member compute()
    {
        return register(NodeRole.COMPUTE_NODE);
    }

    /** The first compute node, and spares for others. */
    private Member fill()
    {
        final Member first = compute();
        assertThat(conductor.recordSpares(WANTED)).isTrue();
        return first;
    }

    private void work()
    {
        conductor.doWork(nowNs, (memoryNodeId, round) ->
        {
            fencedAt.add(memoryNodeId);
            round.onAnswer(memoryNodeId, true, nowNs);
        });
    }

    private static PeerIdentity identity(final Member member)
    {
        return new PeerIdentity(member.nodeId(), member.incarnation());
    }

    private List<StoredNode> stored(final StoredNodeState state)
    {
        return store.load().nodes().stream().filter((node) -> state == node.state()).toList();
    }

    private void beat(final Member member)
    {
        conductor.heartbeat(member.nodeId(), member.incarnation(), 0, nowNs);
    }

    @Test
    void shouldAssignWithoutAWriteWhatIsOnDisk()
    {
        assertThat(conductor.recordSpares(WANTED)).as("nobody is known to come").isFalse();
        fill();
        final List<PeerIdentity> spares = conductor.table().spares();
        assertThat(spares).hasSize(WANTED);
        assertThat(stored(StoredNodeState.SPARE).stream().map(StoredNode::identity)).containsExactlyElementsOf(spares);
        assertThat(conductor.recordSpares(WANTED)).as("none is missing").isFalse();

        final int before = writes;
        final long version = conductor.table().version();
        for (int i = 0; i < WANTED; i++)
        {
            final Member member = compute();
            assertThat(identity(member)).as("the oldest first").isEqualTo(spares.get(i));
            assertThat(member.isLive()).isTrue();
            assertThat(member.node().record().device()).isEqualTo(new DeviceAddress(1, endpoints));
            assertThat(conductor.table().version()).as("others hear of it").isEqualTo(version + i + 1);
        }
        assertThat(writes).isEqualTo(before);
        compute();
        assertThat(writes).as("without a spare").isEqualTo(before + 1);
        assertThat(events.counts().get("joined COMPUTE_NODE")).isEqualTo(WANTED + 2);
    }

    @Test
    void shouldWriteDownWhoGotOneTogetherWithTheNextOnes()
    {
        fill();
        final Member member = compute();
        final int before = writes;
        assertThat(conductor.recordSpares(WANTED)).isTrue();
        assertThat(writes).isEqualTo(before + 1);
        assertThat(conductor.recordSpares(WANTED)).as("all is written").isFalse();
        assertThat(stored(StoredNodeState.SPARE)).hasSize(WANTED);
        assertThat(stored(StoredNodeState.LIVE)).contains(member.node());
        assertThat(store.load().counters().membershipVersion()).isEqualTo(conductor.table().version());

        start();
        assertThat(conductor.table().member(member.nodeId()).isPossible()).isFalse();
        beat(member);
    }

    @Test
    void shouldNotWriteDownWhoHasLeftMeanwhileAsLive()
    {
        fill();
        final Member member = compute();
        assertThat(conductor.leave(member.nodeId(), member.incarnation(), nowNs)).isTrue();
        conductor.recordSpares(WANTED);
        assertThat(stored(StoredNodeState.LIVE)).doesNotContain(member.node()).hasSize(1);
        assertThat(stored(StoredNodeState.FENCING)).hasSize(1);

        final Member fenced = compute();
        conductor.leave(fenced.nodeId(), fenced.incarnation(), nowNs);
        work();
        conductor.recordSpares(WANTED);
        assertThat(stored(StoredNodeState.FENCING)).as("forgotten").isEmpty();
    }

    @Test
    void shouldCountEachAsAssignedAfterARestartUntilItsLeaseIsOverAndItIsFenced()
    {
        final Member memory = register(NodeRole.MEMORY_NODE);
        final Member first = fill();
        final Member assigned = compute();
        final long announced = conductor.table().version();
        final List<PeerIdentity> spares = conductor.table().spares();
        nowNs += LEASE_NS / 2;

        start();
        assertThat(conductor.table().version()).as("never back, never the same for something else")
            .isGreaterThanOrEqualTo(announced);
        assertThat(conductor.table().spares()).as("nobody knows whether they are").isEmpty();
        final Member possible = conductor.table().member(assigned.nodeId());
        assertThat(possible.isPossible()).isTrue();
        assertThatThrownBy(() -> beat(assigned)).as("nobody knows where it is")
            .isInstanceOfSatisfying(MembershipRefusedException.class,
            (ex) -> assertThat(ex.reason()).isEqualTo(Reason.UNKNOWN_NODE));
        assertThat(conductor.hasChanges(first.nodeId(), first.incarnation(), conductor.epoch(), announced))
            .as("spares that were not assigned: the next version").isTrue();

        final Member later = compute();
        assertThat(later.nodeId()).isNotEqualTo(assigned.nodeId());
        assertThat(later.node().writerNumber()).isNotEqualTo(assigned.node().writerNumber());
        assertThat(spares).doesNotContain(identity(later));

        for (final long endNs = nowNs + LEASE_NS + MARGIN_NS - 50; nowNs < endNs; nowNs += 50)
        {
            beat(memory);
            beat(first);
            beat(later);
            work();
            assertThat(conductor.safeEpoch()).as("it may run an operation").isZero();
        }
        assertThat(fencedAt).isEmpty();
        nowNs += 60;
        beat(memory);
        beat(first);
        beat(later);
        work();
        assertThat(fencedAt).as("each of them").hasSize(WANTED).containsOnly(memory.nodeId());
        assertThat(conductor.table().members()).noneMatch(Member::isPossible);
        assertThat(store.load().nodes()).extracting(StoredNode::nodeId)
            .containsExactlyInAnyOrder(memory.nodeId(), first.nodeId(), later.nodeId());
    }

    /** Crashes again and again before anything is written: the same identities count, and none is given out anew. */
    @Test
    void shouldKnowThemAfterManyRestarts()
    {
        fill();
        final Member assigned = compute();
        long announced = conductor.table().version();
        for (int i = 0; i < 5; i++)
        {
            start();
            assertThat(conductor.table().version()).isGreaterThanOrEqualTo(announced);
            announced = conductor.table().version();
            assertThat(conductor.table().members()).filteredOn(Member::isPossible).hasSize(WANTED)
                .anyMatch((member) -> identity(member).equals(identity(assigned)));
        }
    }

    @Test
    void shouldNotLetAnUnusedOneDelayAnEpoch()
    {
        final Member first = fill();
        long safe = conductor.safeEpoch();
        for (int i = 0; i < 5; i++)
        {
            nowNs += 20;
            conductor.heartbeat(first.nodeId(), first.incarnation(), conductor.epoch() - 1, nowNs);
            conductor.wantEpoch();
            work();
            assertThat(conductor.safeEpoch()).isGreaterThanOrEqualTo(safe);
            safe = conductor.safeEpoch();
        }
        assertThat(safe).isGreaterThan(2);

        // One that is assigned counts, from the epoch on in which it is.
        final Member second = compute();
        nowNs += 20;
        conductor.heartbeat(first.nodeId(), first.incarnation(), conductor.epoch() - 1, nowNs);
        work();
        final long epoch = conductor.epoch();
        nowNs += 20;
        conductor.heartbeat(first.nodeId(), first.incarnation(), conductor.epoch() - 1, nowNs);
        conductor.wantEpoch();
        work();
        assertThat(conductor.epoch()).as("waits for node %s", second).isEqualTo(epoch);
    }

    @Test
    void shouldGiveThemBackAtAnOrderlyEnd()
    {
        fill();
        final Member assigned = compute();
        conductor.table().releaseSpares();
        assertThat(stored(StoredNodeState.SPARE)).isEmpty();
        final long announced = conductor.table().version();
        start();
        assertThat(conductor.table().members()).noneMatch(Member::isPossible);
        assertThat(conductor.table().version()).isGreaterThanOrEqualTo(announced);
        beat(assigned);
        final Member next = compute();
        assertThat(next.incarnation()).as("given to nobody, and to nobody again")
            .isGreaterThan(assigned.incarnation() + 1);
    }

    @Test
    void shouldForgetThemWhereAllNodesAreGone()
    {
        fill();
        compute();
        final long announced = conductor.table().version();
        start(true);
        assertThat(conductor.table().members()).isEmpty();
        assertThat(conductor.table().version()).isGreaterThan(announced);
        assertThat(store.load().nodes()).isEmpty();
    }

    @Test
    void shouldKeepNoMoreThanThereArePlacesFor()
    {
        fill();
        register(NodeRole.MEMORY_NODE);
        register(NodeRole.MEMORY_NODE);
        assertThat(conductor.table().spares()).hasSize(WANTED);
        compute();
        compute();
        conductor.recordSpares(WANTED);
        assertThat(conductor.table().spares()).as("5 of %d places are taken", MAX_NODES).hasSize(1);
        compute();
        assertThatThrownBy(this::compute).isInstanceOf(MembershipRefusedException.class);
        assertThatThrownBy(() -> register(NodeRole.MEMORY_NODE)).isInstanceOf(MembershipRefusedException.class);
        conductor.recordSpares(WANTED);
        assertThat(conductor.table().spares()).isEmpty();
        assertThat(conductor.table().limits().getFirst().used()).isEqualTo(MAX_NODES);

        start();
        assertThat(conductor.table().limits().getFirst().used()).as("recorded").isEqualTo(MAX_NODES);
    }

    @Test
    void shouldNotTakePlacesWithWhatNobodyMayHave()
    {
        fill();
        start();
        assertThat(conductor.table().limits().getFirst().used()).isEqualTo(1);
        for (int i = 1; i < MAX_NODES; i++)
        {
            register(NodeRole.MEMORY_NODE);
        }
        assertThatThrownBy(this::compute).isInstanceOf(MembershipRefusedException.class);
    }

    @Test
    void shouldGiveOutNoNumberOfASpare()
    {
        final Member first = fill();
        final List<PeerIdentity> spares = conductor.table().spares();
        // As after a whole round of the ring of numbers.
        final MetaCounters now = ledger.counters();
        ledger.move(new MetaCounters(now.clusterId(), now.nextIncarnation(), first.nodeId(),
            first.node().writerNumber(), now.epochCeiling(), now.membershipVersion(), now.nextTableId()));
        assertThat(conductor.recordSpares(WANTED + 1)).isTrue();
        for (int i = 0; i < 3; i++)
        {
            assertThat(spares).doesNotContain(identity(register(NodeRole.MEMORY_NODE)));
        }
        final List<Integer> ids = new ArrayList<>();
        store.load().nodes().forEach((node) -> ids.add(node.nodeId()));
        assertThat(ids).doesNotHaveDuplicates().hasSize(1 + WANTED + 1 + 3);
        assertThat(stored(StoredNodeState.SPARE).stream().map(StoredNode::writerNumber).distinct()).hasSize(WANTED + 1)
            .doesNotContain(first.node().writerNumber());
    }

    /** Its memory may be from a checkpoint: who registers later has to be later by its incarnation, too. */
    @Test
    void shouldAssignNoneThatIsOlderThanAMemoryNodeThatHasComeBack()
    {
        final Member memory = register(NodeRole.MEMORY_NODE);
        fill();
        final Member assigned = compute();
        final List<PeerIdentity> older = conductor.table().spares();
        nowNs += LEASE_NS + MARGIN_NS + 1;
        beat(assigned);
        work();

        final int before = writes;
        final Member[] back = new Member[1];
        conductor.together(() ->
        {
            back[0] = conductor.rejoin(new NodeRegistration(memory.nodeId(), NodeRole.MEMORY_NODE,
                memory.node().record().device(), 7, new RemoteRegion(4096, 4096, 1)), memory.nodeId(), nowNs);
            assertThat(conductor.table().spares()).isEmpty();
            conductor.recordSpares(WANTED);
        });
        assertThat(writes).as("in one").isEqualTo(before + 1);
        assertThat(conductor.recordSpares(WANTED)).as("all is written").isFalse();
        assertThat(conductor.table().spares()).hasSize(WANTED).doesNotContainAnyElementsOf(older)
            .allMatch((spare) -> spare.incarnation() > back[0].incarnation());
        assertThat(stored(StoredNodeState.SPARE).stream().map(StoredNode::identity))
            .containsExactlyElementsOf(conductor.table().spares());
        assertThat(conductor.table().limits().get(1).used()).as("their numbers are free")
            .isEqualTo(conductor.table().members().size() + WANTED);
        assertThat(compute().incarnation()).isGreaterThan(back[0].incarnation());
        beat(assigned);

        conductor.recordSpares(WANTED);
        assertThat(conductor.table().lacksSpares(0)).isFalse();
        conductor.rejoin(new NodeRegistration(memory.nodeId(), NodeRole.MEMORY_NODE,
            back[0].node().record().device(), 7, new RemoteRegion(4096, 4096, 1)), memory.nodeId(), nowNs);
        assertThat(conductor.table().lacksSpares(0)).as("are removed, also where none is wanted").isTrue();
        conductor.table().releaseSpares();
        assertThat(stored(StoredNodeState.SPARE)).as("given up, and removed at the end").isEmpty();
    }
}
