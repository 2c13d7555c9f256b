package io.verbena.elle.linear;

import io.verbena.elle.history.History;
import io.verbena.elle.history.Operation;

import java.util.HashSet;
import java.util.List;
import java.util.Objects;

/**
 * Simple facts that no linearizable history of unique values shows. What they find is bad beyond doubt, and without any
 * search; what they do not find may be bad all the same.
 */
final class CertainlyBad
{
    private CertainlyBad()
    {
    }

    static boolean isBad(final History history)
    {
        for (final Operation read : history.operations())
        {
            if (read.isOk() && read.f().equals("get"))
            {
                final boolean isBad = read.output() instanceof List<?> list ?
                    isBadList(history, read, list) : isBadValue(history, read);
                if (isBad)
                {
                    return true;
                }
            }
        }
        return hasTwoReplacesOfOneValue(history);
    }

    private static boolean isBadValue(final History history, final Operation read)
    {
        Operation source = null;
        for (final Operation write : history.operations())
        {
            if (isSameKey(write, read) && read.output() != null && read.output().equals(written(write)))
            {
                source = write;
            }
        }
        if (read.output() != null && (source == null || source.isFail()))
        {
            return true;
        }
        for (final Operation write : history.operations())
        {
            final boolean isOverwritten = source == null || source.precedes(write);
            if (isSameKey(write, read) && isDone(write) && write != source && isOverwritten && write.precedes(read))
            {
                return true;
            }
        }
        return false;
    }

    private static boolean isBadList(final History history, final Operation read, final List<?> list)
    {
        if (new HashSet<>(list).size() < list.size())
        {
            return true;
        }
        for (final Operation append : history.operations())
        {
            if (append.f().equals("append") && isSameKey(append, read))
            {
                final boolean isSeen = list.contains(append.input());
                if (isSeen && append.isFail() || !isSeen && append.isOk() && append.precedes(read))
                {
                    return true;
                }
            }
        }
        return false;
    }

    private static boolean hasTwoReplacesOfOneValue(final History history)
    {
        final HashSet<Object> replaced = new HashSet<>();
        for (final Operation operation : history.operations())
        {
            if (operation.f().equals("replace") && isDone(operation) &&
                !replaced.add(List.of(operation.key(), ((List<?>)operation.input()).getFirst())))
            {
                return true;
            }
        }
        return false;
    }

    private static Object written(final Operation operation)
    {
        return switch (operation.f())
        {
            case "put", "append" -> operation.input();
            case "replace" -> ((List<?>)operation.input()).get(1);
            default -> null;
        };
    }

    private static boolean isDone(final Operation operation)
    {
        return operation.isOk() && written(operation) != null && !Boolean.FALSE.equals(operation.output());
    }

    private static boolean isSameKey(final Operation a, final Operation b)
    {
        return Objects.equals(a.key(), b.key());
    }
}
