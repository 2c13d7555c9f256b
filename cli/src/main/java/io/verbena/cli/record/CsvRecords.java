package io.verbena.cli.record;

import de.siegmar.fastcsv.reader.CsvCallbackHandler;
import de.siegmar.fastcsv.reader.CsvParseException;
import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.RecordType;
import de.siegmar.fastcsv.writer.CsvWriter;
import de.siegmar.fastcsv.writer.LineDelimiter;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.client.KvRecord;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.FilterReader;
import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.CharacterCodingException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * Records as CSV (RFC 4180), with a header that names two columns: {@code key} or {@code key_hex}, and {@code value} or
 * {@code value_hex}, in any order.
 */
final class CsvRecords implements RecordReader
{
    private static final char QUOTE = '"';

    /**
     * A row, with the line that it begins in.
     *
     * @param line      from 1.
     * @param fields    without their quotes.
     * @param isQuoteIn whether a field that is not quoted has a quote in it.
     */
    private record Row(long line, List<String> fields, boolean isQuoteIn)
    {
    }

    /** The library takes a quote inside a field that is not quoted as a part of it; the format knows no such thing. */
    private static final class Rows extends CsvCallbackHandler<Row>
    {
        private long line;
        private List<String> fields = List.of();
        private boolean isQuoteIn;

        @Override
        protected RecordType getRecordType()
        {
            return RecordType.DATA;
        }

        @Override
        protected int getFieldCount()
        {
            return fields.size();
        }

        @Override
        protected void beginRecord(final long startingLine)
        {
            line = startingLine;
            fields = new ArrayList<>(2);
            isQuoteIn = false;
        }

        @Override
        protected void addField(final char[] buffer, final int offset, final int length, final boolean isQuoted)
        {
            final String field = new String(buffer, offset, length);
            isQuoteIn |= !isQuoted && field.indexOf(QUOTE) >= 0;
            fields.add(field);
        }

        @Override
        protected void setComment(final char[] buffer, final int offset, final int length)
        {
            throw new IllegalStateException("comments are not asked for");
        }

        @Override
        protected void setEmpty()
        {
            fields.add("");
        }

        @Override
        protected Row buildRecord()
        {
            return new Row(line, fields, isQuoteIn);
        }
    }

    /** Counts quotes: the library takes the end of the file for that of a quoted field, as where a file was cut off. */
    private static final class QuoteCounter extends FilterReader
    {
        private long quotes;
        private boolean isAtEnd;

        private QuoteCounter(final Reader in)
        {
            super(in);
        }

        @Override
        public int read(final char[] target, final int offset, final int length) throws IOException
        {
            final int count = in.read(target, offset, length);
            isAtEnd = count < 0;
            for (int i = offset; i < offset + count; i++)
            {
                quotes += QUOTE == target[i] ? 1 : 0;
            }
            return count;
        }

        private boolean endsInsideQuotes()
        {
            return isAtEnd && 1 == (quotes & 1);
        }
    }

    private final QuoteCounter source;
    private final Iterator<Row> rows;
    private final int keyColumn;
    private final boolean isKeyHex;
    private final boolean isValueHex;
    private long line = 1;
    private long nextLine = 1;

    CsvRecords(final BufferedReader in) throws IOException
    {
        source = new QuoteCounter(in);
        rows = CsvReader.builder().skipEmptyLines(false).allowExtraFields(true).allowMissingFields(true)
            .build(new Rows(), source).iterator();
        final Row header = nextRow();
        final List<String> names = null == header ? List.of() : header.fields();
        isKeyHex = names.contains(RecordText.KEY + RecordText.HEX);
        isValueHex = names.contains(RecordText.VALUE + RecordText.HEX);
        keyColumn = names.indexOf(name(RecordText.KEY, isKeyHex));
        if (2 != names.size() || keyColumn < 0 || !names.contains(name(RecordText.VALUE, isValueHex)))
        {
            throw RecordText.bad(1, "the header is not key,value or key_hex,value_hex: " + names);
        }
    }

    private static String name(final String name, final boolean isHex)
    {
        return isHex ? name + RecordText.HEX : name;
    }

    @Override
    public long line()
    {
        return line;
    }

    @Override
    public KvRecord next() throws IOException
    {
        final Row row = nextRow();
        if (null == row)
        {
            return null;
        }
        final List<String> fields = row.fields();
        if (2 != fields.size())
        {
            throw RecordText.bad(line, "has " + fields.size() + " fields instead of 2");
        }
        return RecordText.record(RecordText.bytes(fields.get(keyColumn), isKeyHex, line),
            RecordText.bytes(fields.get(1 - keyColumn), isValueHex, line), line);
    }

    /** Null at the end of the file. */
    private Row nextRow() throws IOException
    {
        line = nextLine;
        try
        {
            if (!rows.hasNext())
            {
                return null;
            }
            final Row row = rows.next();
            line = row.line();
            nextLine = line + 1 + row.fields().stream().mapToLong(CsvRecords::lineEnds).sum();
            if (row.isQuoteIn())
            {
                throw RecordText.bad(line, "has a quote inside a field that is not quoted");
            }
            if (source.endsInsideQuotes() && !rows.hasNext())
            {
                throw RecordText.bad(line, "has a quoted field without an end");
            }
            return row;
        }
        catch (final CsvParseException ex)
        {
            throw RecordText.bad(line, "is no CSV: " +
                (null == ex.getCause() ? ex : ex.getCause()).getMessage());
        }
        catch (final UncheckedIOException ex)
        {
            if (ex.getCause() instanceof CharacterCodingException)
            {
                throw RecordText.notText(line);
            }
            throw ex.getCause();
        }
    }

    private static long lineEnds(final String field)
    {
        return field.chars().filter((c) -> '\n' == c).count();
    }

    /** Writes the header, and makes what writes the rows. */
    static RecordWriter writer(final BufferedWriter out, final boolean isHex)
    {
        final CsvWriter rows = CsvWriter.builder().lineDelimiter(LineDelimiter.LF).bufferSize(0).build(out);
        rows.writeRecord(name(RecordText.KEY, isHex), name(RecordText.VALUE, isHex));
        return (record) ->
        {
            try
            {
                rows.writeRecord(field(record.key(), isHex), field(record.value(), isHex));
            }
            catch (final UncheckedIOException ex)
            {
                throw ex.getCause();
            }
        };
    }

    private static String field(final byte[] bytes, final boolean isHex)
    {
        final String text = isHex ? RecordText.hex(bytes) : RecordText.text(bytes);
        if (null == text)
        {
            throw new CommandFailedException(ExitStatus.FAILED,
                "a record is not text in UTF-8: dump with --hex, or as JSON lines", null);
        }
        return text;
    }
}
