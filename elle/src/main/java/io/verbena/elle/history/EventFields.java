package io.verbena.elle.history;

/**
 * Collects the fields of one event while a parser walks over its map.
 */
final class EventFields
{
    /** Elle's own examples leave the function out where all operations are transactions. */
    private static final String DEFAULT_FUNCTION = "txn";

    private final TextCursor cursor;
    private Object process;
    private EventType type;
    private String f;
    private Object key;
    private Object value;
    private long timeNs;
    private long index;

    EventFields(final TextCursor cursor)
    {
        this.cursor = cursor;
    }

    void clear()
    {
        process = null;
        type = null;
        f = null;
        key = null;
        value = null;
        timeNs = Operation.NO_TIME;
        index = -1;
    }

    void set(final String name, final Object fieldValue)
    {
        switch (name)
        {
            case "process" -> process = toProcess(fieldValue);
            case "type" -> type = toType(fieldValue);
            case "f" -> f = toFunction(fieldValue);
            case "key" -> key = fieldValue;
            case "value" -> value = fieldValue;
            case "time" -> timeNs = fieldValue == null ? Operation.NO_TIME : toLong(name, fieldValue);
            case "index" -> index = fieldValue == null ? -1 : toLong(name, fieldValue);
            default ->
            {
                // Histories carry remarks such as :error or :node, which no checker here needs.
            }
        }
    }

    Event toEvent(final int line)
    {
        if (type == null)
        {
            throw new HistoryException(cursor.broken("").source(), line, "event without :type");
        }
        if (process == null)
        {
            throw new HistoryException(cursor.broken("").source(), line, "event without :process");
        }
        final String function = f == null && type == EventType.INVOKE ? DEFAULT_FUNCTION : f;
        return new Event(process, type, function, key, value, timeNs, index, line);
    }

    private Object toProcess(final Object fieldValue)
    {
        if (fieldValue instanceof Long number)
        {
            if (number < Integer.MIN_VALUE || number > Integer.MAX_VALUE)
            {
                throw cursor.broken("process " + number + " is out of range");
            }
            return number.intValue();
        }
        return fieldValue;
    }

    private EventType toType(final Object fieldValue)
    {
        final String word = Keyword.nameOf(fieldValue);
        final EventType found = word == null ? null : EventType.ofWord(word);
        if (found == null)
        {
            throw cursor.broken("unknown type " + EdnValue.toText(fieldValue) +
                ": must be invoke, ok, fail or info");
        }
        return found;
    }

    private String toFunction(final Object fieldValue)
    {
        final String name = Keyword.nameOf(fieldValue);
        if (name == null && fieldValue != null)
        {
            throw cursor.broken("function (:f) must be a keyword or a string, not " + EdnValue.toText(fieldValue));
        }
        return name;
    }

    private long toLong(final String name, final Object fieldValue)
    {
        if (fieldValue instanceof Long number)
        {
            return number;
        }
        if (fieldValue instanceof Double number)
        {
            return number.longValue();
        }
        throw cursor.broken(":" + name + " must be a number, not " + EdnValue.toText(fieldValue));
    }
}
