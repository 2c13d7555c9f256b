package io.verbena.resp.command;

import io.verbena.resp.codec.RespDecoder;

import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** What commands do with their keys, in the terms of COMMAND GETKEYSANDFLAGS of Redis 7. Stateless. */
final class KeyFlags
{
    private static final List<String> READ = List.of("RO", "access");
    private static final List<String> LOOK = List.of("RO");
    private static final List<String> OVERWRITE = List.of("OW", "update");
    private static final List<String> INSERT = List.of("OW", "insert");
    private static final List<String> EXCHANGE = List.of("RW", "access", "update");
    private static final List<String> UPDATE = List.of("RW", "update");
    private static final List<String> APPEND = List.of("RW", "insert");
    private static final List<String> TAKE = List.of("RW", "access", "delete");
    private static final List<String> DELETE = List.of("RM", "delete");
    /** By the name of a command: those of its first key, then those of all others. */
    private static final Map<String, List<List<String>>> FLAGS = new HashMap<>();

    static
    {
        put(READ, "GET", "GETRANGE", "SUBSTR", "MGET", "TTL", "PTTL", "EXPIRETIME", "PEXPIRETIME");
        put(LOOK, "STRLEN", "EXISTS", "TOUCH", "TYPE", "OBJECT", "MEMORY", "WATCH");
        put(OVERWRITE, "SET", "SETEX", "PSETEX", "MSET");
        put(INSERT, "SETNX", "MSETNX");
        put(EXCHANGE, "GETSET", "GETEX", "INCR", "DECR", "INCRBY", "DECRBY", "INCRBYFLOAT");
        put(UPDATE, "SETRANGE", "EXPIRE", "PEXPIRE", "EXPIREAT", "PEXPIREAT", "PERSIST");
        put(APPEND, "APPEND");
        put(TAKE, "GETDEL");
        put(DELETE, "DEL", "UNLINK");
        FLAGS.put("RENAME", List.of(TAKE, OVERWRITE));
        FLAGS.put("RENAMENX", List.of(TAKE, INSERT));
        FLAGS.put("COPY", List.of(READ, OVERWRITE));
    }

    private KeyFlags()
    {
    }

    private static void put(final List<String> flags, final String... names)
    {
        for (final String name : names)
        {
            FLAGS.put(name, List.of(flags, flags));
        }
    }

    /**
     * Those of a key; of SET they depend on its options.
     *
     * @param arguments that hold a command.
     * @param first     position of its name.
     * @param isFirst   whether its first key is meant.
     * @return names of flags.
     */
    static List<String> of(final RespDecoder arguments, final int first, final boolean isFirst)
    {
        final String name = arguments.text(first).toUpperCase(Locale.ROOT);
        if ("SET".equals(name))
        {
            for (int i = first + 3; i < arguments.count(); i++)
            {
                if (Arguments.is(arguments, i, "GET"))
                {
                    return EXCHANGE;
                }
            }
        }
        return FLAGS.get(name).get(isFirst ? 0 : 1);
    }
}
