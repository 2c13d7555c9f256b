package io.verbena.protocol.access;

import java.util.ArrayList;
import java.util.List;

/**
 * How much a user may ask of each compute node, and have of the cluster. 0: no limit.
 *
 * @param operationsPerSecond operations on records, and parts of scans, in the mean of a second.
 * @param bytesPerSecond      of keys and values, those sent and those returned.
 * @param outstanding         requests that wait or are under way at one time.
 * @param scans               of these, parts of scans and counts.
 * @param tables              that the cluster may have on which the user has the right {@link TableRight#ADMIN}, for it
 *                            to make one more; kept by the meta server.
 */
public record UserQuota(long operationsPerSecond, long bytesPerSecond, int outstanding, int scans, int tables)
{
    /** No limits. */
    public static final UserQuota NONE = new UserQuota(0, 0, 0, 0, 0);
    /** Highest rate of operations that can be kept. */
    public static final long MAX_OPERATIONS_PER_SECOND = 100_000_000;
    /** Highest rate of bytes that can be kept. */
    public static final long MAX_BYTES_PER_SECOND = 100_000_000_000L;
    /** Most requests at one time that can be named. */
    public static final int MAX_OUTSTANDING = 1_000_000;
    /** Most tables that can be named. */
    public static final int MAX_TABLES = 1_000_000;

    /** @return what is wrong with it, one line; null when nothing is. */
    public String problem()
    {
        final String operations = problem("operations a second", operationsPerSecond, MAX_OPERATIONS_PER_SECOND);
        final String bytes = problem("bytes a second", bytesPerSecond, MAX_BYTES_PER_SECOND);
        final String requests = problem("outstanding requests", outstanding, MAX_OUTSTANDING);
        final String parts = problem("scans", scans, MAX_OUTSTANDING);
        return null != operations ? operations : null != bytes ? bytes : null != requests ? requests :
            null != parts ? parts : problem("tables", tables, MAX_TABLES);
    }

    private static String problem(final String what, final long value, final long most)
    {
        return value >= 0 && value <= most ? null :
            "quota of " + value + " " + what + " is not possible: 1 to " + most + ", or none";
    }

    /** @return whether there is no limit. */
    public boolean isNone()
    {
        return NONE.equals(this);
    }

    /** As {@code ./verbena user list} shows it. */
    @Override
    public String toString()
    {
        final List<String> limits = new ArrayList<>();
        add(limits, operationsPerSecond, "operations a second");
        add(limits, bytesPerSecond, "bytes a second");
        add(limits, outstanding, "outstanding requests");
        add(limits, scans, "scans at once");
        final List<String> parts = new ArrayList<>();
        add(parts, tables, "tables");
        if (!limits.isEmpty())
        {
            parts.add("at each compute node " + String.join(", ", limits));
        }
        return parts.isEmpty() ? "no quota" : "quota: " + String.join("; ", parts);
    }

    private static void add(final List<String> limits, final long value, final String what)
    {
        if (value > 0)
        {
            limits.add(value + " " + what);
        }
    }
}
