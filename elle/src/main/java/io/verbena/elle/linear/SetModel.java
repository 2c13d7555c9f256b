package io.verbena.elle.linear;

import io.verbena.elle.history.EdnValue;
import io.verbena.elle.history.History;
import io.verbena.elle.history.Operation;

import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/**
 * A set. Functions: {@code add x}, {@code remove x}, {@code contains x} (true or false), {@code read} (all elements).
 * An add or remove may answer whether it changed the set. Without a {@code read} each element is an object of its own.
 */
final class SetModel implements Model<SetModel.Elements>
{
    /** The elements, with their hash computed once. */
    static final class Elements
    {
        private final Set<Object> values;
        private final int hash;

        private Elements(final Set<Object> values)
        {
            this.values = values;
            this.hash = values.hashCode();
        }

        @Override
        public int hashCode()
        {
            return hash;
        }

        @Override
        public boolean equals(final Object other)
        {
            return other instanceof Elements elements && elements.hash == hash && elements.values.equals(values);
        }
    }

    @Override
    public String name()
    {
        return "set";
    }

    @Override
    public Set<String> functions()
    {
        return Set.of("add", "remove", "contains", "read");
    }

    @Override
    public Elements initial()
    {
        return new Elements(Set.of());
    }

    @Override
    public Elements step(final Elements state, final Operation operation)
    {
        final Object element = operation.input();
        return switch (operation.f())
        {
            case "add" -> change(state, operation, !state.values.contains(element), true);
            case "remove" -> change(state, operation, state.values.contains(element), false);
            case "contains" -> !operation.isOk() ||
                Boolean.valueOf(state.values.contains(element)).equals(operation.output()) ? state : null;
            default -> !operation.isOk() || isAll(state, operation) ? state : null;
        };
    }

    @Override
    public boolean isReadOnly(final Operation operation)
    {
        return operation.f().equals("contains") || operation.f().equals("read");
    }

    @Override
    public Function<Operation, Object> partition(final History history)
    {
        final boolean readsAll = history.operations().stream().anyMatch(operation -> operation.f().equals("read"));
        return readsAll ? Operation::key : operation -> List.of(
            operation.key() == null ? "set" : operation.key(), EdnValue.toText(operation.input()));
    }

    @Override
    public String describe(final Elements state)
    {
        return EdnValue.toText(state.values);
    }

    private static Elements change(
        final Elements state, final Operation operation, final boolean changes, final boolean isAdd)
    {
        // Jepsen's clients answer an add with the element itself: only a truth value says something.
        if (operation.isOk() && operation.output() instanceof Boolean returned &&
            !(operation.input() instanceof Boolean) && returned != changes)
        {
            return null;
        }
        if (!changes)
        {
            return state;
        }
        final Set<Object> values = new HashSet<>(state.values);
        if (isAdd)
        {
            values.add(operation.input());
        }
        else
        {
            values.remove(operation.input());
        }
        return new Elements(values);
    }

    private static boolean isAll(final Elements state, final Operation operation)
    {
        if (operation.output() instanceof Collection<?> seen)
        {
            return seen.size() == state.values.size() && state.values.containsAll(seen);
        }
        throw Values.wrong(operation, operation.output(), "a set or list as its answer");
    }
}
