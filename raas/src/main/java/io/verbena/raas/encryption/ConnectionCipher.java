package io.verbena.raas.encryption;

import io.verbena.raas.identity.IdentitySecret;

import org.agrona.MutableDirectBuffer;

import javax.crypto.Cipher;
import javax.crypto.SecretKey;

/**
 * Seals what one end of a connection sends, and opens what it receives: each direction with keys of its own, which
 * nobody knows without the secret of the identity that connected, and no other connection has. Messages are sealed in
 * the order in which they are posted, and opened in the order in which they arrive. One thread.
 */
public final class ConnectionCipher
{
    private final MessageDirection sealing;
    private final MessageDirection opening;

    private ConnectionCipher(final MessageDirection sealing, final MessageDirection opening)
    {
        this.sealing = sealing;
        this.opening = opening;
    }

    /**
     * @param maxMessageBytes of a message that is not sealed.
     * @return memory for {@link #of}, which all connections of a thread may share.
     */
    public static byte[] scratch(final int maxMessageBytes)
    {
        return new byte[maxMessageBytes + SealedMessageDescriptor.TAG_LENGTH_BYTES];
    }

    /**
     * @param identity    secret of the identity that connects.
     * @param isConnector whether this end connects; else it accepts.
     * @param request     connect data of the request as it was sent, with a random number of that end.
     * @param answer      connect data of the answer, likewise.
     * @param scratch     see {@link #scratch}.
     * @return the cipher of this end.
     */
    public static ConnectionCipher of(
        final IdentitySecret identity, final boolean isConnector, final byte[] request, final byte[] answer,
        final byte[] scratch)
    {
        return of(identity, isConnector, request, answer, scratch, SealedMessageDescriptor.MESSAGES_PER_KEY);
    }

    /** As above; {@code messagesPerKey} 1 or more. */
    static ConnectionCipher of(
        final IdentitySecret identity, final boolean isConnector, final byte[] request, final byte[] answer,
        final byte[] scratch, final int messagesPerKey)
    {
        final SecretKey requests =
            KeyDerivation.ofConnection(identity, KeyDerivation.REQUESTS, request, answer);
        final SecretKey replies =
            KeyDerivation.ofConnection(identity, KeyDerivation.REPLIES, request, answer);
        return new ConnectionCipher(
            new MessageDirection(Cipher.ENCRYPT_MODE, isConnector ? requests : replies, messagesPerKey, scratch),
            new MessageDirection(Cipher.DECRYPT_MODE, isConnector ? replies : requests, messagesPerKey, scratch));
    }

    /**
     * Seals the next message to be posted, in its buffer.
     *
     * @param buffer      with room for {@link SealedMessageDescriptor#TAG_LENGTH_BYTES} more.
     * @param offset      where the message begins.
     * @param lengthBytes of it.
     * @param immediate   that travels with it; cannot be changed on the way either.
     * @return length of the sealed message.
     */
    public int seal(final MutableDirectBuffer buffer, final int offset, final int lengthBytes, final int immediate)
    {
        return sealing.next(buffer, offset, lengthBytes, immediate);
    }

    /**
     * Opens the next message that has arrived, in its buffer.
     *
     * @param buffer      with the sealed message.
     * @param offset      where it begins.
     * @param lengthBytes of it, as it arrived.
     * @param immediate   that came with it.
     * @return length of the message; -1 where it is not the next one that the other end has sealed, or was changed:
     *         then nothing opens any more, and the connection is to be closed.
     */
    public int open(final MutableDirectBuffer buffer, final int offset, final int lengthBytes, final int immediate)
    {
        return opening.next(buffer, offset, lengthBytes, immediate);
    }

    @Override
    public String toString()
    {
        return "ConnectionCipher{sealed=" + sealing.counter() + ", opened=" + opening.counter() + '}';
    }
}
