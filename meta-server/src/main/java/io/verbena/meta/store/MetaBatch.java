package io.verbena.meta.store;

import io.verbena.protocol.access.User;
import io.verbena.protocol.tls.RevokedCertificate;
import io.verbena.protocol.view.View;

import java.util.ArrayList;
import java.util.List;

/** One atomic change of the durable state, put together by its owner thread and given to {@link MetaStore#write}. */
public final class MetaBatch
{
    MetaCounters counters;
    StoredSecrets secret;
    final List<StoredNode> nodes = new ArrayList<>();
    final List<Integer> removedNodeIds = new ArrayList<>();
    final List<StoredTable> tables = new ArrayList<>();
    final List<String> removedTables = new ArrayList<>();
    final List<User> users = new ArrayList<>();
    final List<String> removedUsers = new ArrayList<>();
    final List<RevokedCertificate> revoked = new ArrayList<>();
    final List<RevokedCertificate> restored = new ArrayList<>();
    final List<View> views = new ArrayList<>();
    final List<Integer> removedViews = new ArrayList<>();

    /**
     * @param newCounters replace the present ones.
     * @return this.
     */
    public MetaBatch counters(final MetaCounters newCounters)
    {
        counters = newCounters;
        return this;
    }

    /**
     * Adds what another batch changes, behind what this one does. Neither removes what the other one has.
     *
     * @param other unchanged.
     */
    public void add(final MetaBatch other)
    {
        counters = null == other.counters ? counters : other.counters;
        secret = null == other.secret ? secret : other.secret;
        nodes.addAll(other.nodes);
        removedNodeIds.addAll(other.removedNodeIds);
        tables.addAll(other.tables);
        removedTables.addAll(other.removedTables);
        users.addAll(other.users);
        removedUsers.addAll(other.removedUsers);
        revoked.addAll(other.revoked);
        restored.addAll(other.restored);
        views.addAll(other.views);
        removedViews.addAll(other.removedViews);
    }

    /** @return whether it changes nothing. */
    public boolean isEmpty()
    {
        return null == counters && null == secret && nodes.isEmpty() && removedNodeIds.isEmpty() &&
            tables.isEmpty() && removedTables.isEmpty() && users.isEmpty() && removedUsers.isEmpty() &&
            revoked.isEmpty() && restored.isEmpty() && views.isEmpty() &&
            removedViews.isEmpty();
    }

    /**
     * @param newSecret from what those of nodes are derived; replaces what is there.
     * @return this.
     */
    public MetaBatch secret(final StoredSecrets newSecret)
    {
        secret = newSecret;
        return this;
    }

    /**
     * @param node added, or replacing the one with the same id.
     * @return this.
     */
    public MetaBatch node(final StoredNode node)
    {
        nodes.add(node);
        return this;
    }

    /**
     * @param nodeId removed if present.
     * @return this.
     */
    public MetaBatch removeNode(final int nodeId)
    {
        removedNodeIds.add(nodeId);
        return this;
    }

    /**
     * @param user added, or replacing the one with the same name.
     * @return this.
     */
    public MetaBatch user(final User user)
    {
        users.add(user);
        return this;
    }

    /**
     * @param name of a user, removed if present.
     * @return this.
     */
    public MetaBatch removeUser(final String name)
    {
        removedUsers.add(name);
        return this;
    }

    /**
     * @param certificate revoked.
     * @return this.
     */
    public MetaBatch revoke(final RevokedCertificate certificate)
    {
        revoked.add(certificate);
        return this;
    }

    /**
     * @param certificate revoked no more.
     * @return this.
     */
    public MetaBatch restore(final RevokedCertificate certificate)
    {
        restored.add(certificate);
        return this;
    }

    /**
     * @param table added, or replacing the one with the same name.
     * @return this.
     */
    public MetaBatch table(final StoredTable table)
    {
        tables.add(table);
        return this;
    }

    /**
     * @param name removed if present.
     * @return this.
     */
    public MetaBatch removeTable(final String name)
    {
        removedTables.add(name);
        return this;
    }

    /**
     * @param view of a group, added, or replacing the one of the same group.
     * @return this.
     */
    public MetaBatch view(final View view)
    {
        views.add(view);
        return this;
    }

    /**
     * @param group whose view is removed if present.
     * @return this.
     */
    public MetaBatch removeView(final int group)
    {
        removedViews.add(group);
        return this;
    }

    /** @return what it changes, record by record, in the order in which that has to happen; a new list. */
    List<RecordChange> changes()
    {
        final List<RecordChange> changes = new ArrayList<>();

        if (null != counters)
        {
            changes.add(new RecordChange(MetaRecordDescriptor.COUNTERS_KEY, MetaRecordDescriptor.encode(counters)));
        }

        if (null != secret)
        {
            changes.add(new RecordChange(MetaRecordDescriptor.SECRET_KEY, MetaRecordDescriptor.encode(secret)));
        }

        nodes.forEach((node) -> changes.add(
            new RecordChange(MetaRecordDescriptor.nodeKey(node.nodeId()), MetaRecordDescriptor.encode(node))));
        removedNodeIds.forEach((id) -> changes.add(new RecordChange(MetaRecordDescriptor.nodeKey(id), null)));
        tables.forEach((table) -> changes.add(
            new RecordChange(MetaRecordDescriptor.tableKey(table.name()), MetaRecordDescriptor.encode(table))));
        users.forEach((user) -> changes.add(
            new RecordChange(MetaRecordDescriptor.userKey(user.name()), MetaRecordDescriptor.encode(user))));
        removedUsers.forEach((name) -> changes.add(new RecordChange(MetaRecordDescriptor.userKey(name), null)));
        revoked.forEach((each) -> changes.add(
            new RecordChange(MetaRecordDescriptor.revokedKey(each), MetaRecordDescriptor.encode(each))));
        restored.forEach((each) -> changes.add(new RecordChange(MetaRecordDescriptor.revokedKey(each), null)));
        removedTables.forEach((name) -> changes.add(new RecordChange(MetaRecordDescriptor.tableKey(name), null)));
        views.forEach((view) -> changes.add(
            new RecordChange(ViewRecordDescriptor.key(view.group()), ViewRecordDescriptor.encode(view))));
        removedViews.forEach((group) -> changes.add(new RecordChange(ViewRecordDescriptor.key(group), null)));
        return changes;
    }
}
