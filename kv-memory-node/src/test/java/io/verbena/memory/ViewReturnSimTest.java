package io.verbena.memory;

import io.verbena.memory.checkpoint.MappedLoads;
import io.verbena.meta.store.InMemoryMetaStore;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.view.LeftView;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewAttempt;
import io.verbena.protocol.view.ViewState;
import io.verbena.raas.VirtualQp;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.table.format.SuperblockDescriptor;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Production memory nodes of a group end, all of them, and return: with their memory, or with a checkpoint. */
class ViewReturnSimTest
{
    private static final long TIMEOUT_NS = 5_000_000;
    private static final long OFFSET = 4096;
    private static final int MAX_ASKED = 20_000;
    private static final long LEASES_NS = 5 * SimControlPlane.LEASE_NS;

    @TempDir
    private Path directory;

    private SimControlPlane plane;
    private final MemoryFolder[] folders = new MemoryFolder[2];
    private final MemoryNode[] nodes = new MemoryNode[2];
    private SimComputeNode compute;
    private View first;

    @BeforeEach
    void open()
    {
        plane = new SimControlPlane(7, new InMemoryMetaStore(), 0);
        start(0);
        start(1);
        compute = plane.addComputeNode();
        first = await(compute.meta.makeGroup(List.of(nodes[0].nodeId(), nodes[1].nodeId()), TIMEOUT_NS)).result();
    }

    @AfterEach
    void close()
    {
        plane.close();
        folders[0].close();
        folders[1].close();
    }

    private <T> ControlCall<T> await(final ControlCall<T> call)
    {
        plane.runUntil(call::isDone);
        return call;
    }

    private void start(final int node)
    {
        folders[node] = MemoryFolder.open(
            directory.resolve("node" + node), 0, SimControlPlane.REGION_LENGTH_BYTES);
        nodes[node] = plane.addMemoryNode(folders[node]);
        plane.runUntil(nodes[node]::isReady);
    }

    private void end(final int node)
    {
        plane.simNode(nodes[node]).kill();
        folders[node].close();
    }

    private PeerIdentity identity(final int node)
    {
        return new PeerIdentity(nodes[node].nodeId(), nodes[node].incarnation());
    }

    /** As when its host ends; it goes on with what the last checkpoint had. */
    private void loseMemory(final int node)
    {
        assertThat(plane.world.fabric().discardNamed(folders[node].memoryName())).isTrue();
    }

    private void checkpoint(final int node)
    {
        nodes[node].checkpointer().make(MappedLoads::new);
        assertThat(nodes[node].checkpointer().failure()).isEmpty();
    }

    private View view()
    {
        return plane.metaServer.views().getFirst();
    }

    private void leave()
    {
        assertThat(await(compute.meta.views(
            List.of(new LeftView(first.group(), view().left())), 0, TIMEOUT_NS)).status()).isEqualTo(ControlStatus.OK);
    }

    private void awaitMembers(final PeerIdentity... survivors)
    {
        plane.runUntil(() -> view().survivors().equals(List.of(survivors)));
        assertThat(view().number()).isEqualTo(first.number());
    }

    /** Nothing of a copy is written: the test has one word, which all have. */
    private void reconcile()
    {
        final int beats = compute.beats;
        plane.runUntil(() -> compute.beats > beats);
        for (int asked = 0; ViewState.RECONCILING != view().state(); asked++)
        {
            assertThat(asked).as("asked, and it is still %s", view()).isLessThan(MAX_ASKED);
            leave();
        }
        final ViewAttempt attempt = ViewAttempt.of(view());
        assertThat(view().reconciler()).isEqualTo(compute.registration.identity());
        assertThat(await(compute.meta.reportReconciled(attempt, true, TIMEOUT_NS)).status())
            .isEqualTo(ControlStatus.OK);
        assertThat(view().state()).isEqualTo(ViewState.ACTIVE);
        assertThat(view().number()).isEqualTo(first.number() + 1);
        leave();
    }

    private VirtualQp connect(final int node)
    {
        final VirtualQp vqp = compute.connect(nodes[node], plane.address(nodes[node]));
        plane.runUntil(vqp::isReady);
        return vqp;
    }

    /** Over a first connection it names what it has left. */
    private void nameLeft(final int node)
    {
        final VirtualQp vqp = connect(node);
        assertThat(vqp.peerRegions()).as("before it has named what it has left").isEmpty();
        assertThat(await(compute.client(vqp).nameViews(
            List.of(new LeftView(first.group(), view().left())), TIMEOUT_NS)).result()).isEmpty();
        vqp.close();
        compute.raas.forget(vqp.peer());
    }

    private void write(final int node, final int value)
    {
        final VirtualQp vqp = connect(node);
        final int succeeded = compute.succeeded;
        compute.write(vqp, OFFSET, value);
        plane.runUntil(() -> compute.succeeded > succeeded);
        vqp.close();
        compute.raas.forget(vqp.peer());
    }

    private long bytes(final int node, final long offset)
    {
        final UnsafeBuffer read = new UnsafeBuffer(ByteBuffer.allocateDirect(Long.BYTES));
        nodes[node].readRegion(offset, read, Long.BYTES);
        return read.getLong(0);
    }

