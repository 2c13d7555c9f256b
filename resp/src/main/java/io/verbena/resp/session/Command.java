package io.verbena.resp.session;

import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

/**
 * A command, and what clients ask about it.
 *
 * @param name     in upper case.
 * @param arity    arguments, its name included; negative: so many or more.
 * @param flags    as {@code COMMAND INFO} names them.
 * @param firstKey position of the first key; 0 without keys.
 * @param lastKey  position of the last key, from the end if negative.
 * @param step     from one key to the next.
 * @param kind     what it may run beside.
 * @param summary  for {@code COMMAND DOCS}.
 * @param action   begins it, by the thread of the session: writes a reply, or begins an operation or a task that does.
 * @param <S>      the session that it is for.
 */
public record Command<S>(
    String name, int arity, List<String> flags, int firstKey, int lastKey, int step, Kind kind, String summary,
    Consumer<S> action)
{
    /** What a command may run beside, of those that came before it on its connection. */
    public enum Kind
    {
        /** One operation on one key: runs beside others, unless one of them is on the same key. */
        OPERATION,
        /** As OPERATION with one key; with more of them it waits until all before it is answered. */
        KEYS,
        /** Waits until all before it is answered, and what comes after waits for it. */
        ALONE,
        /** As ALONE, and never carried out: it needs no table, whatever keys it names. */
        REFUSED,
        /** As ALONE, and allowed before the client has given its password. */
        UNAUTHENTICATED
    }

    /** @return whether it needs the table of its session. */
    public boolean needsTable()
    {
        return Kind.REFUSED != kind && 0 != firstKey || flags.contains("table");
    }

    /** @return whether it changes records. */
    public boolean isWrite()
    {
        return flags.contains("write");
    }

    /** @return whether so many arguments are wrong. */
    public boolean isWrongCount(final int count)
    {
        return arity > 0 ? count != arity : count < -arity;
    }

    /** @return whether it is one operation on one key with so many arguments. */
    public boolean isOneOperation(final int count)
    {
        return Kind.OPERATION == kind || Kind.KEYS == kind && count == 1 + step;
    }

    /** @return the name as clients know it. */
    public String lowerName()
    {
        return name.toLowerCase(Locale.ROOT);
    }
}
