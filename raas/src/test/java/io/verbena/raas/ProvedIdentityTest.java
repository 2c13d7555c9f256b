package io.verbena.raas;

import io.verbena.raas.identity.ConnectionClaim;
import io.verbena.raas.identity.IdentitySecret;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairOptions;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

/** What a peer that claims somebody's identity is answered by a server that takes nobody's word. */
class ProvedIdentityTest
{
    private static final int PROVED_PORT = 9;
    private static final PeerIdentity ANN = new PeerIdentity(5, 7);
    private static final PeerIdentity EARLIER_ANN = new PeerIdentity(5, 6);
    private static final int CREDITS = 8;

    @TempDir
    Path directory;
    private final IdentitySecret secret = IdentitySecret.random(new SecureRandom());
    private final IdentitySecret earlierSecret = IdentitySecret.random(new SecureRandom());
    private final Map<PeerIdentity, IdentitySecret> secrets =
        new HashMap<>(Map.of(ANN, secret, EARLIER_ANN, earlierSecret));
    private final List<PeerIdentity> callers = new ArrayList<>();
    private final List<AutoCloseable> opened = new ArrayList<>();
    private SoftPair pair;
    private RpcServer proved;
    private ProtectionDomain domain;
    private CompletionQueue completions;

    @BeforeEach
    void open()
    {
        pair = new SoftPair(directory);
        proved = pair.server.serve(PROVED_PORT, (caller, source) ->
        {
            callers.add(caller);
            return Admission.callsOnly();
        }, secrets::get, pair.handler);
        domain = pair.clientDevice.allocateProtectionDomain();
        completions = pair.clientDevice.createCompletionQueue(64);
    }

    @AfterEach
    void close() throws Exception
    {
        for (final AutoCloseable each : opened.reversed())
        {
            each.close();
        }
        completions.close();
        domain.close();
        proved.close();
        pair.close();
    }

    private QueuePair queuePair()
    {
        final QueuePair queuePair = domain.createQueuePair(new QueuePairOptions()
            .completions(completions, completions).capabilities(new QueuePairCapabilities(2, 2, 0, 1)));
        opened.add(queuePair);
        return queuePair;
    }

    private byte[] claim(
        final PeerIdentity identity, final IdentitySecret with, final long nonce, final QueuePair queuePair,
        final Device device)
    {
        return ConnectDataDescriptor.encodeRequest(identity, CREDITS, nonce, new ConnectionClaim(
            identity.nodeId(), identity.incarnation(), nonce, queuePair.number(),
            device.address().gidHigh(), device.address().gidLow(), PROVED_PORT).proof(with));
    }

    private String connect(final Device device, final QueuePair queuePair, final byte[] data)
    {
        final ConnectionAttempt attempt = device.connect(
            queuePair, pair.serverDevice.address(), PROVED_PORT, 0, data, SoftPair.TIMEOUT_NS);
        pair.runUntil(() -> attempt.poll() != ConnectionAttempt.State.PENDING);
        return attempt.poll() == ConnectionAttempt.State.ESTABLISHED ? "" :
            attempt.poll() + " " + new String(attempt.privateData(), StandardCharsets.UTF_8);
    }

    private String connect(final QueuePair queuePair, final byte[] data)
    {
        return connect(pair.clientDevice, queuePair, data);
    }

    @Test
    void shouldTakeWhoeverProvesItsIdentityOrClaimsNone()
    {
        final QueuePair own = queuePair();
        assertThat(connect(own, claim(ANN, secret, 1, own, pair.clientDevice))).isEmpty();
        assertThat(connect(queuePair(), ConnectDataDescriptor.encodeRequest(PeerIdentity.CLIENT, CREDITS))).isEmpty();
        assertThat(connect(queuePair(), ConnectDataDescriptor.encodeRequest(PeerIdentity.UNREGISTERED, CREDITS)))
            .isEmpty();
        assertThat(callers).containsExactly(ANN, PeerIdentity.CLIENT, PeerIdentity.UNREGISTERED);
        assertThat(proved.refusedProofs()).isZero();
    }

