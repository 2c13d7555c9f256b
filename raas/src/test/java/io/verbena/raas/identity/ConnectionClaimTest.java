package io.verbena.raas.identity;

import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.security.SecureRandom;

import static org.assertj.core.api.Assertions.assertThat;

class ConnectionClaimTest
{
    private static final ConnectionClaim CLAIM = new ConnectionClaim(3, 7, 1, 17, 0xA, 0xB, 4);
    private final IdentitySecret secret = IdentitySecret.random(new SecureRandom());

    @Test
    void shouldAcceptTheClaimThatWasProvedAndNoOther()
    {
        final byte[] proof = CLAIM.proof(secret);
        assertThat(proof).hasSize(IdentitySecret.LENGTH_BYTES);
        assertThat(CLAIM.isProvedBy(secret, proof)).isTrue();
        final ConnectionClaim[] others = {
            new ConnectionClaim(4, 7, 1, 17, 0xA, 0xB, 4),
            new ConnectionClaim(3, 8, 1, 17, 0xA, 0xB, 4),
            new ConnectionClaim(3, 7, 2, 17, 0xA, 0xB, 4),
            new ConnectionClaim(3, 7, 1, 18, 0xA, 0xB, 4),
            new ConnectionClaim(3, 7, 1, 17, 0xB, 0xB, 4),
            new ConnectionClaim(3, 7, 1, 17, 0xA, 0xA, 4),
            new ConnectionClaim(3, 7, 1, 17, 0xA, 0xB, 5),
            new ConnectionClaim(3, 7, 1, 17, 0xA, 0xB, 4, 0, 0, 0, 9)};
        for (final ConnectionClaim other : others)
        {
            assertThat(other.isProvedBy(secret, proof)).as(other.toString()).isFalse();
        }
        assertThat(CLAIM.isProvedBy(IdentitySecret.random(new SecureRandom()), proof)).isFalse();
        assertThat(CLAIM.isProvedBy(secret, new byte[IdentitySecret.LENGTH_BYTES])).isFalse();
    }

    @Test
    void shouldProveTheEncryptionThatIsAskedForAndItsNumber()
    {
        final ConnectionClaim encrypted = new ConnectionClaim(3, 7, 1, 17, 0xA, 0xB, 4, 1, 0xC, 0xD, 0);
        final byte[] proof = encrypted.proof(secret);
        assertThat(encrypted.isProvedBy(secret, proof)).isTrue();
        for (final ConnectionClaim other : new ConnectionClaim[]{
            CLAIM,
            new ConnectionClaim(3, 7, 1, 17, 0xA, 0xB, 4, 0, 0xC, 0xD, 0),
            new ConnectionClaim(3, 7, 1, 17, 0xA, 0xB, 4, 2, 0xC, 0xD, 0),
            new ConnectionClaim(3, 7, 1, 17, 0xA, 0xB, 4, 1, 0xD, 0xD, 0),
            new ConnectionClaim(3, 7, 1, 17, 0xA, 0xB, 4, 1, 0xC, 0xC, 0),
            new ConnectionClaim(3, 7, 1, 17, 0xA, 0xB, 4, 1, 0xC, 0xD, 9)})
        {
            assertThat(other.isProvedBy(secret, proof)).as(other.toString()).isFalse();
        }
    }

    @Test
    void shouldDeriveAnotherSecretForEachPurposeAndIdentity()
    {
        final IdentitySecret derived = secret.derive("a", 1, 2);
        assertThat(secret.derive("a", 1, 2)).isEqualTo(derived);
        assertThat(secret.derive("b", 1, 2)).isNotEqualTo(derived);
        assertThat(secret.derive("a", 2, 2)).isNotEqualTo(derived);
        assertThat(secret.derive("a", 1, 3)).isNotEqualTo(derived);
        assertThat(IdentitySecret.random(new SecureRandom()).derive("a", 1, 2)).isNotEqualTo(derived);
    }

    @Test
    void shouldHideASecretFromWhoDoesNotKnowThisOne()
    {
        final IdentitySecret other = IdentitySecret.random(new SecureRandom());
        final IdentitySecret hidden = secret.mask("a", 1, 2, other);
        assertThat(hidden).isNotEqualTo(other).isNotEqualTo(secret.derive("a", 1, 2));
        assertThat(secret.mask("a", 1, 2, hidden)).as("shown").isEqualTo(other);
        assertThat(secret.mask("b", 1, 2, hidden)).isNotEqualTo(other);
        assertThat(secret.mask("a", 2, 2, hidden)).isNotEqualTo(other);
        assertThat(secret.mask("a", 1, 3, hidden)).isNotEqualTo(other);
        assertThat(IdentitySecret.random(new SecureRandom()).mask("a", 1, 2, hidden)).isNotEqualTo(other);
    }

    @Test
    void shouldSurviveABufferAndBeShownNowhere()
    {
        final UnsafeBuffer buffer = new UnsafeBuffer(new byte[32]);
        secret.write(buffer, 5);
        assertThat(IdentitySecret.read(buffer, 5)).isEqualTo(secret);
        assertThat(secret.toString()).isEqualTo("IdentitySecret{not shown}");
    }
}
