package io.verbena.server;

import io.verbena.meta.raft.GroupKey;
import io.verbena.protocol.bootstrap.ClusterToken;

import org.agrona.concurrent.UnsafeBuffer;

import java.nio.ByteBuffer;
import java.util.UUID;

import static io.verbena.raas.identity.IdentitySecret.LENGTH_BYTES;

/** By what the members of a group of meta servers know each other. */
public final class MetaGroupKey
{
    private MetaGroupKey()
    {
    }

    /**
     * Servers with another token are no members, whatever their addresses.
     *
     * @param token of the cluster.
     * @return of its group of meta servers.
     */
    public static GroupKey of(final ClusterToken token)
    {
        final ByteBuffer id = derived(token, "verbena meta group");
        return new GroupKey(new UUID(id.getLong(0), id.getLong(Long.BYTES)),
            derived(token, "verbena meta group members").array());
    }

    private static ByteBuffer derived(final ClusterToken token, final String purpose)
    {
        final ByteBuffer bytes = ByteBuffer.allocate(LENGTH_BYTES);
        token.clusterSecret().derive(purpose, 0, 0).write(new UnsafeBuffer(bytes), 0);
        return bytes;
    }
}
