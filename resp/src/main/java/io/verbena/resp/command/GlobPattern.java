package io.verbena.resp.command;

/**
 * A pattern of {@code KEYS} and {@code SCAN}: {@code *}, {@code ?}, {@code [a-z]}, {@code [^a]} and a backslash. Takes
 * time in proportion to pattern and text, multiplied, whatever they are. Immutable.
 */
final class GlobPattern
{
    private final byte[] pattern;
    private int at;

    GlobPattern(final byte[] pattern)
    {
        this.pattern = pattern;
    }

    /** Whether it matches all of the bytes. One thread. */
    boolean matches(final byte[] text, final int offset, final int lengthBytes)
    {
        int star = -1;
        int resume = 0;
        int i = 0;
        at = 0;
        while (i < lengthBytes || at < pattern.length)
        {
            if (at < pattern.length && '*' == pattern[at])
            {
                star = ++at;
                resume = i;
            }
            else if (at < pattern.length && i < lengthBytes && one(text[offset + i]))
            {
                i++;
            }
            else if (star >= 0 && resume < lengthBytes)
            {
                // The last star takes one byte more; earlier ones never need to.
                at = star;
                i = ++resume;
            }
            else
            {
                return false;
            }
        }
        return true;
    }

    /** Whether the pattern's next element matches a byte; goes behind it if so. */
    private boolean one(final byte letter)
    {
        switch (pattern[at])
        {
            case '?' ->
            {
                at++;
                return true;
            }
            case '[' ->
            {
                return oneOf(letter);
            }
            default ->
            {
                final boolean isEscaped = '\\' == pattern[at] && at + 1 < pattern.length;
                final int literal = isEscaped ? at + 1 : at;
                if (pattern[literal] != letter)
                {
                    return false;
                }
                at = literal + 1;
                return true;
            }
        }
    }

    private boolean oneOf(final byte letter)
    {
        int i = at + 1;
        final boolean isNegated = i < pattern.length && '^' == pattern[i];
        i += isNegated ? 1 : 0;
        boolean isAmong = false;
        while (i < pattern.length && ']' != pattern[i])
        {
            if ('\\' == pattern[i] && i + 1 < pattern.length)
            {
                isAmong |= pattern[i + 1] == letter;
                i += 2;
            }
            else if (i + 2 < pattern.length && '-' == pattern[i + 1])
            {
                final int low = Math.min(pattern[i] & 0xff, pattern[i + 2] & 0xff);
                final int high = Math.max(pattern[i] & 0xff, pattern[i + 2] & 0xff);
                isAmong |= (letter & 0xff) >= low && (letter & 0xff) <= high;
                i += 3;
            }
            else
            {
                isAmong |= pattern[i++] == letter;
            }
        }
        if (isAmong == isNegated)
        {
            return false;
        }
        at = Math.min(pattern.length, i + 1);
        return true;
    }
}