    @Test
    void shouldRefuseWhoeverDoesNotKnowTheSecret()
    {
        final QueuePair own = queuePair();
        assertThat(connect(queuePair(), ConnectDataDescriptor.encodeRequest(ANN, CREDITS)))
            .contains("REJECTED").contains("node 5 incarnation 7 did not prove");
        assertThat(connect(own, claim(
            ANN, IdentitySecret.random(new SecureRandom()), 1, own, pair.clientDevice))).contains("REJECTED");
        final QueuePair second = queuePair();
        assertThat(connect(second, claim(new PeerIdentity(6, 1), secret, 1, second, pair.clientDevice)))
            .as("one that shares no secret with this server").contains("REJECTED");
        final QueuePair third = queuePair();
        assertThat(connect(third, claim(PeerIdentity.META_SERVER, secret, 1, third, pair.clientDevice)))
            .contains("REJECTED");
        assertThat(callers).isEmpty();
        assertThat(proved.refusedProofs()).isEqualTo(4);
    }

    /** Everything that Ann sent, seen by somebody on the way. */
    @Test
    void shouldRefuseConnectDataThatIsReplayed()
    {
        final QueuePair anns = queuePair();
        final byte[] seen = claim(ANN, secret, 1, anns, pair.clientDevice);
        assertThat(connect(anns, seen)).isEmpty();
        final QueuePair other = queuePair();
        assertThat(connect(other, seen)).as("over another queue pair").contains("REJECTED");

        try (Device thief = pair.fabric.openDevice("thief");
            ProtectionDomain thiefsDomain = thief.allocateProtectionDomain();
            CompletionQueue thiefsQueue = thief.createCompletionQueue(8))
        {
            QueuePair thiefs = null;
            // Queue pair numbers are dense: a thief gets any that it wants.
            final List<QueuePair> tries = new ArrayList<>();
            while (thiefs == null && tries.size() < 64)
            {
                final QueuePair next = thiefsDomain.createQueuePair(new QueuePairOptions()
                    .completions(thiefsQueue, thiefsQueue).capabilities(new QueuePairCapabilities(2, 2, 0, 1)));
                tries.add(next);
                thiefs = next.number() == anns.number() ? next : null;
            }
            if (thiefs != null)
            {
                assertThat(connect(thief, thiefs, seen)).as("from another device").contains("REJECTED");
            }
            tries.forEach(QueuePair::close);
        }

        anns.close();
        final QueuePair again = queuePair();
        final byte[] once = claim(ANN, secret, 2, again, pair.clientDevice);
        final byte[] same = claim(ANN, secret, 1, again, pair.clientDevice);
        assertThat(connect(again, same)).as("a number that was used").contains("REJECTED");
        final QueuePair fresh = queuePair();
        assertThat(connect(fresh, once)).as("an unused one, of another queue pair").contains("REJECTED");
        assertThat(callers).containsExactly(ANN);
    }

    @Test
    void shouldRefuseAnEarlierIncarnationThoughItsSecretIsKnown()
    {
        final QueuePair earlier = queuePair();
        assertThat(connect(earlier, claim(EARLIER_ANN, earlierSecret, 1, earlier, pair.clientDevice))).isEmpty();
        final QueuePair now = queuePair();
        assertThat(connect(now, claim(ANN, secret, 1, now, pair.clientDevice))).isEmpty();
        final QueuePair stolen = queuePair();
        assertThat(connect(stolen, claim(EARLIER_ANN, earlierSecret, 2, stolen, pair.clientDevice)))
            .contains("REJECTED");
    }

