package io.verbena.resp.session;

import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * Finds commands by their names, in any case, without making an object. Immutable.
 *
 * @param <S> the session that they are for.
 */
public final class CommandTable<S>
{
    private static final int MULTIPLIER = 31;
    private static final int LOAD = 4;
    private static final int TO_UPPER = 'a' - 'A';

    private final Map<String, Command<S>> byName = new LinkedHashMap<>();
    private final Command<S>[] table;
    private final byte[][] names;
    private final int mask;

    /** @param commands each with a name of its own. */
    public CommandTable(final Collection<Command<S>> commands)
    {
        final int capacity = Integer.highestOneBit(Math.max(1, commands.size())) * LOAD;
        table = newTable(capacity);
        names = new byte[capacity][];
        mask = capacity - 1;
        for (final Command<S> command : commands)
        {
            if (null != byName.put(command.name(), command))
            {
                throw new IllegalArgumentException("two commands of name " + command.name());
            }
            final byte[] name = command.name().getBytes(StandardCharsets.US_ASCII);
            int at = hash(name, 0, name.length) & mask;
            while (null != table[at])
            {
                at = at + 1 & mask;
            }
            table[at] = command;
            names[at] = name;
        }
    }

    @SuppressWarnings("unchecked") // an array cannot be made of a type with a parameter
    private static <S> Command<S>[] newTable(final int capacity)
    {
        return (Command<S>[])new Command<?>[capacity];
    }

    /** @return the command of this name, or null. */
    Command<S> find(final byte[] bytes, final int offset, final int lengthBytes)
    {
        int at = hash(bytes, offset, lengthBytes) & mask;
        while (null != table[at] && !isNamed(names[at], bytes, offset, lengthBytes))
        {
            at = at + 1 & mask;
        }
        return table[at];
    }

    /** @return the command of this name in any case, or null. */
    public Command<S> find(final String name)
    {
        return byName.get(name.toUpperCase(Locale.ROOT));
    }

    /** @return all commands. */
    public Collection<Command<S>> commands()
    {
        return byName.values();
    }

    private static int hash(final byte[] bytes, final int offset, final int lengthBytes)
    {
        int hash = lengthBytes;
        for (int i = offset; i < offset + lengthBytes; i++)
        {
            hash = MULTIPLIER * hash + upper(bytes[i]);
        }
        return hash ^ hash >>> Byte.SIZE;
    }

    private static boolean isNamed(final byte[] name, final byte[] bytes, final int offset, final int lengthBytes)
    {
        if (name.length != lengthBytes)
        {
            return false;
        }
        for (int i = 0; i < lengthBytes; i++)
        {
            if (name[i] != upper(bytes[offset + i]))
            {
                return false;
            }
        }
        return true;
    }

    private static byte upper(final byte letter)
    {
        return letter >= 'a' && letter <= 'z' ? (byte)(letter - TO_UPPER) : letter;
    }
}
