package io.verbena.meta.membership;

import io.verbena.meta.catalog.TableCatalog;
import io.verbena.meta.store.MetaBatch;
import io.verbena.meta.store.MetaState;
import io.verbena.meta.store.RocksMetaStore;
import io.verbena.meta.store.StoredTable;
import io.verbena.protocol.message.NodeRegistration;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.ReadTargetAddress;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.directory.NodeRole;
import io.verbena.rdma.verbs.DeviceAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * What a meta server told, it knows after its host has stopped at any moment: its log, synced with each write, is cut
 * off everywhere between and within the writes of a random run, and the production conductor and catalog start on it.
 */
@Timeout(120)
class MetaCrashPropertyTest
{
    private static final int SEEDS = Integer.getInteger("verbena.property.seeds", 300) / 100;
    private static final int REQUESTS = 30;
    private static final ConductorOptions OPTIONS =
        new ConductorOptions(new MembershipOptions(600, 50, 64), 10, 10, 30, false);

    /** What was told up to some moment. */
    private static final class Told
    {
        private final Map<String, Integer> tables = new HashMap<>();
        private final Map<Integer, Integer> live = new HashMap<>();
        private final Map<Integer, Integer> left = new HashMap<>();
        private final Set<PeerIdentity> given = new HashSet<>();
        private final Set<Integer> writers = new HashSet<>();
        private int tableId;
        private long epoch;
        private long version;

        private Told copy()
        {
            final Told copy = new Told();
            copy.tables.putAll(tables);
            copy.live.putAll(live);
            copy.left.putAll(left);
            copy.given.addAll(given);
            copy.writers.addAll(writers);
            copy.tableId = tableId;
            copy.epoch = epoch;
            copy.version = version;
            return copy;
        }
    }

    /** A meta server without connections. */
    private static final class Server
    {
        private final MetaLedger ledger;
        private final MembershipConductor conductor;
        private final TableCatalog catalog;

        Server(final RocksMetaStore store, final long nowNs)
        {
            final MetaState state = store.load();
            ledger = MembershipConductor.openLedger(store, state, 99, TestSecrets.first());
            conductor = new MembershipConductor(ledger, state, OPTIONS, new Unheard(), nowNs);
            catalog = new TableCatalog(store, state.tables());
        }
    }

    @TempDir
    private Path directory;
    private final List<Told> told = new ArrayList<>();
    private final List<MetaState> states = new ArrayList<>();
    private final List<Long> logLengths = new ArrayList<>();
    private long nowNs = 1;
    private long endpoints;

    @Test
    void shouldKnowAfterAnEndAtAnyMomentWhatItTold() throws IOException
    {
        for (long seed = 1; seed <= SEEDS; seed++)
        {
            told.clear();
            states.clear();
            logLengths.clear();
            run(seed);
            int images = 0;
            for (int i = 0; i < told.size(); i++)
            {
                final long from = logLengths.get(i);
                final long to = i + 1 == told.size() ? from : Math.max(from, logLengths.get(i + 1) - 1);
                for (final long length : LongStream.of(from, (from + to) / 2, to).distinct().toArray())
                {
                    check(seed, i, length, directory.resolve("image-" + seed + "-" + images++));
                }
            }
        }
    }

    /** A log that ends a byte too early, as one that was not synced before the answer. */
    @Test
    void shouldSeeThatSomethingToldIsForgotten() throws IOException
    {
        run(1);
        final int made = IntStream.range(1, told.size()).filter((i) ->
            !told.get(i - 1).tables.keySet().containsAll(told.get(i).tables.keySet())).findFirst().orElseThrow();
        assertThatThrownBy(() -> check(1, made, logLengths.get(made) - 1, directory.resolve("short")))
            .isInstanceOf(AssertionError.class).hasMessageContaining("request " + made);
    }

    /** Remembers after each request what was told, what the store holds, and how long its log is. */
    private void run(final long seed) throws IOException
    {
        final Random random = new Random(seed);
        final Path live = directory.resolve("live-" + seed);
        final Told now = new Told();
        try (RocksMetaStore store = RocksMetaStore.open(live))
        {
            final Server server = new Server(store, nowNs);
            remember(store, live, now);
            for (int i = 0; i < REQUESTS; i++)
            {
                nowNs += random.nextInt(20);
                request(server, random, now);
                server.conductor.doWork(nowNs, (id, round) -> {});
                now.epoch = server.conductor.epoch();
                now.version = server.conductor.table().version();
                remember(store, live, now);
            }
            copy(live.resolve("rocksdb"), directory.resolve("end-" + seed));
        }
    }

    private void request(final Server server, final Random random, final Told now)
    {
        final String name = "table-" + random.nextInt(4);
        switch (random.nextInt(7))
        {
            case 6 -> server.conductor.recordSpares(3);
            case 0, 1 -> register(server, random.nextInt(3) == 0 ? NodeRole.MEMORY_NODE : NodeRole.COMPUTE_NODE, now);
            case 2 -> leave(server, now);
            case 3, 4 -> create(server, name, now);
            default ->
            {
                if (null != server.catalog.drop(name, server.ledger::commit))
                {
                    now.tables.remove(name);
                }
            }
        }
    }

