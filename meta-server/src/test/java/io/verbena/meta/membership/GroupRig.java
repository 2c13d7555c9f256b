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

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** A meta server's members, three of them memory nodes of which a group is made, and what is asked of memory nodes. */
abstract class GroupRig
{
    static final int GROUP = 7;

    final InMemoryMetaStore store = new InMemoryMetaStore();
    long nowNs = 1;
    long endpoints;
    final List<String> calls = new ArrayList<>();
    MembershipConductor conductor = start();
    ViewConductor views = conductor.views();
    final PeerIdentity head = memory("rack-1");
    final PeerIdentity middle = memory("rack-2");
    final PeerIdentity primary = memory(FailureDomain.NONE);
    final PeerIdentity compute = join(NodeRole.COMPUTE_NODE, FailureDomain.NONE);

    final MembershipConductor start()
    {
        final MetaState state = store.load();
        return new MembershipConductor(
            MembershipConductor.openLedger(store, state, 9, TestSecrets.first()), state,
            new ConductorOptions(new MembershipOptions(1_000_000, 100, 64), 10, 10, 30, false),
            new Unheard(), nowNs);
    }

    PeerIdentity memory(final String domain)
    {
        return join(NodeRole.MEMORY_NODE, domain);
    }

    PeerIdentity join(final NodeRole role, final String domain)
    {
        final PeerIdentity identity = register(role, domain);
        conductor.heartbeat(identity.nodeId(), identity.incarnation(), 0, nowNs);
        return identity;
    }

    PeerIdentity register(final NodeRole role, final String domain)
    {
        return conductor.register(new NodeRegistration(
            0, role, new DeviceAddress(1, ++endpoints), 1, new RemoteRegion(4096, 4096, 1),
            NodeRole.MEMORY_NODE == role ? endpoints : 0, 9, ReadTargetAddress.NONE, TcpAddress.NONE, false, 0,
            domain), nowNs).node().identity();
    }

    void leave(final PeerIdentity node)
    {
        conductor.leave(node.nodeId(), node.incarnation(), nowNs);
    }

    View work()
    {
        nowNs += 30;
        views.doWork(nowNs, new RecordedCalls(calls));
        return views.view(GROUP);
    }

    /** A group that has lost its head, and is in its next view. */
    void loseHead()
    {
        views.begin(View.first(GROUP, List.of(head, middle, primary)));
        leave(head);
        work();
        end(true);
        assertThat(views.view(GROUP).members()).containsExactly(middle, primary);
    }

    void end(final boolean isEqual)
    {
        final View before = views.view(GROUP);
        if (before.isFilling())
        {
            views.onReconciled(before.reconciler(), ViewAttempt.of(before), true);
        }
        final View closing = views.view(GROUP);
        closing.closers().forEach((closer) -> views.onConfirmed(closer, closing));
        views.onLeft(compute, List.of(new LeftView(GROUP, closing.number())));
        final View reconciling = work();
        assertThat(reconciling.state()).isEqualTo(ViewState.RECONCILING);
        views.onReconciled(compute, ViewAttempt.of(reconciling), isEqual);
    }
}
