package io.verbena.raas.encryption;

import org.agrona.MutableDirectBuffer;

import java.security.GeneralSecurityException;
import java.security.InvalidAlgorithmParameterException;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;

/**
 * One direction of a connection at one of its ends: its key, and how many messages there were. Each message has the
 * next count as its nonce, so that one which is repeated, left out, out of order, or of another connection or direction
 * does not open. One thread.
 */
final class MessageDirection
{
    private static final String CIPHER = "AES/GCM/NoPadding";
    /** In the place of the count: no message is ever sealed with it. */
    private static final long NONE_OPENS = -1;

    private final int mode;
    private final int messagesPerKey;
    private final byte[] scratch;
    private final Cipher cipher;
    private final byte[] nonce = new byte[SealedMessageDescriptor.NONCE_LENGTH_BYTES];
    private final byte[] additional = new byte[SealedMessageDescriptor.ADDITIONAL_LENGTH_BYTES];
    private SecretKey secret;
    private SecretKey key;
    private int left;
    private long counter;

    /**
     * @param mode           of {@link Cipher}: ENCRYPT_MODE or DECRYPT_MODE.
     * @param secret         of the direction.
     * @param messagesPerKey how many, until the next key is derived.
     * @param scratch        for the longest sealed message; used during calls only, others may use it in between.
     */
    MessageDirection(final int mode, final SecretKey secret, final int messagesPerKey, final byte[] scratch)
    {
        this.mode = mode;
        this.secret = secret;
        this.messagesPerKey = messagesPerKey;
        this.scratch = scratch;
        key = KeyDerivation.key(secret);
        left = messagesPerKey;
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
     * Seals or opens the next message where it stands. One that does not open leaves the buffer as it was, and nothing
     * opens after it.
     *
     * @return its length afterwards; -1 where it does not open.
     */
    int next(final MutableDirectBuffer buffer, final int offset, final int lengthBytes, final int immediate)
    {
        if (lengthBytes > scratch.length)
        {
            counter = NONE_OPENS;
            return -1;
        }
        if (0 == left)
        {
            secret = KeyDerivation.next(secret);
            key = KeyDerivation.key(secret);
            left = messagesPerKey;
        }
        SealedMessageDescriptor.encodeNonce(nonce, counter);
        SealedMessageDescriptor.encodeAdditional(additional, immediate);
        try
        {
            cipher.init(mode, key,
                new GCMParameterSpec(SealedMessageDescriptor.TAG_LENGTH_BYTES * Byte.SIZE, nonce));
            cipher.updateAAD(additional);
            buffer.getBytes(offset, scratch, 0, lengthBytes);
            final int length = cipher.doFinal(scratch, 0, lengthBytes, scratch, 0);
            buffer.putBytes(offset, scratch, 0, length);
            counter++;
            left--;
            return length;
        }
        catch (final AEADBadTagException ex)
        {
            counter = NONE_OPENS;
            return -1;
        }
        catch (final InvalidAlgorithmParameterException ex)
        {
            throw new IllegalStateException("a nonce was used before: " + counter, ex);
        }
        catch (final GeneralSecurityException ex)
        {
            throw new IllegalStateException("message of " + lengthBytes + " bytes", ex);
        }
    }

    /** @return messages so far; negative once one did not open. */
    long counter()
    {
        return counter;
    }
}
