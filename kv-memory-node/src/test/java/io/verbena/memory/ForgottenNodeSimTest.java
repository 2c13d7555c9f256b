package io.verbena.memory;

import io.verbena.meta.store.InMemoryMetaStore;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.ForgottenNode;
import io.verbena.protocol.message.TableEntry;
import io.verbena.raas.identity.PeerIdentity;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** A memory node that never comes back, under the simulated fabric. */
@Timeout(60)
class ForgottenNodeSimTest
{
    private static final long TIMEOUT_NS = 5_000_000;
    private static final long WELL_PAST_A_LEASE_NS = 3 * SimControlPlane.LEASE_NS;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void shouldPassEpochsAgainWhenAMemoryNodeThatDiedForGoodIsForgotten(final long seed)
    {
        try (SimControlPlane plane = new SimControlPlane(seed, new InMemoryMetaStore(), 2))
        {
            final SimComputeNode victim = plane.addComputeNode();
            final SimComputeNode witness = plane.addComputeNode();
            final int lostId = plane.memoryNodes.getFirst().nodeId();
            final int aliveId = plane.memoryNodes.getLast().nodeId();
            assertThat(done(plane, witness.meta.forgetNode(lostId, true, TIMEOUT_NS)))
                .satisfies((call) -> assertThat(call.status()).isEqualTo(ControlStatus.INVALID_REQUEST))
                .satisfies((call) -> assertThat(call.failure()).contains("is alive"));

            plane.simNode(plane.memoryNodes.getFirst()).kill();
            plane.runUntil(() -> 1 == plane.metaServer.stat().lostMemoryNodes());
            victim.node.kill();
            plane.runUntil(() -> 1 == plane.metaServer.stat().fencingNodes());
            plane.world.runFor(WELL_PAST_A_LEASE_NS);
            final long heldEpoch = plane.metaServer.stat().safeEpoch();
            plane.world.runFor(WELL_PAST_A_LEASE_NS);
            assertThat(plane.metaServer.stat().safeEpoch()).as("stopped").isEqualTo(heldEpoch);

            final ForgottenNode asked = done(plane, witness.meta.forgetNode(lostId, false, TIMEOUT_NS)).result();
            assertThat(asked.isForgotten()).isFalse();
            assertThat(asked.regionLengthBytes()).isPositive();
            assertThat(plane.metaServer.stat().lostMemoryNodes()).as("only asked").isOne();
            assertThat(done(plane, witness.meta.forgetNode(lostId, true, TIMEOUT_NS)).result())
                .isEqualTo(new ForgottenNode(lostId, asked.incarnation(), asked.regionLengthBytes(), true));
            plane.runUntil(() -> witness.safeEpoch > heldEpoch + 3);

            final long version = plane.metaServer.stat().membershipVersion();
            assertThat(done(plane, witness.meta.forgetNode(lostId, true, TIMEOUT_NS)).result().isForgotten()).isTrue();
            assertThat(plane.metaServer.stat().membershipVersion()).as("again changes nothing").isEqualTo(version);
            assertThat(plane.metaServer.stat().fencingNodes()).isZero();
            assertThat(plane.metaServer.stat().lostMemoryNodes()).isZero();
            assertThat(done(plane, witness.meta.forgetNode(aliveId, true, TIMEOUT_NS)).status())
                .isEqualTo(ControlStatus.INVALID_REQUEST);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldRefuseTablesOnAForgottenNodeAndDropOnlyTheTableThatWasMeant(final long seed)
    {
        try (SimControlPlane plane = new SimControlPlane(seed, new InMemoryMetaStore(), 2))
        {
            final SimComputeNode compute = plane.addComputeNode();
            final PeerIdentity lost = new PeerIdentity(
                plane.memoryNodes.getFirst().nodeId(), plane.memoryNodes.getFirst().incarnation());
            final int first = done(plane, compute.meta.allocateTableId(0, TIMEOUT_NS)).result();
            final int second = done(plane, compute.meta.allocateTableId(0, TIMEOUT_NS)).result();
            assertThat(create(plane, compute, first, lost).status()).isEqualTo(ControlStatus.OK);

            plane.simNode(plane.memoryNodes.getFirst()).kill();
            plane.runUntil(() -> 1 == plane.metaServer.stat().lostMemoryNodes());
            done(plane, compute.meta.forgetNode(lost.nodeId(), true, TIMEOUT_NS)).result();
            assertThat(drop(plane, compute, second).status()).isEqualTo(ControlStatus.NO_SUCH_TABLE);
            final long version = plane.metaServer.stat().membershipVersion();
            assertThat(drop(plane, compute, first).status()).isEqualTo(ControlStatus.OK);
            assertThat(plane.metaServer.stat().membershipVersion()).as("nodes close it").isGreaterThan(version);
            assertThat(drop(plane, compute, first).status()).isEqualTo(ControlStatus.NO_SUCH_TABLE);

            assertThat(create(plane, compute, second, lost)).satisfies(
                (call) -> assertThat(call.status()).isEqualTo(ControlStatus.UNAVAILABLE),
                (call) -> assertThat(call.failure()).contains("was forgotten"));
            plane.restartMetaServer();
            plane.runUntil(() -> ControlStatus.OK ==
                done(plane, compute.meta.forgetNode(lost.nodeId(), false, TIMEOUT_NS)).status());
            assertThat(done(plane, compute.meta.forgetNode(lost.nodeId(), false, TIMEOUT_NS)).result().isForgotten())
                .isTrue();
        }
    }

    private static ControlCall<Void> create(
        final SimControlPlane plane, final SimComputeNode compute, final int tableId, final PeerIdentity memory)
    {
        return done(plane, compute.meta.createTable(
            new TableEntry("users", tableId, new byte[8]), List.of(memory), 0, TIMEOUT_NS));
    }

    private static ControlCall<Void> drop(
        final SimControlPlane plane, final SimComputeNode compute, final int tableId)
    {
        return done(plane, compute.meta.dropThisTable(new TableEntry("users", tableId, new byte[0]), TIMEOUT_NS));
    }

    private static <T> ControlCall<T> done(final SimControlPlane plane, final ControlCall<T> call)
    {
        plane.runUntil(call::isDone);
        return call;
    }
}
