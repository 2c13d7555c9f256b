package io.verbena.compute;

import io.verbena.compute.catalog.CatalogWatch;
import io.verbena.compute.catalog.TableRegistry;
import io.verbena.compute.figures.UnexpectedFailures;
import io.verbena.raas.ReadTargetAddress;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.directory.PeerRecord;
import io.verbena.raas.directory.TcpAddress;
import io.verbena.rdma.verbs.DeviceAddress;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

class MemoryNodeWatchTest
{
    private final MetaRig rig = new MetaRig();
    private final UnexpectedFailures failures = new UnexpectedFailures(rig.world.clock());
    private final List<Integer> found = new ArrayList<>();
    private final CatalogWatch catalog;
    private MemoryNodeWatch watch;

    MemoryNodeWatchTest()
    {
        rig.registered();
        final TableRegistry tables =
            new TableRegistry(rig.link, (descriptor) -> null, () -> 0, MetaRig.TIMEOUT_NS, failures);
        catalog = new CatalogWatch(rig.link, tables, MetaRig.TIMEOUT_NS, failures);
        catalog.onHeard(10, 20);
        rig.view.publish(node(2, NodeRole.MEMORY_NODE));
        rig.view.publish(node(3, NodeRole.COMPUTE_NODE));
        rig.view.publish(node(4, NodeRole.MEMORY_NODE));
        rig.view.membershipVersion(20);
    }

    private static PeerRecord node(final int nodeId, final NodeRole role)
    {
        return new PeerRecord(nodeId, nodeId, 1, role, new DeviceAddress(1, nodeId), 1, new RemoteRegion(0, 4096, 1));
    }

    private static PeerRecord tcpNode(final int nodeId)
    {
        return new PeerRecord(nodeId, nodeId, 1, NodeRole.COMPUTE_NODE, new DeviceAddress(1, nodeId), 1,
            new RemoteRegion(0, 0, 0), ReadTargetAddress.NONE, new TcpAddress(0, nodeId, 6_379));
    }

    private void begin()
    {
        watch = new MemoryNodeWatch(rig.link, catalog, rig.nowNs(), MetaRig.TIMEOUT_NS, found::add, failures);
        rig.run(watch::poll);
    }

    @AfterEach
    void close()
    {
        rig.close();
    }

    @Test
    void shouldFindTheMemoryNodesWithOneReadAVersion()
    {
        begin();
        rig.runUntil(watch::hasListed);
        assertThat(found).containsExactly(2, 4);
        assertThat(watch.nextAtNs(rig.nowNs())).as("nothing is due").isEqualTo(Long.MAX_VALUE);
        rig.runFor(3 * MemoryNodeWatch.PAUSE_NS);
        assertThat(rig.link.directory().reads()).isEqualTo(1);

        rig.view.membershipVersion(21);
        catalog.onHeard(11, 21);
        rig.runUntil(() -> 4 == found.size());
        assertThat(rig.link.directory().reads()).isEqualTo(2);
        assertThat(rig.count("nodes")).as("calls").isZero();
    }

    @Test
    void shouldKnowTheNodesThatServeOverTcpByTheirNumbers()
    {
        rig.view.publish(tcpNode(9));
        rig.view.publish(tcpNode(5));
        begin();
        rig.runUntil(watch::hasListed);
        assertThat(watch.tcpNodes()).containsExactly(tcpNode(5), tcpNode(9));

        rig.view.remove(5);
        rig.view.publish(tcpNode(7));
        rig.view.membershipVersion(21);
        catalog.onHeard(11, 21);
        rig.runUntil(() -> watch.tcpNodes().contains(tcpNode(7)));
        assertThat(watch.tcpNodes()).containsExactly(tcpNode(7), tcpNode(9));
        assertThat(found).as("no memory nodes").doesNotContain(5, 7, 9);
    }

    @Test
    void shouldTryAgainAfterThePauseWhenAListFails()
    {
        catalog.onHeard(11, 21);
        begin();
        rig.runUntil(() -> !watch.failure().isEmpty());
        assertThat(watch.hasListed()).isFalse();
        assertThat(watch.failure()).contains("older than version 21");
        assertThat(found).isEmpty();
        final long readBefore = rig.link.directory().reads();
        rig.runFor(MemoryNodeWatch.PAUSE_NS / 2);
        assertThat(rig.link.directory().reads()).as("not before the pause is over").isEqualTo(readBefore);
        rig.view.membershipVersion(21);
        rig.runUntil(watch::hasListed);
        assertThat(watch.failure()).isEmpty();
        assertThat(found).containsExactly(2, 4);
    }

    @Test
    void shouldListAnewWhenTheConnectionIsMadeAnew()
    {
        begin();
        rig.runUntil(watch::hasListed);
        rig.link.close();
        rig.view.membershipVersion(21);
        catalog.onHeard(11, 21);
        rig.runUntil(() -> 4 == found.size());
        assertThat(watch.failure()).isEmpty();
    }
}
