package io.verbena.resp.codec;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Writes replies, in version 2 or 3 of the protocol, into an array of its own that whoever carries them empties. In
 * steady state nothing is allocated. What does not fit its limit is dropped, and {@link #isOverflown()} from then on.
 * One thread. {@link #close()} gives back what it took of the budget.
 */
public final class RespWriter
{
    private static final int INITIAL_BYTES = 16 * 1024;
    private static final int KEPT_BYTES = 64 * 1024;
    /** Longest header: its type, a number, and the end of the line. */
    private static final int HEADER_BYTES = DecimalNumber.MAX_DIGITS + 3;
    private static final byte[] OK = "+OK\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] NULL_2 = "$-1\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] NULL_ARRAY_2 = "*-1\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] NULL_3 = "_\r\n".getBytes(StandardCharsets.US_ASCII);

    private final MemoryBudget budget;
    private final int limitBytes;
    private byte[] bytes = new byte[INITIAL_BYTES];
    private int length;
    private boolean isVersion3;
    private boolean isOverflown;
    private boolean isMuted;

    /**
     * @param budget     for what it takes beyond its first 16 KiB.
     * @param limitBytes longest replies that wait to be carried away.
     */
    public RespWriter(final MemoryBudget budget, final int limitBytes)
    {
        this.budget = budget;
        this.limitBytes = limitBytes;
    }

    /** @param version of the protocol from now on, 2 or 3. */
    public void version(final int version)
    {
        isVersion3 = 3 == version;
    }

    /** @return version of the protocol, 2 or 3. */
    public int version()
    {
        return isVersion3 ? 3 : 2;
    }

    /** @return what was written; valid until something is written. */
    public byte[] array()
    {
        return bytes;
    }

    /** @return bytes that were written. */
    public int length()
    {
        return length;
    }

    /** @return whether more was written than fits: the connection cannot go on. */
    public boolean isOverflown()
    {
        return isOverflown;
    }

    /** @param isWanted whether nothing is kept of what is written from now on. */
    public void mute(final boolean isWanted)
    {
        isMuted = isWanted;
    }

    /** @param earlierLength to which to go back: what was written after it is forgotten. */
    public void rewind(final int earlierLength)
    {
        length = Math.min(length, earlierLength);
    }

    /** What was written has been carried away. */
    public void clear()
    {
        length = 0;
        if (bytes.length > KEPT_BYTES)
        {
            budget.giveBack(bytes.length - INITIAL_BYTES);
            bytes = new byte[INITIAL_BYTES];
        }
    }

    /** Writes {@code OK}. */
    public void ok()
    {
        raw(OK, 0, OK.length);
    }

    /** Writes a word that a person can read and that has no line end. */
    public void simple(final String text)
    {
        line('+', text);
    }

    /** Writes an error: its first word is a code. A line end in it becomes a blank, as in Redis. */
    public void error(final String text)
    {
        line('-', text.replace('\r', ' ').replace('\n', ' '));
    }

    private void line(final char type, final String text)
    {
        final byte[] line = text.getBytes(StandardCharsets.UTF_8);
        if (ensure(line.length + HEADER_BYTES))
        {
            bytes[length++] = (byte)type;
            System.arraycopy(line, 0, bytes, length, line.length);
            length += line.length;
            endLine();
        }
    }

    /** Writes a number. */
    public void number(final long number)
    {
        header(':', number);
    }

    /** Writes that there is nothing. */
    public void nothing()
    {
        final byte[] text = isVersion3 ? NULL_3 : NULL_2;
        raw(text, 0, text.length);
    }

    /** Writes that there is nothing, where an array would be. */
    public void noArray()
    {
        final byte[] text = isVersion3 ? NULL_3 : NULL_ARRAY_2;
        raw(text, 0, text.length);
    }

    /** Writes a string of any bytes. */
    public void bulk(final byte[] source, final int offset, final int lengthBytes)
    {
        if (ensure(lengthBytes + 2 * HEADER_BYTES))
        {
            header('$', lengthBytes);
            System.arraycopy(source, offset, bytes, length, lengthBytes);
            length += lengthBytes;
            endLine();
        }
    }

    /** Writes a string of text. Allocates. */
    public void bulk(final String text)
    {
        final byte[] source = text.getBytes(StandardCharsets.UTF_8);
        bulk(source, 0, source.length);
    }

    /** Writes a text for people; version 2 has a string instead. */
    public void verbatim(final String text)
    {
        final byte[] source = text.getBytes(StandardCharsets.UTF_8);
        if (!isVersion3)
        {
            bulk(source, 0, source.length);
        }
        else if (ensure(source.length + 2 * HEADER_BYTES))
        {
            header('=', source.length + 4L);
            System.arraycopy("txt:".getBytes(StandardCharsets.US_ASCII), 0, bytes, length, 4);
            System.arraycopy(source, 0, bytes, length + 4, source.length);
            length += source.length + 4;
            endLine();
        }
    }

    /** Begins an array: so many elements follow. */
    public void array(final long count)
    {
        header('*', count);
    }

    /** Begins a map: so many keys follow, each with its value; version 2 has an array of both instead. */
    public void map(final long count)
    {
        header(isVersion3 ? '%' : '*', isVersion3 ? count : 2 * count);
    }

    /** Begins a set: so many elements follow; version 2 has an array instead. */
    public void set(final long count)
    {
        header(isVersion3 ? '~' : '*', count);
    }

    /** Writes what another one has; nothing of it where that one is overflown, as this one is then. */
    public void append(final RespWriter other)
    {
        if (other.isOverflown)
        {
            isOverflown = true;
        }
        else
        {
            raw(other.bytes, 0, other.length);
        }
    }

    private void header(final char type, final long number)
    {
        if (ensure(HEADER_BYTES))
        {
            bytes[length++] = (byte)type;
            length += DecimalNumber.write(number, bytes, length);
            endLine();
        }
    }

    private void endLine()
    {
        bytes[length++] = '\r';
        bytes[length++] = '\n';
    }

    private void raw(final byte[] source, final int offset, final int lengthBytes)
    {
        if (ensure(lengthBytes))
        {
            System.arraycopy(source, offset, bytes, length, lengthBytes);
            length += lengthBytes;
        }
    }

    private boolean ensure(final int more)
    {
        if (isOverflown || isMuted)
        {
            return false;
        }
        final long wanted = (long)length + more;
        if (wanted <= bytes.length)
        {
            return true;
        }
        final int larger = (int)Math.min(Integer.MAX_VALUE / 2, Math.max(2L * bytes.length, wanted));
        if (wanted > limitBytes || !budget.take(larger - bytes.length))
        {
            isOverflown = true;
            return false;
        }
        bytes = Arrays.copyOf(bytes, larger);
        return true;
    }

    /** Gives its memory back. Idempotent. */
    public void close()
    {
        if (null != bytes)
        {
            budget.giveBack(bytes.length - INITIAL_BYTES);
            bytes = null;
            isOverflown = true;
        }
    }

    @Override
    public String toString()
    {
        return "RespWriter{version=" + version() + ", length=" + length + ", isOverflown=" + isOverflown + '}';
    }
}
