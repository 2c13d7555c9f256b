package io.verbena.rdma.roce.engine;

import io.verbena.rdma.connection.ConnectionKeys;

import java.nio.ByteBuffer;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;

/** Keys of connections of tests: those of a direction follow from the numbers of both queue pairs. */
final class SealedPair
{
    private static final int LENGTH_BYTES = 32;

    private SealedPair()
    {
    }

    static ConnectionKeys keys(final int number, final int peerNumber)
    {
        return new ConnectionKeys(key(number, peerNumber), key(peerNumber, number));
    }

    private static SecretKey key(final int from, final int to)
    {
        return new SecretKeySpec(ByteBuffer.allocate(LENGTH_BYTES).putInt(from).putInt(to).array(), "Generic");
    }
}
