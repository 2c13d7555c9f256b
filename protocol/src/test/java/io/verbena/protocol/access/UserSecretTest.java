package io.verbena.protocol.access;

import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

class UserSecretTest
{
    private static final int ITERATIONS = 4_096;
    private static final byte[] HELLO = "hello".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] CHALLENGE = "challenge".getBytes(StandardCharsets.US_ASCII);

    private final SecretVerifier verifier = SecretVerifier.of("correct horse", ITERATIONS);
    private final UserSecret secret = UserSecret.derive("correct horse", verifier.salt(), ITERATIONS);
    private final UserSecret wrong = UserSecret.derive("correct horsf", verifier.salt(), ITERATIONS);

    /** The example of RFC 7677, section 3: what a client sends there, out of the same keys. */
    @Test
    void shouldProveAsTheStandardDoes()
    {
        final byte[] salt = Base64.getDecoder().decode("W22ZaJ0SNY7soEsUEjb6gQ==");
        final UserSecret pencil = UserSecret.derive("pencil", salt, ITERATIONS);
        final byte[] message = ("n=user,r=rOprNGfwEbeRWgbNEkqO,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0," +
            "s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0")
            .getBytes(StandardCharsets.US_ASCII);
        assertThat(Base64.getEncoder().encodeToString(pencil.proof("", message)))
            .isEqualTo("dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=");
        final byte[] serverProof = Base64.getDecoder().decode("6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
        assertThat(pencil.isServerProof(serverProof, "", message)).isTrue();
        assertThat(HexFormat.of().formatHex(SecretVerifier.of(pencil, salt, ITERATIONS).serverProof("", message)))
            .isEqualTo(HexFormat.of().formatHex(serverProof));
    }

    @Test
    void shouldTakeTheProofOfTheSecretAndNoOther()
    {
        final byte[] proof = secret.proof("a", HELLO, CHALLENGE);
        assertThat(verifier.isProof(proof, "a", HELLO, CHALLENGE)).isTrue();
        assertThat(verifier.isProof(proof, "b", HELLO, CHALLENGE)).as("of the other side").isFalse();
        assertThat(verifier.isProof(proof, "a", HELLO, HELLO)).as("after other messages").isFalse();
        assertThat(verifier.isProof(wrong.proof("a", HELLO, CHALLENGE), "a", HELLO, CHALLENGE)).isFalse();
        assertThat(verifier.isProof(new byte[0], "a", HELLO, CHALLENGE)).isFalse();
        assertThat(verifier.isProof(new byte[32], "a", HELLO, CHALLENGE)).isFalse();
        for (int bit = 0; bit < proof.length * 8; bit++)
        {
            final byte[] changed = proof.clone();
            changed[bit / 8] ^= (byte)(1 << bit % 8);
            assertThat(verifier.isProof(changed, "a", HELLO, CHALLENGE)).as("bit %d", bit).isFalse();
        }
    }

    /** Whoever has read what the cluster keeps cannot log in with it. */
    @Test
    void shouldNotBeProvedWithWhatAServerKeeps()
    {
        for (final byte[] stolen : new byte[][]{verifier.storedKey(), verifier.serverKey(), verifier.salt()})
        {
            final byte[] mac = UserSecret.mac(verifier.storedKey(), UserSecret.text("a"), HELLO, CHALLENGE);
            final byte[] key = Arrays.copyOf(stolen, UserSecret.KEY_BYTES);
            assertThat(verifier.isProof(UserSecret.mixed(key, mac), "a", HELLO, CHALLENGE)).isFalse();
        }
    }

    @Test
    void shouldKnowAServerThatHasTheVerifier()
    {
        final byte[] proof = verifier.serverProof("s", HELLO, CHALLENGE);
        assertThat(secret.isServerProof(proof, "s", HELLO, CHALLENGE)).isTrue();
        assertThat(secret.isServerProof(proof, "s", HELLO)).isFalse();
        assertThat(wrong.isServerProof(proof, "s", HELLO, CHALLENGE)).isFalse();
    }

    @Test
    void shouldShowWhatIsMaskedToWhoeverHasTheSecret()
    {
        final byte[] ticket = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
        final byte[] masked = verifier.mask(ticket, HELLO, CHALLENGE);
        assertThat(masked).isNotEqualTo(ticket);
        assertThat(secret.mask(masked, HELLO, CHALLENGE)).isEqualTo(ticket);
        assertThat(secret.mask(masked, HELLO)).as("of another handshake").isNotEqualTo(ticket);
        assertThat(wrong.mask(masked, HELLO, CHALLENGE)).isNotEqualTo(ticket);
    }

    @Test
    void shouldCheckASecretThatIsSentAsItIs()
    {
        assertThat(verifier.matches("correct horse")).isTrue();
        assertThat(verifier.matches("correct horsf")).isFalse();
        assertThat(verifier.matches("")).isFalse();
    }

    @Test
    void shouldHaveNobodysVerifierThatStaysTheSameAndFitsNothing()
    {
        final byte[] key = new byte[32];
        final SecretVerifier nobody = SecretVerifier.ofNobody(key, "ann");
        assertThat(nobody).isEqualTo(SecretVerifier.ofNobody(key, "ann"));
        assertThat(nobody.salt()).isNotEqualTo(SecretVerifier.ofNobody(key, "ben").salt()).hasSize(16);
        assertThat(nobody.iterations()).as("as a real one has").isEqualTo(SecretVerifier.ITERATIONS);
        assertThat(nobody.isProof(secret.proof("a", HELLO, CHALLENGE), "a", HELLO, CHALLENGE)).isFalse();
    }

    @Test
    void shouldShowItselfNowhere()
    {
        final User user = new User("ann", 1, 2, 3, verifier, List.of());
        assertThat(user + " " + verifier + " " + secret + " " +
            AccessRules.of(null, 1, List.of(user))).doesNotContain("correct horse")
            .doesNotContain(Arrays.toString(verifier.storedKey())).contains("not shown");
    }
}
