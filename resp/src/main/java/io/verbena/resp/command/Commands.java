package io.verbena.resp.command;

import io.verbena.resp.session.Command;
import io.verbena.resp.session.Command.Kind;
import io.verbena.resp.session.CommandTable;
import io.verbena.resp.session.Session;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** All commands, as {@code docs/redis.md} lists them. */
public final class Commands
{
    private static final List<String> READ = List.of("readonly", "fast");
    private static final List<String> WRITE = List.of("write", "denyoom", "fast");
    private static final List<String> DELETE = List.of("write", "fast");
    private static final List<String> EXPIRE = DELETE;
    private static final List<String> READ_TABLE = List.of("readonly", "table");
    private static final List<String> WRITE_TABLE = List.of("write", "table");
    private static final List<String> FLUSH_ALL = List.of("write");
    private static final List<String> CONNECTION = List.of("noscript", "loading", "stale", "fast");
    private static final List<String> TRANSACTION = List.of("noscript", "transaction");
    private static final List<String> REFUSED = List.of("noscript");

    private final List<Command<Session>> commands = new ArrayList<>();

    private Commands()
    {
    }

    /** @return a table of all commands. */
    public static CommandTable<Session> table()
    {
        final Commands all = new Commands();
        all.strings();
        all.changes();
        all.expiry();
        all.keys();
        all.connection();
        all.server();
        return new CommandTable<>(all.commands);
    }

    private void one(
        final String name, final int arity, final List<String> flags, final String summary,
        final Consumer<Session> action)
    {
        commands.add(new Command<>(name, arity, flags, 1, 1, 1, Kind.OPERATION, summary, action));
    }

    private void many(
        final String name, final int arity, final List<String> flags, final String summary,
        final Consumer<Session> action)
    {
        commands.add(new Command<>(name, arity, flags, 1, -1, 1, Kind.KEYS, summary, action));
    }

    private void alone(
        final String name, final int arity, final List<String> flags, final String summary,
        final Consumer<Session> action)
    {
        commands.add(new Command<>(name, arity, flags, 0, 0, 0, Kind.ALONE, summary, action));
    }

    private void copies(
        final String name, final int arity, final List<String> flags, final String summary,
        final Consumer<Session> action)
    {
        commands.add(new Command<>(name, arity, flags, 1, 2, 1, Kind.ALONE, summary, action));
    }

    private void strings()
    {
        one("GET", 2, READ, "The value of a key.", StringCommands::get);
        one("SET", -3, WRITE, "Writes the value of a key.", StringCommands::set);
        one("SETNX", 3, WRITE, "Writes the value of a key that does not exist.", StringCommands::setnx);
        one("GETSET", 3, WRITE, "The old value of a key, after it was given a new one.", StringCommands::getset);
        one("SETEX", 4, WRITE, "Writes the value of a key for so many seconds.", StringCommands::setex);
        one("PSETEX", 4, WRITE, "Writes the value of a key for so many milliseconds.", StringCommands::psetex);
        one("GETEX", -2, EXPIRE, "The value of a key, after it was given another deadline.", StringCommands::getex);
        one("GETDEL", 2, DELETE, "The value of a key, after it was deleted.", StringCommands::getdel);
        one("STRLEN", 2, READ, "The length of a value in bytes.", StringCommands::strlen);
        one("GETRANGE", 4, READ, "A part of a value.", StringCommands::getrange);
        one("SUBSTR", 4, READ, "A part of a value.", StringCommands::getrange);
    }

    private void changes()
    {
        one("APPEND", 3, WRITE, "Puts bytes behind a value.", ChangeCommands::append);
        one("SETRANGE", 4, WRITE, "Overwrites a part of a value.", ChangeCommands::setrange);
        one("INCR", 2, WRITE, "Adds 1 to a number.", ChangeCommands::incr);
        one("DECR", 2, WRITE, "Takes 1 from a number.", ChangeCommands::decr);
        one("INCRBY", 3, WRITE, "Adds to a number.", ChangeCommands::incrby);
        one("DECRBY", 3, WRITE, "Takes from a number.", ChangeCommands::decrby);
        one("INCRBYFLOAT", 3, WRITE, "Adds to a decimal fraction.", ChangeCommands::incrbyfloat);
    }

    private void expiry()
    {
        one("EXPIRE", -3, EXPIRE, "Gives a key so many seconds.", ExpiryCommands::expire);
        one("PEXPIRE", -3, EXPIRE, "Gives a key so many milliseconds.", ExpiryCommands::pexpire);
        one("EXPIREAT", -3, EXPIRE, "Gives a key a deadline in seconds.", ExpiryCommands::expireat);
        one("PEXPIREAT", -3, EXPIRE, "Gives a key a deadline in milliseconds.", ExpiryCommands::pexpireat);
        one("PERSIST", 2, EXPIRE, "Takes the deadline from a key.", ExpiryCommands::persist);
        one("TTL", 2, READ, "How many seconds a key has left.", ExpiryCommands::ttl);
        one("PTTL", 2, READ, "How many milliseconds a key has left.", ExpiryCommands::pttl);
        one("EXPIRETIME", 2, READ, "The deadline of a key in seconds.", ExpiryCommands::expiretime);
        one("PEXPIRETIME", 2, READ, "The deadline of a key in milliseconds.", ExpiryCommands::pexpiretime);
    }

