package io.verbena.memory;

import io.verbena.meta.store.InMemoryMetaStore;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.TableEntry;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.directory.NamedRecord;
import io.verbena.raas.directory.PeerListing;
import io.verbena.raas.directory.PeerRecord;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;

import static org.assertj.core.api.Assertions.assertThat;

/** The view that all read shows what the meta server answers, and not less than it has said. */
class MetaViewSimTest
{
    private static final long TIMEOUT_NS = 5_000_000;
    private static final int STEPS = 60;

    private static <T> T result(final SimControlPlane plane, final ControlCall<T> call)
    {
        plane.runUntil(call::isDone);
        assertThat(call.status()).as(call.failure()).isEqualTo(ControlStatus.OK);
        return call.result();
    }

    private static PeerListing list(final SimControlPlane plane, final SimComputeNode compute, final long version)
    {
        final PeerListing listing = compute.directory.list(version, TIMEOUT_NS);
        plane.runUntil(() -> PeerListing.State.PENDING != listing.state());
        return listing;
    }

    private static Map<String, String> tables(final PeerListing listing)
    {
        final Map<String, String> tables = new TreeMap<>();
        for (final NamedRecord table : listing.named())
        {
            tables.put(table.name(), table.number() + " " + ByteBuffer.wrap(table.content()).order(
                ByteOrder.LITTLE_ENDIAN).getLong(table.content().length - Long.BYTES));
        }
        return tables;
    }

    /** A descriptor as far as the meta server looks into one: its checksum is behind the rest. */
    private static TableEntry table(final String name, final int tableId, final int lengthBytes, final long checksum)
    {
        final byte[] descriptor = new byte[lengthBytes];
        ByteBuffer.wrap(descriptor).order(ByteOrder.LITTLE_ENDIAN).putLong(lengthBytes - Long.BYTES, checksum);
        return new TableEntry(name, tableId, descriptor);
    }

    private static TableEntry create(
        final SimControlPlane plane, final SimComputeNode compute, final String name, final int lengthBytes)
    {
        final int tableId = result(plane, compute.meta.allocateTableId(0, TIMEOUT_NS));
        final TableEntry table = table(name, tableId, lengthBytes, tableId);
        result(plane, compute.meta.createTable(table, List.of(), 0, TIMEOUT_NS));
        return table;
    }

    @Test
    void shouldShowNodesAndTablesAsOftenAsTheyChange()
    {
        try (SimControlPlane plane = new SimControlPlane(3, new InMemoryMetaStore(), 2))
        {
            final SimComputeNode first = plane.addComputeNode();
            final SimComputeNode second = plane.addComputeNode();
            final PeerListing nodes = list(plane, first, second.registration.membershipVersion());
            assertThat(nodes.records()).extracting(PeerRecord::identity).contains(
                first.registration.identity(), second.registration.identity()).hasSize(4);

            final TableEntry users = create(plane, first, "users", 100);
            assertThat(tables(list(plane, second, 0))).containsExactly(Map.entry("users", users.tableId() + " 1"));
            create(plane, first, "orders", 3_584);
            final TableEntry grown = table("users", users.tableId(), 900, 77);
            result(plane, first.meta.growTable(grown, 1, List.of(), TIMEOUT_NS));
            final long version = plane.metaServer.stat().membershipVersion();
            final PeerListing after = list(plane, second, version);
            assertThat(after.membershipVersion()).isEqualTo(version);
            assertThat(tables(after)).containsExactly(
                Map.entry("orders", "2 2"), Map.entry("users", users.tableId() + " 77"));

            plane.moveMetaServer();
            final SimComputeNode late = plane.addComputeNode();
            assertThat(tables(list(plane, late, version))).isEqualTo(tables(after));
            result(plane, late.meta.dropTable("users", TIMEOUT_NS));
            final int beats = second.beats;
            plane.runUntil(() -> second.beats > beats);
            result(plane, second.meta.leave(
                second.registration.nodeId(), second.registration.incarnation(), TIMEOUT_NS));
            final PeerListing last = list(plane, late, plane.metaServer.stat().membershipVersion());
            assertThat(tables(last)).containsOnlyKeys("orders");
            assertThat(last.records()).extracting(PeerRecord::identity).doesNotContain(second.registration.identity());
        }
    }

    /** Who has heard of a version, by a registration or a heartbeat, finds in the view what led to it. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void shouldNotShowLessThanWasHeard(final long seed)
    {
        final SplittableRandom random = new SplittableRandom(seed);
        try (SimControlPlane plane = new SimControlPlane(seed, new InMemoryMetaStore(), 1))
        {
            final SimComputeNode writer = plane.addComputeNode();
            final SimComputeNode reader = plane.addComputeNode();
            final Map<String, TableEntry> present = new HashMap<>();
            final Set<PeerIdentity> joined = new HashSet<>();
            long checksum = 1_000;
            for (int step = 0; step < STEPS; step++)
            {
                // A list under way while the change is made, and one behind it.
                final PeerListing during = reader.directory.list(reader.version, TIMEOUT_NS);
                final String name = "t" + random.nextInt(5);
                final TableEntry before = present.get(name);
                if (0 == random.nextInt(4) && joined.size() < 8)
                {
                    joined.add(plane.addComputeNode().registration.identity());
                }
                else if (null == before)
                {
                    present.put(name, create(plane, writer, name, 8 + random.nextInt(1_000)));
                }
                else if (0 == random.nextInt(3))
                {
                    result(plane, writer.meta.dropTable(name, TIMEOUT_NS));
                    present.remove(name);
                }
                else
                {
                    final TableEntry grown =
                        table(name, before.tableId(), 8 + random.nextInt(1_500), ++checksum);
                    result(plane, writer.meta.growTable(grown,
                        ByteBuffer.wrap(before.descriptor()).order(ByteOrder.LITTLE_ENDIAN)
                            .getLong(before.descriptor().length - Long.BYTES), List.of(), TIMEOUT_NS));
                    present.put(name, grown);
                }
                final long version = plane.metaServer.stat().membershipVersion();
                plane.runUntil(() -> PeerListing.State.PENDING != during.state());
                assertThat(during.failure()).isEmpty();
                final PeerListing after = list(plane, reader, version);
                assertThat(after.failure()).isEmpty();
                assertThat(tables(after).keySet()).as("seed %d step %d", seed, step).isEqualTo(present.keySet());
                for (final NamedRecord shown : after.named())
                {
                    assertThat(shown.content()).isEqualTo(present.get(shown.name()).descriptor());
                }
                assertThat(after.records()).extracting(PeerRecord::identity).containsAll(joined);
            }
        }
    }
}
