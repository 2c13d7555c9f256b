package io.verbena.cli.cluster;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads one JSON object (RFC 8259): maps in the order of the text, lists, strings, {@link Long} for whole numbers that
 * fit, {@link Double} for others, {@link Boolean}, null. A name that comes twice is refused, because two readers would
 * disagree about it. Used once, by one thread.
 */
public final class JsonReader
{
    private static final int MAX_DEPTH = 64;
    private static final int HEX = 16;

    /** What is wrong with a text, and where. */
    public static final class MalformedJsonException extends RuntimeException
    {
        private static final long serialVersionUID = 1L;

        private MalformedJsonException(final String message)
        {
            super(message);
        }
    }

    private final String text;
    private int at;
    private int depth;

    private JsonReader(final String text)
    {
        this.text = text;
    }

    /**
     * Reads an object that is all of a text.
     *
     * @param text with blanks around it, at most.
     * @return its members.
     * @throws MalformedJsonException when it is not one object.
     */
    public static Map<String, Object> object(final String text)
    {
        final JsonReader reader = new JsonReader(text);
        reader.blanks();
        final Map<String, Object> members = reader.map();
        reader.blanks();
        if (reader.at < text.length())
        {
            throw reader.broken("something behind the object");
        }
        return members;
    }

    private Object value()
    {
        blanks();
        return switch (peek())
        {
            case '"' -> string();
            case '{' -> map();
            case '[' -> list();
            case 't' -> word("true", true);
            case 'f' -> word("false", false);
            case 'n' -> word("null", null);
            default -> number();
        };
    }

    private Map<String, Object> map()
    {
        final Map<String, Object> members = new LinkedHashMap<>();
        open('{');
        while ('}' != peek())
        {
            if (!members.isEmpty())
            {
                expect(',');
                blanks();
            }
            final int start = at;
            final String name = string();
            blanks();
            expect(':');
            if (members.containsKey(name))
            {
                at = start;
                throw broken("the name '" + name + "' for the second time");
            }
            members.put(name, value());
            blanks();
        }
        close();
        return members;
    }

    private List<Object> list()
    {
        final List<Object> elements = new ArrayList<>();
        open('[');
        while (']' != peek())
        {
            if (!elements.isEmpty())
            {
                expect(',');
            }
            elements.add(value());
            blanks();
        }
        close();
        return elements;
    }

    private void open(final char bracket)
    {
        expect(bracket);
        if (++depth > MAX_DEPTH)
        {
            throw broken("deeper than " + MAX_DEPTH);
        }
        blanks();
    }

    private void close()
    {
        at++;
        depth--;
    }

    private String string()
    {
        expect('"');
        final int start = at;
        while (at < text.length() && '"' != text.charAt(at) && '\\' != text.charAt(at))
        {
            notControl(text.charAt(at++));
        }
        if ('"' == peek())
        {
            return text.substring(start, at++);
        }
        final StringBuilder characters = new StringBuilder(text.substring(start, at));
        for (char c = peek(); '"' != c; c = peek())
        {
            at++;
            notControl(c);
            characters.append('\\' == c ? escaped() : c);
        }
        at++;
        return characters.toString();
    }

    private void notControl(final char c)
    {
        if (c < ' ')
        {
            throw broken("a control character that is not escaped");
        }
    }

    private char escaped()
    {
        final char c = peek();
        at++;
        return switch (c)
        {
            case '"', '\\', '/' -> c;
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'u' -> unicode();
            default -> throw broken("an escape that is none: \\" + c);
        };
    }

    private char unicode()
    {
        int code = 0;
        for (int i = 0; i < Integer.BYTES; i++)
        {
            // Of ASCII only: Character.digit() knows those of other scripts too.
            if (!HexFormat.isHexDigit(peek()))
            {
                throw broken("not four hex digits behind \\u");
            }
            code = code * HEX + HexFormat.fromHexDigit(peek());
            at++;
        }
        return (char)code;
    }

    private Object number()
    {
        final int start = at;
        while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0)
        {
            at++;
        }
        final String digits = text.substring(start, at);
        if (!digits.matches("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?"))
        {
            at = start;
            throw broken("no value");
        }
        try
        {
            return Long.valueOf(digits);
        }
        catch (final NumberFormatException ex)
        {
            return Double.valueOf(digits);
        }
    }

    private Object word(final String word, final Object meaning)
    {
        if (!text.startsWith(word, at))
        {
            throw broken("no value");
        }
        at += word.length();
        return meaning;
    }

    private void blanks()
    {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0)
        {
            at++;
        }
    }

    private char peek()
    {
        if (at >= text.length())
        {
            throw broken("the end");
        }
        return text.charAt(at);
    }

    private void expect(final char c)
    {
        if (c != peek())
        {
            throw broken("'" + peek() + "' instead of '" + c + "'");
        }
        at++;
    }

    private MalformedJsonException broken(final String what)
    {
        return new MalformedJsonException(what + " at character " + (at + 1));
    }
}
