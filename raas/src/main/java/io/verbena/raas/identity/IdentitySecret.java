package io.verbena.raas.identity;

import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.Device;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import javax.crypto.KDF;
import javax.crypto.Mac;
import javax.crypto.SecretKey;
import javax.crypto.spec.HKDFParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * 128 secret bits, and what is computed with them: HMAC-SHA-256 (RFC 2104, FIPS 180-4), of which the first 128 bits are
 * used. Compared in constant time; never part of a text. Immutable, any thread.
 */
public final class IdentitySecret
{
    /** Length of a secret, and of everything computed with it. */
    public static final int LENGTH_BYTES = 16;
    private static final String ALGORITHM = "HmacSHA256";
    private static final String DERIVATION = "HKDF-SHA256";
    private static final String GENERIC = "Generic";

    private final byte[] bytes;
    /** Says which packets are sealed with what this secret follows from. */
    private final Predicate<ConnectionRequest.PacketSeal> covered;

    private IdentitySecret(final byte[] bytes)
    {
        this(bytes, (_) -> false);
    }

    private IdentitySecret(final byte[] bytes, final Predicate<ConnectionRequest.PacketSeal> covered)
    {
        this.bytes = bytes;
        this.covered = covered;
    }

    /**
     * @param seals says which packets are sealed with what this secret follows from, so that nobody who could not
     *              derive this secret can open them.
     * @return the same secret; those that are derived from it are covered by no packets.
     */
    public IdentitySecret coveredBy(final Predicate<ConnectionRequest.PacketSeal> seals)
    {
        return new IdentitySecret(bytes, seals);
    }

    /**
     * @param seal of a connection; null: its packets go in clear.
     * @return whether packets that are sealed so protect what the keys of this secret would.
     */
    public boolean isCoveredBy(final ConnectionRequest.PacketSeal seal)
    {
        return seal != null && covered.test(seal);
    }

    /**
     * Makes a new one.
     *
     * @param random that nobody can guess, see {@link io.verbena.rdma.verbs.Device#random()}.
     * @return the secret.
     */
    public static IdentitySecret random(final RandomGenerator random)
    {
        final byte[] bytes = new byte[LENGTH_BYTES];
        random.nextBytes(bytes);
        return new IdentitySecret(bytes);
    }

    /**
     * Reads one.
     *
     * @param buffer with {@link #LENGTH_BYTES} of it.
     * @param offset of the first.
     * @return a copy.
     */
    public static IdentitySecret read(final DirectBuffer buffer, final int offset)
    {
        final byte[] bytes = new byte[LENGTH_BYTES];
        buffer.getBytes(offset, bytes);
        return new IdentitySecret(bytes);
    }

    /**
     * Writes it.
     *
     * @param buffer takes {@link #LENGTH_BYTES}.
     * @param offset of the first.
     */
    public void write(final MutableDirectBuffer buffer, final int offset)
    {
        buffer.putBytes(offset, bytes);
    }

    /**
     * Derives the secret of one registration for one purpose. Who knows the result knows neither this secret nor any
     * other one derived from it.
     *
     * @param purpose     what for; another purpose gives another secret.
     * @param nodeId      of the node.
     * @param incarnation of its registration.
     * @return the secret.
     */
    public IdentitySecret derive(final String purpose, final int nodeId, final int incarnation)
    {
        final byte[] label = purpose.getBytes(StandardCharsets.UTF_8);
        return new IdentitySecret(mac(ByteBuffer.allocate(label.length + 2 * Integer.BYTES)
            .order(ByteOrder.LITTLE_ENDIAN).putInt(nodeId).putInt(incarnation).put(label).array()));
    }

    /**
     * Hides a secret from who does not know this one, or shows one that was hidden so.
     *
     * @param purpose     what for; with the two that follow never for another secret.
     * @param nodeId      of the node.
     * @param incarnation of its registration.
     * @param secret      to be hidden or shown.
     * @return the other one.
     */
    public IdentitySecret mask(
        final String purpose, final int nodeId, final int incarnation, final IdentitySecret secret)
    {
        final byte[] masked = derive(purpose, nodeId, incarnation).bytes;
        for (int i = 0; i < LENGTH_BYTES; i++)
        {
            masked[i] ^= secret.bytes[i];
        }
        return new IdentitySecret(masked);
    }

    /**
     * Derives what keys of a cipher are derived from, by HKDF-SHA-256 (RFC 5869).
     *
     * @param context     what for; another context gives something that has nothing to do with it.
     * @param lengthBytes of the result, 1 to 8,160.
     * @return the derived secret.
     */
    public SecretKey expand(final byte[] context, final int lengthBytes)
    {
        try
        {
            return KDF.getInstance(DERIVATION).deriveKey(GENERIC, HKDFParameterSpec.ofExtract()
                .addIKM(new SecretKeySpec(bytes, GENERIC)).thenExpand(context, lengthBytes));
        }
        catch (final GeneralSecurityException ex)
        {
            throw new IllegalStateException("this Java runtime has no " + DERIVATION, ex);
        }
    }

    /**
     * Authenticates a message.
     *
     * @param message bytes.
     * @return the first {@link #LENGTH_BYTES} of the HMAC.
     */
    byte[] mac(final byte[] message)
    {
        try
        {
            final Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(new SecretKeySpec(bytes, ALGORITHM));
            return Arrays.copyOf(mac.doFinal(message), LENGTH_BYTES);
        }
        catch (final GeneralSecurityException ex)
        {
            throw new IllegalStateException("every Java runtime has " + ALGORITHM, ex);
        }
    }

    @Override
    public boolean equals(final Object other)
    {
        return other instanceof final IdentitySecret secret && MessageDigest.isEqual(bytes, secret.bytes);
    }

    /** The same for all: secrets are not looked up. */
    @Override
    public int hashCode()
    {
        return LENGTH_BYTES;
    }

    @Override
    public String toString()
    {
        return "IdentitySecret{not shown}";
    }
}
