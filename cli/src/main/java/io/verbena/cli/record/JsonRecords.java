package io.verbena.cli.record;

import io.verbena.cli.cluster.JsonReader;
import io.verbena.cli.cluster.JsonReader.MalformedJsonException;
import io.verbena.client.KvRecord;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Map;

/**
 * Records as JSON lines: an object a line, with {@code key} or {@code key_hex}, and {@code value} or {@code value_hex}.
 */
final class JsonRecords implements RecordFile.Reader
{
    /** How {@code dump} writes the line of a record that is text without anything to escape. */
    private static final String PLAIN_BEGIN = "{\"key\":\"";
    private static final String PLAIN_MIDDLE = "\",\"value\":\"";
    private static final String PLAIN_END = "\"}";

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
        if (null == text)
        {
            return null;
        }
        final KvRecord plain = plain(text);
        return null == plain ? read(text) : plain;
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
            throw RecordFile.notText(line);
        }
    }

    /** A line as {@code dump} writes most, several times faster than any JSON; null for all others. */
    private KvRecord plain(final String text)
    {
        final int middle = text.startsWith(PLAIN_BEGIN) ? text.indexOf('"', PLAIN_BEGIN.length()) : -1;
        if (middle < 0 || !text.startsWith(PLAIN_MIDDLE, middle))
        {
            return null;
        }
        final int value = middle + PLAIN_MIDDLE.length();
        final int end = text.indexOf('"', value);
        final boolean isPlain = end >= 0 && text.length() == end + PLAIN_END.length() && text.endsWith(PLAIN_END) &&
            text.indexOf('\\') < 0;
        return isPlain && hasNoControls(text) ? RecordFile.record(
            text.substring(PLAIN_BEGIN.length(), middle).getBytes(StandardCharsets.UTF_8),
            text.substring(value, end).getBytes(StandardCharsets.UTF_8), line) : null;
    }

    private static boolean hasNoControls(final String text)
    {
        for (int i = 0; i < text.length(); i++)
        {
            if (text.charAt(i) < ' ')
            {
                return false;
            }
        }
        return true;
    }

    private KvRecord read(final String text)
    {
        try
        {
            final Map<String, Object> members = JsonReader.object(text);
            if (2 != members.size())
            {
                throw RecordFile.bad(line, "has not the two members key and value");
            }
            return RecordFile.record(field(members, RecordFile.KEY), field(members, RecordFile.VALUE), line);
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
