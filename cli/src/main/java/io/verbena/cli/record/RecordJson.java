package io.verbena.cli.record;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;

import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;

/**
 * What a command has to say about a record, as a line with one JSON object. Bytes are named as in files of {@code load}
 * and {@code dump}: {@code key} where they are text in UTF-8, else {@code key_hex}. Used by one thread, for one line.
 */
final class RecordJson
{
    private static final JsonFactory JSON = new JsonFactory();

    private final StringWriter text = new StringWriter();
    private final JsonGenerator json;

    RecordJson()
    {
        try
        {
            json = JSON.createGenerator(text);
            json.writeStartObject();
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException(ex); // a string takes everything
        }
    }

    /** Adds bytes. */
    RecordJson bytes(final String name, final byte[] bytes, final boolean isHex)
    {
        try
        {
            JsonRecords.writeField(name, bytes, json, isHex);
            return this;
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException(ex);
        }
    }

    /** Adds a number. */
    RecordJson number(final String name, final long value)
    {
        try
        {
            json.writeNumberField(name, value);
            return this;
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException(ex);
        }
    }

    /** Adds true or false. */
    RecordJson truth(final String name, final boolean value)
    {
        try
        {
            json.writeBooleanField(name, value);
            return this;
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException(ex);
        }
    }

    /** @return the line, without its end. */
    String line()
    {
        try
        {
            json.writeEndObject();
            json.close();
            return text.toString();
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException(ex);
        }
    }
}
