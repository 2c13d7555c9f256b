package io.verbena.meta.store;

import io.verbena.protocol.access.User;
import io.verbena.protocol.tls.RevokedCertificate;
import io.verbena.protocol.view.View;

import java.util.List;

/**
 * Everything a store holds, as read at start.
 *
 * @param counters null when the store is new.
 * @param secret   from what those of nodes are derived; null when none was written yet.
 * @param nodes    every registration not forgotten, by ascending id.
 * @param tables   every table, by name.
 * @param users    every user, by name.
 * @param revoked  every certificate that was revoked, by its fingerprint.
 * @param views    the view of every group of memory nodes, by ascending group.
 */
public record MetaState(
    MetaCounters counters, StoredSecrets secret, List<StoredNode> nodes, List<StoredTable> tables, List<User> users,
    List<RevokedCertificate> revoked, List<View> views)
{
    /** @return identities among the nodes that were recorded as spares. */
    public int spares()
    {
        return (int)nodes.stream().filter((node) -> StoredNodeState.SPARE == node.state()).count();
    }

    /**
     * @param isFresh whether nodes and tables are left out.
     * @return all of it as one change of a store that has nothing yet; a new object.
     */
    public MetaBatch asBatch(final boolean isFresh)
    {
        final MetaBatch batch = new MetaBatch().counters(counters).secret(secret);
        users.forEach(batch::user);
        revoked.forEach(batch::revoke);

        if (!isFresh)
        {
            nodes.forEach(batch::node);
            tables.forEach(batch::table);
            views.forEach(batch::view);
        }

        return batch;
    }

    /** @return whether nothing was ever written. */
    public boolean isNew()
    {
        return null == counters;
    }
}
