package io.verbena.memory;

import io.verbena.meta.store.DurableWriteError;
import io.verbena.meta.store.InMemoryMetaStore;
import io.verbena.meta.store.RocksMetaStore;
import io.verbena.protocol.access.Grant;
import io.verbena.protocol.access.SecretVerifier;
import io.verbena.protocol.access.TableRight;
import io.verbena.protocol.access.User;
import io.verbena.protocol.access.UserQuota;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.message.ChunkLease;
import io.verbena.protocol.message.ChunkPurpose;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.NodePage;
import io.verbena.protocol.message.TableEntry;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.VirtualQp;
import io.verbena.raas.directory.PeerLookup;
import io.verbena.raas.directory.PeerRecord;
import io.verbena.table.format.Superblock;
import io.verbena.table.format.SuperblockDescriptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The production agents of the control plane on a simulated fabric, with nodes that die, pause and come back. */
@Timeout(300)
class ControlPlaneSimTest
{
    private static final long TIMEOUT_NS = 5_000_000;
    private static final long WELL_PAST_A_LEASE_NS = 3 * SimControlPlane.LEASE_NS;

    @Test
    void shouldBeFoundInTheDirectoryWithAValidSuperblockWhenReady()
    {
        try (SimControlPlane plane = new SimControlPlane(1, new InMemoryMetaStore(), 2))
        {
            final SimComputeNode compute = plane.addComputeNode();
            final MemoryNode memory = plane.memoryNodes.getFirst();
            final PeerLookup lookup = compute.directory.lookup(memory.nodeId(), 0, TIMEOUT_NS);
            plane.runUntil(() -> PeerLookup.State.PENDING != lookup.state());
            assertThat(lookup.state()).as(lookup.failure()).isEqualTo(PeerLookup.State.FOUND);
            assertThat(lookup.record().address()).isEqualTo(plane.address(memory));

            final VirtualQp vqp = ready(plane, compute, memory);
            compute.readSuperblock(vqp);
            plane.runUntil(() -> 0 < compute.succeeded + compute.failed);

            assertThat(compute.superblock()).isEqualTo(new Superblock(
                memory.nodeId(),
                memory.incarnation(),
                SimControlPlane.REGION_LENGTH_BYTES,
                SuperblockDescriptor.SPACE_BYTES,
                SimControlPlane.CHUNK_LENGTH_BYTES,
                16,
                SuperblockDescriptor.SPACE_BYTES + 16L * SimControlPlane.CHUNK_LENGTH_BYTES));
        }
    }

    @Test
    void shouldLeaseUntilExhaustedAndTakeBack()
    {
        try (SimControlPlane plane = new SimControlPlane(2, new InMemoryMetaStore(), 1))
        {
            final SimComputeNode compute = plane.addComputeNode();
            final MemoryNode memory = plane.memoryNodes.getFirst();
            final VirtualQp vqp = ready(plane, compute, memory);
            final ChunkLease lease =
                result(plane, compute.client(vqp).leaseChunks(0, ChunkPurpose.BLOCKS, 16, true, TIMEOUT_NS));
            assertThat(lease.chunkLengthBytes()).isEqualTo(SimControlPlane.CHUNK_LENGTH_BYTES);

            final ControlCall<ChunkLease> tooMuch =
                done(plane, compute.client(vqp).leaseChunks(0, ChunkPurpose.BLOCKS, 1, false, TIMEOUT_NS));
            assertThat(tooMuch.status()).isEqualTo(ControlStatus.EXHAUSTED);
            assertThat(tooMuch.failure()).contains("0 of 16 are free");

            result(plane, compute.client(vqp).returnChunks(lease.runs(), 0, TIMEOUT_NS));
            assertThat(result(plane, compute.client(vqp).stat(TIMEOUT_NS)).freeChunkCount()).isEqualTo(16);
            assertThat(done(plane, compute.client(vqp).returnChunks(lease.runs(), 0, TIMEOUT_NS)).status())
                .isEqualTo(ControlStatus.INVALID_REQUEST);
        }
    }