    private void register(final Server server, final NodeRole role, final Told now)
    {
        final Member member = server.conductor.register(
            new NodeRegistration(0, role, new DeviceAddress(1, ++endpoints), 1,
            new RemoteRegion(4096, 4096, 1), endpoints, 0, ReadTargetAddress.NONE), nowNs);
        assertThat(now.given.add(member.node().identity())).as("%s is given out twice", member).isTrue();
        assertThat(0 == member.node().writerNumber() || now.writers.add(member.node().writerNumber()))
            .as("the writer number of %s has another user", member).isTrue();
        now.live.put(member.nodeId(), member.incarnation());
    }

    private void leave(final Server server, final Told now)
    {
        now.live.entrySet().stream().findFirst().ifPresent((node) ->
        {
            assertThat(server.conductor.leave(node.getKey(), node.getValue(), nowNs)).isTrue();
            now.left.put(node.getKey(), node.getValue());
            now.live.remove(node.getKey());
        });
    }

    private static void create(final Server server, final String name, final Told now)
    {
        now.tableId = server.ledger.counters().nextTableId();
        server.ledger.commit(server.ledger.counters().withNextTableId(), new MetaBatch());
        if (null == server.catalog.createIfAbsent(new StoredTable(name, now.tableId, new byte[]{1, 2, 3})))
        {
            now.tables.put(name, now.tableId);
        }
    }

    private void remember(final RocksMetaStore store, final Path live, final Told now) throws IOException
    {
        told.add(now.copy());
        states.add(store.load());
        logLengths.add(Files.size(log(live.resolve("rocksdb"))));
    }

    /** The log is cut off at a length that it had at or after this request, and before the end of the next one. */
    private void check(final long seed, final int request, final long length, final Path image) throws IOException
    {
        copy(directory.resolve("end-" + seed), image.resolve("rocksdb"));
        final Path log = log(image.resolve("rocksdb"));
        Files.write(log, Arrays.copyOf(Files.readAllBytes(log), (int)length));
        final String what = "seed " + seed + ", request " + request + ", log of " + length + " bytes";
        final Told known = told.get(request);
        try (RocksMetaStore store = RocksMetaStore.open(image))
        {
            if (length == logLengths.get(request))
            {
                assertThat(withoutBytes(store.load())).as(what).isEqualTo(withoutBytes(states.get(request)));
            }
            final Server server = new Server(store, nowNs);
            assertKnown(what, server, known, request + 1 < told.size() ? told.get(request + 1) : known);
            assertThat(server.conductor.epoch()).as(what).isGreaterThan(known.epoch);
            assertThat(server.ledger.counters().nextTableId()).as(what).isGreaterThan(known.tableId);
            assertThat(server.conductor.table().version()).as(what).isGreaterThanOrEqualTo(known.version);
            register(server, NodeRole.COMPUTE_NODE, known.copy());
            server.conductor.recordSpares(3);
            register(server, NodeRole.COMPUTE_NODE, known.copy());
        }
    }

    /** The next request may have been done too, or a part of it that nobody was told of. */
    private static void assertKnown(final String what, final Server server, final Told known, final Told next)
    {
        known.tables.forEach((name, id) ->
        {
            if (id.equals(next.tables.get(name)))
            {
                assertThat(server.catalog.table(name)).as("%s: %s", what, name).isNotNull()
                    .extracting(StoredTable::tableId).isEqualTo(id);
            }
        });
        server.catalog.tables().forEach((table) ->
            assertThat(table.tableId()).as(what).isIn(known.tables.get(table.name()), next.tables.get(table.name())));
        known.live.forEach((id, incarnation) -> assertThat(server.conductor.table().members())
            .as("%s: node %d", what, id).anyMatch((member) -> id == member.nodeId() &&
            incarnation == member.incarnation() && (member.isLive() || next.left.containsKey(id))));
        known.left.forEach((id, incarnation) -> assertThat(server.conductor.table().members())
            .as("%s: node %d left", what, id).noneMatch((member) -> id == member.nodeId() &&
            incarnation == member.incarnation() && member.isLive()));
    }

    /** Arrays are equal by their content only where somebody looks at it. */
    private static String withoutBytes(final MetaState state)
    {
        return state.counters() + " " + state.nodes() + " " + state.tables().stream()
            .map((table) -> table.name() + "=" + table.tableId() + Arrays.toString(table.descriptor())).toList();
    }

    private static Path log(final Path database) throws IOException
    {
        try (Stream<Path> files = Files.list(database))
        {
            return files.filter((file) -> file.getFileName().toString().endsWith(".log")).findFirst().orElseThrow();
        }
    }

    private static void copy(final Path from, final Path to) throws IOException
    {
        Files.createDirectories(to);
        try (Stream<Path> files = Files.list(from))
        {
            for (final Path file : files.toList())
            {
                Files.copy(file, to.resolve(file.getFileName()));
            }
        }
    }
}
