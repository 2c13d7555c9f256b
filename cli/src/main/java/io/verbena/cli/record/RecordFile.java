package io.verbena.cli.record;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;

/** Opens files of records in their formats. Stateless. */
final class RecordFile
{
    private RecordFile()
    {
    }

    /** @param out flushed and closed by the caller. */
    static RecordWriter writer(final RecordFormat format, final BufferedWriter out, final boolean isHex)
        throws IOException
    {
        return RecordFormat.JSONL == format ? JsonRecords.writer(out, isHex) : CsvRecords.writer(out, isHex);
    }

    /** @param in closed by the caller. */
    static RecordReader reader(final RecordFormat format, final BufferedReader in) throws IOException
    {
        return RecordFormat.JSONL == format ? new JsonRecords(in) : new CsvRecords(in);
    }
}
