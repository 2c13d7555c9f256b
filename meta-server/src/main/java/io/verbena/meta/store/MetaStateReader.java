package io.verbena.meta.store;

import io.verbena.protocol.access.User;
import io.verbena.protocol.tls.RevokedCertificate;
import io.verbena.protocol.view.View;

import java.util.ArrayList;
import java.util.List;

/** Turns stored records into a {@link MetaState}; refuses the first one that is not as it must be. */
final class MetaStateReader
{
    private final String source;
    private final List<StoredNode> nodes = new ArrayList<>();
    private final List<StoredTable> tables = new ArrayList<>();
    private final List<User> users = new ArrayList<>();
    private final List<RevokedCertificate> revoked = new ArrayList<>();
    private final List<View> views = new ArrayList<>();
    private MetaCounters counters;
    private StoredSecrets secret;

    MetaStateReader(final String source)
    {
        this.source = source;
    }

    void accept(final String key, final byte[] bytes)
    {
        if (MetaRecordDescriptor.COUNTERS_KEY.equals(key))
        {
            counters = MetaRecordDescriptor.decodeCounters(source, bytes);
        }
        else if (MetaRecordDescriptor.SECRET_KEY.equals(key))
        {
            secret = MetaRecordDescriptor.decodeSecret(source, bytes);
        }
        else if (key.startsWith(MetaRecordDescriptor.NODE_PREFIX))
        {
            nodes.add(MetaRecordDescriptor.decodeNode(source, key, bytes));
        }
        else if (key.startsWith(MetaRecordDescriptor.TABLE_PREFIX))
        {
            tables.add(MetaRecordDescriptor.decodeTable(source, key, bytes));
        }
        else if (key.startsWith(MetaRecordDescriptor.USER_PREFIX))
        {
            users.add(MetaRecordDescriptor.decodeUser(source, key, bytes));
        }
        else if (key.startsWith(MetaRecordDescriptor.REVOKED_PREFIX))
        {
            revoked.add(MetaRecordDescriptor.decodeRevoked(source, key, bytes));
        }
        else if (key.startsWith(ViewRecordDescriptor.PREFIX))
        {
            views.add(ViewRecordDescriptor.decode(source, key, bytes));
        }
        else
        {
            throw MetaRecordDescriptor.corrupt(source, key, "no record has such a key");
        }
    }

    MetaState state()
    {
        if (null == counters && !(nodes.isEmpty() && tables.isEmpty() && users.isEmpty() && revoked.isEmpty() &&
            views.isEmpty() && null == secret))
        {
            throw MetaRecordDescriptor.corrupt(source, MetaRecordDescriptor.COUNTERS_KEY, "it is missing");
        }

        return new MetaState(counters, secret, List.copyOf(nodes), List.copyOf(tables), List.copyOf(users),
            List.copyOf(revoked), List.copyOf(views));
    }
}
