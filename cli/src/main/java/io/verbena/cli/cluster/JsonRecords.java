package io.verbena.cli.cluster;

import io.verbena.cli.cluster.JsonReader.MalformedJsonException;
import io.verbena.client.KvRecord;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.util.HexFormat;
import java.util.Map;

/**
 * Records as JSON lines: an object a line, with {@code key} or {@code key_hex}, and {@code value} or {@code value_hex}.
 */
final class JsonRecords implements RecordFile.Reader
{
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
        String text = in.readLine();
        line++;
        while (null != text && text.isBlank())
        {
            text = in.readLine();
            line++;
        }
        if (null == text)
        {
            return null;
        }
        try
        {
            final Map<String, Object> members = JsonReader.object(text);
            if (2 != members.size())
            {
                throw RecordFile.bad(line, "has not the two members key and value");
            }
            return new KvRecord(field(members, RecordFile.KEY), field(members, RecordFile.VALUE), 0);
        }
        catch (final MalformedJsonException ex)
        {
            throw RecordFile.bad(line, "no JSON object: " + ex.getMessage());
        }
    }

    private byte[] field(final Map<String, Object> members, final String name)
    {
        final boolean isHex = members.containsKey(name + RecordFile.HEX);
        if (members.get(isHex ? name + RecordFile.HEX : name) instanceof final String field)
        {
            return RecordFile.bytes(field, isHex, line);
        }
        throw RecordFile.bad(line, "has no string as member " + name + " or " + name + RecordFile.HEX);
    }

    static void write(final KvRecord record, final BufferedWriter out, final boolean isHex) throws IOException
    {
        out.write('{');
        writeField(RecordFile.KEY, record.key(), out, isHex);
        out.write(',');
        writeField(RecordFile.VALUE, record.value(), out, isHex);
        out.write("}\n");
    }

    private static void writeField(
        final String name, final byte[] bytes, final BufferedWriter out, final boolean isHex) throws IOException
    {
        final String text = isHex ? null : RecordFile.text(bytes);
        out.write('"');
        out.write(name);
        out.write(null == text ? RecordFile.HEX + "\":\"" : "\":\"");
        if (null == text)
        {
            out.write(RecordFile.hex(bytes));
        }
        else
        {
            writeEscaped(text, out);
        }
        out.write('"');
    }

    private static void writeEscaped(final String text, final BufferedWriter out) throws IOException
    {
        for (int i = 0; i < text.length(); i++)
        {
            final char c = text.charAt(i);
            if ('"' == c || '\\' == c)
            {
                out.write('\\');
                out.write(c);
            }
            else if (c < ' ')
            {
                out.write("\\u" + HexFormat.of().toHexDigits(c));
            }
            else
            {
                out.write(c);
            }
        }
    }
}
