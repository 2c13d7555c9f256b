package io.verbena.memory;

import io.verbena.meta.store.InMemoryMetaStore;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.control.MemoryNodeClient;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.EnteredLease;
import io.verbena.protocol.message.MemoryNodeStat;
import io.verbena.protocol.message.MirroredChunk;
import io.verbena.protocol.view.LeftView;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewAttempt;
import io.verbena.protocol.view.ViewPage;
import io.verbena.protocol.view.ViewState;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.VirtualQp;
import io.verbena.raas.identity.PeerIdentity;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.function.Predicate;

import static org.assertj.core.api.Assertions.assertThat;

/** The change of a view by messages between production nodes: a member is lost, and the group goes on without it. */
class ViewMessagesSimTest
{
    private static final long TIMEOUT_NS = 5_000_000;
    private static final long OFFSET = 4096;
    private static final int MAX_ASKED = 20_000;

    private final InMemoryMetaStore store = new InMemoryMetaStore();
    private SimControlPlane plane;
    private MemoryNode survivor;
    private MemoryNode lost;
    private SimComputeNode named;
    private SimComputeNode other;

    @BeforeEach
    void open()
    {
        plane = new SimControlPlane(7, store, 2);
        lost = plane.memoryNodes.getFirst();
        survivor = plane.memoryNodes.getLast();
        named = plane.addComputeNode();
        other = plane.addComputeNode();
    }

    @AfterEach
    void close()
    {
        plane.close();
    }

    private <T> ControlCall<T> await(final ControlCall<T> call)
    {
        plane.runUntil(call::isDone);
        return call;
    }

    private View makeGroup()
    {
        return await(named.meta.makeGroup(List.of(lost.nodeId(), survivor.nodeId()), TIMEOUT_NS)).result();
    }

    /** Asks, and reports what was left, until the view of the group is as wanted. */
    private View awaitView(final SimComputeNode node, final boolean leaves, final Predicate<View> isWanted)
    {
        View view = null;
        for (int asked = 0; view == null || !isWanted.test(view); asked++)
        {
            assertThat(asked).as("asked, and it is still %s", view).isLessThan(MAX_ASKED);
            final List<LeftView> left = view == null || !leaves ? List.of() :
                List.of(new LeftView(view.group(), view.left()));
            final ControlCall<ViewPage> call = await(node.meta.views(left, 0, TIMEOUT_NS));
            assertThat(call.status()).isEqualTo(ControlStatus.OK);
            view = call.result().views().getFirst();
        }
        if (leaves)
        {
            await(node.meta.views(List.of(new LeftView(view.group(), view.left())), 0, TIMEOUT_NS)).result();
        }
        return view;
    }

    private VirtualQp connect(final SimComputeNode node)
    {
        final VirtualQp vqp = node.connect(survivor, plane.address(survivor));
        plane.runUntil(() -> vqp.isReady() || VirtualQp.State.FAILED == vqp.state());
        return vqp;
    }

    /** The queue pair goes with it: the next connection is made anew, with the key that there is then. */
    private static void forget(final SimComputeNode node, final VirtualQp vqp)
    {
        vqp.close();
        node.raas.forget(vqp.peer());
    }

    private boolean canWrite(final SimComputeNode node, final VirtualQp vqp)
    {
        final int ended = node.succeeded + node.failed;
        final int succeeded = node.succeeded;
        node.write(vqp, OFFSET, 1);
        plane.runUntil(() -> node.succeeded + node.failed > ended);
        return node.succeeded > succeeded;
    }

    private void lose()
    {
        plane.simNode(lost).kill();
    }

    @Test
    void shouldMakeAGroupOnceAndKeepItOverARestart()
    {
        final View first = makeGroup();
        assertThat(first.members()).containsExactly(
            new PeerIdentity(lost.nodeId(), lost.incarnation()),
            new PeerIdentity(survivor.nodeId(), survivor.incarnation()));
        assertThat(makeGroup()).isEqualTo(first);
        final View turned = await(named.meta.makeGroup(
            List.of(survivor.nodeId(), lost.nodeId()), TIMEOUT_NS)).result();
        assertThat(turned.group()).as("tables name either in the same place").isNotIn(first.group(), lost.nodeId(),
            survivor.nodeId(), named.registration.nodeId(), other.registration.nodeId());
        assertThat(plane.addComputeNode().registration.nodeId()).isNotIn(first.group(), turned.group());
        assertThat(await(named.meta.makeGroup(
            List.of(survivor.nodeId(), named.registration.nodeId()), TIMEOUT_NS)).status())
            .isEqualTo(ControlStatus.INVALID_REQUEST);
        plane.restartMetaServer();
        assertThat(plane.metaServer.views()).containsExactly(first, turned);
    }

