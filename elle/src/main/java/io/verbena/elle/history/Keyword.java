package io.verbena.elle.history;

import java.util.Objects;

/**
 * An EDN keyword such as {@code :append}.
 *
 * @param name without the leading colon; a namespace stays in front, as in {@code a/b}.
 */
public record Keyword(String name)
{
    /**
     * Checks the name.
     *
     * @param name without the leading colon.
     */
    public Keyword
    {
        Objects.requireNonNull(name, "name");
    }

    /**
     * The name of something that EDN writes as a keyword and JSON as a string.
     *
     * @param value a keyword, a symbol or a string.
     * @return the bare name, or null if the value is none of these.
     */
    public static String nameOf(final Object value)
    {
        return switch (value)
        {
            case Keyword keyword -> keyword.name;
            case Symbol symbol -> symbol.name();
            case String string -> string;
            case null, default -> null;
        };
    }

    @Override
    public String toString()
    {
        return ":" + name;
    }
}
