package io.verbena.elle.linear;

import io.verbena.elle.history.EdnValue;
import io.verbena.elle.history.Operation;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Takes arguments and results of operations apart for the models, and names the operation whose value has another
 * shape.
 */
final class Values
{
    private Values()
    {
    }

    /** One half of a value that must be a pair. */
    static Object ofPair(final Operation operation, final Object value, final int index)
    {
        // With a deadline behind the pair.
        if (value instanceof List<?> list &&
            (list.size() == 2 || list.size() == 3 && operation.f().endsWith("-until")))
        {
            return list.get(index);
        }
        throw wrong(operation, value, "a pair [a b]");
    }

    static long longOf(final Operation operation, final Object value)
    {
        if (value instanceof Long number)
        {
            return number;
        }
        throw wrong(operation, value, "a whole number");
    }

    /** What is there after an append: strings grow by a string, anything else becomes a list. */
    static Object appended(final boolean isPresent, final Object value, final Object more)
    {
        if (!isPresent || value == null)
        {
            return more instanceof String ? more : Collections.singletonList(more);
        }
        if (value instanceof String string && more instanceof String suffix)
        {
            return string + suffix;
        }
        final List<Object> longer = new ArrayList<>();
        if (value instanceof List<?> list)
        {
            longer.addAll(list);
        }
        else
        {
            longer.add(value);
        }
        longer.add(more);
        return Collections.unmodifiableList(longer);
    }

    /** Whether appends and increments may make one value of another: what is appended to keeps its beginning. */
    static boolean canGrow(final Object from, final Object to)
    {
        if (from instanceof String text && to instanceof String longer)
        {
            return longer.startsWith(text);
        }
        if (from instanceof List<?> list && to instanceof List<?> longer)
        {
            return list.size() <= longer.size() && longer.subList(0, list.size()).equals(list);
        }
        return true;
    }

    static BadValueException wrong(final Operation operation, final Object value, final String wanted)
    {
        return new BadValueException(operation.callLine(), operation.f() + " needs " + wanted + " but has " +
            EdnValue.toText(value) + " (" + operation + ")");
    }
}
