package io.verbena.cli.record;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.io.SerializedString;
import io.verbena.cli.cluster.JsonReader;
import io.verbena.cli.cluster.JsonReader.MalformedJsonException;
import io.verbena.client.KvRecord;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.util.Map;

/**
 * Records as JSON lines: an object a line, with {@code key} or {@code key_hex}, and {@code value} or {@code value_hex}.
 */
final class JsonRecords implements RecordReader
{
    private static final JsonFactory JSON = new JsonFactory();

    private final BufferedReader in;
    private long line;

    JsonRecords(final BufferedReader in)
    {
        this.in = in;
    }

    @Override
    public long line()
    {
        return line;
    }

    @Override
    public KvRecord next() throws IOException
    {
        String text = readLine();
        while (null != text && text.isBlank())
        {
            text = readLine();
        }
        return null == text ? null : read(text);
    }

    private String readLine() throws IOException
    {
        line++;
        try
        {
            return in.readLine();
        }
        catch (final CharacterCodingException ex)
        {
            throw RecordText.notText(line);
        }
    }

    private KvRecord read(final String text)
    {
        try
        {
            final Map<String, Object> members = JsonReader.object(text);
            if (2 != members.size())
            {
                throw RecordText.bad(line, "has not the two members key and value");
            }
            return RecordText.record(field(members, RecordText.KEY), field(members, RecordText.VALUE), line);
        }
        catch (final MalformedJsonException ex)
        {
            throw RecordText.bad(line, "is not a JSON object: " + ex.getMessage());
        }
    }

    private byte[] field(final Map<String, Object> members, final String name)
    {
        final boolean isHex = members.containsKey(name + RecordText.HEX);
        if (members.get(isHex ? name + RecordText.HEX : name) instanceof final String field)
        {
            return RecordText.bytes(field, isHex, line);
        }
        throw RecordText.bad(line, "has no string as member " + name + " or " + name + RecordText.HEX);
    }

    static RecordWriter writer(final BufferedWriter out, final boolean isHex) throws IOException
    {
        final JsonGenerator json = JSON.createGenerator(out).disable(JsonGenerator.Feature.FLUSH_PASSED_TO_STREAM);
        json.setRootValueSeparator(new SerializedString(""));
        return (record) ->
        {
            json.writeStartObject();
            writeField(RecordText.KEY, record.key(), json, isHex);
            writeField(RecordText.VALUE, record.value(), json, isHex);
            json.writeEndObject();
            json.writeRaw('\n');
            json.flush();
        };
    }

    static void writeField(
        final String name, final byte[] bytes, final JsonGenerator json, final boolean isHex) throws IOException
    {
        final String text = isHex ? null : RecordText.text(bytes);
        if (null == text)
        {
            json.writeStringField(name + RecordText.HEX, RecordText.hex(bytes));
        }
        else
        {
            json.writeStringField(name, text);
        }
    }
}
