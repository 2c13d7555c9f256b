package io.verbena.protocol.access;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;

/**
 * What a server keeps of a user's secret: it suffices to check a proof, and not to make one. Who reads it can try
 * secrets, each at the price of the slow hash.
 *
 * @param iterations of the hash, 1,000 to 10,000,000.
 * @param salt       random, {@link #SALT_BYTES}.
 * @param storedKey  hash of the client's key, {@link UserSecret#KEY_BYTES}.
 * @param serverKey  with which a server proves that it has this, {@link UserSecret#KEY_BYTES}.
 */
public record SecretVerifier(int iterations, byte[] salt, byte[] storedKey, byte[] serverKey)
{
    /** Length of a salt. */
    public static final int SALT_BYTES = 16;
    /** Iterations of new ones. */
    public static final int ITERATIONS = 120_000;
    private static final int LEAST_ITERATIONS = 1_000;
    private static final int MOST_ITERATIONS = 10_000_000;

    /**
     * Makes one, with a salt of its own; slow.
     *
     * @param secret of a user; not kept.
     * @return the verifier.
     */
    public static SecretVerifier of(final CharSequence secret)
    {
        return of(secret, ITERATIONS);
    }

    /** As {@link #of(CharSequence)}, with another number of iterations. */
    static SecretVerifier of(final CharSequence secret, final int iterations)
    {
        final byte[] salt = new byte[SALT_BYTES];
        new SecureRandom().nextBytes(salt);
        return of(UserSecret.derive(secret, salt, iterations), salt, iterations);
    }

    static SecretVerifier of(final UserSecret secret, final byte[] salt, final int iterations)
    {
        return new SecretVerifier(iterations, salt, secret.storedKey(), secret.serverKey());
    }

    /** @return what {@link #ofNobody} takes: random, of {@link UserSecret#KEY_BYTES}. */
    public static byte[] randomKey()
    {
        final byte[] key = new byte[UserSecret.KEY_BYTES];
        new SecureRandom().nextBytes(key);
        return key;
    }

    /**
     * For a user that there is not: a proof is asked for, and none fits. The same user has the same one as long as the
     * key stays, so that the answer does not say whether it is there.
     *
     * @param key  of a server, that nobody else knows.
     * @param name of the user.
     * @return a verifier.
     */
    public static SecretVerifier ofNobody(final byte[] key, final String name)
    {
        final byte[] bytes = UserSecret.mac(key, name.getBytes(StandardCharsets.UTF_8));
        return new SecretVerifier(ITERATIONS, Arrays.copyOf(bytes, SALT_BYTES), UserSecret.mac(bytes, key), bytes);
    }

    /** @return whether so many iterations are possible: a server must not make clients compute for hours. */
    public static boolean isPossible(final int iterations)
    {
        return iterations >= LEAST_ITERATIONS && iterations <= MOST_ITERATIONS;
    }

    /**
     * Compares in a time that says nothing about how much of it was right.
     *
     * @param proof    of a client.
     * @param side     who proves what.
     * @param messages that were exchanged before.
     * @return whether it knows the secret.
     */
    public boolean isProof(final byte[] proof, final String side, final byte[]... messages)
    {
        final byte[] mac = UserSecret.mac(storedKey, UserSecret.text(side), messages);
        return proof.length == mac.length &&
            MessageDigest.isEqual(storedKey, UserSecret.digest(UserSecret.mixed(proof, mac)));
    }

    /**
     * @param side     who proves what.
     * @param messages that were exchanged before.
     * @return what proves that this server has the verifier.
     */
    public byte[] serverProof(final String side, final byte[]... messages)
    {
        return UserSecret.mac(serverKey, UserSecret.text(side), messages);
    }

    /** As {@link UserSecret#mask}. */
    public byte[] mask(final byte[] bytes, final byte[]... messages)
    {
        return UserSecret.mixed(bytes, UserSecret.mac(storedKey, UserSecret.text(UserSecret.MASK), messages));
    }

    /**
     * Checks a secret that was sent as it is; slow.
     *
     * @param secret to be tried.
     * @return whether it is the user's.
     */
    public boolean matches(final String secret)
    {
        final SecretVerifier other = of(UserSecret.derive(secret, salt, iterations), salt, iterations);
        return MessageDigest.isEqual(storedKey, other.storedKey);
    }

    @Override
    public boolean equals(final Object other)
    {
        return other instanceof final SecretVerifier verifier && iterations == verifier.iterations &&
            Arrays.equals(salt, verifier.salt) && MessageDigest.isEqual(storedKey, verifier.storedKey) &&
            MessageDigest.isEqual(serverKey, verifier.serverKey);
    }

    @Override
    public int hashCode()
    {
        return Arrays.hashCode(salt);
    }

    @Override
    public String toString()
    {
        return "SecretVerifier{not shown}";
    }
}
