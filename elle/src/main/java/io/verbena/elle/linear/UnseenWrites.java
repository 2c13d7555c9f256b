package io.verbena.elle.linear;

import io.verbena.elle.history.Operation;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Writes of unknown outcome whose product nobody looks for: they need not be searched.
 *
 * <p>Take an order in which one of them stands, and take it out. Until the next write something else is held, and all
 * that stands there either needs a certain thing, which was not the product taken out, or is indifferent
 * ({@link Overwriting}): the rest is still an order. Histories of systems that crash much are full of such writes, and
 * each would double the work.
 */
final class UnseenWrites
{
    private UnseenWrites()
    {
    }

    /** The operations without those that cannot matter, in the same order. */
    static List<Operation> remove(final Overwriting<?> model, final List<Operation> operations)
    {
        List<Operation> left = operations;
        int before;
        do
        {
            before = left.size();
            left = removeOnce(model, left);
        }
        while (left.size() < before);
        return left;
    }

    private static List<Operation> removeOnce(final Overwriting<?> model, final List<Operation> operations)
    {
        final Set<Object> wanted = new HashSet<>();
        boolean hasOptional = false;
        for (final Operation operation : operations)
        {
            final Object needed = model.needs(operation);
            if (needed == null && !model.isIndifferent(operation))
            {
                // It depends on what is held and does not tell on what: anything may matter to it.
                return operations;
            }
            wanted.add(needed);
            hasOptional |= !operation.isOk();
        }
        if (!hasOptional)
        {
            return operations;
        }
        final List<Operation> left = new ArrayList<>(operations.size());
        for (final Operation operation : operations)
        {
            final Object made = operation.isOk() || model.isReadOnly(operation) ? null : model.makes(operation);
            if (made == null || wanted.contains(made))
            {
                left.add(operation);
            }
        }
        return left;
    }
}
