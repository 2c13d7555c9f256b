package io.verbena.cli.record;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.client.KvLimits;
import io.verbena.client.KvRecord;
import io.verbena.load.report.Units;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/** The keys and values of records as text: in UTF-8, or as hex digits. Stateless. */
final class RecordText
{
    static final String KEY = "key";
    static final String VALUE = "value";
    static final String VERSION = "version";
    /** Behind the name of a member or column whose bytes are hex digits. */
    static final String HEX = "_hex";

    private RecordText()
    {
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
                throw bad(line, "half of a character (a lone \\u) is not text: write bytes as key_hex, value_hex");
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
            throw bad(line, "a key of " + Units.count(key.length) + " bytes: must be 1 to " +
                Units.count(KvLimits.MAX_KEY_BYTES));
        }
        if (value.length > KvLimits.MAX_VALUE_BYTES)
        {
            throw bad(line, "a value of " + Units.count(value.length) + " bytes: must be 0 to " +
                Units.count(KvLimits.MAX_VALUE_BYTES));
        }
        return new KvRecord(key, value, 0);
    }

    /** For what {@link Utf8Reader} throws. */
    static CommandFailedException notText(final long line)
    {
        return bad(line, "not text in UTF-8: write bytes as key_hex, value_hex");
    }

    static CommandFailedException bad(final long line, final String what)
    {
        return new CommandFailedException(ExitStatus.BAD_DATA, "line " + line + ": " + what, null);
    }
}
