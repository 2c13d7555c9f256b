package io.verbena.elle.linear;

import io.verbena.elle.history.EdnValue;
import io.verbena.elle.history.Operation;

import java.util.Objects;
import java.util.Set;

/**
 * One value that is read, written, and perhaps compared and set. Functions: {@code read}, {@code write v},
 * {@code cas [old new]}; a cas that found another value is a failed operation, as Jepsen records it, or an {@code OK}
 * one that answers {@code false}.
 */
final class RegisterModel implements Overwriting<RegisterModel.Register>
{
    private final boolean hasCas;
    private final Object initialValue;

    RegisterModel(final boolean hasCas, final Object initialValue)
    {
        this.hasCas = hasCas;
        this.initialValue = initialValue;
    }

    record Register(Object value)
    {
    }

    @Override
    public String name()
    {
        return hasCas ? "cas-register" : "register";
    }

    @Override
    public Set<String> functions()
    {
        return hasCas ? Set.of("read", "write", "cas") : Set.of("read", "write");
    }

    @Override
    public Register initial()
    {
        return new Register(initialValue);
    }

    @Override
    public Register step(final Register state, final Operation operation)
    {
        return switch (operation.f())
        {
            case "read" -> !operation.isOk() || Objects.equals(operation.output(), state.value) ? state : null;
            case "write" -> new Register(operation.input());
            default -> compareAndSet(state, operation);
        };
    }

    private static Register compareAndSet(final Register state, final Operation operation)
    {
        final boolean matches = Objects.equals(Values.ofPair(operation, operation.input(), 0), state.value);
        if (operation.isOk())
        {
            final boolean answeredNo = Boolean.FALSE.equals(operation.output());
            if (answeredNo)
            {
                return matches ? null : state;
            }
            return matches ? new Register(Values.ofPair(operation, operation.input(), 1)) : null;
        }
        return matches ? new Register(Values.ofPair(operation, operation.input(), 1)) : state;
    }

    @Override
    public boolean isReadOnly(final Operation operation)
    {
        return operation.f().equals("read") ||
            operation.f().equals("cas") && operation.isOk() && Boolean.FALSE.equals(operation.output());
    }

    @Override
    public Object holds(final Register state)
    {
        return state;
    }

    @Override
    public Object needs(final Operation operation)
    {
        return switch (operation.f())
        {
            case "read" -> new Register(operation.output());
            case "write" -> null;
            default -> isReadOnly(operation) ? null : new Register(Values.ofPair(operation, operation.input(), 0));
        };
    }

    @Override
    public Object makes(final Operation operation)
    {
        return new Register(operation.f().equals("write") ?
            operation.input() : Values.ofPair(operation, operation.input(), 1));
    }

    @Override
    public boolean canBecome(final Object from, final Object to)
    {
        return false;
    }

    @Override
    public boolean isIndifferent(final Operation operation)
    {
        return operation.f().equals("write");
    }

    @Override
    public String describe(final Register state)
    {
        return EdnValue.toText(state.value);
    }
}
