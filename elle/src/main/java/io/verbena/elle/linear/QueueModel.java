package io.verbena.elle.linear;

import io.verbena.elle.history.EdnValue;
import io.verbena.elle.history.Operation;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * A first-in-first-out queue. Functions: {@code enqueue v}, {@code dequeue} (answers the oldest value, or null if the
 * queue was empty).
 */
final class QueueModel implements Model<List<Object>>
{
    @Override
    public String name()
    {
        return "queue";
    }

    @Override
    public Set<String> functions()
    {
        return Set.of("enqueue", "dequeue");
    }

    @Override
    public List<Object> initial()
    {
        return List.of();
    }

    @Override
    public List<Object> step(final List<Object> state, final Operation operation)
    {
        if (operation.f().equals("enqueue"))
        {
            final List<Object> longer = new ArrayList<>(state);
            longer.add(operation.input());
            return Collections.unmodifiableList(longer);
        }
        final Object oldest = state.isEmpty() ? null : state.getFirst();
        if (operation.isOk() && !Objects.equals(operation.output(), oldest))
        {
            return null;
        }
        return state.isEmpty() ? state : Collections.unmodifiableList(new ArrayList<>(state.subList(1, state.size())));
    }

    @Override
    public String describe(final List<Object> state)
    {
        return EdnValue.toText(state);
    }
}
