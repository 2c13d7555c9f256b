package io.verbena.elle.linear;

import io.verbena.elle.history.Operation;

import java.util.Set;

/**
 * A lock that does not know who holds it. Functions: {@code acquire} and {@code release}, which change places.
 */
final class MutexModel implements Model<MutexModel.Lock>
{
    /** The states of the lock. */
    enum Lock
    {
        FREE, HELD
    }

    @Override
    public String name()
    {
        return "mutex";
    }

    @Override
    public Set<String> functions()
    {
        return Set.of("acquire", "release");
    }

    @Override
    public Lock initial()
    {
        return Lock.FREE;
    }

    @Override
    public Lock step(final Lock state, final Operation operation)
    {
        if (operation.f().equals("acquire"))
        {
            return state == Lock.FREE ? Lock.HELD : null;
        }
        return state == Lock.HELD ? Lock.FREE : null;
    }
}