    @Test
    void shouldGoOnWithoutAMemberThatIsLost()
    {
        final View first = makeGroup();
        final VirtualQp before = connect(other);
        assertThat(canWrite(other, before)).isTrue();
        lose();

        // Both compute nodes have a lease, so both have to leave before anybody makes copies equal.
        final View closing = awaitView(named, true, (view) -> ViewState.CLOSING == view.state());
        assertThat(closing.isLost(0)).isTrue();
        plane.runUntil(() -> !survivor.hasKey(other.registration.identity()));
        assertThat(canWrite(other, before)).as("under a key of the view that is over").isFalse();
        assertThat(plane.metaServer.views().getFirst().state()).isEqualTo(ViewState.CLOSING);

        final View reconciling = awaitView(other, true, (view) -> ViewState.CLOSING != view.state());
        assertThat(reconciling.state()).isEqualTo(ViewState.RECONCILING);
        final SimComputeNode reconciler =
            reconciling.reconciler().equals(named.registration.identity()) ? named : other;
        final ViewAttempt attempt = ViewAttempt.of(reconciling);
        final VirtualQp callsOnly = connect(reconciler);
        final ControlCall<RemoteRegion> key =
            await(reconciler.client(callsOnly).reconcilerKey(attempt, TIMEOUT_NS));
        assertThat(key.result().lengthBytes()).isEqualTo(SimControlPlane.REGION_LENGTH_BYTES);
        shouldKeepItsLeases(reconciler.client(callsOnly), reconciler, attempt);
        assertThat(await(reconciler.meta.reportReconciled(attempt, true, TIMEOUT_NS)).status())
            .isEqualTo(ControlStatus.OK);

        final View next = awaitView(named, true, (view) -> ViewState.ACTIVE == view.state());
        assertThat(next.number()).isEqualTo(first.number() + 1);
        assertThat(next.members()).containsExactly(first.members().getLast());
    }

    /** It has its leases: only those of a memory node that comes in are changed. */
    private void shouldKeepItsLeases(
        final MemoryNodeClient client, final SimComputeNode reconciler, final ViewAttempt attempt)
    {
        final MemoryNodeStat before = await(client.stat(TIMEOUT_NS)).result();
        final MirroredChunk chunk = new MirroredChunk(
            attempt.group(), attempt.number(), before.chunkCount() - 1, before.chunkLengthBytes(), 3);
        final EnteredLease lease = new EnteredLease(
            chunk, EnteredLease.BLOCKS, 9, reconciler.registration.identity(), null);
        assertThat(await(client.enterLease(attempt, lease, TIMEOUT_NS)).failure()).contains("does not come in");
        assertThat(await(client.releaseLeases(attempt, TIMEOUT_NS)).status()).isEqualTo(ControlStatus.UNAVAILABLE);
        assertThat(await(client.stat(TIMEOUT_NS)).result()).isEqualTo(before);
    }

    @Test
    void shouldGiveAKeyOnlyToWhoHasLeftWhatIsClosed()
    {
        final View first = makeGroup();
        lose();
        awaitView(named, false, (view) -> ViewState.CLOSING == view.state());
        awaitClosed();

        final VirtualQp callsOnly = connect(other);
        assertThat(callsOnly.isReady()).isTrue();
        assertThat(callsOnly.peerRegions()).as("no key").isEmpty();
        final MemoryNodeClient client = other.client(callsOnly);
        assertThat(await(client.nameViews(List.of(), TIMEOUT_NS)).result())
            .containsExactly(new LeftView(first.group(), first.number()));
        assertThat(await(client.nameViews(
            List.of(new LeftView(first.group(), first.number() - 1)), TIMEOUT_NS)).result()).hasSize(1);
        assertThat(await(client.nameViews(
            List.of(new LeftView(first.group(), first.number())), TIMEOUT_NS)).result()).isEmpty();
        forget(other, callsOnly);
        final VirtualQp withKey = connect(other);
        assertThat(withKey.peerRegions()).hasSize(1);
        assertThat(canWrite(other, withKey)).isTrue();
    }

    /** Whoever connects anew has no key then. */
    private void awaitClosed()
    {
        boolean hasClosed = false;
        for (int tried = 0; !hasClosed; tried++)
        {
            assertThat(tried).as("connections that had a key").isLessThan(MAX_ASKED);
            final VirtualQp vqp = connect(named);
            hasClosed = vqp.isReady() && vqp.peerRegions().isEmpty();
            forget(named, vqp);
        }
    }

    @Test
    void shouldRefuseWhatIsNotForTheCaller()
    {
        final View first = makeGroup();
        final VirtualQp vqp = connect(other);
        final View closing = first.closing(1, other.registration.identity());
        assertThat(await(other.client(vqp).closeView(closing, TIMEOUT_NS)).status())
            .isEqualTo(ControlStatus.FORBIDDEN);
        assertThat(canWrite(other, vqp)).isTrue();
        final ControlCall<RemoteRegion> key =
            await(other.client(vqp).reconcilerKey(ViewAttempt.of(closing), TIMEOUT_NS));
        assertThat(key.status()).isEqualTo(ControlStatus.UNAVAILABLE);
        assertThat(key.failure()).contains("no key", "group=" + first.group());
        assertThat(await(other.meta.reportReconciled(ViewAttempt.of(closing), true, TIMEOUT_NS)).status())
            .isEqualTo(ControlStatus.OK);
        assertThat(plane.metaServer.views()).containsExactly(first);
    }
}
