package io.verbena.protocol.access;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Rights of a user.
 *
 * @param table  that they concern; {@link #ALL_TABLES} for all, also those that are made later.
 * @param rights bits of {@link TableRight}, at least one.
 * @param prefix only keys that begin so; empty for the whole table. Not copied, so not to be changed.
 */
public record Grant(String table, int rights, byte[] prefix)
{
    /** In the place of a table's name: all tables. */
    public static final String ALL_TABLES = "*";

    /** @return whether it concerns this table. */
    boolean isOf(final String name)
    {
        return ALL_TABLES.equals(table) || table.equals(name);
    }

    /** @return whether a key is among those that it concerns. */
    boolean covers(final byte[] key, final int lengthBytes)
    {
        return prefix.length <= lengthBytes && (0 == prefix.length ||
            Arrays.equals(key, 0, prefix.length, prefix, 0, prefix.length));
    }

    @Override
    public boolean equals(final Object other)
    {
        return other instanceof final Grant grant && table.equals(grant.table) && rights == grant.rights &&
            Arrays.equals(prefix, grant.prefix);
    }

    @Override
    public int hashCode()
    {
        return 31 * table.hashCode() + Arrays.hashCode(prefix);
    }

    /** As {@code ./verbena user list} shows it. */
    @Override
    public String toString()
    {
        return TableRight.text(rights) + " on " + (ALL_TABLES.equals(table) ? "all tables" : "table " + table) +
            (0 == prefix.length ? "" : ", keys that begin with '" + new String(prefix, StandardCharsets.UTF_8) + "'");
    }
}
