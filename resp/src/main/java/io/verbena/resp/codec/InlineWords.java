package io.verbena.resp.codec;

import java.util.Arrays;

/**
 * Splits a line that somebody typed into words, as Redis does: blanks separate them, quotes hold them together, and a
 * backslash in double quotes names a byte. Words are unescaped where they lie. One thread.
 */
final class InlineWords
{
    private static final int INITIAL = 8;
    private static final int RADIX = 16;

    private int[] offsets = new int[INITIAL];
    private int[] lengths = new int[INITIAL];
    private int count;
    private boolean isUnbalanced;
    private byte[] bytes;
    private int at;
    private int end;
    private int target;

    /** Splits what lies between two positions. */
    void split(final byte[] line, final int from, final int to)
    {
        bytes = line;
        at = from;
        end = to;
        count = 0;
        isUnbalanced = false;
        skipBlanks();
        while (at < end && !isUnbalanced)
        {
            word();
            skipBlanks();
        }
        bytes = null;
    }

    private void skipBlanks()
    {
        while (at < end && isBlank(bytes[at]))
        {
            at++;
        }
    }

    private void word()
    {
        final int offset = at;
        target = at;
        while (at < end && !isBlank(bytes[at]) && !isUnbalanced)
        {
            switch (bytes[at])
            {
                case '"' -> quoted();
                case '\'' -> singleQuoted();
                case 0 -> end = at; // a text of C ends here
                default -> bytes[target++] = bytes[at++];
            }
        }
        if (target > offset || at > offset)
        {
            add(offset, target - offset);
        }
    }

    private void quoted()
    {
        at++;
        while (at < end && '"' != bytes[at])
        {
            if ('\\' == bytes[at] && at + 1 < end)
            {
                escaped();
            }
            else
            {
                bytes[target++] = bytes[at++];
            }
        }
        close();
    }

    private void escaped()
    {
        if ('x' == bytes[at + 1] && at + 3 < end && Character.digit(bytes[at + 2], RADIX) >= 0 &&
            Character.digit(bytes[at + 3], RADIX) >= 0)
        {
            bytes[target++] =
                (byte)(Character.digit(bytes[at + 2], RADIX) * RADIX + Character.digit(bytes[at + 3], RADIX));
            at += 4;
            return;
        }
        bytes[target++] = switch (bytes[at + 1])
        {
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'b' -> '\b';
            case 'a' -> 7;
            default -> bytes[at + 1];
        };
        at += 2;
    }

    private void singleQuoted()
    {
        at++;
        while (at < end && '\'' != bytes[at])
        {
            if ('\\' == bytes[at] && at + 1 < end && '\'' == bytes[at + 1])
            {
                at++;
            }
            bytes[target++] = bytes[at++];
        }
        close();
    }

    /** A closing quote must be the end of its word. */
    private void close()
    {
        isUnbalanced = at >= end || at + 1 < end && !isBlank(bytes[at + 1]);
        at++;
    }

    private void add(final int offset, final int length)
    {
        if (count == offsets.length)
        {
            offsets = Arrays.copyOf(offsets, 2 * count);
            lengths = Arrays.copyOf(lengths, 2 * count);
        }
        offsets[count] = offset;
        lengths[count++] = length;
    }

    private static boolean isBlank(final byte letter)
    {
        return ' ' == letter || letter >= '\t' && letter <= '\r';
    }

    boolean isUnbalanced()
    {
        return isUnbalanced;
    }

    int count()
    {
        return count;
    }

    int offset(final int i)
    {
        return offsets[i];
    }

    int length(final int i)
    {
        return lengths[i];
    }
}
