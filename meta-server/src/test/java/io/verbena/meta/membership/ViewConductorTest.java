package io.verbena.meta.membership;

import io.verbena.meta.store.InMemoryMetaStore;
import io.verbena.meta.store.MetaBatch;
import io.verbena.meta.store.MetaState;
import io.verbena.meta.store.MetaStore;
import io.verbena.protocol.message.NodeRegistration;
import io.verbena.protocol.view.LeftView;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewAttempt;
import io.verbena.protocol.view.ViewState;
import io.verbena.raas.ReadTargetAddress;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.verbs.DeviceAddress;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class ViewConductorTest
{
    private static final ConductorOptions OPTIONS =
        new ConductorOptions(new MembershipOptions(1_000, 100, 64), 10, 10, 30, false);

    private final InMemoryMetaStore store = new InMemoryMetaStore();
    private int writes;
    private final MetaStore counting = new MetaStore()
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
        }
    };
    private final List<String> calls = new ArrayList<>();
    private final List<String> said = new ArrayList<>();
    private long nowNs = 1;
    private long endpoints;
    private MembershipConductor conductor = start();
    private final PeerIdentity first = join(NodeRole.MEMORY_NODE);
    private final PeerIdentity second = join(NodeRole.MEMORY_NODE);
    private final PeerIdentity compute = join(NodeRole.COMPUTE_NODE);

    private MembershipConductor start()
    {
        final MetaState state = counting.load();
        return new MembershipConductor(
            MembershipConductor.openLedger(counting, state, 9, TestSecrets.first()), state,
            OPTIONS, new Unheard()
            {
                @Override
                public void onStaysClosed(final String why)
                {
                    said.add(why);
                }
            }, nowNs);
    }

    private PeerIdentity join(final NodeRole role)
    {
        final PeerIdentity identity = conductor.register(registration(role), nowNs).node().identity();
        conductor.heartbeat(identity.nodeId(), identity.incarnation(), 0, nowNs);
        return identity;
    }

    private NodeRegistration registration(final NodeRole role)
    {
        return new NodeRegistration(0, role, new DeviceAddress(1, ++endpoints), 1, new RemoteRegion(4096, 4096, 1),
            NodeRole.MEMORY_NODE == role ? endpoints : 0, 9, ReadTargetAddress.NONE);
    }

    private View work()
    {
        for (int i = 0; i < 4; i++)
        {
            nowNs += 30;
            conductor.views().doWork(nowNs, new RecordedCalls(calls));
        }
        return conductor.views().view(7);
    }

    private ViewState state()
    {
        return work().state();
    }

    private void beginAndLoseFirst()
    {
        conductor.views().begin(View.first(7, List.of(first, second)));
        conductor.leave(first.nodeId(), first.incarnation(), nowNs);
    }

    @Test
    void shouldDoNothingWithoutAGroup()
    {
        writes = 0;
        conductor.views().onLeft(compute, List.of());
        conductor.views().onReturned(first, 1);
        assertThat(work()).isNull();
        assertThat(writes).isZero();
        assertThat(calls).isEmpty();
        assertThat(conductor.views().views()).isEmpty();
        assertThat(store.load().views()).isEmpty();
    }

    @Test
    void shouldEndAViewAndBeginTheNext()
    {
        beginAndLoseFirst();
        final View closing = work();
        assertThat(closing.state()).isEqualTo(ViewState.CLOSING);
        assertThat(closing.survivors()).containsExactly(second);
        assertThat(closing.reconciler()).isEqualTo(compute);
        assertThat(calls).isNotEmpty().containsOnly(second.nodeId() + " closes 1.1");

        conductor.views().onConfirmed(second, closing);
        assertThat(work().state()).as("a node has not left").isEqualTo(ViewState.CLOSING);
        conductor.views().onLeft(compute, List.of(new LeftView(7, 1)));
        assertThat(work().state()).isEqualTo(ViewState.RECONCILING);
        assertThat(store.load().views()).containsExactly(conductor.views().view(7));

        conductor.views().onReconciled(compute, new ViewAttempt(7, 1, 2), true);
        conductor.views().onReconciled(second, new ViewAttempt(7, 1, 1), true);
        assertThat(work().state()).isEqualTo(ViewState.RECONCILING);
        conductor.views().onReconciled(compute, new ViewAttempt(7, 1, 1), true);
        assertThat(work()).isEqualTo(new View(
            7, 2, ViewState.ACTIVE, 0, List.of(second), 0, PeerIdentity.UNREGISTERED, 2, PeerIdentity.UNREGISTERED));
        conductor.views().onReconciled(compute, new ViewAttempt(7, 1, 1), true);
        assertThat(work().number()).isEqualTo(2);
    }

    @Test
    void shouldAskAgainAfterARestart()
    {
        beginAndLoseFirst();
        conductor.views().onConfirmed(second, work());
        conductor.views().onLeft(compute, List.of(new LeftView(7, 1)));
        conductor = start();
        calls.clear();
        assertThat(work().state()).isEqualTo(ViewState.CLOSING);
        assertThat(calls).isNotEmpty();
        conductor.views().onConfirmed(second, conductor.views().view(7));
        conductor.views().onLeft(compute, List.of(new LeftView(7, 1)));
        assertThat(work().state()).isEqualTo(ViewState.RECONCILING);
        conductor = start();
        assertThat(work().state()).isEqualTo(ViewState.RECONCILING);
    }

    @Test
    void shouldBeginAnotherAttemptWhenWhoReconcilesEndsOrGivesUp()
    {
        beginAndLoseFirst();
        conductor.views().onConfirmed(second, work());
        conductor.views().onLeft(compute, List.of(new LeftView(7, 1)));
        work();
        conductor.views().onReconciled(compute, new ViewAttempt(7, 1, 2), false);
        assertThat(work().attempt()).isEqualTo(1);
        conductor.views().onReconciled(compute, new ViewAttempt(7, 1, 1), false);
        final View next = work();
        assertThat(next.attempt()).isEqualTo(2);
        assertThat(next.state()).as("the key of attempt 1 is open").isEqualTo(ViewState.CLOSING);
        conductor.views().onConfirmed(second, next);
        assertThat(work().state()).isEqualTo(ViewState.RECONCILING);

        conductor.leave(compute.nodeId(), compute.incarnation(), nowNs);
        final View without = work();
        assertThat(without.attempt()).isEqualTo(3);
        assertThat(without.reconciler()).isEqualTo(PeerIdentity.UNREGISTERED);
        conductor.views().onConfirmed(second, without);
        assertThat(work()).as("nobody is there").isEqualTo(without);
        final PeerIdentity other = join(NodeRole.COMPUTE_NODE);
        assertThat(work().reconciler()).isEqualTo(other);
    }

    @Test
    void shouldLoseWhoDoesNotConfirmButNotTheLastOne()
    {
        final PeerIdentity third = join(NodeRole.MEMORY_NODE);
        conductor.views().begin(View.first(7, List.of(first, second, third)));
        conductor.leave(first.nodeId(), first.incarnation(), nowNs);
        conductor.views().onConfirmed(third, work());
        for (int i = 0; i < 20; i++)
        {
            work();
        }
        final View view = conductor.views().view(7);
        assertThat(view.attempt()).isEqualTo(2);
        assertThat(view.survivors()).containsExactly(third);
    }

    /** A group of two that has lost one, in its second view. */
    private void begin2of3()
    {
        final PeerIdentity third = join(NodeRole.MEMORY_NODE);
        conductor.views().begin(View.first(7, List.of(third, first, second)));
        conductor.leave(third.nodeId(), third.incarnation(), nowNs);
        endView(work(), first, second);
    }

    private View endView(final View closing, final PeerIdentity... closers)
    {
        for (final PeerIdentity closer : closers)
        {
            conductor.views().onConfirmed(closer, closing);
        }
        conductor.views().onLeft(compute, List.of(new LeftView(7, closing.number())));
        final View reconciling = work();
        assertThat(reconciling.state()).isEqualTo(ViewState.RECONCILING);
        conductor.views().onReconciled(compute, ViewAttempt.of(reconciling), true);
        return work();
    }

    @Test
    void shouldHaveAMemoryNodeComeIn()
    {
        begin2of3();
        final PeerIdentity fourth = join(NodeRole.MEMORY_NODE);
        calls.clear();
        final View filling = conductor.views().enter(7, fourth.nodeId());
        assertThat(filling.entering()).isEqualTo(fourth);
        assertThat(conductor.views().enter(7, fourth.nodeId())).as("asked again").isEqualTo(filling);
        assertThat(store.load().views()).containsExactly(filling);
        work();
        assertThat(calls).containsOnly(fourth.nodeId() + " is filled 2.1");
        final View closing = filled(fourth);
        assertThat(store.load().views()).containsExactly(closing);
        work();
        assertThat(calls).contains(fourth.nodeId() + " closes 2.2", first.nodeId() + " closes 2.2",
            second.nodeId() + " closes 2.2");

        conductor.views().onConfirmed(first, closing);
        conductor.views().onConfirmed(second, closing);
        conductor.views().onLeft(compute, List.of(new LeftView(7, 2)));
        assertThat(work().state()).as("who comes in has not closed").isEqualTo(ViewState.CLOSING);
        conductor = start();
        assertThat(conductor.views().view(7)).as("as another meta server finds it").isEqualTo(closing);
        assertThat(endView(closing, first, second, fourth).members()).containsExactly(first, fourth, second);
        assertThat(work().number()).isEqualTo(3);
    }

    private View filled(final PeerIdentity memoryNode)
    {
        final View filling = conductor.views().enter(7, memoryNode.nodeId());
        conductor.views().onReconciled(filling.reconciler(), ViewAttempt.of(filling), true);
        return conductor.views().view(7);
    }

    @Test
    void shouldGoOnWithoutWhoWasToComeIn()
    {
        begin2of3();
        final PeerIdentity fourth = join(NodeRole.MEMORY_NODE);
        filled(fourth);
        conductor.leave(fourth.nodeId(), fourth.incarnation(), nowNs);
        final View without = work();
        assertThat(without.attempt()).isEqualTo(3);
        assertThat(without.hasEntering()).isFalse();
        assertThat(endView(without, first, second).members()).containsExactly(first, second);

        final PeerIdentity fifth = join(NodeRole.MEMORY_NODE);
        final View again = filled(fifth);
        conductor.views().onConfirmed(first, again);
        for (int i = 0; i < 20; i++)
        {
            work();
        }
        final View silent = conductor.views().view(7);
        assertThat(silent.hasEntering()).as("it has not confirmed").isFalse();
        assertThat(silent.survivors()).as("nor has the primary").containsExactly(first);
    }

    @Test
    void shouldLeaveOutOnlyWhoWasToComeInWhenThatAloneIsSilent()
    {
        begin2of3();
        final View closing = filled(join(NodeRole.MEMORY_NODE));
        conductor.views().onConfirmed(first, closing);
        conductor.views().onConfirmed(second, closing);
        for (int i = 0; i < 20; i++)
        {
            work();
        }
        assertThat(conductor.views().view(7).survivors()).containsExactly(first, second);
        assertThat(conductor.views().view(7).hasEntering()).isFalse();
    }

    @Test
    void shouldRefuseWhoCannotComeIn()
    {
        begin2of3();
        final View before = conductor.views().view(7);
        final PeerIdentity fourth = join(NodeRole.MEMORY_NODE);
        assertRefused(8, fourth.nodeId(), "there is no group 8");
        assertRefused(7, compute.nodeId(), "is no memory node");
        assertRefused(7, 999, "node 999 is no memory node");
        assertRefused(7, first.nodeId(), "memory node " + first.nodeId() + " is a member of group 7");
        conductor.leave(fourth.nodeId(), fourth.incarnation(), nowNs);
        assertRefused(7, fourth.nodeId(), "memory node " + fourth.nodeId() + " has no lease: start it");
        conductor.views().begin(View.first(9, List.of(first, second)));
        final PeerIdentity fifth = join(NodeRole.MEMORY_NODE);
        assertRefused(9, fifth.nodeId(), "group 9 has 2 memory nodes, as many as its tables have copies");
        assertThat(conductor.views().view(7)).isEqualTo(before);

        // Made by an earlier build, which recorded no number of copies.
        final PeerIdentity sixth = join(NodeRole.MEMORY_NODE);
        conductor.views().begin(new View(11, 1, ViewState.ACTIVE, 0, List.of(first, second, sixth), 0,
            PeerIdentity.UNREGISTERED, 0, PeerIdentity.UNREGISTERED));
        assertRefused(11, fifth.nodeId(), "group 11 has 3 memory nodes, as many as");
        conductor.views().begin(View.first(12, List.of(first, sixth)));
        conductor.leave(sixth.nodeId(), sixth.incarnation(), nowNs);
        final PeerIdentity restarted = rejoin(sixth);
        assertRefused(12, restarted.nodeId(), "memory node " + sixth.nodeId() + " is a member of group 12");

        conductor.views().enter(7, fifth.nodeId());
        final PeerIdentity seventh = join(NodeRole.MEMORY_NODE);
        assertRefused(7, seventh.nodeId(), "group 7 is copied to memory node " + fifth.nodeId());
        filled(fifth);
        assertRefused(7, seventh.nodeId(), "group 7 is changing");
        conductor.leave(compute.nodeId(), compute.incarnation(), nowNs);
        conductor.views().begin(new View(10, 1, ViewState.ACTIVE, 0, List.of(first, second), 0,
            PeerIdentity.UNREGISTERED, 0, PeerIdentity.UNREGISTERED));
        assertRefused(10, fifth.nodeId(), "no compute node is up");
    }

    private void assertRefused(final int group, final int nodeId, final String why)
    {
        assertThatThrownBy(() -> conductor.views().enter(group, nodeId))
            .isInstanceOf(MembershipRefusedException.class).hasMessageContaining(why);
    }

    private PeerIdentity rejoin(final PeerIdentity before)
    {
        return conductor.rejoin(
            new NodeRegistration(before.nodeId(), NodeRole.MEMORY_NODE, new DeviceAddress(1, ++endpoints), 1,
                new RemoteRegion(4096, 4096, 1), conductor.table().member(before.nodeId()).node().memoryId(), 9,
                ReadTargetAddress.NONE), before.nodeId(), nowNs).node().identity();
    }

    private void loseBoth()
    {
        beginAndLoseFirst();
        work();
        conductor.leave(second.nodeId(), second.incarnation(), nowNs);
        assertThat(work().isDeserted()).isTrue();
    }

    @Test
    void shouldTakeAMemberBackWhenAllAreLost()
    {
        loseBoth();
        final PeerIdentity stranger = join(NodeRole.MEMORY_NODE);
        conductor.views().onReturned(stranger, 1);
        assertThat(work().isDeserted()).isTrue();
        final PeerIdentity back = rejoin(first);
        assertThat(work().isDeserted()).as("it does not say that it has its memory").isTrue();
        conductor.views().onReturned(back, 0);
        assertThat(work().isDeserted()).as("nor does an older build").isTrue();
        conductor.views().onReturned(back, first.incarnation() + 1);
        assertThat(work().isDeserted()).as("it had come back from a checkpoint in between").isTrue();
        conductor.views().onReturned(back, first.incarnation());
        assertThat(work().survivors()).containsExactly(back);
        assertThat(work().state()).isEqualTo(ViewState.CLOSING);
        assertThat(store.load().views()).containsExactly(conductor.views().view(7));
    }

    @Test
    void shouldSayWhyAGroupStaysClosedAndRestMeanwhile()
    {
        assertThat(conductor.views().whyClosed(7)).isEmpty();
        beginAndLoseFirst();
        work();
        assertThat(conductor.views().whyClosed(7)).isEmpty();
        assertThat(conductor.idleNs(nowNs)).as("a survivor is to close").isZero();
        conductor.leave(second.nodeId(), second.incarnation(), nowNs);
        work();
        assertThat(said).hasSize(1);
        assertThat(said.getFirst()).isEqualTo(conductor.views().whyClosed(7)).contains(
            "group 7 ", "in view 1;", "node " + first.nodeId() + " incarnation " + first.incarnation() + " is not up");
        conductor.doWork(nowNs, (_, _) -> { });
        assertThat(conductor.idleNs(nowNs)).as("until a message comes").isPositive();

        final PeerIdentity back = rejoin(first);
        work();
        assertThat(said.getLast()).contains("node " + first.nodeId() + " incarnation " + first.incarnation() +
            " is up, and does not say");
        conductor.views().onReturned(back, back.incarnation());
        work();
        assertThat(said).hasSize(3);
        assertThat(said.getLast()).contains("has its memory since incarnation " + back.incarnation() + " only");
        assertThat(conductor.idleNs(nowNs)).isPositive();
        conductor.views().onReturned(back, first.incarnation());
        assertThat(conductor.idleNs(nowNs)).as("it is to be taken back").isZero();
        work();
        assertThat(conductor.views().whyClosed(7)).isEmpty();
        conductor.leave(back.nodeId(), back.incarnation(), nowNs);
        work();
        assertThat(said).as("once for each time").hasSize(4);
    }

    @Test
    void shouldGoOnWithTheOnlyMemberUnderItsNewestIncarnation()
    {
        conductor.views().begin(View.first(7, List.of(first)));
        final PeerIdentity again = rejoin(first);
        assertThat(work().isDeserted()).isTrue();
        conductor.views().onReturned(again, first.incarnation());
        assertThat(work().survivors()).containsExactly(again);
        conductor = start();
        final PeerIdentity newest = rejoin(first);
        assertThat(work().isDeserted()).as("lost once more, and the server has started anew").isTrue();
        conductor.views().onReturned(newest, first.incarnation());
        final View closing = work();
        assertThat(closing.survivors()).containsExactly(newest);

        conductor.views().onConfirmed(newest, closing);
        conductor.views().onLeft(compute, List.of(new LeftView(7, 1)));
        final View reconciling = work();
        assertThat(reconciling.state()).isEqualTo(ViewState.RECONCILING);
        conductor.views().onReconciled(compute, ViewAttempt.of(reconciling), true);
        assertThat(work()).isEqualTo(new View(
            7, 2, ViewState.ACTIVE, 0, List.of(newest), 0, PeerIdentity.UNREGISTERED, 1, PeerIdentity.UNREGISTERED));
    }

    @Test
    void shouldTakeOthersBackUntilCopiesAreMadeEqual()
    {
        loseBoth();
        final PeerIdentity firstBack = rejoin(first);
        conductor.views().onReturned(firstBack, first.incarnation());
        assertThat(work().survivors()).containsExactly(firstBack);
        final PeerIdentity secondBack = rejoin(second);
        conductor.views().onReturned(secondBack, second.incarnation() + 1);
        assertThat(work().survivors()).as("from a checkpoint").containsExactly(firstBack);
        conductor.views().onReturned(secondBack, second.incarnation());
        final View both = work();
        assertThat(both.survivors()).containsExactly(firstBack, secondBack);

        conductor.views().onConfirmed(firstBack, both);
        conductor.views().onLeft(compute, List.of(new LeftView(7, 1)));
        assertThat(work().state()).as("the one that was taken back has to close, too").isEqualTo(ViewState.CLOSING);
        conductor.views().onConfirmed(secondBack, both);
        assertThat(work().state()).isEqualTo(ViewState.RECONCILING);
        final PeerIdentity third = rejoin(second);
        conductor.views().onReturned(third, second.incarnation());
        final View closing = work();
        assertThat(closing.survivors()).as("lost, and taken back under its next one").containsExactly(firstBack, third);
    }

    @Test
    void shouldLeaveAMemberOutThatReturnsWhileCopiesAreMadeEqual()
    {
        beginAndLoseFirst();
        conductor.views().onConfirmed(second, work());
        conductor.views().onLeft(compute, List.of(new LeftView(7, 1)));
        final View reconciling = work();
        final PeerIdentity back = rejoin(first);
        conductor.views().onReturned(back, first.incarnation());
        assertThat(work()).isEqualTo(reconciling);
        conductor.views().onReconciled(compute, ViewAttempt.of(reconciling), true);
        assertThat(work().members()).as("it has not what is written from now on").containsExactly(second);
    }

    @Test
    void shouldTakeWhoDidNotConfirmBackUnderAnotherIncarnationOrWhenAllAreLost()
    {
        final PeerIdentity third = join(NodeRole.MEMORY_NODE);
        conductor.views().begin(View.first(7, List.of(first, second, third)));
        conductor.leave(first.nodeId(), first.incarnation(), nowNs);
        conductor.views().onReturned(second, second.incarnation());
        conductor.views().onConfirmed(third, work());
        for (int i = 0; i < 20; i++)
        {
            work();
        }
        final View without = conductor.views().view(7);
        assertThat(without.survivors()).as("not while another one is there").containsExactly(third);
        conductor.leave(third.nodeId(), third.incarnation(), nowNs);
        assertThat(work().survivors()).containsExactly(second);
    }

    @Test
    void shouldMakeAGroupOnceAndOfLiveNodesOnly()
    {
        final View view = View.first(7, List.of(first, second));
        conductor.views().begin(view);
        assertThatThrownBy(() -> conductor.views().begin(view)).hasMessageContaining("group 7 exists");
        assertThatThrownBy(() -> conductor.views().begin(View.first(8, List.of(new PeerIdentity(99, 1)))))
            .hasMessageContaining("without a lease");
        assertThat(work()).isEqualTo(view);
    }

    /** A process that has ended refuses connections; twice, since one may break for another reason. */
    @Test
    void shouldLoseAMemberToWhichTheConnectionFailsTwice()
    {
        conductor.views().begin(View.first(7, List.of(first, second)));
        conductor.views().onProbed(second, true, nowNs);
        conductor.views().onProbed(first, false, nowNs);
        assertThat(state()).isEqualTo(ViewState.ACTIVE);
        conductor.views().onProbed(first, true, nowNs);
        conductor.views().onProbed(first, false, nowNs);
        conductor.views().onProbed(second, true, nowNs);
        assertThat(state()).as("it has answered meanwhile").isEqualTo(ViewState.ACTIVE);
        conductor.views().onProbed(second, true, nowNs);
        conductor.views().onProbed(first, false, nowNs);
        final View closing = work();
        assertThat(closing.state()).isEqualTo(ViewState.CLOSING);
        assertThat(closing.lost()).isEqualTo(1);
    }

    /** It is this server that reaches nobody, or did lately: others may. */
    @Test
    void shouldLoseNobodyWhileNoMemberAnswers()
    {
        conductor.views().begin(View.first(7, List.of(first, second)));
        conductor.views().onProbed(second, true, nowNs);
        nowNs += OPTIONS.membership().leaseNs() / 8;
        for (int i = 0; i < 5; i++)
        {
            conductor.heartbeat(first.nodeId(), first.incarnation(), 0, nowNs);
            conductor.heartbeat(second.nodeId(), second.incarnation(), 0, nowNs);
            conductor.views().onProbed(first, false, nowNs);
        }
        assertThat(state()).as("the answer is old").isEqualTo(ViewState.ACTIVE);
        conductor.views().onProbed(second, true, nowNs);
        conductor.views().onProbed(second, false, nowNs);
        assertThat(state()).as("the last one to answer fails, too").isEqualTo(ViewState.ACTIVE);
    }

    @Test
    void shouldGiveNoNodeTheNumberOfAGroup()
    {
        final int next = compute.nodeId() + 1;
        conductor.views().begin(View.first(next + 1, List.of(first, second)));
        conductor.views().begin(View.first(next, List.of(second, first)));
        assertThat(join(NodeRole.MEMORY_NODE).nodeId()).isEqualTo(next + 2);
        conductor = start();
        assertThat(join(NodeRole.COMPUTE_NODE).nodeId()).isGreaterThan(next + 2);
        assertThat(conductor.views().make(List.of(first.nodeId())).group()).isNotIn(next, next + 1, next + 2);
    }

    @Test
    void shouldProbeMembersOfWhichOthersAreLeft()
    {
        final List<PeerIdentity> probed = new ArrayList<>();
        final ViewConductor.ViewCaller caller = new RecordedCalls(calls)
        {
            @Override
            public void probe(final PeerIdentity memoryNode)
            {
                probed.add(memoryNode);
            }
        };
        conductor.views().doWork(nowNs, caller);
        assertThat(probed).as("without a group").isEmpty();
        conductor.views().begin(View.first(7, List.of(first)));
        conductor.views().doWork(nowNs, caller);
        assertThat(probed).as("nobody goes on without an only member").isEmpty();
        conductor.views().begin(View.first(8, List.of(first, second)));
        nowNs += OPTIONS.membership().leaseNs() / 25;
        conductor.views().doWork(nowNs, caller);
        conductor.views().doWork(nowNs, caller);
        assertThat(probed).containsExactlyInAnyOrder(first, second);
        nowNs += OPTIONS.membership().leaseNs() / 25;
        conductor.views().doWork(nowNs, caller);
        assertThat(probed).hasSize(4);
    }
}
