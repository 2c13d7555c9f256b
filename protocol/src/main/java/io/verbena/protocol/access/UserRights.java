package io.verbena.protocol.access;

import org.agrona.collections.Int2ObjectHashMap;

import java.util.List;

/**
 * What one caller may do. Which grants concern a table is found once for each table. Used by the thread of a node that
 * answers requests; allocates nothing but that.
 */
public final class UserRights
{
    /** Of who may do nothing. */
    static final List<Grant> NONE = List.of();

    private final String caller;
    private final List<Grant> grants;
    private final String whyNone;
    private final Int2ObjectHashMap<Grant[]> ofTables = new Int2ObjectHashMap<>();

    /** @param whyNone why nothing is allowed; null where it is for want of a grant. */
    UserRights(final String caller, final List<Grant> grants, final String whyNone)
    {
        this.caller = caller;
        this.grants = grants;
        this.whyNone = whyNone;
    }

    /**
     * Whether records may be used.
     *
     * @param rights      bits of {@link TableRight}, all of which are needed.
     * @param tableId     number of the table.
     * @param table       its name, as it is kept with the table.
     * @param key         of the record; null: of all records of the table.
     * @param lengthBytes of the key.
     * @return whether that is allowed.
     */
    public boolean allows(
        final int rights, final int tableId, final String table, final byte[] key, final int lengthBytes)
    {
        Grant[] known = ofTables.get(tableId);
        if (null == known)
        {
            known = grants.stream().filter((grant) -> grant.isOf(table)).toArray(Grant[]::new);
            ofTables.put(tableId, known);
        }
        int missing = rights;
        for (int i = 0; i < known.length && 0 != missing; i++)
        {
            final Grant grant = known[i];
            if (0 != (grant.rights() & missing) &&
                (null == key ? 0 == grant.prefix().length : grant.covers(key, lengthBytes)))
            {
                missing &= ~grant.rights();
            }
        }
        return 0 == missing;
    }

    /**
     * Whether a table as such may be used, there or not.
     *
     * @param rights bits of {@link TableRight}, one of which is enough, on the whole table or on a part of it.
     * @param table  its name; {@link Grant#ALL_TABLES}: all tables together.
     * @return whether that is allowed.
     */
    public boolean allowsAny(final int rights, final String table)
    {
        for (final Grant grant : grants)
        {
            if (0 != (grant.rights() & rights) && grant.isOf(table))
            {
                return true;
            }
        }
        return false;
    }

    /**
     * @param what is refused, such as {@code GET}.
     * @param table of it.
     * @return why, one line.
     */
    public String refusal(final Object what, final String table)
    {
        return null != whyNone ? whyNone : caller + " has no right to " + what + " in table " + table;
    }

    @Override
    public String toString()
    {
        return "UserRights{" + caller + ", grants=" + grants + '}';
    }
}
