package io.verbena.rdma.connection;

import javax.crypto.SecretKey;

/**
 * Secrets of the two directions of one connection, which nobody knows without the secret of its devices, and no other
 * connection has. Immutable.
 *
 * @param sending   of packets that the own queue pair sends, {@link ConnectionSecret#LENGTH_BYTES}.
 * @param receiving of packets of the peer's.
 */
public record ConnectionKeys(SecretKey sending, SecretKey receiving)
{
    @Override
    public String toString()
    {
        return "ConnectionKeys{not shown}";
    }
}
