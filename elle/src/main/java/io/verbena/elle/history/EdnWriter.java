package io.verbena.elle.history;

import java.io.IOException;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Writes values and histories as EDN, one event a line, as Jepsen stores them.
 */
public final class EdnWriter
{
    private EdnWriter()
    {
    }

    /**
     * Writes a history, notes left out.
     *
     * @param history what to write.
     * @param target  where to; not closed.
     * @throws IOException if the target fails.
     */
    public static void write(final History history, final Appendable target) throws IOException
    {
        final StringBuilder line = new StringBuilder(128);
        for (final Event event : history.events())
        {
            line.setLength(0);
            appendEvent(line, event);
            target.append(line).append('\n');
        }
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
        appendValue(text, value);
        return text.toString();
    }

    /**
     * Appends a value as EDN.
     *
     * @param text  grows.
     * @param value of a type that {@link History} names; others are shown by their {@code toString}.
     */
    public static void appendValue(final StringBuilder text, final Object value)
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

    private static void appendEvent(final StringBuilder line, final Event event)
    {
        line.append("{:process ").append(event.process()).append(", :type :").append(event.type().word());
        line.append(", :f :").append(event.f());
        if (event.key() != null)
        {
            line.append(", :key ");
            appendValue(line, event.key());
        }
        line.append(", :value ");
        appendValue(line, event.value());
        line.append(", :index ").append(event.index());
        if (event.timeNs() != Operation.NO_TIME)
        {
            line.append(", :time ").append(event.timeNs());
        }
        line.append('}');
    }

    private static void appendAll(
        final StringBuilder text, final String open, final Iterator<?> values, final char close)
    {
        text.append(open);
        while (values.hasNext())
        {
            appendValue(text, values.next());
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
            appendValue(text, entry.getKey());
            text.append(' ');
            appendValue(text, entry.getValue());
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
