package io.verbena.elle.history;

import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Writes the values of histories as EDN. Stateless.
 */
public final class EdnValue
{
    private EdnValue()
    {
    }

    /**
     * A value as EDN text.
     *
     * @param value of a type that {@link History} names.
     * @return the text.
     */
    public static String toText(final Object value)
    {
        final StringBuilder text = new StringBuilder();
        appendTo(text, value);
        return text.toString();
    }

    /**
     * Appends a value as EDN.
     *
     * @param text  grows.
     * @param value of a type that {@link History} names; others are shown by their {@code toString}.
     */
    public static void appendTo(final StringBuilder text, final Object value)
    {
        switch (value)
        {
            case null -> text.append("nil");
            case String string -> appendString(text, string);
            case List<?> list -> appendAll(text, "[", list.iterator(), ']');
            case Set<?> set -> appendAll(text, "#{", set.iterator(), '}');
            case Map<?, ?> map -> appendMap(text, map);
            default -> text.append(value);
        }
    }

    private static void appendAll(
        final StringBuilder text, final String open, final Iterator<?> values, final char close)
    {
        text.append(open);
        while (values.hasNext())
        {
            appendTo(text, values.next());
            if (values.hasNext())
            {
                text.append(' ');
            }
        }
        text.append(close);
    }

    private static void appendMap(final StringBuilder text, final Map<?, ?> map)
    {
        text.append('{');
        String separator = "";
        for (final Map.Entry<?, ?> entry : map.entrySet())
        {
            text.append(separator);
            appendTo(text, entry.getKey());
            text.append(' ');
            appendTo(text, entry.getValue());
            separator = ", ";
        }
        text.append('}');
    }

    private static void appendString(final StringBuilder text, final String string)
    {
        text.append('"');
        for (int i = 0; i < string.length(); i++)
        {
            final char c = string.charAt(i);
            switch (c)
            {
                case '"' -> text.append("\\\"");
                case '\\' -> text.append("\\\\");
                case '\n' -> text.append("\\n");
                case '\r' -> text.append("\\r");
                case '\t' -> text.append("\\t");
                default -> text.append(c);
            }
        }
        text.append('"');
    }
}
