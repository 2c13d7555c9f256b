package io.verbena.meta.store;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/**
 * One entry of the log that a group of meta servers replicates, or a snapshot of all that its entries have led to.
 * Every command but an announcement names the leadership under which it was made: the state refuses one that is not of
 * the latest, so that a deposed leader changes nothing, however late its commands arrive.
 */
public final class MetaCommand
{
    /** Key of the address of a member, before its name; no record of a meta server begins so. */
    static final String ADDRESS_PREFIX = "address/";

    /** What a command does; the numbers are part of the format. */
    enum Kind
    {
        /** Begins the leadership after the one that it names, if that is still the latest. */
        TAKE_LEADERSHIP(1),
        /** Changes records, if the leadership that it names is the latest. */
        WRITE(2),
        /** The whole state, not in the log: which entry was applied last, who leads, every record. */
        SNAPSHOT(3),
        /** Where a member listens while it leads, whoever leads now; and which members are none any more. */
        ANNOUNCE(4);

        private final int code;

        Kind(final int code)
        {
            this.code = code;
        }

        int code()
        {
            return code;
        }

        static Kind of(final int code)
        {
            for (final Kind kind : values())
            {
                if (kind.code == code)
                {
                    return kind;
                }
            }

            return null;
        }
    }

    private final Kind kind;
    private final long leadership;
    private final long term;
    private final long index;
    private final String member;
    private final List<RecordChange> changes;

    MetaCommand(
        final Kind kind, final long leadership, final long term, final long index, final String member,
        final List<RecordChange> changes)
    {
        this.kind = kind;
        this.leadership = leadership;
        this.term = term;
        this.index = index;
        this.member = member;
        this.changes = changes;
    }

    /**
     * @param present the latest leadership that the member knows; the command has no effect when there is a later one.
     * @param member  who is to lead.
     * @return the command that begins the leadership {@code present + 1}.
     */
    public static MetaCommand takeLeadership(final long present, final String member)
    {
        return new MetaCommand(Kind.TAKE_LEADERSHIP, present, 0, 0, member, List.of());
    }

    /**
     * @param leadership under which the change is made.
     * @param batch      what changes; may be reused by the caller afterwards.
     * @return the command.
     */
    public static MetaCommand write(final long leadership, final MetaBatch batch)
    {
        return new MetaCommand(Kind.WRITE, leadership, 0, 0, "", batch.changes());
    }

    /**
     * Says where a member listens. Unlike other commands it has its effect whoever leads: what it changes no leadership
     * decides on, and a later one of the same member replaces it.
     *
     * @param member  who says it.
     * @param address where it listens while it leads.
     * @param gone    names of members that the group does not have any more, whose addresses are forgotten.
     * @return the command.
     */
    public static MetaCommand announce(final String member, final String address, final Collection<String> gone)
    {
        final List<RecordChange> changes = new ArrayList<>();
        changes.add(new RecordChange(ADDRESS_PREFIX + member, address.getBytes(StandardCharsets.UTF_8)));
        gone.forEach((name) -> changes.add(new RecordChange(ADDRESS_PREFIX + name, null)));
        return new MetaCommand(Kind.ANNOUNCE, 0, 0, 0, member, changes);
    }

    static MetaCommand snapshot(
        final long leadership, final String holder, final long term, final long index,
        final Map<String, byte[]> records, final Map<String, byte[]> addresses)
    {
        final List<RecordChange> all = new ArrayList<>();
        records.forEach((key, record) -> all.add(new RecordChange(key, record)));
        addresses.forEach((key, record) -> all.add(new RecordChange(key, record)));
        return new MetaCommand(Kind.SNAPSHOT, leadership, term, index, holder, all);
    }

    Kind kind()
    {
        return kind;
    }

    long leadership()
    {
        return leadership;
    }

    /** @return of the entry applied last, of a snapshot. */
    public long term()
    {
        return term;
    }

    /** @return index of the entry applied last, of a snapshot; -1: none. */
    public long index()
    {
        return index;
    }

    String member()
    {
        return member;
    }

    List<RecordChange> changes()
    {
        return changes;
    }

    @Override
    public String toString()
    {
        return "MetaCommand{kind=" + kind + " leadership=" + leadership + " member=" + member +
            " changes=" + changes.size() + '}';
    }
}