    @Test
    void shouldRefuseOperatorsUsersAndUnregisteredNodesThatDoNotKnowTheSecret()
    {
        secrets.put(PeerIdentity.UNREGISTERED, secret);
        secrets.put(PeerIdentity.OPERATOR, secret);
        secrets.put(PeerIdentity.user(1, 4), secret);
        for (final PeerIdentity claimed : List.of(
            PeerIdentity.UNREGISTERED, PeerIdentity.OPERATOR, PeerIdentity.user(1, 4)))
        {
            assertThat(connect(queuePair(), ConnectDataDescriptor.encodeRequest(claimed, CREDITS)))
                .as("%s, no proof", claimed).contains("REJECTED");
            final QueuePair wrong = queuePair();
            assertThat(connect(wrong, claim(claimed, earlierSecret, 1, wrong, pair.clientDevice)))
                .as("%s, another secret", claimed).contains("REJECTED");
            final QueuePair right = queuePair();
            assertThat(connect(right, claim(claimed, secret, claimed.hashCode() + 1_000, right, pair.clientDevice)))
                .as("%s", claimed).isEmpty();
        }
        final QueuePair other = queuePair();
        assertThat(connect(other, claim(PeerIdentity.user(2, 4), secret, 7, other, pair.clientDevice)))
            .as("a user of which nothing is known").contains("REJECTED");
        assertThat(connect(queuePair(), ConnectDataDescriptor.encodeRequest(PeerIdentity.CLIENT, CREDITS)))
            .as("who claims nothing").isEmpty();
        assertThat(proved.refusedProofs()).isEqualTo(7);
    }

    /** Processes that share a secret number their requests at random, and none disturbs another. */
    @Test
    void shouldTakeEachNumberOfASharedSecretOnce()
    {
        secrets.put(PeerIdentity.OPERATOR, secret);
        for (final long nonce : new long[]{Long.MAX_VALUE / 2, 5, 1L << 40, 6})
        {
            final QueuePair own = queuePair();
            final byte[] data = claim(PeerIdentity.OPERATOR, secret, nonce, own, pair.clientDevice);
            assertThat(connect(own, data)).as("number %d", nonce).isEmpty();
            own.close();
            final QueuePair again = queuePair();
            assertThat(connect(again, claim(PeerIdentity.OPERATOR, secret, nonce, again, pair.clientDevice)))
                .as("number %d once more", nonce).contains("REJECTED");
        }
    }

    /** The production path, over and over: each request has a number of its own. */
    @Test
    void shouldProveItsIdentityWithEachConnection()
    {
        pair.client.identity(ANN, 1, (_) -> secret);
        final PeerAddress peer = new PeerAddress(pair.serverDevice.address(), PROVED_PORT, 1, 1);
        for (int i = 0; i < 3; i++)
        {
            final VirtualQp vqp = pair.client.connect(peer, BatchListener.CALLS_ONLY, SoftPair.TIMEOUT_NS);
            pair.runUntil(() -> vqp.state() != VirtualQp.State.CONNECTING);
            assertThat(vqp.state()).as(vqp.failure()).isEqualTo(VirtualQp.State.READY);
            vqp.close();
            // Another identity in between, so that the pool gives the queue pair to nobody any more.
            pair.client.identity(EARLIER_ANN);
            pair.client.identity(ANN, 2 + i, (_) -> secret);
        }
        assertThat(callers).hasSize(3).containsOnly(ANN);
    }

    /** A user is known by the certificate too with which it has logged in, and the proof says by which. */
    @Test
    void shouldKnowAUserByTheLoginThatItProves()
    {
        final PeerIdentity user = PeerIdentity.user(1, 4).withLogin(9);
        secrets.put(user, secret);
        secrets.put(user.withLogin(8), secret);
        final QueuePair own = queuePair();
        final byte[] request = ConnectDataDescriptor.encodeRequest(user, CREDITS, 77, new ConnectionClaim(
            user.nodeId(), user.incarnation(), 77, own.number(), pair.clientDevice.address().gidHigh(),
            pair.clientDevice.address().gidLow(), PROVED_PORT, 0, 0, 0, user.login()).proof(secret));
        final byte[] changed = request.clone();
        new UnsafeBuffer(changed).putInt(ConnectDataDescriptor.LOGIN_OFFSET, 8);
        assertThat(connect(own, changed)).as("of another login").contains("did not prove");
        assertThat(connect(own, request)).isEmpty();
        assertThat(callers).containsExactly(user);
        assertThat(proved.isConnected(user)).isTrue();
        assertThat(proved.isConnected(user.withLogin(0))).isFalse();
    }

