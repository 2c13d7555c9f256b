package io.verbena.elle.history;

import java.util.Objects;

/**
 * An EDN symbol: rare in histories, kept so that a value survives reading and writing.
 *
 * @param name as written.
 */
public record Symbol(String name)
{
    /**
     * Checks the name.
     *
     * @param name as written.
     */
    public Symbol
    {
        Objects.requireNonNull(name, "name");
    }

    @Override
    public String toString()
    {
        return name;
    }
}
