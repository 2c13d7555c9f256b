package io.verbena.rdma.roce.seal;

import org.agrona.MutableDirectBuffer;

import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;

/** AES-GCM over the bytes of packets, one after another, with memory that is used again. One thread. */
final class PacketDirection
{
    private static final String CIPHER = "AES/GCM/NoPadding";
    private static final int TAG_BITS = SealedPacketDescriptor.TAG_LENGTH_BYTES * Byte.SIZE;

    private final int mode;
    private final byte[] scratch;
    private final Cipher cipher;
    private final byte[] nonce = new byte[SealedPacketDescriptor.NONCE_LENGTH_BYTES];
    private final ByteBuffer nonceBuffer = ByteBuffer.wrap(nonce);
    private final byte[] additional = new byte[SealedPacketDescriptor.ADDITIONAL_LENGTH_BYTES];

    /**
     * @param mode    of {@link Cipher}.
     * @param scratch for the longest packet; used during calls only, others may use it in between.
     */
    PacketDirection(final int mode, final byte[] scratch)
    {
        this.mode = mode;
        this.scratch = scratch;
        try
        {
            cipher = Cipher.getInstance(CIPHER);
        }
        catch (final GeneralSecurityException ex)
        {
            throw new IllegalStateException("every Java runtime has " + CIPHER, ex);
        }
    }

    /**
     * Encrypts or decrypts a range of a packet whose BTH is in place.
     *
     * @return bytes written; -1, and nothing written, when the tag is not that of the packet.
     */
    int apply(
        final SecretKey key,
        final long counter,
        final MutableDirectBuffer buffer,
        final int from,
        final int lengthBytes,
        final int to)
    {
        SealedPacketDescriptor.encodeNonce(nonceBuffer, counter);
        SealedPacketDescriptor.encodeAdditional(additional, buffer);
        try
        {
            cipher.init(mode, key, new GCMParameterSpec(TAG_BITS, nonce));
            cipher.updateAAD(additional);
            buffer.getBytes(from, scratch, 0, lengthBytes);
            final int written = cipher.doFinal(scratch, 0, lengthBytes, scratch, 0);
            buffer.putBytes(to, scratch, 0, written);
            return written;
        }
        catch (final AEADBadTagException ex)
        {
            return -1;
        }
        catch (final GeneralSecurityException ex)
        {
            throw new IllegalStateException("packet " + counter + " of " + lengthBytes + " bytes", ex);
        }
    }
}
