package io.verbena.protocol.access;

import java.util.Locale;

/** What a user may do with a table. */
public enum TableRight
{
    /** Ask for records. */
    READ(1),
    /** Change records. */
    WRITE(2),
    /** Make and drop the table. */
    ADMIN(4);

    /** All of them. */
    public static final int ALL = 7;

    private final int bit;

    TableRight(final int bit)
    {
        this.bit = bit;
    }

    /** @return of the set that is kept as a number. */
    public int bit()
    {
        return bit;
    }

    /**
     * Reads a set.
     *
     * @param text names with commas between, such as {@code read,write}, in any case.
     * @return the set as a number; 0 when something there is no right.
     */
    public static int parse(final String text)
    {
        int rights = 0;
        for (final String name : text.split(",", -1))
        {
            int bit = 0;
            for (final TableRight right : values())
            {
                bit |= right.name().equalsIgnoreCase(name.strip()) ? right.bit : 0;
            }
            if (0 == bit)
            {
                return 0;
            }
            rights |= bit;
        }
        return rights;
    }

    /**
     * Names a set, as {@link #parse} reads it.
     *
     * @param rights the set as a number.
     * @return names with commas between.
     */
    public static String text(final int rights)
    {
        final StringBuilder text = new StringBuilder();
        for (final TableRight right : values())
        {
            if (0 != (rights & right.bit))
            {
                text.append(text.isEmpty() ? "" : ",").append(right.name().toLowerCase(Locale.ROOT));
            }
        }
        return text.toString();
    }
}
