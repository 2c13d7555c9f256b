package io.verbena.elle.linear;

import io.verbena.elle.history.EdnWriter;
import io.verbena.elle.history.Operation;

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
        if (value instanceof List<?> list && list.size() == 2)
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

    static BadValueException wrong(final Operation operation, final Object value, final String wanted)
    {
        return new BadValueException(operation.callLine(), operation.f() + " needs " + wanted + " but has " +
            EdnWriter.toText(value) + " (" + operation + ")");
    }
}
