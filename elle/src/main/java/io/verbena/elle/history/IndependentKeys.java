package io.verbena.elle.history;

import java.util.ArrayList;
import java.util.List;

/**
 * Histories of many objects as Jepsen's {@code independent} writes them: every value is a pair {@code [key value]}.
 */
public final class IndependentKeys
{
    private IndependentKeys()
    {
    }

    /**
     * Moves the first half of all values to the operations' keys, if the history is of that kind: no operation has a
     * key, all arguments and answers are pairs, answers have the key of their call, and some argument is
     * {@code [key nil]} (without a read, pairs may as well be the argument of a cas).
     *
     * @param history any.
     * @return the history with keys, or the same object if it is not of that kind.
     */
    public static History lift(final History history)
    {
        boolean hasRead = false;
        for (final Operation operation : history.operations())
        {
            if (operation.key() != null || !isPair(operation.input()) || !isAnswerOfSameKey(operation))
            {
                return history;
            }
            hasRead |= half(operation.input(), 1) == null;
        }
        return hasRead ? withKeys(history) : history;
    }

    private static History withKeys(final History history)
    {
        final List<Operation> lifted = new ArrayList<>(history.operations().size());
        for (final Operation o : history.operations())
        {
            final Object output = isPair(o.output()) ? half(o.output(), 1) : o.output();
            lifted.add(new Operation(o.id(), o.process(), o.f(), half(o.input(), 0), half(o.input(), 1), o.outcome(),
                output, o.callPosition(), o.endPosition(), o.callTimeNs(), o.endTimeNs(), o.callLine(), o.endLine()));
        }
        return new History(history.source(), lifted, history.notes());
    }

    private static boolean isAnswerOfSameKey(final Operation operation)
    {
        if (!operation.isOk())
        {
            return true;
        }
        final Object key = half(operation.input(), 0);
        return isPair(operation.output()) && key != null && key.equals(half(operation.output(), 0));
    }

    private static boolean isPair(final Object value)
    {
        return value instanceof List<?> list && list.size() == 2;
    }

    private static Object half(final Object pair, final int index)
    {
        return ((List<?>)pair).get(index);
    }
}
