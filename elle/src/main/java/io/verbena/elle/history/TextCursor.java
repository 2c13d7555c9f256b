package io.verbena.elle.history;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;

/**
 * A place in a text of which it knows the line, with what the EDN and JSON parsers have in common.
 */
final class TextCursor
{
    /** Values nested deeper than this are refused, before the stack of the parser overflows. */
    static final int MAX_DEPTH = 200;

    private static final int TOKEN_CACHE_LENGTH = 1 << 8;
    private static final int LONG_DIGITS = 18;

    private final String source;
    private final String text;
    private final LongBoxes longs = new LongBoxes();
    private final String[] tokens = new String[TOKEN_CACHE_LENGTH];
    private final ArrayList<Object> stack = new ArrayList<>();
    private int position;
    private int line = 1;
    private int depth;

    TextCursor(final String source, final String text)
    {
        this.source = source;
        this.text = text;
        // A byte order mark is no part of the history.
        this.position = text.startsWith("\uFEFF") ? 1 : 0;
    }

    int line()
    {
        return line;
    }

    boolean atEnd()
    {
        return position >= text.length();
    }

    /** The character here, or 0 at the end. */
    char peek()
    {
        return peek(0);
    }

    char peek(final int ahead)
    {
        final int at = position + ahead;
        return at < text.length() ? text.charAt(at) : 0;
    }

    /** Takes the character here; 0 at the end. */
    char next()
    {
        if (position >= text.length())
        {
            return 0;
        }
        final char c = text.charAt(position++);
        if (c == '\n')
        {
            line++;
        }
        return c;
    }

    /** Skips white space and commas; both formats allow commas wherever this is called. */
    void skipBlanks()
    {
        while (position < text.length())
        {
            final char c = text.charAt(position);
            if (c == '\n')
            {
                line++;
            }
            else if (c != ' ' && c != ',' && c != '\t' && c != '\r' && c != '\f')
            {
                return;
            }
            position++;
        }
    }

    void skipLine()
    {
        while (position < text.length() && text.charAt(position) != '\n')
        {
            position++;
        }
    }

    void expect(final char wanted)
    {
        final char found = next();
        if (found != wanted)
        {
            throw broken("expected '" + wanted + "' but found " + show(found));
        }
    }

    void enter()
    {
        if (++depth > MAX_DEPTH)
        {
            throw broken("value nested deeper than " + MAX_DEPTH + " levels");
        }
    }

    void leave()
    {
        depth--;
    }

    /** Collected values of nested collections share one stack: {@code mark = begin(); push...; take(mark)}. */
    int begin()
    {
        enter();
        return stack.size();
    }

    void push(final Object value)
    {
        stack.add(value);
    }

    Object[] take(final int mark)
    {
        leave();
        final List<Object> top = stack.subList(mark, stack.size());
        final Object[] values = top.toArray();
        top.clear();
        return values;
    }

    /** Takes everything up to white space or a delimiter of either format. */
    String token()
    {
        final int start = position;
        int hash = 0;
        while (position < text.length() && !endsToken(text.charAt(position)))
        {
            hash = 31 * hash + text.charAt(position++);
        }
        if (start == position)
        {
            throw broken(show(peek()) + " was not expected");
        }
        final int slot = (hash ^ hash >>> 16) & TOKEN_CACHE_LENGTH - 1;
        final String cached = tokens[slot];
        final int length = position - start;
        if (cached != null && cached.length() == length && text.startsWith(cached, start))
        {
            return cached;
        }
        final String token = text.substring(start, position);
        tokens[slot] = token;
        return token;
    }

    /** Whether a number begins here. */
    boolean atNumber()
    {
        final char c = peek();
        return isDigit(c) || (c == '-' || c == '+') && isDigit(peek(1));
    }

    /** Takes a number: a long if it fits, else a BigInteger or a Double; equal longs come as one object mostly. */
    Object number()
    {
        final int start = position;
        final boolean negative = peek() == '-';
        int at = position + (negative || peek() == '+' ? 1 : 0);
        final int firstDigit = at;
        long magnitude = 0;
        while (at < text.length() && at - firstDigit < LONG_DIGITS && isDigit(text.charAt(at)))
        {
            magnitude = magnitude * 10 + text.charAt(at++) - '0';
        }
        if (at < text.length() && !endsToken(text.charAt(at)))
        {
            position = start;
            return longNumber(token());
        }
        position = at;
        return longs.box(negative ? -magnitude : magnitude);
    }

    HistoryException broken(final String what)
    {
        return new HistoryException(source, line, what);
    }

    static String show(final char c)
    {
        return c == 0 ? "the end of the text" : "'" + c + "'";
    }

    private Object longNumber(final String token)
    {
        try
        {
            // EDN marks numbers of any precision with N (whole) and M (decimal).
            final String digits = token.endsWith("N") || token.endsWith("M") ?
                token.substring(0, token.length() - 1) : token;
            if (token.endsWith("M") || digits.indexOf('.') >= 0 || digits.indexOf('e') >= 0 || digits.indexOf('E') >= 0)
            {
                return Double.valueOf(digits);
            }
            final BigInteger whole = new BigInteger(digits);
            return whole.bitLength() < Long.SIZE ? longs.box(whole.longValue()) : whole;
        }
        catch (final NumberFormatException ex)
        {
            throw broken("not a number: " + token);
        }
    }

    private static boolean isDigit(final char c)
    {
        return c >= '0' && c <= '9';
    }

    private static boolean endsToken(final char c)
    {
        return switch (c)
        {
            case ' ', ',', '\n', '\t', '\r', '\f', '(', ')', '[', ']', '{', '}', '"', ';' -> true;
            default -> false;
        };
    }
}
