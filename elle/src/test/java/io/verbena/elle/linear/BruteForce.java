package io.verbena.elle.linear;

import io.verbena.elle.history.Operation;

import java.util.ArrayList;
import java.util.List;

/**
 * The definition of linearizability and nothing else: tries all orders of all choices of operations. It shares no code
 * with the checker but the model.
 */
final class BruteForce
{
    private BruteForce()
    {
    }

    static <S> boolean isLinearizable(final Model<S> model, final List<Operation> operations)
    {
        final List<Operation> happened = new ArrayList<>(operations);
        happened.removeIf(Operation::isFail);
        return canFinish(model, model.initial(), happened);
    }

    private static <S> boolean canFinish(final Model<S> model, final S state, final List<Operation> left)
    {
        if (left.stream().noneMatch(Operation::isOk))
        {
            return true;
        }
        for (int i = 0; i < left.size(); i++)
        {
            final Operation candidate = left.get(i);
            if (left.stream().noneMatch(other -> other.precedes(candidate)))
            {
                final S next = model.step(state, candidate);
                final List<Operation> rest = new ArrayList<>(left);
                rest.remove(i);
                if (next != null && canFinish(model, next, rest))
                {
                    return true;
                }
            }
        }
        return false;
    }
}
