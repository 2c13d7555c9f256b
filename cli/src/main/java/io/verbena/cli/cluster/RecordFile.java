package io.verbena.cli.cluster;

import io.verbena.cli.CommandFailedException;
import io.verbena.cli.ExitStatus;
import io.verbena.client.KvRecord;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Locale;

/** How files of records are written: as {@code docs/operations.md} describes them. */
final class RecordFile
{
    /** The ways. */
    enum Format
    {
        JSONL, CSV;

        /** The one asked for, or the one that the file's name ends with. */
        static Format of(final Format asked, final Path file)
        {
            final String name = file.getFileName().toString().toLowerCase(Locale.ROOT);
            if (null != asked)
            {
                return asked;
            }
            if (name.endsWith(".csv"))
            {
                return CSV;
            }
            if (name.endsWith(".jsonl") || name.endsWith(".ndjson") || name.endsWith(".json"))
            {
                return JSONL;
            }
            throw new CommandFailedException(
                ExitStatus.USAGE, "format of " + file + " not known by its name: give --format jsonl or csv", null);
        }
    }

    static final String KEY = "key";
    static final String VALUE = "value";
    /** Behind the name of a member or column whose bytes are hex digits. */
    static final String HEX = "_hex";

    /** Writes records; used by one thread. */
    interface Writer
    {
        /** Writes one. */
        void write(KvRecord record) throws IOException;
    }

    /** Reads records; used by one thread. */
    interface Reader
    {
        /**
         * Reads the next one.
         *
         * @return it, without a version; or null at the end.
         * @throws CommandFailedException that names the line, when it is none.
         */
        KvRecord next() throws IOException;

        /** @return the line read last, from 1. */
        long line();
    }

    private RecordFile()
    {
    }

    static Writer writer(final Format format, final BufferedWriter out, final boolean isHex) throws IOException
    {
        return Format.JSONL == format ? (record) -> JsonRecords.write(record, out, isHex) :
            CsvRecords.writer(out, isHex);
    }

    static Reader reader(final Format format, final BufferedReader in) throws IOException
    {
        return Format.JSONL == format ? new JsonRecords(in) : new CsvRecords(in);
    }

    /** The text that these bytes are in UTF-8, or null when they are none. */
    static String text(final byte[] bytes)
    {
        try
        {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        }
        catch (final CharacterCodingException ex)
        {
            return null;
        }
    }

    /** Whether a text is one, without halves of characters, which UTF-8 cannot say. */
    static boolean isEncodable(final String text)
    {
        return StandardCharsets.UTF_8.newEncoder().canEncode(text);
    }

    static String hex(final byte[] bytes)
    {
        return HexFormat.of().formatHex(bytes);
    }

    /** The bytes of a field. */
    static byte[] bytes(final String field, final boolean isHex, final long line)
    {
        if (!isHex)
        {
            return field.getBytes(StandardCharsets.UTF_8);
        }
        try
        {
            return HexFormat.of().parseHex(field);
        }
        catch (final IllegalArgumentException ex)
        {
            throw bad(line, "not an even number of hex digits");
        }
    }

    static CommandFailedException bad(final long line, final String what)
    {
        return new CommandFailedException(ExitStatus.BAD_DATA, "line " + line + ": " + what, null);
    }
}
