package io.verbena.raas.identity;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;

/**
 * What a connecting node proves: that the holder of an identity's secret asks for this connection, of this queue pair
 * of this device, to this port, with a number that it uses once.
 *
 * @param nodeId          the identity.
 * @param incarnation     the identity.
 * @param nonce           grows with each request to connect under one secret; 1 or more.
 * @param queuePairNumber of the connecting queue pair.
 * @param gidHigh         of the connecting device, upper half of its address.
 * @param gidLow          lower half.
 * @param servicePort     where it connects.
 */
public record ConnectionClaim(
    int nodeId, int incarnation, long nonce, int queuePairNumber, long gidHigh, long gidLow, int servicePort)
{
    private static final int LENGTH_BYTES = 3 * Long.BYTES + 4 * Integer.BYTES;

    /**
     * Proves it.
     *
     * @param secret of the identity, towards the peer.
     * @return {@link IdentitySecret#LENGTH_BYTES} bytes.
     */
    public byte[] proof(final IdentitySecret secret)
    {
        return secret.mac(ByteBuffer.allocate(LENGTH_BYTES).order(ByteOrder.LITTLE_ENDIAN)
            .putInt(nodeId).putInt(incarnation).putLong(nonce).putInt(queuePairNumber)
            .putLong(gidHigh).putLong(gidLow).putInt(servicePort).array());
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
