package io.verbena.protocol.message;

import java.util.regex.Pattern;

/** Which names tables may have: one rule, for clients before they send and for the meta server. Stateless. */
public final class TableName
{
    /** Longest name, in characters, all of them ASCII. */
    public static final int MAX_LENGTH = 128;

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.-]{0," + (MAX_LENGTH - 1) + "}");

    private TableName()
    {
    }

    /**
     * Says what is wrong with a name.
     *
     * @param name to be checked; may be null.
     * @return one line, or null when the name is good.
     */
    public static String problem(final String name)
    {
        if (null != name && NAME.matcher(name).matches())
        {
            return null;
        }
        final String shown =
            null != name && name.length() > MAX_LENGTH ? name.substring(0, MAX_LENGTH) + "..." : String.valueOf(name);
        return "table name '" + shown.replaceAll("\\p{Cntrl}", "?") + "' is not allowed: use 1 to " + MAX_LENGTH +
            " letters, digits, '_', '-' or '.', not beginning with '-' or '.'";
    }
}
