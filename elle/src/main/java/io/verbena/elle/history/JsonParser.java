package io.verbena.elle.history;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Parses histories as JSON: objects one a line, or one array of them. Arrays become lists, objects maps; where EDN has
 * keywords JSON has strings.
 */
final class JsonParser
{
    private final TextCursor cursor;
    private final EventFields fields;

    JsonParser(final TextCursor cursor)
    {
        this.cursor = cursor;
        this.fields = new EventFields(cursor);
    }

    /** Adds all events of the text. */
    void parseEvents(final HistoryBuilder builder)
    {
        cursor.skipBlanks();
        final boolean inArray = cursor.peek() == '[';
        if (inArray)
        {
            cursor.next();
            cursor.skipBlanks();
        }
        while (!cursor.atEnd() && !(inArray && cursor.peek() == ']'))
        {
            builder.add(event());
            cursor.skipBlanks();
        }
        if (inArray)
        {
            cursor.expect(']');
            cursor.skipBlanks();
            if (!cursor.atEnd())
            {
                throw cursor.broken("text after the end of the history");
            }
        }
    }

    /** Takes one value. */
    Object value()
    {
        cursor.skipBlanks();
        if (cursor.atNumber())
        {
            return cursor.number();
        }
        return switch (cursor.peek())
        {
            case '"' -> string();
            case '[' -> list();
            case '{' -> map();
            default -> word(cursor.token());
        };
    }

    private Event event()
    {
        final int line = cursor.line();
        cursor.expect('{');
        fields.clear();
        for (cursor.skipBlanks(); cursor.peek() != '}'; cursor.skipBlanks())
        {
            final String name = memberName();
            fields.set(name, value());
        }
        cursor.next();
        return fields.toEvent(line);
    }

    private String memberName()
    {
        final String name = string();
        cursor.skipBlanks();
        cursor.expect(':');
        return name;
    }

    private ValueList list()
    {
        cursor.next();
        final int mark = cursor.begin();
        for (cursor.skipBlanks(); cursor.peek() != ']'; cursor.skipBlanks())
        {
            cursor.push(value());
        }
        cursor.next();
        return new ValueList(cursor.take(mark));
    }

    private Map<Object, Object> map()
    {
        cursor.next();
        cursor.enter();
        final Map<Object, Object> map = new LinkedHashMap<>();
        for (cursor.skipBlanks(); cursor.peek() != '}'; cursor.skipBlanks())
        {
            final String name = memberName();
            map.put(name, value());
        }
        cursor.next();
        cursor.leave();
        return Collections.unmodifiableMap(map);
    }

    private Object word(final String token)
    {
        return switch (token)
        {
            case "null" -> null;
            case "true" -> true;
            case "false" -> false;
            default -> throw cursor.broken("not JSON: " + token);
        };
    }

    private String string()
    {
        cursor.expect('"');
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
            string.append(c == '\\' ? EdnParser.escaped(cursor) : c);
        }
    }
}
