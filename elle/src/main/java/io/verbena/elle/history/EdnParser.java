package io.verbena.elle.history;

import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * Parses EDN (github.com/edn-format/edn) as far as histories need it: all but characters beyond the named ones and
 * exact ratios. A tag is dropped and its value kept, so that Jepsen's {@code #jepsen.history.Op{...}} is a map.
 */
final class EdnParser
{
    private final TextCursor cursor;
    private final EventFields fields;
    private final Map<String, Keyword> keywords = new HashMap<>();

    EdnParser(final TextCursor cursor)
    {
        this.cursor = cursor;
        this.fields = new EventFields(cursor);
    }

    /** Adds all events of the text: maps one after the other, or within one vector or list. */
    void parseEvents(final HistoryBuilder builder)
    {
        skip();
        final char open = cursor.peek();
        final boolean inVector = open == '[' || open == '(';
        if (inVector)
        {
            cursor.next();
            skip();
        }
        while (!cursor.atEnd() && !(inVector && (cursor.peek() == ']' || cursor.peek() == ')')))
        {
            skipTags();
            builder.add(event());
            skip();
        }
        if (inVector)
        {
            cursor.expect(open == '[' ? ']' : ')');
            skip();
            if (!cursor.atEnd())
            {
                throw cursor.broken("text after the end of the history");
            }
        }
    }

    /** Takes one value. */
    Object value()
    {
        skip();
        final char c = cursor.peek();
        if (cursor.atNumber())
        {
            return cursor.number();
        }
        return switch (c)
        {
            case '"' -> string();
            case ':' ->
            {
                cursor.next();
                yield keyword(cursor.token());
            }
            case '[' -> list(']');
            case '(' -> list(')');
            case '{' -> map();
            case '#' -> dispatch();
            case '\\' -> character();
            default -> word(cursor.token());
        };
    }

    /** Takes white space, comments and values discarded by {@code #_}. */
    void skip()
    {
        while (true)
        {
            cursor.skipBlanks();
            if (cursor.peek() == ';')
            {
                cursor.skipLine();
            }
            else if (cursor.peek() == '#' && cursor.peek(1) == '_')
            {
                cursor.next();
                cursor.next();
                cursor.enter();
                value();
                cursor.leave();
            }
            else
            {
                return;
            }
        }
    }

    private Event event()
    {
        final int line = cursor.line();
        if (cursor.peek() != '{')
        {
            throw cursor.broken("expected an event (a map) but found " + TextCursor.show(cursor.peek()));
        }
        cursor.next();
        fields.clear();
        for (skip(); cursor.peek() != '}'; skip())
        {
            final String name = Keyword.nameOf(value());
            final Object fieldValue = value();
            if (name != null)
            {
                fields.set(name, fieldValue);
            }
        }
        cursor.next();
        return fields.toEvent(line);
    }

    private void skipTags()
    {
        while (cursor.peek() == '#')
        {
            cursor.next();
            cursor.token();
            skip();
        }
    }

    private Object dispatch()
    {
        cursor.next();
        if (cursor.peek() == '{')
        {
            return set();
        }
        if (cursor.peek() == '#')
        {
            return symbolicNumber();
        }
        cursor.token();
        cursor.enter();
        final Object tagged = value();
        cursor.leave();
        return tagged;
    }

    private Object symbolicNumber()
    {
        cursor.next();
        final String name = cursor.token();
        return switch (name)
        {
            case "Inf" -> Double.POSITIVE_INFINITY;
            case "-Inf" -> Double.NEGATIVE_INFINITY;
            case "NaN" -> Double.NaN;
            default -> throw cursor.broken("unknown value ##" + name);
        };
    }

    private ValueList list(final char close)
    {
        return new ValueList(values(close));
    }

    private Set<Object> set()
    {
        final Set<Object> set = new LinkedHashSet<>();
        Collections.addAll(set, values('}'));
        return Collections.unmodifiableSet(set);
    }

    private Map<Object, Object> map()
    {
        final Object[] values = values('}');
        if (values.length % 2 != 0)
        {
            throw cursor.broken("map with a key that has no value");
        }
        final Map<Object, Object> map = new LinkedHashMap<>();
        for (int i = 0; i < values.length; i += 2)
        {
            map.put(values[i], values[i + 1]);
        }
        return Collections.unmodifiableMap(map);
    }

    private Object[] values(final char close)
    {
        cursor.next();
        final int mark = cursor.begin();
        for (skip(); cursor.peek() != close; skip())
        {
            if (cursor.atEnd())
            {
                throw cursor.broken("text ends where '" + close + "' is missing");
            }
            cursor.push(value());
        }
        cursor.next();
        return cursor.take(mark);
    }

    private Keyword keyword(final String name)
    {
        return keywords.computeIfAbsent(name, Keyword::new);
    }

    private static Object word(final String token)
    {
        return switch (token)
        {
            case "nil" -> null;
            case "true" -> true;
            case "false" -> false;
            default -> new Symbol(token);
        };
    }

    private String character()
    {
        cursor.next();
        final char first = cursor.next();
        if (!Character.isLetterOrDigit(cursor.peek()))
        {
            return String.valueOf(first);
        }
        final String name = first + cursor.token();
        return switch (name)
        {
            case "newline" -> "\n";
            case "return" -> "\r";
            case "space" -> " ";
            case "tab" -> "\t";
            default -> throw cursor.broken("unknown character \\" + name);
        };
    }

    private String string()
    {
        cursor.next();
        final StringBuilder string = new StringBuilder();
        while (true)
        {
            if (cursor.atEnd())
            {
                throw cursor.broken("text ends within a string");
            }
            final char c = cursor.next();
            if (c == '"')
            {
                return string.toString();
            }
            string.append(c == '\\' ? escaped(cursor) : c);
        }
    }

    /** The character after a backslash; JSON has the same ones. */
    static char escaped(final TextCursor cursor)
    {
        final char c = cursor.next();
        return switch (c)
        {
            case 'n' -> '\n';
            case 't' -> '\t';
            case 'r' -> '\r';
            case 'b' -> '\b';
            case 'f' -> '\f';
            case '"', '\\', '/' -> c;
            case 'u' -> hexadecimal(cursor);
            default -> throw cursor.broken("unknown escape \\" + c);
        };
    }

    private static char hexadecimal(final TextCursor cursor)
    {
        int code = 0;
        for (int i = 0; i < 4; i++)
        {
            final int digit = Character.digit(cursor.next(), 16);
            if (digit < 0)
            {
                throw cursor.broken("\\u needs four hexadecimal digits");
            }
            code = code << 4 | digit;
        }
        return (char)code;
    }
}
