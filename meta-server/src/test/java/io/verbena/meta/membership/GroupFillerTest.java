package io.verbena.meta.membership;

import io.verbena.meta.store.InMemoryMetaStore;
import io.verbena.meta.store.MetaState;
import io.verbena.protocol.message.FailureDomain;
import io.verbena.protocol.message.NodeRegistration;
import io.verbena.protocol.view.LeftView;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewAttempt;
import io.verbena.protocol.view.ViewState;
import io.verbena.raas.ReadTargetAddress;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.directory.TcpAddress;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.verbs.DeviceAddress;

import org.junit.jupiter.api.Test;

import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Which memory node comes in by itself, and when. */
class GroupFillerTest
{
    private static final long DELAY_NS = 1_000_000_000;
    private static final long STEP_NS = DELAY_NS / 40;
    private static final int GROUP = 7;

    private final InMemoryMetaStore store = new InMemoryMetaStore();
    private long nowNs = 1;
    private long endpoints;
    private final MembershipConductor conductor = start();
    private final ViewConductor views = conductor.views();
    private final GroupFiller filler = new GroupFiller(views, conductor.table(), DELAY_NS);
    private final PeerIdentity head = memory("rack-1");
    private final PeerIdentity middle = memory("rack-2");
    private final PeerIdentity primary = memory(FailureDomain.NONE);
    private final PeerIdentity compute = join(NodeRole.COMPUTE_NODE, FailureDomain.NONE);

    private MembershipConductor start()
    {
        final MetaState state = store.load();
        return new MembershipConductor(
            MembershipConductor.openLedger(store, state, 9, TestSecrets.first()), state,
            new ConductorOptions(new MembershipOptions(1_000_000, 100, 64), 10, 10, 30, false),
            new Unheard(), nowNs);
    }

    private PeerIdentity memory(final String domain)
    {
        return join(NodeRole.MEMORY_NODE, domain);
    }

    private PeerIdentity join(final NodeRole role, final String domain)
    {
        final PeerIdentity identity = register(role, domain);
        conductor.heartbeat(identity.nodeId(), identity.incarnation(), 0, nowNs);
        return identity;
    }

    private PeerIdentity register(final NodeRole role, final String domain)
    {
        return conductor.register(new NodeRegistration(
            0, role, new DeviceAddress(1, ++endpoints), 1, new RemoteRegion(4096, 4096, 1),
            NodeRole.MEMORY_NODE == role ? endpoints : 0, 9, ReadTargetAddress.NONE, TcpAddress.NONE, false, 0,
            domain), nowNs).node().identity();
    }

    private void leave(final PeerIdentity node)
    {
        conductor.leave(node.nodeId(), node.incarnation(), nowNs);
    }

    private View work()
    {
        nowNs += 30;
        views.doWork(nowNs, (node, view) -> { });
        return views.view(GROUP);
    }

    /** A group that has lost its head, and is in its next view. */
    private void loseHead()
    {
        views.begin(View.first(GROUP, List.of(head, middle, primary)));
        leave(head);
        work();
        end(true);
        assertThat(views.view(GROUP).members()).containsExactly(middle, primary);
        filler.poll(nowNs);
    }

    private void end(final boolean isEqual)
    {
        final View closing = views.view(GROUP);
        closing.closers().forEach((closer) -> views.onClosed(closer, closing));
        views.onLeft(compute, List.of(new LeftView(GROUP, closing.number())));
        final View reconciling = work();
        assertThat(reconciling.state()).isEqualTo(ViewState.RECONCILING);
        views.onReconciled(compute, ViewAttempt.of(reconciling), isEqual);
    }

    /** @return who comes in within a time; {@link PeerIdentity#UNREGISTERED} for nobody. */
    private PeerIdentity after(final long durationNs)
    {
        for (final long endNs = nowNs + durationNs; nowNs < endNs && !views.view(GROUP).hasEntering();
            nowNs += STEP_NS)
        {
            filler.poll(nowNs);
        }
        return views.view(GROUP).entering();
    }

    @Test
    void shouldWaitForTheDelaySinceAMemberIsLacking()
    {
        loseHead();
        final PeerIdentity spare = memory("rack-4");
        assertThat(after(DELAY_NS)).isEqualTo(PeerIdentity.UNREGISTERED);
        assertThat(after(DELAY_NS)).isEqualTo(spare);
        end(true);
        assertThat(views.view(GROUP).members()).containsExactly(middle, spare, primary);
        assertThat(after(20 * DELAY_NS)).as("nothing is lacking").isEqualTo(PeerIdentity.UNREGISTERED);
        leave(spare);
        work();
        end(true);
        memory("rack-5");
        assertThat(after(DELAY_NS)).as("since it is lacking again").isEqualTo(PeerIdentity.UNREGISTERED);
    }

