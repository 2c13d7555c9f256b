package io.verbena.raas.encryption;

import io.verbena.raas.identity.ConnectionClaim;
import io.verbena.raas.identity.IdentitySecret;
import io.verbena.raas.identity.IdentityVerifier;
import io.verbena.raas.identity.PeerIdentity;
import org.junit.jupiter.api.Test;

import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Whoever has a secret of an identity is let in by it: the latest one, or the one before, and by no other. */
class ConnectionGateTest
{
    private static final PeerIdentity NODE = new PeerIdentity(3, 7);
    private static final byte[] NO_PROOF = new byte[IdentitySecret.LENGTH_BYTES];

    private final IdentitySecret latest = IdentitySecret.random(new SecureRandom());
    private final IdentitySecret before = IdentitySecret.random(new SecureRandom());
    private final IdentitySecret older = IdentitySecret.random(new SecureRandom());
    private final ConnectionGate gate = new ConnectionGate(IdentityVerifier.of(
        (identity) -> isNode(identity) || identity.isUser() ? latest : null,
        (identity) -> isNode(identity) ? before : null));
    private long nonce;

    /** As servers derive secrets: by these two. */
    private static boolean isNode(final PeerIdentity identity)
    {
        return NODE.nodeId() == identity.nodeId() && NODE.incarnation() == identity.incarnation();
    }

    private String refusal(final PeerIdentity identity, final IdentitySecret secret, final int encryption)
    {
        final ConnectionClaim claim = new ConnectionClaim(identity.nodeId(), identity.incarnation(), ++nonce, 17, 1, 2,
            4, encryption, 0, 0, identity.login());
        return gate.refusal(claim, null == secret ? NO_PROOF : claim.proof(secret), encryption, "test");
    }

    @Test
    void shouldTakeTheLatestSecretAndTheOneBefore()
    {
        assertThat(refusal(NODE, latest, 0)).isNull();
        assertThat(refusal(NODE, before, 0)).isNull();
        assertThat(gate.refusedProofs()).isZero();
        assertThat(refusal(NODE, older, 0)).contains("did not prove");
        assertThat(refusal(NODE, null, 0)).contains("did not prove");
        assertThat(gate.refusedProofs()).isEqualTo(2);
        assertThat(gate.lastRefusedProof()).contains("node 3 incarnation 7");
    }

    /** Keys of both ends follow from what the peer has. */
    @Test
    void shouldEncryptWithTheSecretThatWasProved()
    {
        assertThat(refusal(NODE, before, SealedMessageDescriptor.AES_128_GCM)).isNull();
        assertThat(gate.proved()).isEqualTo(before);
        assertThat(refusal(NODE, latest, SealedMessageDescriptor.AES_128_GCM)).isNull();
        assertThat(gate.proved()).isEqualTo(latest);
        assertThat(refusal(PeerIdentity.CLIENT, null, 0)).isNull();
        assertThat(gate.proved()).isNull();
        assertThat(refusal(PeerIdentity.CLIENT, null, SealedMessageDescriptor.AES_128_GCM)).contains("takes keys");
    }

    /** A number is good once, by whichever secret. */
    @Test
    void shouldTakeANumberOnceOnly()
    {
        assertThat(refusal(NODE, latest, 0)).isNull();
        nonce--;
        assertThat(refusal(NODE, before, 0)).contains("did not prove");
        assertThat(refusal(NODE, before, 0)).isNull();
    }

    /** Else whoever sees the numbers of others would use up those that come next. */
    @Test
    void shouldUseUpNoNumberThatWasNotProved()
    {
        for (final PeerIdentity identity : List.of(NODE, PeerIdentity.user(5, 6)))
        {
            assertThat(refusal(identity, older, 0)).contains("did not prove");
            nonce--;
            assertThat(refusal(identity, null, 0)).contains("did not prove");
            nonce--;
            assertThat(refusal(identity, latest, 0)).as("%s", identity).isNull();
            nonce--;
            assertThat(refusal(identity, latest, 0)).as("%s, once more", identity).contains("did not prove");
        }
    }

    @Test
    void shouldNotTakeTheOneBeforeOfAnotherIdentity()
    {
        assertThat(refusal(PeerIdentity.user(5, 6), before, 0)).contains("did not prove");
        assertThat(refusal(PeerIdentity.user(5, 6), latest, 0)).isNull();
        assertThat(refusal(new PeerIdentity(3, 8), before, 0)).contains("did not prove");
    }

    @Test
    void shouldTakeALoginOfUsersOnly()
    {
        assertThat(refusal(PeerIdentity.user(5, 6).withLogin(9), latest, 0)).isNull();
        assertThat(refusal(NODE.withLogin(9), latest, 0)).contains("did not prove");
        assertThat(refusal(PeerIdentity.CLIENT.withLogin(9), null, 0)).contains("did not prove");
    }

    /** A certificate that was revoked has no secret any more; others of the same user have. */
    @Test
    void shouldAskForTheSecretOfTheLoginThatIsClaimed()
    {
        final PeerIdentity user = PeerIdentity.user(5, 6);
        final List<PeerIdentity> asked = new ArrayList<>();
        final ConnectionGate logins = new ConnectionGate((identity) ->
        {
            asked.add(identity);
            return 9 == identity.login() ? null : latest;
        });
        for (final int login : new int[]{8, 9})
        {
            final ConnectionClaim claim = new ConnectionClaim(
                user.nodeId(), user.incarnation(), ++nonce, 17, 1, 2, 4, 0, 0, 0, login);
            final String refusal = logins.refusal(claim, claim.proof(latest), 0, "test");
            assertThat(null == refusal).as("login %d: %s", login, refusal).isEqualTo(8 == login);
        }
        assertThat(asked).containsExactly(user.withLogin(8), user.withLogin(9));
        assertThat(logins.lastRefusedProof()).contains("user 5 generation 6 with certificate 9");
    }

    @Test
    void shouldTakeClaimsWhereNothingIsVerified()
    {
        final ConnectionGate open = new ConnectionGate(null);
        assertThat(open.refusal(new ConnectionClaim(3, 7, 1, 17, 1, 2, 4), NO_PROOF, 0, "test")).isNull();
        assertThat(open.proved()).isNull();
    }
}
