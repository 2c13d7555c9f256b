package io.verbena.protocol.access;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;

import javax.crypto.Mac;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * What a user's secret is turned into before it proves anything, as in SCRAM (RFC 5802): a slow hash, PBKDF2 with
 * HMAC-SHA-256 (RFC 8018), from which a key of the client and one of the server are derived. The secret itself never
 * travels. Immutable, any thread.
 */
public final class UserSecret
{
    /** Length of a key and of a proof. */
    public static final int KEY_BYTES = 32;
    static final String MASK = "verbena ticket";
    /** Shortest secret. */
    public static final int MIN_BYTES = 8;
    /** Longest secret. */
    public static final int MAX_BYTES = 1_024;
    private static final String MAC = "HmacSHA256";

    private final byte[] clientKey;
    private final byte[] serverKey;

    private UserSecret(final byte[] clientKey, final byte[] serverKey)
    {
        this.clientKey = clientKey;
        this.serverKey = serverKey;
    }

    /**
     * Computes it; takes a tenth of a second or so, as it is meant to.
     *
     * @param secret     of the user, as it was typed; not kept.
     * @param salt       of the user.
     * @param iterations of the hash.
     * @return keys.
     */
    public static UserSecret derive(final CharSequence secret, final byte[] salt, final int iterations)
    {
        final char[] letters = letters(secret);
        try
        {
            final PBEKeySpec spec = new PBEKeySpec(letters, salt, iterations, KEY_BYTES * Byte.SIZE);
            final byte[] salted =
                SecretKeyFactory.getInstance("PBKDF2WithHmacSHA256").generateSecret(spec).getEncoded();
            spec.clearPassword();
            return new UserSecret(mac(salted, text("Client Key")), mac(salted, text("Server Key")));
        }
        catch (final GeneralSecurityException ex)
        {
            throw new IllegalStateException("every Java runtime has PBKDF2WithHmacSHA256", ex);
        }
        finally
        {
            Arrays.fill(letters, '\0');
        }
    }

    /** @return the characters of a secret, a copy, to be wiped by the caller, as a String cannot be. */
    public static char[] letters(final CharSequence secret)
    {
        final char[] letters = new char[secret.length()];
        for (int i = 0; i < letters.length; i++)
        {
            letters[i] = secret.charAt(i);
        }
        return letters;
    }

    /** @return hash of the client's key, which a server keeps. */
    byte[] storedKey()
    {
        return digest(clientKey);
    }

    /** @return with which a server proves itself, and which it keeps. */
    byte[] serverKey()
    {
        return serverKey;
    }

    /**
     * Proves to know the secret.
     *
     * @param side     who proves what.
     * @param messages that were exchanged before.
     * @return {@link #KEY_BYTES} bytes.
     */
    public byte[] proof(final String side, final byte[]... messages)
    {
        return mixed(clientKey, mac(digest(clientKey), text(side), messages));
    }

    /**
     * @param proof    of the server.
     * @param side     who proves what.
     * @param messages that were exchanged before.
     * @return whether the server has the verifier of this secret.
     */
    public boolean isServerProof(final byte[] proof, final String side, final byte[]... messages)
    {
        return MessageDigest.isEqual(proof, mac(serverKey, text(side), messages));
    }

    /**
     * Hides what only somebody with the secret is to read, or shows it again.
     *
     * @param bytes    at most {@link #KEY_BYTES}.
     * @param messages that were exchanged before, of which one is random.
     * @return the other form.
     */
    public byte[] mask(final byte[] bytes, final byte[]... messages)
    {
        return mixed(bytes, mac(digest(clientKey), text(MASK), messages));
    }

    static byte[] text(final String ascii)
    {
        return ascii.getBytes(StandardCharsets.US_ASCII);
    }

    static byte[] mac(final byte[] key, final byte[] first, final byte[]... messages)
    {
        try
        {
            final Mac mac = Mac.getInstance(MAC);
            mac.init(new SecretKeySpec(key, MAC));
            mac.update(first);
            for (final byte[] message : messages)
            {
                mac.update(message);
            }
            return mac.doFinal();
        }
        catch (final GeneralSecurityException ex)
        {
            throw new IllegalStateException("every Java runtime has " + MAC, ex);
        }
    }

    static byte[] digest(final byte[] bytes)
    {
        try
        {
            return MessageDigest.getInstance("SHA-256").digest(bytes);
        }
        catch (final GeneralSecurityException ex)
        {
            throw new IllegalStateException("every Java runtime has SHA-256", ex);
        }
    }

    static byte[] mixed(final byte[] bytes, final byte[] with)
    {
        final byte[] mixed = Arrays.copyOf(bytes, bytes.length);
        for (int i = 0; i < mixed.length; i++)
        {
            mixed[i] ^= with[i];
        }
        return mixed;
    }

    @Override
    public String toString()
    {
        return "UserSecret{not shown}";
    }
}