    /** Whose lease may last still, while its process has ended. */
    @Test
    void shouldNotTakeAMemoryNodeThatWasNotHeardOfSince()
    {
        final PeerIdentity lost = memory("rack-4");
        nowNs++;
        loseHead();
        assertThat(after(4 * DELAY_NS)).isEqualTo(PeerIdentity.UNREGISTERED);
        conductor.heartbeat(lost.nodeId(), lost.incarnation(), 0, nowNs);
        assertThat(after(DELAY_NS)).isEqualTo(lost);
    }

    /** Nor one that has left, or may never hear that it is registered. */
    @Test
    void shouldTryNobodyWhoIsNotThereAndThenAtOnceWhoIs()
    {
        loseHead();
        leave(memory("rack-4"));
        join(NodeRole.COMPUTE_NODE, FailureDomain.NONE);
        final PeerIdentity silent = register(NodeRole.MEMORY_NODE, "rack-5");
        assertThat(after(2 * DELAY_NS)).isEqualTo(PeerIdentity.UNREGISTERED);
        conductor.heartbeat(silent.nodeId(), silent.incarnation(), 0, nowNs);
        assertThat(after(8 * STEP_NS)).isEqualTo(silent);
    }

    @Test
    void shouldDoNothingWithoutADelay()
    {
        loseHead();
        memory("rack-4");
        final GroupFiller never = new GroupFiller(views, conductor.table(), 0);
        for (int i = 0; i < 100; i++)
        {
            assertThat(never.poll(nowNs += DELAY_NS)).isZero();
        }
        assertThat(views.view(GROUP).hasEntering()).isFalse();
    }

    /** In a failure domain of its own, then in the fewest groups, then of the least number. */
    @Test
    void shouldChooseWhoIsLostWithTheFewest()
    {
        loseHead();
        final PeerIdentity beside = memory("rack-2");
        final PeerIdentity busy = memory("rack-4");
        final PeerIdentity idle = memory("rack-4");
        views.begin(View.first(8, List.of(busy, beside)));
        assertThat(after(2 * DELAY_NS)).isEqualTo(idle);
        leave(idle);
        work();
        end(true);
        assertThat(after(2 * DELAY_NS)).isEqualTo(busy);
    }

    @Test
    void shouldRatherShareADomainThanLackACopy()
    {
        loseHead();
        final PeerIdentity beside = memory("rack-2");
        assertThat(after(2 * DELAY_NS)).isEqualTo(beside);
    }

    /** As is a member. */
    @Test
    void shouldCountOnOneWithoutALabelToBeElsewhere()
    {
        loseHead();
        memory("rack-2");
        final PeerIdentity elsewhere = memory(FailureDomain.NONE);
        assertThat(after(2 * DELAY_NS)).isEqualTo(elsewhere);
    }

    /** One that did not come in is tried again when all others were, and each a delay later. */
    @Test
    void shouldTryAnotherOneAfterAnAttemptThatFailed()
    {
        loseHead();
        final PeerIdentity one = memory("rack-4");
        final PeerIdentity two = memory("rack-5");
        assertThat(after(2 * DELAY_NS)).isEqualTo(one);
        end(false);
        end(true);
        assertThat(views.view(GROUP).members()).containsExactly(middle, primary);
        assertThat(after(DELAY_NS / 2)).isEqualTo(PeerIdentity.UNREGISTERED);
        assertThat(after(DELAY_NS)).isEqualTo(two);
        end(false);
        end(true);
        assertThat(after(3 * DELAY_NS)).isEqualTo(one);
    }

    @Test
    void shouldWaitWhileAnotherGroupIsChanging()
    {
        loseHead();
        final PeerIdentity other = memory("rack-4");
        final PeerIdentity another = memory("rack-5");
        views.begin(View.first(8, List.of(other, another)));
        leave(other);
        work();
        assertThat(views.view(8).state()).isEqualTo(ViewState.CLOSING);
        assertThat(after(4 * DELAY_NS)).isEqualTo(PeerIdentity.UNREGISTERED);
    }

    @Test
    void shouldTryAgainWhenThereIsAComputeNode()
    {
        loseHead();
        final PeerIdentity spare = memory("rack-4");
        leave(compute);
        assertThat(after(4 * DELAY_NS)).isEqualTo(PeerIdentity.UNREGISTERED);
        join(NodeRole.COMPUTE_NODE, FailureDomain.NONE);
        assertThat(after(3 * DELAY_NS)).isEqualTo(spare);
    }
}
