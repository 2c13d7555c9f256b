package io.verbena.server;

import io.verbena.protocol.bootstrap.ClusterToken;

import org.agrona.concurrent.UnsafeBuffer;

import java.nio.ByteBuffer;
import java.util.UUID;

import static io.verbena.raas.identity.IdentitySecret.LENGTH_BYTES;

/** What the members of a group of meta servers call it. */
public final class MetaGroupId
{
    private MetaGroupId()
    {
    }

    /**
     * Servers with another token are no members, whatever their addresses.
     *
     * @param token of the cluster.
     * @return of its group of meta servers.
     */
    public static UUID of(final ClusterToken token)
    {
        final ByteBuffer bytes = ByteBuffer.allocate(LENGTH_BYTES);
        token.clusterSecret().derive("verbena meta group", 0, 0).write(new UnsafeBuffer(bytes), 0);
        return new UUID(bytes.getLong(0), bytes.getLong(Long.BYTES));
    }
}
