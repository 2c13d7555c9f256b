package io.verbena.load.report;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.util.DefaultIndenter;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import com.fasterxml.jackson.core.util.Separators;

import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;

/**
 * Writes nested maps, lists, strings, numbers, booleans and null as JSON (RFC 8259), one entry a line. Stateless.
 */
public final class JsonWriter
{
    private static final JsonFactory JSON = new JsonFactory();
    private static final DefaultIndenter INDENTER = new DefaultIndenter("  ", "\n");
    private static final DefaultPrettyPrinter ENTRY_A_LINE = new DefaultPrettyPrinter(
        Separators.createDefaultInstance().withObjectFieldValueSpacing(Separators.Spacing.AFTER)
            .withObjectEmptySeparator("").withArrayEmptySeparator(""))
        .withObjectIndenter(INDENTER).withArrayIndenter(INDENTER);

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
        final StringWriter text = new StringWriter();
        try (JsonGenerator json = JSON.createGenerator(text))
        {
            json.setPrettyPrinter(ENTRY_A_LINE.createInstance());
            write(value, json);
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException(ex);
        }
        return text.append('\n').toString();
    }

    private static void write(final Object value, final JsonGenerator json) throws IOException
    {
        switch (value)
        {
            case null -> json.writeNull();
            case final Map<?, ?> map ->
            {
                json.writeStartObject();
                for (final Map.Entry<?, ?> entry : map.entrySet())
                {
                    json.writeFieldName((String)entry.getKey());
                    write(entry.getValue(), json);
                }
                json.writeEndObject();
            }
            case final List<?> list ->
            {
                json.writeStartArray();
                for (final Object element : list)
                {
                    write(element, json);
                }
                json.writeEndArray();
            }
            case final Double number -> writeNumber(number, json);
            case final Integer number -> json.writeNumber(number);
            case final Long number -> json.writeNumber(number);
            case final Boolean flag -> json.writeBoolean(flag);
            case final String string -> json.writeString(string);
            default -> throw new IllegalArgumentException("cannot write as JSON: " + value.getClass().getName());
        }
    }

    private static void writeNumber(final double number, final JsonGenerator json) throws IOException
    {
        if (Double.isFinite(number))
        {
            json.writeNumber(new BigDecimal(Double.toString(number)).stripTrailingZeros().toPlainString());
        }
        else
        {
            json.writeNull();
        }
    }
}
