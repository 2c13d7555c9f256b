package io.verbena.cli.shell;

import java.util.ArrayList;
import java.util.List;

/**
 * The words of a line, quoted as in a POSIX shell: nothing has a meaning between single quotes; between double quotes,
 * and outside, a backslash takes its meaning from the character behind it (between double quotes only from {@code "},
 * {@code \}, {@code $}, {@code `} and the end of a line). Nothing is expanded. A line that begins with {@code #} is a
 * comment. Immutable.
 *
 * @param words  of the line.
 * @param starts where each word begins in the line.
 * @param ends   where each word ends.
 * @param open   the quote that is not closed, or a backslash at the end of the line: more is to come; or {@link #NONE}.
 */
record ShellWords(List<String> words, List<Integer> starts, List<Integer> ends, char open)
{
    /** Nothing is open. */
    static final char NONE = 0;

    private static final String SPACES = " \t\r\n";
    private static final String ESCAPED_IN_QUOTES = "\"\\$`";

    /** Reads a line, or several where a quote goes over their ends. */
    static ShellWords of(final String line)
    {
        final ShellWords result = new ShellWords(new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), NONE);
        if (line.stripLeading().startsWith("#"))
        {
            return result;
        }
        int at = 0;
        while (at < line.length())
        {
            if (SPACES.indexOf(line.charAt(at)) >= 0)
            {
                at++;
                continue;
            }
            final StringBuilder word = new StringBuilder();
            final int start = at;
            char open = NONE;
            while (at < line.length() && (NONE != open || SPACES.indexOf(line.charAt(at)) < 0))
            {
                final char next = line.charAt(at++);
                if (next == open || NONE == open && ('\'' == next || '"' == next))
                {
                    open = NONE == open ? next : NONE;
                }
                else if ('\\' == next && '\'' != open)
                {
                    if (at == line.length())
                    {
                        open = NONE == open ? '\\' : open;
                        break;
                    }
                    at = escaped(line, at, NONE != open, word);
                }
                else
                {
                    word.append(next);
                }
            }
            result.words.add(word.toString());
            result.starts.add(start);
            result.ends.add(at);
            if (NONE != open)
            {
                return new ShellWords(result.words, result.starts, result.ends, open);
            }
        }
        return result;
    }

    private static int escaped(final String line, final int at, final boolean isQuoted, final StringBuilder word)
    {
        final char next = line.charAt(at);
        if ('\n' != next)
        {
            word.append(isQuoted && ESCAPED_IN_QUOTES.indexOf(next) < 0 ? "\\" : "").append(next);
        }
        return at + 1;
    }

    /** Whether the command goes on in the next line. */
    boolean isOpen()
    {
        return NONE != open;
    }
}
