package io.verbena.raas;

import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.limit.RaasMisuseException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Lives of a node that a server refuses, or fences: that life, all before it, and nobody else. */
class RefusedIdentityTest
{
    private static final int OTHER_PORT = 9;
    private static final PeerIdentity FIRST = new PeerIdentity(3, 1);
    private static final PeerIdentity SECOND = new PeerIdentity(3, 2);
    private static final PeerIdentity THIRD = new PeerIdentity(3, 3);
    private static final PeerIdentity OTHER = new PeerIdentity(4, 1);

    @TempDir
    Path directory;
    private SoftPair pair;
    private RpcServer fencing;

    @BeforeEach
    void open()
    {
        pair = new SoftPair(directory);
        fencing = pair.server.serve(OTHER_PORT, (caller, source) ->
        {
            fencing.refuse(caller);
            return Admission.callsOnly();
        }, (caller, method, request, offset, length, reply) -> 0);
    }

    @AfterEach
    void close()
    {
        fencing.close();
        pair.close();
    }

    private VirtualQp connect(final PeerIdentity identity)
    {
        pair.client.identity(identity);
        return pair.connect(BatchListener.CALLS_ONLY);
    }

    /** Who admits gives keys to memory: nobody would take those of a refused life away again. */
    @Test
    void shouldNotAskWhetherARefusedLifeMayConnect()
    {
        pair.rpcServer.refuse(FIRST);
        assertThat(connect(FIRST).failure()).contains("node 3 incarnation 1 was fenced here: register anew");
        assertThat(pair.lastCaller).isNull();
        assertThat(connect(SECOND).failure()).isEmpty();
        assertThat(pair.lastCaller).isEqualTo(SECOND);
        assertThat(pair.rpcServer.refusals()).as("by who was asked").isZero();
    }

    @Test
    void shouldNotConnectALifeThatIsRefusedWhileSomebodyIsAskedWhetherItMayConnect()
    {
        final VirtualQp vqp = pair.client.connect(
            new PeerAddress(pair.serverDevice.address(), OTHER_PORT, 1, 1), BatchListener.CALLS_ONLY,
            SoftPair.TIMEOUT_NS);
        pair.runUntil(() -> vqp.state() != VirtualQp.State.CONNECTING);
        assertThat(vqp.failure()).contains("node 3 incarnation 1 was fenced here: register anew");
        assertThat(fencing.connections()).isZero();
        assertThat(fencing.refusals()).isEqualTo(1);
    }

    @Test
    void shouldCountWhomItsAcceptorRefuses()
    {
        pair.admission = Admission.refuse("the wind is from the north");
        assertThat(connect(FIRST).state()).isEqualTo(VirtualQp.State.FAILED);
        assertThat(pair.rpcServer.refusals()).isEqualTo(1);
        assertThat(pair.rpcServer.connections()).isZero();
    }

    /** A call to fence may be repeated, or come late. */
    @Test
    void shouldRefuseALaterLifeStillWhenAnEarlierOneIsRefusedAfterIt()
    {
        pair.rpcServer.refuse(SECOND);
        pair.rpcServer.refuse(FIRST);
        assertThat(List.of(FIRST, SECOND, THIRD, OTHER).stream().filter(pair.rpcServer::isFenced))
            .containsExactly(FIRST, SECOND);
        assertThat(connect(SECOND).failure()).contains("node 3 incarnation 2 was fenced here");
        assertThat(connect(THIRD).failure()).isEmpty();
    }

    @Test
    void shouldCloseTheQueuePairsOfEarlierLivesAndOfNoOtherNode()
    {
        connect(FIRST);
        connect(THIRD);
        connect(OTHER);
        assertThat(pair.rpcServer.connections()).isEqualTo(3);
        assertThat(pair.rpcServer.fence(SECOND)).isEqualTo(1);
        assertThat(pair.rpcServer.isConnected(FIRST)).isFalse();
        assertThat(pair.rpcServer.isConnected(THIRD)).isTrue();
        assertThat(pair.rpcServer.isConnected(OTHER)).isTrue();
        assertThat(pair.rpcServer.fence(SECOND)).as("there is none any more").isZero();
    }

    /** One that has no life of its own would be many, or nobody. */
    @Test
    void shouldFenceNobodyWithoutANumberAndALife()
    {
        for (final PeerIdentity nobody : List.of(PeerIdentity.UNREGISTERED, PeerIdentity.CLIENT,
            PeerIdentity.META_SERVER, PeerIdentity.OPERATOR, PeerIdentity.joining(1, 1), new PeerIdentity(3, 0),
            new PeerIdentity(3, -1), new PeerIdentity(-1, 1)))
        {
            assertThatThrownBy(() -> pair.rpcServer.refuse(nobody)).as("%s", nobody)
                .isInstanceOf(RaasMisuseException.class).hasMessageContaining("only they can be fenced");
            assertThatThrownBy(() -> pair.rpcServer.fence(nobody)).isInstanceOf(RaasMisuseException.class);
            assertThat(pair.rpcServer.isFenced(nobody)).as("%s", nobody).isFalse();
        }
    }

    @Test
    void shouldCountClientsAndNobodyElse()
    {
        connect(FIRST);
        connect(PeerIdentity.META_SERVER);
        assertThat(pair.rpcServer.clientConnections()).isZero();
        connect(OTHER);
        connect(PeerIdentity.user(1, 1));
        assertThat(pair.rpcServer.clientConnections()).isEqualTo(1);
        connect(PeerIdentity.CLIENT);
        assertThat(pair.rpcServer.clientConnections()).isEqualTo(2);
    }
}
