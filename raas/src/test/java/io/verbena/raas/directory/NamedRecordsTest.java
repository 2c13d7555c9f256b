package io.verbena.raas.directory;

import io.verbena.raas.Admission;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.RpcServer;
import io.verbena.rdma.soft.SoftFabric;
import io.verbena.rdma.soft.SoftFabricOptions;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.MemoryRegion;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The named part of a view: written, read, filled to its limit and beyond. */
class NamedRecordsTest
{
    private static final int PORT = 1;
    private static final int CAPACITY = 4;
    private static final int UNIT = NamedRecordDescriptor.UNIT_BYTES;
    private static final int ROOM_BYTES = 256 * UNIT;
    private static final int IN_ONE_UNIT = UNIT - NamedRecordDescriptor.NAME_OFFSET - 2;
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);

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
            DirectoryView.regionLengthBytes(CAPACITY, ROOM_BYTES), AccessFlags.REMOTE_READ);
        view = new DirectoryView(region, CAPACITY, ROOM_BYTES);
        server = meta.serve(
            PORT,
            (caller, source) -> Admission.accept(AccessFlags.REMOTE_READ, view.privateData(), region),
            (caller, method, request, offset, length, reply) -> 0);
        peers = new PeerDirectory(node, new PeerAddress(metaDevice.address(), PORT, 0, 0), TIMEOUT_NS);
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

    private PeerListing list()
    {
        final PeerListing listing = peers.list(0, TIMEOUT_NS);
        runWhile(() -> listing.state() == PeerListing.State.PENDING);
        return listing;
    }

    private void runWhile(final BooleanSupplier condition)
    {
        final long deadlineNs = System.nanoTime() + TIMEOUT_NS;
        while (condition.getAsBoolean() && System.nanoTime() - deadlineNs < 0)
        {
            node.poll();
            meta.poll();
            peers.poll();
        }
    }

    private UnsafeBuffer memory()
    {
        return new UnsafeBuffer(region.segment().address(), (int)region.lengthBytes());
    }

    private static int firstRecord()
    {
        return (int)DirectoryViewDescriptor.namedOffset(CAPACITY);
    }

    private static NamedRecord record(final int number, final int contentBytes)
    {
        final byte[] content = new byte[contentBytes];
        new SplittableRandom(number).nextBytes(content);
        return new NamedRecord(number, "n" + number, content);
    }

    private static Map<String, String> texts(final List<NamedRecord> records)
    {
        final Map<String, String> texts = new HashMap<>();
        records.forEach((each) -> texts.put(each.name(),
            each.number() + " " + HexFormat.of().formatHex(each.content())));
        return texts;
    }

    @Test
    void shouldListNamedRecordsByNameInTheSameRoundTrip()
    {
        assertThat(view.publish(record(2, 100))).isTrue();
        assertThat(view.publish(record(1, 0))).isTrue();
        final PeerListing listing = list();
        assertThat(listing.named()).extracting(NamedRecord::name).containsExactly("n1", "n2");
        assertThat(texts(listing.named())).isEqualTo(texts(List.of(record(1, 0), record(2, 100))));
        assertThat(listing.namedOutside()).isZero();
        assertThat(node.counters().reads).isEqualTo(2);
        assertThat(node.counters().doorbells).isEqualTo(1);
    }

    @Test
    void shouldCountRecordsForWhichThereIsNoRoomAndShowThemWhenThereIs()
    {
        for (int number = 10; number < 10 + 256; number++)
        {
            assertThat(view.publish(new NamedRecord(number, "" + number % 100 / 10 + number % 10 + number / 100,
                new byte[IN_ONE_UNIT - 1]))).isTrue();
        }
        assertThat(view.namedBytes()).isEqualTo(ROOM_BYTES);
        assertThat(view.publish(record(1, 0))).isFalse();
        assertThat(view.publish(record(1, 0))).as("the same once more").isFalse();
        PeerListing listing = list();
        assertThat(listing.named()).hasSize(256);
        assertThat(listing.namedOutside()).isEqualTo(1);
        assertThat(view.namesOutside()).containsExactly("n1");

        view.remove(listing.named().getFirst().name());
        assertThat(view.publish(record(1, IN_ONE_UNIT + 1))).as("two units are not free").isFalse();
        assertThat(view.publish(record(1, IN_ONE_UNIT))).isTrue();
        listing = list();
        assertThat(listing.named()).hasSize(256).extracting(NamedRecord::name).contains("n1");
        assertThat(listing.namedOutside()).isZero();
        assertThat(view.publish(record(1, ROOM_BYTES))).as("longer than all").isFalse();
        listing = list();
        assertThat(listing.named()).as("the old one is not shown").hasSize(255);
        assertThat(listing.namedOutside()).isEqualTo(1);
        view.remove("n1");
        assertThat(list().namedOutside()).isZero();
        view.remove("nobody");
    }

    @Test
    void shouldShowWhatThereIsAfterAnyChanges()
    {
        final SplittableRandom random = new SplittableRandom(1);
        final Map<String, NamedRecord> model = new HashMap<>();
        for (int step = 0; step < 2_000; step++)
        {
            final NamedRecord changed = new NamedRecord(step, "t" + random.nextInt(20), new byte[random.nextInt(900)]);
            random.nextBytes(changed.content());
            if (random.nextInt(3) == 0)
            {
                model.remove(changed.name());
                view.remove(changed.name());
            }
            else if (view.publish(changed))
            {
                model.put(changed.name(), changed);
            }
            else
            {
                model.remove(changed.name());
            }
            if (step % 100 == 0)
            {
                assertThat(texts(list().named())).isEqualTo(texts(List.copyOf(model.values())));
            }
        }
        model.keySet().forEach(view::remove);
        view.namesOutside().forEach(view::remove);
        assertThat(view.namedBytes()).isZero();
        for (int offset = firstRecord(); offset < firstRecord() + ROOM_BYTES; offset += Long.BYTES)
        {
            assertThat(memory().getLong(offset)).isZero();
        }
    }

    @Test
    void shouldReadAgainWhileARecordIsChanging()
    {
        view.publish(record(1, 100));
        for (final int offset : new int[]{
            firstRecord() + NamedRecordDescriptor.CONTENT_LENGTH_OFFSET + 3,
            firstRecord() + NamedRecordDescriptor.NAME_LENGTH_OFFSET,
            firstRecord() + NamedRecordDescriptor.NAME_OFFSET + 50,
            firstRecord(),
            DirectoryHeaderDescriptor.NAMED_SUM_OFFSET})
        {
            final byte before = memory().getByte(offset);
            memory().putByte(offset, (byte)(before ^ 0x80));
            final PeerListing listing = peers.list(0, TIMEOUT_NS);
            runWhile(() -> listing.tornReads() < 3);
            assertThat(listing.state()).as("offset %d", offset).isEqualTo(PeerListing.State.PENDING);
            memory().putByte(offset, before);
            runWhile(() -> listing.state() == PeerListing.State.PENDING);
            assertThat(listing.named()).hasSize(1);
        }
    }

    @Test
    void shouldNotTakeAStateWithoutARecordThatTheHeaderCounts()
    {
        view.publish(record(1, 10));
        final byte[] unit = new byte[UNIT];
        memory().getBytes(firstRecord(), unit);
        memory().setMemory(firstRecord(), UNIT, (byte)0);
        final PeerListing listing = peers.list(0, TIMEOUT_NS);
        runWhile(() -> listing.tornReads() < 3);
        assertThat(listing.state()).isEqualTo(PeerListing.State.PENDING);
        memory().putBytes(firstRecord(), unit);
        runWhile(() -> listing.state() == PeerListing.State.PENDING);
        assertThat(listing.named()).hasSize(1);
    }

    @Test
    void shouldReadOnceMoreWhenThereIsMuchMoreThanAtConnect()
    {
        assertThat(list().shortReads()).isZero();
        for (int number = 1; number <= 60; number++)
        {
            assertThat(view.publish(record(number, 100))).isTrue();
        }
        final PeerListing listing = list();
        assertThat(listing.shortReads()).isEqualTo(1);
        assertThat(listing.named()).hasSize(60);
        assertThat(list().shortReads()).isZero();
    }

    @Test
    void shouldListNodesWithoutReadingNamedRecords()
    {
        for (int number = 1; number <= 60; number++)
        {
            assertThat(view.publish(record(number, 100))).isTrue();
        }
        // Nobody who wants nodes alone waits for a record that is changing.
        memory().putByte(firstRecord(), (byte)(memory().getByte(firstRecord()) ^ 1));
        final long before = node.counters().payloadBytes;
        final PeerListing listing = peers.listNodes(0, TIMEOUT_NS);
        runWhile(() -> listing.state() == PeerListing.State.PENDING);
        assertThat(listing.state()).isEqualTo(PeerListing.State.LISTED);
        assertThat(listing.named()).isEmpty();
        assertThat(listing.shortReads()).isZero();
        assertThat(node.counters().payloadBytes - before).isLessThanOrEqualTo(4096);
        assertThat(node.counters().reads).isEqualTo(1);
    }

    @Test
    void shouldRefuseARecordOfAnotherVersionAndNamesOfNoLength()
    {
        view.publish(record(1, 10));
        final int used = NamedRecordDescriptor.NAME_OFFSET + 2 + 10;
        final byte[] bytes = new byte[used];
        memory().putByte(firstRecord() + NamedRecordDescriptor.VERSION_OFFSET, (byte)7);
        memory().getBytes(firstRecord(), bytes);
        final long checksum = net.openhft.hashing.LongHashFunction.xx3().hashBytes(bytes, 8, used - 8);
        final long before = memory().getLong(firstRecord());
        memory().putLong(firstRecord(), checksum);
        assertThat(checksum).isNotEqualTo(before);
        assertThat(list().failure()).contains("version 7").contains("version 1").contains("update the older");
        assertThatThrownBy(() -> view.publish(new NamedRecord(1, "", new byte[1]))).hasMessageContaining("not of 0");
    }
}