    /** Else no node came back that has connected to this server before. */
    @Test
    void shouldUseNoNumberTwiceUnderOneIdentity()
    {
        pair.client.identity(ANN, 1, (_) -> secret);
        final PeerAddress peer = new PeerAddress(pair.serverDevice.address(), PROVED_PORT, 1, 1);
        for (int i = 0; i < 3; i++)
        {
            final VirtualQp vqp = pair.client.connect(peer, BatchListener.CALLS_ONLY, SoftPair.TIMEOUT_NS);
            pair.runUntil(() -> vqp.state() != VirtualQp.State.CONNECTING);
            assertThat(vqp.state()).as(vqp.failure()).isEqualTo(VirtualQp.State.READY);
            vqp.close();
            // The queue pair is closed with its last user: the next one is connected anew.
            pair.client.forget(peer);
            pair.runUntil(() -> pair.client.usage().queuePairs() == 0);
        }
        assertThat(callers).containsExactly(ANN, ANN, ANN);
        assertThat(proved.refusedProofs()).isZero();
    }

    @Test
    void shouldActForTheIdentitiesThatWereGivenAndNoOther()
    {
        final PeerIdentity ben = new PeerIdentity(6, 8);
        final List<String> answers = new ArrayList<>();
        final List<DeferredReply> deferred = new ArrayList<>();
        pair.handler = (caller, method, request, offset, length, reply) ->
        {
            answers.add(reply.actsFor(new PeerIdentity(3, 1)) + " " + reply.actsFor(ben) + " " +
                reply.actsFor(new PeerIdentity(6, 7)) + " " + reply.actsFor(new PeerIdentity(0, 0)) + " " +
                reply.actsFor(new PeerIdentity(7, 0)) + " " +
                reply.actsForAny(ben::equals) + " " + reply.actsForAny(new PeerIdentity(6, 7)::equals));
            if (method == 1)
            {
                deferred.add(reply.defer());
                return RpcReply.DEFERRED;
            }
            return 0;
        };
        final VirtualQp vqp = pair.connect(BatchListener.CALLS_ONLY);
        for (int method = 0; method < 3; method++)
        {
            final int before = answers.size();
            pair.client.rpcClient().call(vqp, method, new UnsafeBuffer(new byte[1]), 0, 1,
                SoftPair.TIMEOUT_NS, (callId, status, payload, offset, length) -> { });
            pair.runUntil(() -> answers.size() > before);
            deferred.forEach((each) -> each.give(ben));
        }
        assertThat(answers).containsExactly(
            "true false false false false false false", "true false false false false false false",
            "true true false false false true false");
    }

    @Test
    void shouldActForNobodyAsAClient()
    {
        final List<Boolean> answers = new ArrayList<>();
        pair.handler = (caller, method, request, offset, length, reply) ->
        {
            answers.add(reply.actsForAny((_) -> true) || reply.actsFor(caller));
            return 0;
        };
        pair.client.identity(PeerIdentity.CLIENT);
        final VirtualQp vqp = pair.connect(BatchListener.CALLS_ONLY);
        pair.client.rpcClient().call(vqp, 1, new UnsafeBuffer(new byte[1]), 0, 1,
            SoftPair.TIMEOUT_NS, (callId, status, payload, offset, length) -> { });
        pair.runUntil(() -> !answers.isEmpty());
        assertThat(answers).containsExactly(false);
    }
}
