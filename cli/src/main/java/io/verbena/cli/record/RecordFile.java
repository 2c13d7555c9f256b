package io.verbena.cli.record;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.client.KvLimits;
import io.verbena.client.KvRecord;
import io.verbena.load.report.Units;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Locale;

/** How files of records are written: as {@code docs/commands.md} describes them. */
final class RecordFile
{
    /** The ways. */
    enum Format
    {
        JSONL, CSV;

        /** The one asked for, or the one that the file's name ends with. */
        static Format of(final Format asked, final Path file)
        {
            final String name = String.valueOf(file.getFileName()).toLowerCase(Locale.ROOT);
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
        for (int i = 0; i < text.length(); i++)
        {
            if (Character.isSurrogate(text.charAt(i)))
            {
                if (i + 1 == text.length() || !Character.isSurrogatePair(text.charAt(i), text.charAt(i + 1)))
                {
                    return false;
                }
                i++;
            }
        }
        return true;
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
            if (!isEncodable(field))
            {
                throw bad(line, "half of a character (a lone \\u) is no text: write bytes as key_hex, value_hex");
            }
            return field.getBytes(StandardCharsets.UTF_8);
        }
        try
        {
            return HexFormat.of().parseHex(field);
        }
        catch (final IllegalArgumentException ex)
        {
            throw bad(line, "not hex digits, two for each byte");
        }
    }

    /** A record, if it can be one. */
    static KvRecord record(final byte[] key, final byte[] value, final long line)
    {
        if (key.length < 1 || key.length > KvLimits.MAX_KEY_BYTES)
        {
            throw bad(line, "a key of " + Units.count(key.length) + " bytes: 1 to " +
                Units.count(KvLimits.MAX_KEY_BYTES) + " can be");
        }
        if (value.length > KvLimits.MAX_VALUE_BYTES)
        {
            throw bad(line, "a value of " + Units.count(value.length) + " bytes: 0 to " +
                Units.count(KvLimits.MAX_VALUE_BYTES) + " can be");
        }
        return new KvRecord(key, value, 0);
    }

    /** For what {@link Utf8Reader} throws. */
    static CommandFailedException notText(final long line)
    {
        return bad(line, "no text in UTF-8: write bytes as key_hex, value_hex");
    }

    static CommandFailedException bad(final long line, final String what)
    {
        return new CommandFailedException(ExitStatus.BAD_DATA, "line " + line + ": " + what, null);
    }
}
