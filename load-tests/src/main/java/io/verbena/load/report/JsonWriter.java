package io.verbena.load.report;

import java.math.BigDecimal;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/**
 * Writes nested maps, lists, strings, numbers, booleans and null as JSON (RFC 8259), one entry a line. Stateless.
 */
public final class JsonWriter
{
    private static final int FIRST_PRINTABLE = 0x20;

    private JsonWriter()
    {
    }

    /**
     * Writes a document.
     *
     * @param value of the kinds named above; a number that JSON cannot write (NaN, infinite) becomes null.
     * @return the text, ending with a line feed.
     */
    public static String write(final Object value)
    {
        final StringBuilder text = new StringBuilder();
        append(text, value, "");
        return text.append('\n').toString();
    }

    private static void append(final StringBuilder text, final Object value, final String indent)
    {
        switch (value)
        {
            case null -> text.append("null");
            case final Map<?, ?> map -> appendMap(text, map, indent);
            case final List<?> list -> appendList(text, list, indent);
            case final Double number -> text.append(Double.isFinite(number) ? plain(number) : "null");
            case final Integer number -> text.append(number);
            case final Long number -> text.append(number);
            case final Boolean flag -> text.append(flag);
            case final String string -> appendString(text, string);
            default -> throw new IllegalArgumentException("cannot write as JSON: " + value.getClass().getName());
        }
    }

    private static String plain(final double number)
    {
        return new BigDecimal(Double.toString(number)).stripTrailingZeros().toPlainString();
    }

    private static void appendMap(final StringBuilder text, final Map<?, ?> map, final String indent)
    {
        String separator = "{\n";
        for (final Map.Entry<?, ?> entry : map.entrySet())
        {
            text.append(separator).append(indent).append("  ");
            appendString(text, (String)entry.getKey());
            text.append(": ");
            append(text, entry.getValue(), indent + "  ");
            separator = ",\n";
        }
        text.append(map.isEmpty() ? "{}" : "\n" + indent + "}");
    }

    private static void appendList(final StringBuilder text, final List<?> list, final String indent)
    {
        String separator = "[\n";
        for (final Object element : list)
        {
            text.append(separator).append(indent).append("  ");
            append(text, element, indent + "  ");
            separator = ",\n";
        }
        text.append(list.isEmpty() ? "[]" : "\n" + indent + "]");
    }

    private static void appendString(final StringBuilder text, final String string)
    {
        text.append('"');
        for (int i = 0; i < string.length(); i++)
        {
            final char c = string.charAt(i);
            if (c == '"' || c == '\\')
            {
                text.append('\\').append(c);
            }
            else if (c < FIRST_PRINTABLE || Character.isSurrogate(c))
            {
                text.append("\\u").append(HexFormat.of().toHexDigits(c));
            }
            else
            {
                text.append(c);
            }
        }
        text.append('"');
    }
}
