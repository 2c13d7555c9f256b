package io.verbena.cli.table;

import io.verbena.table.format.FormatException;

import org.agrona.concurrent.UnsafeBuffer;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/** The fields of one structure as {@code verbena table inspect} prints them. Not thread-safe. */
final class InspectedFields
{
    private static final int BYTES_PER_LINE = 16;
    private static final int MAX_TEXT_BYTES = 64;
    private static final Pattern NO_WORD = Pattern.compile("[^a-z0-9]+");

    private record Field(String name, int offset, Object value)
    {
    }

    private final String title;
    private final UnsafeBuffer bytes;
    private final int lengthBytes;
    private final List<Field> fields = new ArrayList<>();
    private String damage = "";

    /**
     * @param title       what it is, and where.
     * @param bytes       of it, from index 0.
     * @param lengthBytes of it.
     */
    InspectedFields(final String title, final UnsafeBuffer bytes, final int lengthBytes)
    {
        this.title = title;
        this.bytes = bytes;
        this.lengthBytes = lengthBytes;
    }

    InspectedFields add(final String name, final int offset, final String value)
    {
        fields.add(new Field(name, offset, value));
        return this;
    }

    /** A number that was taken from there already. */
    InspectedFields add(final String name, final int offset, final long value)
    {
        fields.add(new Field(name, offset, value));
        return this;
    }

    /** A little-endian number of 1, 2, 4 or 8 bytes. */
    InspectedFields number(final String name, final int offset, final int length)
    {
        return add(name, offset, switch (length)
        {
            case Byte.BYTES -> bytes.getByte(offset) & 0xFFL;
            case Short.BYTES -> bytes.getShort(offset, LITTLE_ENDIAN) & 0xFFFFL;
            case Integer.BYTES -> (long)bytes.getInt(offset, LITTLE_ENDIAN);
            case Long.BYTES -> bytes.getLong(offset, LITTLE_ENDIAN);
            default -> throw new IllegalArgumentException("a number of " + length + " bytes: " + name);
        });
    }

    /** Eight bytes that are no count. */
    InspectedFields hexNumber(final String name, final int offset)
    {
        return add(name, offset, String.format("0x%x", bytes.getLong(offset, LITTLE_ENDIAN)));
    }

    /** Bytes of the user: as text where they are, else as hex digits; the first of them. */
    InspectedFields bytes(final String name, final int offset, final int length)
    {
        final int shown = Math.min(length, MAX_TEXT_BYTES);
        final StringBuilder text = new StringBuilder();
        boolean isText = true;
        for (int i = 0; i < shown; i++)
        {
            final byte b = bytes.getByte(offset + i);
            isText &= isPrintable(b);
            text.append((char)(b & 0xFF));
        }
        if (!isText)
        {
            text.setLength(0);
            for (int i = 0; i < shown; i++)
            {
                text.append(String.format("%02x", bytes.getByte(offset + i)));
            }
        }
        return add(name, offset, (isText ? "'" + text + "'" : text) + (shown < length ? " ..." : ""));
    }

    private static boolean isPrintable(final byte b)
    {
        return b >= ' ' && b < 0x7F;
    }

    /** Notes what a descriptor finds wrong. */
    void check(final Runnable descriptor)
    {
        try
        {
            descriptor.run();
        }
        catch (final FormatException ex)
        {
            damage = ex.getMessage();
        }
    }

    /** Notes that something is wrong unless it holds. */
    void require(final boolean holds, final String text)
    {
        damage = holds ? damage : text;
    }

    boolean isWhole()
    {
        return damage.isEmpty();
    }

    /** For people. */
    String text(final boolean hex)
    {
        final StringBuilder text = new StringBuilder(title).append("\n\n");
        final int width = fields.stream().mapToInt((field) -> field.name.length()).max().orElse(0);
        fields.forEach((field) -> text.append(
            String.format(Locale.ROOT, "  %5d  %-" + width + "s  %s%n", field.offset, field.name, field.value)));
        if (hex)
        {
            text.append('\n').append(dump());
        }
        return text.append(isWhole() ? "" : "\n  DAMAGED: " + damage + "\n").toString();
    }

    private String dump()
    {
        final StringBuilder text = new StringBuilder();
        for (int line = 0; line < lengthBytes; line += BYTES_PER_LINE)
        {
            text.append(String.format("  %05x ", line));
            final StringBuilder characters = new StringBuilder();
            for (int i = line; i < line + BYTES_PER_LINE; i++)
            {
                text.append(i % Long.BYTES == 0 ? " " : "");
                text.append(i < lengthBytes ? String.format("%02x ", bytes.getByte(i)) : "   ");
                if (i < lengthBytes)
                {
                    characters.append(isPrintable(bytes.getByte(i)) ? (char)bytes.getByte(i) : '.');
                }
            }
            text.append(' ').append(characters).append('\n');
        }
        return text.toString();
    }

    /** For programs. */
    Map<String, Object> figures(final boolean hex)
    {
        final Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("what", title);
        final Map<String, Object> values = new LinkedHashMap<>();
        fields.forEach((field) -> values.put(NO_WORD.matcher(field.name).replaceAll("_"), field.value));
        figures.put("fields", values);
        figures.put("damage", isWhole() ? null : damage);
        if (hex)
        {
            final StringBuilder digits = new StringBuilder();
            for (int i = 0; i < lengthBytes; i++)
            {
                digits.append(String.format("%02x", bytes.getByte(i)));
            }
            figures.put("hex", digits.toString());
        }
        return figures;
    }
}
