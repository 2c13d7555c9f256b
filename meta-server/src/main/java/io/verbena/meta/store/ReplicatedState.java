package io.verbena.meta.store;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;

/**
 * What the log of a group of meta servers has led to, at one member: the records, and who leads. The same commands in
 * the same order lead to the same state at every member. All of it is in memory: it is a few hundred bytes for each
 * node and table, and durable as log and snapshots. Thread-safe.
 */
public final class ReplicatedState
{
    private final TreeMap<String, byte[]> records = new TreeMap<>();
    /** Of the members, with {@link MetaCommand#ADDRESS_PREFIX}; apart, because they are nothing that was written. */
    private final TreeMap<String, byte[]> addresses = new TreeMap<>();
    private long leadership;
    private String leader = "";
    private long term;
    private long index = -1;

    /**
     * Who led last, at one moment.
     *
     * @param number of the latest leadership; 0 before the first.
     * @param leader that member; empty before the first.
     */
    public record Leadership(long number, String leader)
    {
    }

    /**
     * Applies the next entry of the log.
     *
     * @param entryTerm  of the entry.
     * @param entryIndex of the entry; larger than any before.
     * @param command    of the entry; null for one that concerns the group alone.
     * @return whether it had an effect: not when a later leadership has begun since it was made.
     */
    public synchronized boolean apply(final long entryTerm, final long entryIndex, final MetaCommand command)
    {
        if (entryIndex <= index)
        {
            throw new IllegalStateException("entry " + entryIndex + " applied after entry " + index);
        }

        term = entryTerm;
        index = entryIndex;

        if (null != command && MetaCommand.Kind.ANNOUNCE == command.kind())
        {
            command.changes().forEach((change) -> change.applyTo(addresses));
            return true;
        }

        if (null == command || command.leadership() != leadership || MetaCommand.Kind.SNAPSHOT == command.kind())
        {
            return false;
        }

        if (MetaCommand.Kind.TAKE_LEADERSHIP == command.kind())
        {
            leadership++;
            leader = command.member();
        }
        else
        {
            command.changes().forEach((change) -> change.applyTo(records));
        }

        return true;
    }

    /** @return who led last. */
    public synchronized Leadership leadership()
    {
        return new Leadership(leadership, leader);
    }

    /** @return index of the entry applied last; -1 before the first. */
    public synchronized long index()
    {
        return index;
    }

    /** @return term of the entry applied last. */
    public synchronized long term()
    {
        return term;
    }

    /** @return where members listen while they lead, by name, of those that have said so; a new map. */
    public synchronized Map<String, String> addresses()
    {
        final Map<String, String> all = new TreeMap<>();
        addresses.forEach((key, address) -> all.put(
            key.substring(MetaCommand.ADDRESS_PREFIX.length()), new String(address, StandardCharsets.UTF_8)));
        return all;
    }

    /** @return whether no record was ever written. */
    public synchronized boolean isEmpty()
    {
        return records.isEmpty();
    }

    /**
     * Reads everything and checks every record.
     *
     * @return the records as a state.
     * @throws MetaStoreException naming the first record that is corrupt or of an unknown version.
     */
    public synchronized MetaState load()
    {
        final MetaStateReader reader = new MetaStateReader("the replicated state");
        records.forEach(reader::accept);
        return reader.state();
    }

    /** @return all of it. */
    public synchronized MetaCommand snapshot()
    {
        return MetaCommand.snapshot(leadership, leader, term, index, records, addresses);
    }

    /**
     * Replaces all of it.
     *
     * @param snapshot of this or another member.
     * @throws MetaStoreException when the command is no snapshot.
     */
    public synchronized void restore(final MetaCommand snapshot)
    {
        if (MetaCommand.Kind.SNAPSHOT != snapshot.kind())
        {
            throw new MetaStoreException(MetaStoreException.Category.CORRUPT, snapshot + " is no snapshot", null);
        }

        records.clear();
        addresses.clear();
        snapshot.changes().forEach((change) -> change.applyTo(
            change.key().startsWith(MetaCommand.ADDRESS_PREFIX) ? addresses : records));
        leadership = snapshot.leadership();
        leader = snapshot.member();
        term = snapshot.term();
        index = snapshot.index();
    }
}
