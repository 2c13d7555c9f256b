package io.verbena.elle.linear;

import io.verbena.elle.history.Operation;

import java.util.Set;

/**
 * A number from 0. Functions: {@code add n} (n may be negative; its answer says nothing), {@code add-and-get n}
 * (answers the sum), {@code read}.
 */
final class CounterModel implements Model<Long>
{
    @Override
    public String name()
    {
        return "counter";
    }

    @Override
    public Set<String> functions()
    {
        return Set.of("add", "add-and-get", "read");
    }

    @Override
    public Long initial()
    {
        return 0L;
    }

    @Override
    public Long step(final Long state, final Operation operation)
    {
        if (operation.f().equals("read"))
        {
            return !operation.isOk() || state.equals(operation.output()) ? state : null;
        }
        final Long sum = state + Values.longOf(operation, operation.input());
        final boolean isTold = operation.isOk() && operation.f().equals("add-and-get");
        return isTold && !sum.equals(operation.output()) ? null : sum;
    }

    @Override
    public boolean isReadOnly(final Operation operation)
    {
        return operation.f().equals("read");
    }
}
