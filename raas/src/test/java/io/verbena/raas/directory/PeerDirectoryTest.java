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
import java.util.function.BooleanSupplier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class PeerDirectoryTest
{
    private static final int PORT = 1;
    private static final int CAPACITY = 16;
    private static final int NAMED_BYTES = 4096;
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
            DirectoryView.regionLengthBytes(CAPACITY, NAMED_BYTES), AccessFlags.REMOTE_READ);
        view = new DirectoryView(region, CAPACITY, NAMED_BYTES);
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
        runWhile(() -> lookup.state() == PeerLookup.State.PENDING);
    }

    private PeerListing list(final long leastVersion)
    {
        final PeerListing listing = peers.list(leastVersion, TIMEOUT_NS);
        await(listing);
        return listing;
    }

    private void await(final PeerListing listing)
    {
        runWhile(() -> listing.state() == PeerListing.State.PENDING);
    }

    private void runWhile(final BooleanSupplier condition)
    {
        final long deadlineNs = System.nanoTime() + TIMEOUT_NS;
        while (condition.getAsBoolean() && System.nanoTime() - deadlineNs < 0)
        {
            poll();
        }
    }

    private UnsafeBuffer memory()
    {
        return new UnsafeBuffer(region.segment().address(), (int)region.lengthBytes());
    }

    private static int windowOffset(final int place)
    {
        return (int)DirectoryViewDescriptor.windowOffset(place, CAPACITY);
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
        final int byteOfBody = windowOffset(place) + PeerRecordDescriptor.EPOCH_OFFSET;
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
            .putByte(windowOffset(place) + 127, (byte)1);
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
        privateData[DirectoryViewDescriptor.VERSION_OFFSET] = 9;
        assertThat(lookup(3, 0).failure()).contains("version 9").contains("version 3");
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
            .putBytes(windowOffset(place), bytes);
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
        assertThatThrownBy(() -> new DirectoryView(region, 2 * CAPACITY, NAMED_BYTES))
            .hasMessageContaining("needs a region of");
        assertThatThrownBy(() -> new DirectoryView(region, 3, NAMED_BYTES)).hasMessageContaining("power of two");
    }

    @Test
    void shouldFailLookupsUnderWayWhenClosed()
    {
        final PeerLookup lookup = peers.lookup(3, 0, TIMEOUT_NS);
        peers.close();
        assertThat(lookup.state()).isEqualTo(PeerLookup.State.FAILED);
        assertThat(lookup.failure()).contains("closed");
    }

    @Test
    void shouldListAllNodesInOneRoundTripAndFindThemInNone()
    {
        view.publish(record(9, 1));
        view.publish(record(3, 1));
        view.membershipVersion(7);
        final PeerListing listing = list(7);
        assertThat(listing.failure()).isEmpty();
        assertThat(listing.records()).containsExactly(record(3, 1), record(9, 1));
        assertThat(listing.membershipVersion()).isEqualTo(7);
        assertThat(peers.lookup(3, 0, TIMEOUT_NS).record()).isEqualTo(record(3, 1));
        assertThat(peers.lookup(9, 1, TIMEOUT_NS).record()).isEqualTo(record(9, 1));
        assertThat(node.counters().reads).as("of nodes and of named records").isEqualTo(2);
        assertThat(node.counters().verbs()).isEqualTo(2);
        assertThat(node.counters().doorbells).isEqualTo(1);
        assertThat(peers.reads()).isEqualTo(1);
    }

    @Test
    void shouldListNothingOfAnEmptyView()
    {
        final PeerListing listing = list(0);
        assertThat(listing.state()).isEqualTo(PeerListing.State.LISTED);
        assertThat(listing.records()).isEmpty();
    }

    @Test
    void shouldForgetNodesThatAreNotListedAnyMore()
    {
        view.publish(record(3, 1));
        view.publish(record(4, 1));
        list(0);
        view.remove(3);
        view.publish(record(4, 2));
        assertThat(list(0).records()).containsExactly(record(4, 2));
        assertThat(peers.lookup(4, 0, TIMEOUT_NS).record()).isEqualTo(record(4, 2));
        assertThat(lookup(3, 0).state()).isEqualTo(PeerLookup.State.NOT_FOUND);
    }

    @Test
    void shouldUsePlacesOfTheListAgainAndReadNoFurtherThanTheLast()
    {
        for (int nodeId = 1; nodeId <= CAPACITY / 2; nodeId++)
        {
            assertThat(view.publish(record(nodeId, 1))).isTrue();
        }
        for (int nodeId = 2; nodeId <= CAPACITY / 2; nodeId++)
        {
            view.remove(nodeId);
        }
        assertThat(DirectoryViewDescriptor.listed(view.privateData())).isEqualTo(1);
        view.publish(record(100, 1));
        assertThat(DirectoryViewDescriptor.listed(view.privateData())).isEqualTo(2);
        assertThat(list(0).records()).containsExactly(record(1, 1), record(100, 1));
    }

    @Test
    void shouldReadTheListAgainWhileItIsChanging()
    {
        view.publish(record(3, 1));
        for (final int offset : new int[]{
            DirectoryHeaderDescriptor.SUM_OFFSET,
            DirectoryViewDescriptor.listOffset(0) + PeerRecordDescriptor.EPOCH_OFFSET})
        {
            final byte before = memory().getByte(offset);
            memory().putByte(offset, (byte)(before + 1));
            final PeerListing listing = peers.list(0, TIMEOUT_NS);
            runWhile(() -> listing.tornReads() < 5);
            assertThat(listing.state()).isEqualTo(PeerListing.State.PENDING);
            memory().putByte(offset, before);
            await(listing);
            assertThat(listing.records()).containsExactly(record(3, 1));
        }
    }

    @Test
    void shouldNotTakeRecordsThatDoNotAddUpToTheHeader()
    {
        view.publish(record(3, 1));
        final byte[] header = new byte[DirectoryHeaderDescriptor.LENGTH_BYTES];
        memory().getBytes(0, header);
        view.publish(record(3, 2));
        final byte[] present = new byte[DirectoryHeaderDescriptor.LENGTH_BYTES];
        memory().getBytes(0, present);
        memory().putBytes(0, header);
        final PeerListing listing = peers.list(0, TIMEOUT_NS);
        runWhile(() -> listing.tornReads() < 5);
        assertThat(listing.state()).isEqualTo(PeerListing.State.PENDING);
        memory().putBytes(0, present);
        await(listing);
        assertThat(listing.records()).containsExactly(record(3, 2));
    }

    @Test
    void shouldReadAgainUntilTheListIsAsNewAsWhatWasHeard()
    {
        view.publish(record(3, 1));
        view.membershipVersion(4);
        final PeerListing listing = peers.list(5, TIMEOUT_NS);
        final long reads = peers.reads();
        runWhile(() -> peers.reads() < reads + 3);
        assertThat(listing.state()).isEqualTo(PeerListing.State.PENDING);
        view.publish(record(4, 1));
        view.membershipVersion(6);
        await(listing);
        assertThat(listing.membershipVersion()).isEqualTo(6);
        assertThat(listing.records()).containsExactly(record(3, 1), record(4, 1));

        final PeerListing late = peers.list(7, BROKEN_TIMEOUT_NS);
        await(late);
        assertThat(late.failure()).contains("older than version 7");
    }

    @Test
    void shouldReadOnceMoreWhenTheListHasBecomeMuchLonger()
    {
        final int capacity = 256;
        try (MemoryRegion large = meta.protectionDomain().allocateRegistered(
            DirectoryView.regionLengthBytes(capacity, 0), AccessFlags.REMOTE_READ))
        {
            final DirectoryView longView = new DirectoryView(large, capacity, 0);
            longView.publish(record(1, 1));
            try (RpcServer other = meta.serve(
                PORT + 1,
                (caller, source) -> Admission.accept(AccessFlags.REMOTE_READ, longView.privateData(), large),
                (caller, method, request, offset, length, reply) -> 0);
                PeerDirectory reader = new PeerDirectory(
                    node, new PeerAddress(metaDevice.address(), PORT + 1, 0, 0), TIMEOUT_NS))
            {
                assertThat(listOf(reader).shortReads()).isZero();
                for (int nodeId = 2; nodeId <= 120; nodeId++)
                {
                    assertThat(longView.publish(record(nodeId, 1))).isTrue();
                }
                final PeerListing longer = listOf(reader);
                assertThat(longer.records()).hasSize(120).contains(record(120, 1));
                assertThat(longer.shortReads()).isEqualTo(1);
                assertThat(listOf(reader).shortReads()).as("it knows now").isZero();
                assertThat(reader.reads()).isEqualTo(4);
                assertThat(other.connections()).isEqualTo(1);
            }
        }
    }

    private PeerListing listOf(final PeerDirectory reader)
    {
        final PeerListing listing = reader.list(0, TIMEOUT_NS);
        runWhile(() ->
        {
            reader.poll();
            return listing.state() == PeerListing.State.PENDING;
        });
        assertThat(listing.failure()).isEmpty();
        return listing;
    }

    @Test
    void shouldRefuseAHeaderOfAnotherVersionByName()
    {
        final byte[] bytes = new byte[DirectoryHeaderDescriptor.LENGTH_BYTES];
        memory().getBytes(0, bytes);
        bytes[DirectoryHeaderDescriptor.VERSION_OFFSET] = 9;
        memory().putBytes(0, bytes);
        memory().putLong(0, net.openhft.hashing.LongHashFunction.xx3().hashBytes(bytes, 8, 120));
        assertThat(list(0).failure()).contains("version 9").contains("version 2").contains("update the older");
    }

    @Test
    void shouldFailListsUnderWayWhenClosedAndWhenTheOwnerIsGone()
    {
        list(0);
        server.close();
        assertThat(list(0).state()).isEqualTo(PeerListing.State.FAILED);
        final PeerListing listing = peers.list(0, TIMEOUT_NS);
        peers.close();
        assertThat(listing.failure()).contains("closed");
        assertThat(peers.list(0, TIMEOUT_NS)).satisfies((after) ->
        {
            peers.poll();
            assertThat(after.failure()).contains("closed");
        });
    }
}
