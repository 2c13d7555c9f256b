package io.verbena.raas.identity;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;

/**
 * What a connecting node proves: that the holder of an identity's secret asks for this connection, of this queue pair
 * of this device, to this port, with a number that it uses once, and whether the connection is to be encrypted.
 *
 * @param nodeId          the identity.
 * @param incarnation     the identity.
 * @param nonce           grows with each request to connect under one secret; 1 or more.
 * @param queuePairNumber of the connecting queue pair.
 * @param gidHigh         of the connecting device, upper half of its address.
 * @param gidLow          lower half.
 * @param servicePort     where it connects.
 * @param encryption      that is asked for; 0: none.
 * @param randomHigh      first half of the random number that goes with the encryption; 0 without one.
 * @param randomLow       second half.
 * @param login           the identity.
 */
public record ConnectionClaim(
    int nodeId, int incarnation, long nonce, int queuePairNumber, long gidHigh, long gidLow, int servicePort,
    int encryption, long randomHigh, long randomLow, int login)
{
    private static final int LENGTH_BYTES = 3 * Long.BYTES + 5 * Integer.BYTES;
    private static final int ENCRYPTED_LENGTH_BYTES = LENGTH_BYTES + Integer.BYTES + 2 * Long.BYTES;

    /** In clear, of who has not logged in with a certificate. */
    public ConnectionClaim(
        final int nodeId, final int incarnation, final long nonce, final int queuePairNumber, final long gidHigh,
        final long gidLow, final int servicePort)
    {
        this(nodeId, incarnation, nonce, queuePairNumber, gidHigh, gidLow, servicePort, 0, 0, 0, 0);
    }

    /**
     * Proves it.
     *
     * @param secret of the identity, towards the peer.
     * @return {@link IdentitySecret#LENGTH_BYTES} bytes.
     */
    public byte[] proof(final IdentitySecret secret)
    {
        final ByteBuffer claim = ByteBuffer.allocate(encryption == 0 ? LENGTH_BYTES : ENCRYPTED_LENGTH_BYTES)
            .order(ByteOrder.LITTLE_ENDIAN)
            .putInt(nodeId).putInt(incarnation).putLong(nonce).putInt(queuePairNumber)
            .putLong(gidHigh).putLong(gidLow).putInt(servicePort).putInt(login);
        if (encryption != 0)
        {
            // Else whoever changes packets could have the connection in clear, proved, and use it.
            claim.putInt(encryption).putLong(randomHigh).putLong(randomLow);
        }
        return secret.mac(claim.array());
    }

    /**
     * Compares in constant time.
     *
     * @param secret of the identity.
     * @param proof  as it came.
     * @return whether the holder of the secret made it.
     */
    public boolean isProvedBy(final IdentitySecret secret, final byte[] proof)
    {
        return MessageDigest.isEqual(proof(secret), proof);
    }
}