    @Test
    void shouldFenceEverywhereBeforeTheEpochGoesOnWhenAComputeNodeDies()
    {
        try (SimControlPlane plane = new SimControlPlane(3, new InMemoryMetaStore(), 2))
        {
            final SimComputeNode victim = plane.addComputeNode();
            final SimComputeNode witness = plane.addComputeNode();
            final MemoryNode memory = plane.memoryNodes.getFirst();
            result(plane, victim.client(ready(plane, victim, memory))
                .leaseChunks(0, ChunkPurpose.BLOCKS, 3, false, TIMEOUT_NS));
            final long epochBefore = plane.metaServer.stat().epoch();
            plane.runUntil(() -> plane.metaServer.stat().epoch() > epochBefore + 5);

            victim.node.kill();
            plane.runUntil(() -> 1 == plane.metaServer.stat().fencingNodes());
            final long epochAtDeath = plane.metaServer.stat().epoch();
            plane.runUntil(() -> 0 == plane.metaServer.stat().fencingNodes());

            assertThat(memory.stat().retainedChunkCount()).isEqualTo(3);
            plane.runUntil(() -> witness.safeEpoch > epochAtDeath + 3);
            assertThat(plane.metaServer.stat().liveComputeNodes()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
    void shouldBounceLateWritesWhenAPausedNodeWakesUpAfterItsFence(final long seed)
    {
        try (SimControlPlane plane = new SimControlPlane(seed, new InMemoryMetaStore(), 2))
        {
            final SimComputeNode sleeper = plane.addComputeNode();
            final MemoryNode memory = plane.memoryNodes.getLast();
            final VirtualQp vqp = ready(plane, sleeper, memory);
            sleeper.write(vqp, SuperblockDescriptor.SPACE_BYTES, 1);
            plane.runUntil(() -> 1 == sleeper.succeeded);

            sleeper.node.pause();
            plane.runUntil(() -> 0 == plane.metaServer.stat().liveComputeNodes() &&
                0 == plane.metaServer.stat().fencingNodes());
            sleeper.write(vqp, SuperblockDescriptor.SPACE_BYTES, 2);
            sleeper.node.resume();
            plane.runUntil(() -> 1 == sleeper.failed);
            final VirtualQp again = sleeper.connect(memory, plane.address(memory));
            plane.runUntil(() -> VirtualQp.State.CONNECTING != again.state());
            plane.runUntil(() -> sleeper.lost);

            assertThat(again.state()).isEqualTo(VirtualQp.State.FAILED);
            assertThat(again.failure()).contains("fenced");
            assertThat(sleeper.succeeded).isEqualTo(1);
            final SimComputeNode reader = plane.addComputeNode();
            assertThat(reader.registration.incarnation()).isGreaterThan(sleeper.registration.incarnation());
            reader.read(ready(plane, reader, memory), SuperblockDescriptor.SPACE_BYTES);
            plane.runUntil(() -> 1 == reader.succeeded);
            assertThat(reader.word()).isEqualTo(1);
        }
    }

    @Test
    void shouldHoldTheEpochWhenAComputeNodeDiesWhileAMemoryNodeIsSilent()
    {
        try (SimControlPlane plane = new SimControlPlane(4, new InMemoryMetaStore(), 2))
        {
            final SimComputeNode victim = plane.addComputeNode();
            final SimComputeNode witness = plane.addComputeNode();
            final MemoryNode silent = plane.memoryNodes.getFirst();
            ready(plane, victim, silent);
            plane.simNode(silent).pause();
            victim.node.kill();
            plane.runUntil(() -> 1 == plane.metaServer.stat().fencingNodes());
            plane.world.runFor(WELL_PAST_A_LEASE_NS);
            final long heldEpoch = plane.metaServer.stat().safeEpoch();
            plane.world.runFor(WELL_PAST_A_LEASE_NS);
            assertThat(plane.metaServer.stat().safeEpoch()).isEqualTo(heldEpoch);
            assertThat(plane.metaServer.stat().fencingNodes()).isEqualTo(1);

            plane.simNode(silent).resume();
            plane.runUntil(() -> witness.safeEpoch > heldEpoch + 3);

            assertThat(plane.metaServer.stat().fencingNodes()).isZero();
        }
    }

    @Test
    void shouldSayThatAMemoryNodeIsGoneWhenItDies()
    {
        try (SimControlPlane plane = new SimControlPlane(5, new InMemoryMetaStore(), 2))
        {
            final SimComputeNode compute = plane.addComputeNode();
            final MemoryNode memory = plane.memoryNodes.getFirst();
            final int nodeId = memory.nodeId();
            final VirtualQp vqp = ready(plane, compute, memory);
            plane.simNode(memory).kill();
            compute.write(vqp, SuperblockDescriptor.SPACE_BYTES, 1);
            plane.runUntil(() -> 1 == compute.failed);
            assertThat(vqp.state()).isEqualTo(VirtualQp.State.FAILED);

            plane.runUntil(() -> 1 == plane.metaServer.stat().lostMemoryNodes());
            final NodePage nodes = result(plane, compute.meta.nodes(0, TIMEOUT_NS));
            final PeerLookup lookup = compute.directory.lookup(nodeId, 0, TIMEOUT_NS);
            plane.runUntil(() -> PeerLookup.State.PENDING != lookup.state());

            assertThat(nodes.nodes()).extracting(PeerRecord::nodeId).doesNotContain(nodeId).hasSize(2);
            assertThat(lookup.state()).isEqualTo(PeerLookup.State.NOT_FOUND);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {11, 12, 13, 14, 15})
    void shouldComeBackWithItsMemoryAndWithoutItsConnectionsWhenItsLeaseEnded(final long seed)
    {
        try (SimControlPlane plane = new SimControlPlane(seed, new InMemoryMetaStore(), 1))
        {
            final SimComputeNode compute = plane.addComputeNode();
            final MemoryNode memory = plane.memoryNodes.getFirst();
            final int nodeId = memory.nodeId();
            final int incarnation = memory.incarnation();
            final VirtualQp vqp = ready(plane, compute, memory);
            result(plane, compute.client(vqp).leaseChunks(0, ChunkPurpose.INDEX, 2, true, TIMEOUT_NS));

            plane.simNode(memory).pause();
            plane.runUntil(() -> 1 == plane.metaServer.stat().lostMemoryNodes());
            plane.simNode(memory).resume();
            plane.runUntil(() -> memory.isReady() && incarnation != memory.incarnation());

            assertThat(memory.nodeId()).isEqualTo(nodeId);
            assertThat(memory.incarnation()).isGreaterThan(incarnation);
            assertThat(memory.stat().indexChunkCount()).isEqualTo(2);
            compute.write(vqp, SuperblockDescriptor.SPACE_BYTES, 1);
            plane.runUntil(() -> 1 == compute.failed);
            compute.write(ready(plane, compute, memory), SuperblockDescriptor.SPACE_BYTES, 2);
            plane.runUntil(() -> 1 == compute.succeeded);
            assertThat(compute.lost).isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 5})
    void shouldNotCountANodeAsFencedBeforeItsConnectionsCouldBeClosed(final int refusals)
    {
        try (SimControlPlane plane = new SimControlPlane(18, new InMemoryMetaStore(), 1))
        {
            final SimComputeNode victim = plane.addComputeNode();
            final MemoryNode memory = plane.memoryNodes.getFirst();
            ready(plane, victim, memory);
            victim.node.pause();
            plane.runUntil(() -> 1 == plane.metaServer.stat().liveComputeNodes());
            plane.stubbornDevice.refuseCloses(refusals);

            plane.runUntil(() -> plane.stubbornDevice.refusedCloses > 0);
            assertThat(plane.metaServer.isKnown(victim.registration.identity())).isTrue();
            plane.runUntil(() -> !plane.metaServer.isKnown(victim.registration.identity()));

            assertThat(plane.stubbornDevice.refusedCloses).isEqualTo(refusals);
            assertThat(memory.hasKey(victim.registration.identity())).isFalse();
            assertThat(memory.isReady()).isTrue();
        }
    }

    @Test
    void shouldNotComeBackBeforeItsConnectionsCouldBeClosed()
    {
        try (SimControlPlane plane = new SimControlPlane(19, new InMemoryMetaStore(), 1))
        {
            final SimComputeNode compute = plane.addComputeNode();
            final MemoryNode memory = plane.memoryNodes.getFirst();
            final int incarnation = memory.incarnation();
            ready(plane, compute, memory);
            plane.simNode(memory).pause();
            plane.runUntil(() -> 1 == plane.metaServer.stat().lostMemoryNodes());
            plane.stubbornDevice.refuseCloses(3);
            plane.simNode(memory).resume();

            plane.runUntil(() -> plane.stubbornDevice.refusedCloses > 0);
            assertThat(memory.isReady()).isFalse();
            assertThat(memory.failure()).contains("cannot cut everybody off yet");
            assertThat(plane.metaServer.stat().lostMemoryNodes()).isEqualTo(1);
            plane.runUntil(() -> memory.isReady());

            assertThat(plane.stubbornDevice.refusedCloses).isEqualTo(3);
            assertThat(memory.incarnation()).isGreaterThan(incarnation);
            assertThat(memory.hasKey(compute.registration.identity())).isFalse();
        }
    }

    @Test
    void shouldLetNobodyKnowTheNodeWhenItHasLeft()
    {
        try (SimControlPlane plane = new SimControlPlane(6, new InMemoryMetaStore(), 2))
        {
            final SimComputeNode compute = plane.addComputeNode();
            final MemoryNode memory = plane.memoryNodes.getFirst();
            final VirtualQp vqp = ready(plane, compute, memory);

            memory.leave();
            plane.runUntil(() -> MemoryNodeState.LEFT == memory.state());
            compute.write(vqp, SuperblockDescriptor.SPACE_BYTES, 1);
            plane.runUntil(() -> 1 == compute.failed);

            assertThat(plane.metaServer.stat().liveMemoryNodes()).isEqualTo(1);
            assertThat(plane.metaServer.stat().lostMemoryNodes()).isZero();
        }
    }

    @Test
    void shouldGoOnWithTheSameLeasesWhenTheMetaServerRestarts()
    {
        try (SimControlPlane plane = new SimControlPlane(7, new InMemoryMetaStore(), 2))
        {
            final SimComputeNode before = plane.addComputeNode();
            plane.runUntil(() -> before.safeEpoch > 3);
            final long safeEpoch = before.safeEpoch;
            final int incarnation = plane.memoryNodes.getFirst().incarnation();

            plane.restartMetaServer();
            plane.world.runFor(WELL_PAST_A_LEASE_NS);

            assertThat(plane.memoryNodes.getFirst().isReady()).isTrue();
            assertThat(plane.memoryNodes.getFirst().incarnation()).isEqualTo(incarnation);
            final SimComputeNode after = plane.addComputeNode();
            assertThat(after.registration.incarnation()).isGreaterThan(before.registration.incarnation());
            assertThat(after.registration.epoch()).isGreaterThan(safeEpoch);
        }
    }

    @Test
    void shouldKnowTablesAndNumbersWhenRestartedOnTheSameFolder(@TempDir final Path folder)
    {
        final int incarnation;
        final int tableId;

        try (RocksMetaStore store = RocksMetaStore.open(folder);
            SimControlPlane plane = new SimControlPlane(8, store, 1))
        {
            final SimComputeNode compute = plane.addComputeNode();
            incarnation = compute.registration.incarnation();
            tableId = result(plane, compute.meta.allocateTableId(0, TIMEOUT_NS));
            result(plane, compute.meta.createTable(entry("users", tableId), List.of(), 0, TIMEOUT_NS));
            result(plane, compute.meta.createTable(entry("users", tableId), List.of(), 0, TIMEOUT_NS));
            assertThat(done(
                plane, compute.meta.createTable(entry("others", tableId + 1), List.of(), 0, TIMEOUT_NS)).status())
                .isEqualTo(ControlStatus.INVALID_REQUEST);
            final int otherId = result(plane, compute.meta.allocateTableId(0, TIMEOUT_NS));
            assertThat(done(
                plane, compute.meta.createTable(entry("users", otherId), List.of(), 0, TIMEOUT_NS)).status())
                .isEqualTo(ControlStatus.TABLE_EXISTS);
            assertThat(done(
                plane, compute.meta.createTable(entry("../etc", otherId), List.of(), 0, TIMEOUT_NS)).status())
                .isEqualTo(ControlStatus.INVALID_REQUEST);
        }

        try (RocksMetaStore store = RocksMetaStore.open(folder);
            SimControlPlane plane = new SimControlPlane(9, store, 1))
        {
            final SimComputeNode compute = plane.addComputeNode();
            assertThat(compute.registration.incarnation()).isGreaterThan(incarnation);
            assertThat(result(plane, compute.meta.table("users", TIMEOUT_NS)).descriptor())
                .asString().isEqualTo("users");
            assertThat(result(plane, compute.meta.tables("", TIMEOUT_NS)).names()).containsExactly("users");
            assertThat(result(plane, compute.meta.allocateTableId(0, TIMEOUT_NS))).isGreaterThan(tableId + 1);
            assertThat(result(plane, compute.meta.dropTable("users", TIMEOUT_NS)).tableId()).isEqualTo(tableId);
            assertThat(done(plane, compute.meta.table("users", TIMEOUT_NS)).status())
                .isEqualTo(ControlStatus.NO_SUCH_TABLE);
            assertThat(done(plane, compute.meta.dropTable("users", TIMEOUT_NS)).status())
                .isEqualTo(ControlStatus.NO_SUCH_TABLE);
        }
    }

    @Test
    void shouldMakeNoTableKnownOnAMemoryNodeThatIsAnotherOneByNow()
    {
        try (SimControlPlane plane = new SimControlPlane(17, new InMemoryMetaStore(), 1))
        {
            final SimComputeNode compute = plane.addComputeNode();
            final MemoryNode memory = plane.memoryNodes.getFirst();
            final TableEntry table =
                new TableEntry("users", result(plane, compute.meta.allocateTableId(0, TIMEOUT_NS)), new byte[8]);
            final PeerIdentity before = new PeerIdentity(memory.nodeId(), memory.incarnation() - 1);
            final PeerIdentity now = new PeerIdentity(memory.nodeId(), memory.incarnation());

            final ControlCall<Void> late = done(plane, compute.meta.createTable(table, List.of(before), 0, TIMEOUT_NS));
            assertThat(late.status()).isEqualTo(ControlStatus.UNAVAILABLE);
            assertThat(late.failure()).contains("memory node 1 is incarnation 1 by now");
            result(plane, compute.meta.createTable(table, List.of(now), 0, TIMEOUT_NS));
            assertThat(done(plane, compute.meta.growTable(table, 0, List.of(before), TIMEOUT_NS)).status())
                .isEqualTo(ControlStatus.UNAVAILABLE);
        }
    }

    /** What it leased goes back, whether its request was late or not. */
    @Test
    void shouldMakeNoTableKnownOfAComputeNodeThatWasTakenForEnded()
    {
        try (SimControlPlane plane = new SimControlPlane(19, new InMemoryMetaStore(), 1))
        {
            final SimComputeNode compute = plane.addComputeNode();
            final SimComputeNode ended = plane.addComputeNode();
            final TableEntry table =
                new TableEntry("users", result(plane, compute.meta.allocateTableId(0, TIMEOUT_NS)), new byte[8]);
            result(plane, ended.meta.leave(
                ended.registration.nodeId(), ended.registration.incarnation(), TIMEOUT_NS));

            final ControlCall<Void> late = done(plane, compute.meta.createTable(
                table, List.of(ended.registration.identity()), 0, TIMEOUT_NS));
            assertThat(late.status()).isEqualTo(ControlStatus.UNAVAILABLE);
            result(plane, compute.meta.createTable(
                table, List.of(compute.registration.identity()), 0, TIMEOUT_NS));
        }
    }

    @Test
    void shouldNotBringBackADroppedTableWhenItsCreationComesAgain()
    {
        try (SimControlPlane plane = new SimControlPlane(16, new InMemoryMetaStore(), 1))
        {
            final SimComputeNode compute = plane.addComputeNode();
            final TableEntry table = entry("users", result(plane, compute.meta.allocateTableId(0, TIMEOUT_NS)));
            result(plane, compute.meta.createTable(table, List.of(), 0, TIMEOUT_NS));
            result(plane, compute.meta.dropTable("users", TIMEOUT_NS));

            assertThat(done(plane, compute.meta.createTable(table, List.of(), 0, TIMEOUT_NS)).status())
                .isEqualTo(ControlStatus.INVALID_REQUEST);
            assertThat(done(plane, compute.meta.table("users", TIMEOUT_NS)).status())
                .isEqualTo(ControlStatus.NO_SUCH_TABLE);
        }
    }

    /** Two nodes make a table each for a user who may have one more: both get a number, as there is room then. */
    @Test
    void shouldMakeKnownNoMoreTablesThanAUserMayHave()
    {
        try (SimControlPlane plane = new SimControlPlane(17, new InMemoryMetaStore(), 1))
        {
            final SimComputeNode first = plane.addComputeNode();
            final SimComputeNode second = plane.addComputeNode();
            final int user = result(plane, first.meta.putUser(new User("ann", 0, 0, 0,
                SecretVerifier.ofNobody(new byte[32], "ann"),
                List.of(new Grant("users", TableRight.ADMIN.bit(), new byte[0]),
                    new Grant("others", TableRight.ADMIN.bit() | TableRight.READ.bit(), new byte[0]),
                    new Grant("read", TableRight.READ.bit(), new byte[0])),
                new UserQuota(0, 0, 0, 0, 1)), TIMEOUT_NS)).number();
            final TableEntry table = entry("users", result(plane, first.meta.allocateTableId(user, TIMEOUT_NS)));
            final TableEntry other = entry("others", result(plane, second.meta.allocateTableId(user, TIMEOUT_NS)));
            final TableEntry read = entry("read", result(plane, second.meta.allocateTableId(0, TIMEOUT_NS)));
            result(plane, second.meta.createTable(read, List.of(), 0, TIMEOUT_NS));
            result(plane, first.meta.createTable(table, List.of(), user, TIMEOUT_NS));

            final ControlCall<Void> refused =
                done(plane, second.meta.createTable(other, List.of(), user, TIMEOUT_NS));
            assertThat(refused.status()).isEqualTo(ControlStatus.OVER_QUOTA);
            assertThat(refused.failure()).contains("user ann has a quota of 1 tables");
            assertThat(done(plane, second.meta.allocateTableId(user, TIMEOUT_NS)).status())
                .isEqualTo(ControlStatus.OVER_QUOTA);
            result(plane, first.meta.createTable(table, List.of(), user, TIMEOUT_NS));
            result(plane, second.meta.allocateTableId(user + 1, TIMEOUT_NS));
            result(plane, second.meta.createTable(other, List.of(), 0, TIMEOUT_NS));
            result(plane, second.meta.dropTable("others", TIMEOUT_NS));
            result(plane, second.meta.dropTable("users", TIMEOUT_NS));
            result(plane, second.meta.allocateTableId(user, TIMEOUT_NS));
        }
    }

    /** As creations do that fail after they took a number. */
    @Test
    void shouldGiveTableNumbersHoweverManyWereNeverUsed()
    {
        try (SimControlPlane plane = new SimControlPlane(18, new InMemoryMetaStore(), 1))
        {
            final SimComputeNode compute = plane.addComputeNode();
            final int first = result(plane, compute.meta.allocateTableId(0, TIMEOUT_NS));
            for (int i = 0; i < 65_536; i++)
            {
                assertThat((int)result(plane, compute.meta.allocateTableId(0, TIMEOUT_NS))).isEqualTo(first + 1 + i);
            }

            final int last = first + 65_536;
            result(plane, compute.meta.createTable(entry("users", last), List.of(), 0, TIMEOUT_NS));
            assertThat(done(plane, compute.meta.createTable(entry("others", first), List.of(), 0, TIMEOUT_NS)).status())
                .isEqualTo(ControlStatus.INVALID_REQUEST);
        }
    }

    /** A record that was not synced may be replayed: to say that the table is not there would be wrong. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldHaltWithoutAnAnswerWhenTheStoreFails(final boolean isReplayed)
    {
        final FailingMetaStore store = new FailingMetaStore();
        store.keepsWhatFailed = isReplayed;

        try (SimControlPlane plane = new SimControlPlane(17, store, 1))
        {
            final SimComputeNode compute = plane.addComputeNode();
            final TableEntry table = entry("users", result(plane, compute.meta.allocateTableId(0, TIMEOUT_NS)));
            store.fails = true;
            final ControlCall<Void> creating = compute.meta.createTable(table, List.of(), 0, TIMEOUT_NS);
            plane.runUntil(plane::hasHalted);
            assertThatThrownBy(() -> plane.metaServer.doWork()).isInstanceOf(DurableWriteError.class);

            store.fails = false;
            plane.moveMetaServer();
            assertThat(done(plane, creating).status().isUnknown()).as("%s", creating).isTrue();
            plane.world.runFor(WELL_PAST_A_LEASE_NS / 2);
            assertThat(done(plane, compute.meta.table("users", TIMEOUT_NS)).status())
                .isEqualTo(isReplayed ? ControlStatus.OK : ControlStatus.NO_SUCH_TABLE);
        }
    }

    @Test
    void shouldHaltWhenTheStoreFailsWhileALeaseEndsAndEndItAfterTheRestart()
    {
        final FailingMetaStore store = new FailingMetaStore();

        try (SimControlPlane plane = new SimControlPlane(17, store, 1))
        {
            final SimComputeNode victim = plane.addComputeNode();
            final SimComputeNode compute = plane.addComputeNode();
            store.fails = true;
            victim.node.kill();
            plane.runUntil(plane::hasHalted);

            store.fails = false;
            plane.moveMetaServer();
            plane.runUntil(() -> 1 == plane.metaServer.stat().liveComputeNodes() &&
                0 == plane.metaServer.stat().fencingNodes());
            assertThat(compute.lost).isFalse();
            assertThat(result(plane, compute.meta.allocateTableId(0, TIMEOUT_NS))).isPositive();
        }
    }

    /** The leader of a group may stand still: a memory node looks for the next one before a heartbeat has failed. */
    @Test
    void shouldRenewItsLeaseElsewhereBeforeAHeartbeatHasTimedOut()
    {
        try (SimControlPlane plane = new SimControlPlane(18, new InMemoryMetaStore(), 1))
        {
            final MemoryNode memory = plane.memoryNodes.getFirst();
            final int incarnation = memory.incarnation();
            final long stoppedAtNs = plane.world.clock().nanoTime();
            plane.stopMetaServer();
            plane.runUntil(() -> plane.metaServer.nodeRequests() > 0);
            assertThat(plane.world.clock().nanoTime() - stoppedAtNs).as("ns until it is heard")
                .isLessThan(SimControlPlane.CALL_TIMEOUT_NS);
            plane.world.runFor(WELL_PAST_A_LEASE_NS);
            assertThat(memory.incarnation()).as("has kept its lease").isEqualTo(incarnation);
        }
    }

    @Test
    void shouldRefuseAFenceThatDoesNotComeFromTheMetaServer()
    {
        try (SimControlPlane plane = new SimControlPlane(10, new InMemoryMetaStore(), 1))
        {
            final SimComputeNode compute = plane.addComputeNode();
            final SimComputeNode other = plane.addComputeNode();
            final VirtualQp vqp = ready(plane, compute, plane.memoryNodes.getFirst());

            final ControlCall<Void> fence =
                done(plane, compute.client(vqp).fence(other.registration.identity(), TIMEOUT_NS));
            final ControlCall<Void> fenceOfNobody =
                done(plane, compute.client(vqp).fence(new PeerIdentity(0, 0), TIMEOUT_NS));

            assertThat(fence.status()).isEqualTo(ControlStatus.FORBIDDEN);
            assertThat(fenceOfNobody.status()).isEqualTo(ControlStatus.INVALID_REQUEST);
            ready(plane, other, plane.memoryNodes.getFirst());
        }
    }

    private static VirtualQp ready(
        final SimControlPlane plane, final SimComputeNode compute, final MemoryNode memory)
    {
        final VirtualQp vqp = compute.connect(memory, plane.address(memory));
        plane.runUntil(() -> VirtualQp.State.CONNECTING != vqp.state());
        assertThat(vqp.state()).as(vqp.failure()).isEqualTo(VirtualQp.State.READY);
        return vqp;
    }

    private static <T> T result(final SimControlPlane plane, final ControlCall<T> call)
    {
        return done(plane, call).result();
    }

    private static <T> ControlCall<T> done(final SimControlPlane plane, final ControlCall<T> call)
    {
        plane.runUntil(call::isDone);
        return call;
    }

    private static TableEntry entry(final String name, final int tableId)
    {
        return new TableEntry(name, tableId, name.getBytes(StandardCharsets.UTF_8));
    }
}
