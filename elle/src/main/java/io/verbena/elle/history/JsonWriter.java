package io.verbena.elle.history;

import java.io.IOException;
import java.util.Collection;
import java.util.Map;

/**
 * Writes histories as JSON lines. Keywords and symbols become strings, sets arrays, and keys of maps their EDN text: a
 * history that needs these apart is to be kept as EDN.
 */
public final class JsonWriter
{
    private JsonWriter()
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
     * Appends a value as JSON.
     *
     * @param text  grows.
     * @param value of a type that {@link History} names; others become strings by their {@code toString}.
     */
    public static void appendValue(final StringBuilder text, final Object value)
    {
        switch (value)
        {
            case null -> text.append("null");
            case Boolean truth -> text.append(truth);
            case Double number when number.isNaN() || number.isInfinite() -> text.append("null");
            case Number number -> text.append(number);
            case Keyword keyword -> appendString(text, keyword.name());
            case Collection<?> values -> appendArray(text, values);
            case Map<?, ?> map -> appendMap(text, map);
            default -> appendString(text, value.toString());
        }
    }

    /**
     * Appends a JSON string with its quotes.
     *
     * @param text   grows.
     * @param string any text.
     */
    public static void appendString(final StringBuilder text, final String string)
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
                default ->
                {
                    if (c < ' ')
                    {
                        text.append(String.format("\\u%04x", (int)c));
                    }
                    else
                    {
                        text.append(c);
                    }
                }
            }
        }
        text.append('"');
    }

    private static void appendEvent(final StringBuilder line, final Event event)
    {
        line.append("{\"process\":").append(event.process());
        line.append(",\"type\":\"").append(event.type().word());
        line.append("\",\"f\":");
        appendString(line, event.f());
        if (event.key() != null)
        {
            line.append(",\"key\":");
            appendValue(line, event.key());
        }
        line.append(",\"value\":");
        appendValue(line, event.value());
        line.append(",\"index\":").append(event.index());
        if (event.timeNs() != Operation.NO_TIME)
        {
            line.append(",\"time\":").append(event.timeNs());
        }
        line.append('}');
    }

    private static void appendArray(final StringBuilder text, final Collection<?> values)
    {
        String separator = "";
        text.append('[');
        for (final Object value : values)
        {
            text.append(separator);
            appendValue(text, value);
            separator = ",";
        }
        text.append(']');
    }

    private static void appendMap(final StringBuilder text, final Map<?, ?> map)
    {
        String separator = "";
        text.append('{');
        for (final Map.Entry<?, ?> entry : map.entrySet())
        {
            text.append(separator);
            final String name = Keyword.nameOf(entry.getKey());
            appendString(text, name == null ? EdnValue.toText(entry.getKey()) : name);
            text.append(':');
            appendValue(text, entry.getValue());
            separator = ",";
        }
        text.append('}');
    }
}
