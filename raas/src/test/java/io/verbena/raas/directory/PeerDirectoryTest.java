package io.verbena.raas.directory;

import io.verbena.raas.Admission;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.RpcServer;
import io.verbena.rdma.soft.SoftFabric;
import io.verbena.rdma.soft.SoftFabricOptions;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.MemoryRegion;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class PeerDirectoryTest
{
    private static final int PORT = 1;
    private static final int CAPACITY = 16;
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long BROKEN_TIMEOUT_NS = 500_000_000;

    @TempDir
    Path directory;
    private SoftFabric fabric;
    private Device metaDevice;
    private Device nodeDevice;
    private RaasContext meta;
    private RaasContext node;
    private MemoryRegion region;
    private DirectoryView view;
    private RpcServer server;
    private byte[] privateData;
    private PeerDirectory peers;

    @BeforeEach
    void open()
    {
        fabric = SoftFabric.open(new SoftFabricOptions().directory(directory));
        metaDevice = fabric.openDevice("meta");
        nodeDevice = fabric.openDevice("node");
        meta = RaasContext.open(metaDevice, new RaasConfiguration());
        node = RaasContext.open(nodeDevice, new RaasConfiguration());
        region = meta.protectionDomain().allocateRegistered(
            DirectoryView.regionLengthBytes(CAPACITY), AccessFlags.REMOTE_READ);
        view = new DirectoryView(region, CAPACITY);
        privateData = view.privateData();
        server = meta.serve(
            PORT,
            (caller, source) -> Admission.accept(AccessFlags.REMOTE_READ, privateData, region),
            (caller, method, request, offset, length, reply) -> 0);
        peers = new PeerDirectory(node, metaAddress(), TIMEOUT_NS);
    }

    @AfterEach
    void close()
    {
        peers.close();
        node.close();
        view.close();
        server.close();
        region.close();
        meta.close();
        nodeDevice.close();
        metaDevice.close();
        fabric.close();
    }

    private PeerAddress metaAddress()
    {
        return new PeerAddress(metaDevice.address(), PORT, 0, 0);
    }

    private static PeerRecord record(final int nodeId, final int incarnation)
    {
        return new PeerRecord(
            nodeId,
            incarnation,
            77,
            NodeRole.MEMORY_NODE,
            new DeviceAddress(5, -nodeId),
            4000 + nodeId,
            new RemoteRegion(1L << 40 | nodeId, 1L << 33, nodeId * 31));
    }

    private PeerLookup lookup(final int nodeId, final int incarnation)
    {
        final PeerLookup lookup = peers.lookup(nodeId, incarnation, TIMEOUT_NS);
        await(lookup);
        return lookup;
    }

    private void await(final PeerLookup lookup)
    {
        final long deadlineNs = System.nanoTime() + TIMEOUT_NS;
        while (lookup.state() == PeerLookup.State.PENDING && System.nanoTime() - deadlineNs < 0)
        {
            poll();
        }
    }

    private void poll()
    {
        node.poll();
        meta.poll();
        peers.poll();
    }

    @Test
    void shouldFindANodeWithOneReadAndAgainWithNone()
    {
        view.publish(record(3, 1));
        final PeerLookup first = lookup(3, 0);
        assertThat(first.state()).isEqualTo(PeerLookup.State.FOUND);
        assertThat(first.record()).isEqualTo(record(3, 1));
        assertThat(node.counters().reads).isEqualTo(1);
        assertThat(node.counters().verbs()).isEqualTo(1);

        assertThat(peers.lookup(3, 0, TIMEOUT_NS).record()).isEqualTo(record(3, 1));
        assertThat(peers.lookup(3, 1, TIMEOUT_NS).state()).isEqualTo(PeerLookup.State.FOUND);
        assertThat(node.counters().verbs()).isEqualTo(1);
        assertThat(peers.reads()).isEqualTo(1);
    }

    @Test
    void shouldReadAgainForAnotherLifeOfTheNode()
    {
        view.publish(record(3, 1));
        lookup(3, 0);
        view.publish(record(3, 2));
        assertThat(lookup(3, 2).record()).isEqualTo(record(3, 2));
        assertThat(lookup(3, 1).state()).isEqualTo(PeerLookup.State.NOT_FOUND);
        peers.forget(3, 1);
        assertThat(peers.lookup(3, 0, TIMEOUT_NS).record()).as("a later life stays").isEqualTo(record(3, 2));
        peers.forget(3, 2);
        view.remove(3);
        assertThat(lookup(3, 0).state()).isEqualTo(PeerLookup.State.NOT_FOUND);
        assertThat(view.remove(3)).isFalse();
    }

    @Test
    void shouldFindEveryNodeOfAFullView()
    {
        int published = 0;
        for (int nodeId = 1; nodeId <= 200; nodeId++)
        {
            if (!view.publish(record(nodeId, 1)))
            {
                assertThat(lookup(nodeId, 0).state()).isEqualTo(PeerLookup.State.NOT_FOUND);
            }
            else
            {
                published++;
                assertThat(lookup(nodeId, 0).record()).isEqualTo(record(nodeId, 1));
            }
        }
        assertThat(published).isBetween(CAPACITY, CAPACITY + DirectoryViewDescriptor.WINDOW - 1);
    }

    @Test
    void shouldRepeatTheReadWhileARecordIsChanging()
    {
        view.publish(record(3, 1));
        final int place = DirectoryViewDescriptor.firstPlace(3, CAPACITY);
        final UnsafeBuffer memory = new UnsafeBuffer(region.segment().address(), (int)region.lengthBytes());
        final int byteOfBody = place * PeerRecordDescriptor.RECORD_LENGTH_BYTES + PeerRecordDescriptor.EPOCH_OFFSET;
        memory.putByte(byteOfBody, (byte)78);
        final PeerLookup lookup = peers.lookup(3, 0, TIMEOUT_NS);
        while (lookup.tornReads() < 5)
        {
            poll();
        }
        assertThat(lookup.state()).isEqualTo(PeerLookup.State.PENDING);
        memory.putByte(byteOfBody, (byte)77);
        await(lookup);
        assertThat(lookup.record()).isEqualTo(record(3, 1));
    }

    @Test
    void shouldGiveUpAtTheDeadlineWhenARecordStaysBroken()
    {
        view.publish(record(3, 1));
        final int place = DirectoryViewDescriptor.firstPlace(3, CAPACITY);
        new UnsafeBuffer(region.segment().address(), (int)region.lengthBytes())
            .putByte(place * PeerRecordDescriptor.RECORD_LENGTH_BYTES + 127, (byte)1);
        // Long enough that a busy machine gets to look at the record, and short beside TIMEOUT_NS.
        final PeerLookup lookup = peers.lookup(3, 0, BROKEN_TIMEOUT_NS);
        await(lookup);
        assertThat(lookup.state()).isEqualTo(PeerLookup.State.FAILED);
        assertThat(lookup.failure()).contains("node 3").contains("changing");
    }

    @Test
    void shouldSayWhyNothingCanBeReadWhenThePeerHasNoView()
    {
        privateData = new byte[0];
        final PeerLookup lookup = lookup(3, 0);
        assertThat(lookup.state()).isEqualTo(PeerLookup.State.FAILED);
        assertThat(lookup.failure()).contains("the peer has no directory");
    }

    @Test
    void shouldRefuseAViewOfAnotherVersionByName()
    {
        privateData[DirectoryViewDescriptor.VERSION_OFFSET] = 3;
        assertThat(lookup(3, 0).failure()).contains("version 3").contains("version 1");
    }

    @Test
    void shouldRefuseARecordOfAnotherVersionByName()
    {
        final byte[] bytes = new byte[PeerRecordDescriptor.RECORD_LENGTH_BYTES];
        final UnsafeBuffer buffer = new UnsafeBuffer(bytes);
        PeerRecordDescriptor.encode(record(3, 1), buffer, 0);
        assertThat(PeerRecordDescriptor.isValid(buffer, 0)).isTrue();
        buffer.putShort(PeerRecordDescriptor.VERSION_OFFSET, (short)3);
        assertThat(PeerRecordDescriptor.isValid(buffer, 0)).isFalse();
        buffer.putLong(0, net.openhft.hashing.LongHashFunction.xx3().hashBytes(bytes, 8, 120));
        final int place = DirectoryViewDescriptor.firstPlace(3, CAPACITY);
        new UnsafeBuffer(region.segment().address(), (int)region.lengthBytes())
            .putBytes(place * PeerRecordDescriptor.RECORD_LENGTH_BYTES, bytes);
        assertThat(lookup(3, 0).failure()).contains("version 3").contains("version 2");
    }

    @Test
    void shouldConnectAnewWhenTheOwnerCameBack()
    {
        view.publish(record(3, 1));
        lookup(3, 0);
        server.close();
        assertThat(lookup(4, 0).state()).isEqualTo(PeerLookup.State.FAILED);
        server = meta.serve(
            PORT,
            (caller, source) -> Admission.accept(AccessFlags.REMOTE_READ, privateData, region),
            (caller, method, request, offset, length, reply) -> 0);
        view.publish(record(4, 1));
        assertThat(lookup(4, 0).record()).isEqualTo(record(4, 1));
    }

    @Test
    void shouldRefuseAViewThatItsRegionCannotHold()
    {
        assertThatThrownBy(() -> new DirectoryView(region, 2 * CAPACITY)).hasMessageContaining("needs a region of");
        assertThatThrownBy(() -> new DirectoryView(region, 3)).hasMessageContaining("power of two");
    }

    @Test
    void shouldFailLookupsUnderWayWhenClosed()
    {
        final PeerLookup lookup = peers.lookup(3, 0, TIMEOUT_NS);
        peers.close();
        assertThat(lookup.state()).isEqualTo(PeerLookup.State.FAILED);
        assertThat(lookup.failure()).contains("closed");
    }
}