    private long completeSince(final int node)
    {
        return bytes(node, SuperblockDescriptor.COMPLETE_OFFSET);
    }

    @Test
    void shouldGoOnWithBothWhenBothReturnWithTheirMemory()
    {
        write(0, 77);
        write(1, 77);
        final long written = bytes(0, OFFSET);
        assertThat(written).isNotZero();
        end(1);
        plane.runUntil(() -> view().isLost(1));
        end(0);
        plane.runUntil(() -> view().isDeserted());
        plane.restartMetaServer();
        start(0);
        awaitMembers(identity(0));
        assertThat(plane.metaServer.whyClosed(first.group())).isEmpty();
        plane.moveMetaServer();
        start(1);
        awaitMembers(identity(0), identity(1));
        assertThat(completeSince(0)).as("as when it was new").isEqualTo(first.members().getFirst().incarnation());
        assertThat(completeSince(1)).isEqualTo(first.members().getLast().incarnation());

        reconcile();
        assertThat(view().members()).containsExactly(identity(0), identity(1));
        assertThat(bytes(0, OFFSET)).isEqualTo(bytes(1, OFFSET)).isEqualTo(written);
        nameLeft(0);
        write(0, 78);
        assertThat(bytes(0, OFFSET)).isNotEqualTo(written);
    }

    @Test
    void shouldGoOnWithTheOnlyMemberThatIsLeftAfterEachRestartOfIt()
    {
        end(0);
        plane.runUntil(() -> view().isLost(0));
        reconcile();
        assertThat(view().members()).containsExactly(identity(1));
        end(1);
        start(1);
        final PeerIdentity once = identity(1);
        plane.runUntil(() -> view().survivors().equals(List.of(once)));
        end(1);
        plane.restartMetaServer();
        start(1);
        plane.runUntil(() -> view().survivors().equals(List.of(identity(1))));
        assertThat(view().members()).containsExactly(identity(1));
        assertThat(view().state()).isEqualTo(ViewState.CLOSING);
        first = view();
        reconcile();
        assertThat(view().members()).containsExactly(identity(1));
    }

    @Test
    void shouldStayClosedUntilOneReturnsThatHasItsMemory()
    {
        checkpoint(1);
        end(0);
        end(1);
        loseMemory(1);
        start(1);
        assertThat(completeSince(1)).as("the checkpoint is older").isEqualTo(nodes[1].incarnation());
        end(1);
        final int restored = nodes[1].incarnation();
        start(1);
        assertThat(completeSince(1)).as("not lost again").isEqualTo(restored);
        plane.runUntil(() -> view().isDeserted());
        plane.world.runFor(LEASES_NS);
        assertThat(view().isDeserted()).isTrue();
        assertThat(view().state()).isEqualTo(ViewState.CLOSING);
        assertThat(plane.metaServer.whyClosed(first.group())).contains(
            "node " + nodes[0].nodeId() + " incarnation " + nodes[0].incarnation() + " is not up",
            "node " + nodes[1].nodeId() + " incarnation " + first.members().getLast().incarnation() +
            " has its memory since incarnation " + restored + " only");

        start(0);
        awaitMembers(identity(0));
        plane.world.runFor(LEASES_NS);
        assertThat(view().isLost(1)).as("not beside another one either").isTrue();
        reconcile();
        assertThat(view().members()).containsExactly(identity(0));
    }

    @Test
    void shouldTakeMemoryOfAnOlderBuildForCompleteSinceItWasRestored()
    {
        final int before = nodes[1].incarnation();
        end(0);
        end(1);
        onMemory(1, before + 1);
        start(1);
        plane.runUntil(() -> view().isDeserted());
        plane.world.runFor(LEASES_NS);
        assertThat(view().isDeserted()).as("restored since").isTrue();
        end(1);
        onMemory(1, 0);
        start(1);
        awaitMembers(identity(1));
    }

    @Test
    void shouldTakeAProcessBackWhoseLeaseHasEnded()
    {
        final int[] before = {nodes[0].incarnation(), nodes[1].incarnation()};
        plane.simNode(nodes[0]).pause();
        plane.simNode(nodes[1]).pause();
        plane.runUntil(() -> view().isDeserted());
        plane.simNode(nodes[0]).resume();
        plane.simNode(nodes[1]).resume();
        plane.runUntil(() -> view().survivors().size() == 2);
        assertThat(view().survivors()).containsExactly(identity(0), identity(1));
        for (int node = 0; node < 2; node++)
        {
            assertThat(nodes[node].incarnation()).isGreaterThan(before[node]);
            assertThat(completeSince(node)).isEqualTo(before[node]);
        }
    }

    /** What an older build leaves: it says under which incarnation it has restored, and nothing else. */
    private void onMemory(final int node, final int restored)
    {
        try (MemoryRegion region = plane.world.addNode("older build").device().allocateProtectionDomain().allocateNamed(
            folders[node].memoryName(), SimControlPlane.REGION_LENGTH_BYTES,
            AccessFlags.ALL_REMOTE))
        {
            SuperblockDescriptor.writeRestored(region.segment(), restored);
            SuperblockDescriptor.writeComplete(region.segment(), 0);
        }
    }
}
