package io.verbena.cli.record;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.client.KvRecord;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.util.ArrayList;
import java.util.List;

/**
 * Records as CSV (RFC 4180), with a header that names two columns: {@code key} or {@code key_hex}, and {@code value} or
 * {@code value_hex}, in any order.
 */
final class CsvRecords implements RecordFile.Reader
{
    private static final int END = -1;

    private final BufferedReader in;
    private final List<String> fields = new ArrayList<>();
    private final StringBuilder field = new StringBuilder();
    private final int keyColumn;
    private final boolean isKeyHex;
    private final boolean isValueHex;
    private long line = 1;

    CsvRecords(final BufferedReader in) throws IOException
    {
        this.in = in;
        readRow();
        isKeyHex = fields.contains(RecordFile.KEY + RecordFile.HEX);
        isValueHex = fields.contains(RecordFile.VALUE + RecordFile.HEX);
        keyColumn = fields.indexOf(name(RecordFile.KEY, isKeyHex));
        if (2 != fields.size() || keyColumn < 0 || !fields.contains(name(RecordFile.VALUE, isValueHex)))
        {
            throw RecordFile.bad(1, "the header is not key,value or key_hex,value_hex: " + fields);
        }
    }

    private static String name(final String name, final boolean isHex)
    {
        return isHex ? name + RecordFile.HEX : name;
    }

    @Override
    public long line()
    {
        return line;
    }

    @Override
    public KvRecord next() throws IOException
    {
        line++;
        if (!readRow())
        {
            return null;
        }
        if (2 != fields.size())
        {
            throw RecordFile.bad(line, "has " + fields.size() + " fields instead of 2");
        }
        return RecordFile.record(RecordFile.bytes(fields.get(keyColumn), isKeyHex, line),
            RecordFile.bytes(fields.get(1 - keyColumn), isValueHex, line), line);
    }

    /** Reads the fields of a row; returns false at the end of the file. */
    private boolean readRow() throws IOException
    {
        try
        {
            return readFields();
        }
        catch (final CharacterCodingException ex)
        {
            throw RecordFile.notText(line);
        }
    }

    private boolean readFields() throws IOException
    {
        fields.clear();
        int c = in.read();
        if (END == c)
        {
            return false;
        }
        while (true)
        {
            field.setLength(0);
            c = '"' == c ? readQuoted() : readPlain(c);
            fields.add(field.toString());
            if (',' != c)
            {
                break;
            }
            c = in.read();
        }
        if ('\r' == c)
        {
            c = in.read();
        }
        if ('\n' != c && END != c)
        {
            throw RecordFile.bad(line, "has something between a field and the next comma");
        }
        return true;
    }

    private int readPlain(final int first) throws IOException
    {
        int c = first;
        while (END != c && ',' != c && '\n' != c && '\r' != c)
        {
            if ('"' == c)
            {
                throw RecordFile.bad(line, "has a quote inside a field that is not quoted");
            }
            field.append((char)c);
            c = in.read();
        }
        return c;
    }

    private int readQuoted() throws IOException
    {
        final long start = line;
        while (true)
        {
            int c = in.read();
            if (END == c)
            {
                throw RecordFile.bad(start, "has a quoted field without an end");
            }
            line += '\n' == c ? 1 : 0;
            if ('"' == c)
            {
                c = in.read();
                if ('"' != c)
                {
                    return c;
                }
            }
            field.append((char)c);
        }
    }

    /** Writes the header, and makes what writes the rows. */
    static RecordFile.Writer writer(final BufferedWriter out, final boolean isHex) throws IOException
    {
        out.write(name(RecordFile.KEY, isHex) + ',' + name(RecordFile.VALUE, isHex) + '\n');
        return (record) ->
        {
            writeField(record.key(), out, isHex);
            out.write(',');
            writeField(record.value(), out, isHex);
            out.write('\n');
        };
    }

    private static void writeField(final byte[] bytes, final BufferedWriter out, final boolean isHex)
        throws IOException
    {
        final String text = isHex ? RecordFile.hex(bytes) : RecordFile.text(bytes);
        if (null == text)
        {
            throw new CommandFailedException(ExitStatus.FAILED,
                "a record is no text in UTF-8: dump with --hex, or as JSON lines", null);
        }
        if (text.indexOf('"') < 0 && text.indexOf(',') < 0 && text.indexOf('\n') < 0 && text.indexOf('\r') < 0)
        {
            out.write(text);
        }
        else
        {
            out.write('"' + text.replace("\"", "\"\"") + '"');
        }
    }
}