    private void keys()
    {
        many("DEL", -2, DELETE, "Deletes keys; not all at once.", KeyCommands::del);
        many("UNLINK", -2, DELETE, "Deletes keys; not all at once.", KeyCommands::del);
        many("EXISTS", -2, READ, "How many of the keys exist.", KeyCommands::exists);
        many("TOUCH", -2, READ, "How many of the keys exist.", KeyCommands::exists);
        one("TYPE", 2, READ, "Whether a key is a string, or nothing.", KeyCommands::type);
        commands.add(new Command<>("MGET", -2, READ, 1, -1, 1, Kind.ALONE, "The values of keys; not all at once.",
            KeyCommands::mget));
        commands.add(new Command<>("MSET", -3, WRITE, 1, -1, 2, Kind.ALONE,
            "Writes the values of keys; not all at once.", KeyCommands::mset));
        copies("RENAME", 3, DELETE, "Gives a record another key; not all at once.", KeyCommands::rename);
        copies("RENAMENX", 3, DELETE, "Gives a record another key that does not exist.", KeyCommands::renamenx);
        copies("COPY", -3, WRITE, "Writes a record under another key, too.", KeyCommands::copy);
        alone("SCAN", -2, READ_TABLE, "Some keys of the table, and where to go on.", TableCommands::scan);
        alone("KEYS", 2, READ_TABLE, "The keys that match a pattern.", TableCommands::keys);
        alone("DBSIZE", 1, READ_TABLE, "How many keys the table has.", TableCommands::dbsize);
        alone("RANDOMKEY", 1, READ_TABLE, "Any key.", TableCommands::randomkey);
        alone("FLUSHDB", -1, WRITE_TABLE, "Deletes the keys of the table, one after the other.",
            TableCommands::flushdb);
        alone("FLUSHALL", -1, FLUSH_ALL, "Deletes the keys of all databases, one after the other.",
            TableCommands::flushall);
    }

    private void connection()
    {
        alone("PING", -1, CONNECTION, "Whether the connection works.", ConnectionCommands::ping);
        alone("ECHO", 2, CONNECTION, "What was sent.", ConnectionCommands::echo);
        alone("SELECT", 2, CONNECTION, "Selects a table by its name, or by its number.", ConnectionCommands::select);
        alone("CLIENT", -2, CONNECTION, "About this connection.", ClientCommands::client);
        first("QUIT", -1, "Closes the connection.", ConnectionCommands::quit);
        first("RESET", 1, "Makes the connection as it was at first.", ConnectionCommands::reset);
        first("AUTH", -2, "Gives the password.", ConnectionCommands::auth);
        first("HELLO", -1, "Chooses the version of the protocol.", ConnectionCommands::hello);
    }

    private void first(final String name, final int arity, final String summary, final Consumer<Session> action)
    {
        commands.add(new Command<>(name, arity, CONNECTION, 0, 0, 0, Kind.UNAUTHENTICATED, summary, action));
    }

    private void server()
    {
        alone("COMMAND", -1, CONNECTION, "What commands there are.", ServerCommands::command);
        alone("CONFIG", -2, CONNECTION, "Settings, as tools ask for them.", ConfigCommands::config);
        alone("INFO", -1, CONNECTION, "Figures of this node.", InfoCommand::info);
        alone("SLOWLOG", -2, CONNECTION, "The slow operations of this node.", SlowCommands::slowlog);
        alone("LATENCY", -2, CONNECTION, "How long slow operations took.", SlowCommands::latency);
        commands.add(new Command<>("MEMORY", -2, READ, 2, 2, 1, Kind.ALONE, "The bytes of a record.",
            DiagnosisCommands::memory));
        commands.add(new Command<>("OBJECT", -2, READ, 2, 2, 1, Kind.ALONE, "Whether a value is a number.",
            DiagnosisCommands::object));
        alone("TIME", 1, CONNECTION, "The time of the node's host.", ConnectionCommands::time);
        alone("CLUSTER", -2, CONNECTION, "The nodes of the cluster, and slots.", ClusterCommands::cluster);
        for (final String name : List.of("READONLY", "READWRITE", "ASKING"))
        {
            alone(name, 1, CONNECTION, "Nothing: each node of a cluster serves all keys.", ClusterCommands::accept);
        }
        for (final String name : List.of("EVAL", "EVALSHA", "EVAL_RO", "EVALSHA_RO", "FCALL", "FCALL_RO"))
        {
            alone(name, -3, REFUSED, "Refused: there are no scripts.", DebugCommands::refuseScript);
        }
        alone("DEBUG", -2, CONNECTION, "Replies later.", DebugCommands::debug);
        alone("FUNCTION", -2, CONNECTION, "There are no functions.", DebugCommands::function);
        alone("SCRIPT", -2, CONNECTION, "There are no scripts.", DebugCommands::script);
        for (final String name : List.of("MULTI", "EXEC", "DISCARD"))
        {
            alone(name, 1, TRANSACTION, "Refused: not atomic.", ServerCommands::refuseTransaction);
        }
        alone("UNWATCH", 1, REFUSED, "Refused: not atomic.", ServerCommands::refuse);
        commands.add(new Command<>("WATCH", -2, REFUSED, 1, -1, 1, Kind.REFUSED, "Refused: not atomic.",
            ServerCommands::refuse));
        commands.add(new Command<>("MSETNX", -3, REFUSED, 1, -1, 2, Kind.REFUSED, "Refused: not atomic.",
            ServerCommands::refuseMsetnx));
    }
}
