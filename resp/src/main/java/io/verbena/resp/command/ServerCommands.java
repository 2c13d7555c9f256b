package io.verbena.resp.command;

import io.verbena.resp.codec.RespDecoder;
import io.verbena.resp.codec.RespWriter;
import io.verbena.resp.session.Command;
import io.verbena.resp.session.Session;

import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/** Commands about the server, and those that are refused. Stateless. */
final class ServerCommands
{
    private static final Map<String, Integer> CLIENT_ARITIES = Map.of("ID", 2, "GETNAME", 2, "SETNAME", 3, "SETINFO", 4,
        "INFO", 2, "LIST", -2, "NO-EVICT", 3, "NO-TOUCH", 3);
    private static final Map<String, Integer> COMMAND_ARITIES =
        Map.of("COUNT", 2, "LIST", -2, "INFO", -2, "DOCS", -2, "GETKEYS", -3);
    private static final Map<String, Integer> CONFIG_ARITIES = Map.of("GET", -3, "SET", -4, "REWRITE", 2);
    private static final String NOT_ATOMIC = " is not supported: operations on several keys are not atomic here";

    private ServerCommands()
    {
    }

    static void refuseTransaction(final Session session)
    {
        session.writer().error("ERR " + session.arguments().text(0).toUpperCase(Locale.ROOT) + NOT_ATOMIC);
    }

    static void refuseFlushAll(final Session session)
    {
        session.writer().error("ERR FLUSHALL is not supported: it would empty the tables of everybody; " +
            "FLUSHDB empties the selected one");
    }

    /** Whether the subcommand is one of these, with as many arguments as it takes; else the error is written. */
    static boolean isSubcommand(final Session session, final Map<String, Integer> arities)
    {
        final RespDecoder arguments = session.arguments();
        final String name = arguments.text(1).toUpperCase(Locale.ROOT);
        final Integer arity = arities.get(name);
        if (null == arity)
        {
            unknownSubcommand(session);
            return false;
        }
        if (arity > 0 ? arity != arguments.count() : -arity > arguments.count())
        {
            session.writer().error("ERR wrong number of arguments for '" +
                arguments.text(0).toLowerCase(Locale.ROOT) + '|' + name.toLowerCase(Locale.ROOT) + "' command");
            return false;
        }
        return true;
    }

    static void client(final Session session)
    {
        final RespDecoder arguments = session.arguments();
        final RespWriter writer = session.writer();
        final int count = arguments.count();
        if (!isSubcommand(session, CLIENT_ARITIES))
        {
            return;
        }
        if (Arguments.is(arguments, 1, "ID") && 2 == count)
        {
            writer.number(session.state().id());
        }
        else if (Arguments.is(arguments, 1, "GETNAME") && 2 == count)
        {
            name(session);
        }
        else if (Arguments.is(arguments, 1, "SETNAME") && 3 == count)
        {
            setName(session);
        }
        else if (Arguments.is(arguments, 1, "SETINFO") && 4 == count)
        {
            setInfo(session);
        }
        else if ((Arguments.is(arguments, 1, "INFO") || Arguments.is(arguments, 1, "LIST")) && 2 == count)
        {
            writer.verbatim(ConnectionCommands.line(
                session.state(), session.transport().addresses(), session.worker().clock().nanoTime()));
        }
        else if ((Arguments.is(arguments, 1, "NO-EVICT") || Arguments.is(arguments, 1, "NO-TOUCH")) && 3 == count)
        {
            onOrOff(session);
        }
        else
        {
            session.writer().error(Arguments.SYNTAX_ERROR);
        }
    }

    private static void name(final Session session)
    {
        if (session.state().name().isEmpty())
        {
            session.writer().nothing();
        }
        else
        {
            session.writer().bulk(session.state().name());
        }
    }

    private static void setName(final Session session)
    {
        final String name = session.arguments().text(2);
        if (ConnectionCommands.isName(name))
        {
            session.state().name(name);
            session.writer().ok();
        }
        else
        {
            session.writer().error("ERR Client names cannot contain spaces, newlines or special characters.");
        }
    }

    private static void setInfo(final Session session)
    {
        final RespDecoder arguments = session.arguments();
        final String text = arguments.text(3);
        if (!ConnectionCommands.isName(text))
        {
            session.writer().error("ERR " + arguments.text(2) + " cannot contain spaces, newlines or special " +
                "characters.");
        }
        else if (Arguments.is(arguments, 2, "LIB-NAME"))
        {
            session.state().libraryName(text);
            session.writer().ok();
        }
        else if (Arguments.is(arguments, 2, "LIB-VER"))
        {
            session.state().libraryVersion(text);
            session.writer().ok();
        }
        else
        {
            session.writer().error("ERR Unrecognized option '" + arguments.text(2) + "'");
        }
    }

    private static void onOrOff(final Session session)
    {
        if (Arguments.is(session.arguments(), 2, "ON") || Arguments.is(session.arguments(), 2, "OFF"))
        {
            session.writer().ok();
        }
        else
        {
            session.writer().error(Arguments.SYNTAX_ERROR);
        }
    }

    private static void unknownSubcommand(final Session session)
    {
        final RespDecoder arguments = session.arguments();
        session.writer().error("ERR unknown subcommand '" + arguments.text(1) + "'. Try " +
            arguments.text(0).toUpperCase(Locale.ROOT) + " HELP.");
    }

    static void config(final Session session)
    {
        final RespDecoder arguments = session.arguments();
        if (!isSubcommand(session, CONFIG_ARITIES))
        {
            return;
        }
        if (!Arguments.is(arguments, 1, "GET"))
        {
            session.writer().error("ERR CONFIG SET is not supported: the node has options, see its --help");
            return;
        }
        final Map<String, String> found = new LinkedHashMap<>();
        for (int i = 2; i < arguments.count(); i++)
        {
            final GlobPattern pattern = new GlobPattern(
                arguments.text(i).toLowerCase(Locale.ROOT).getBytes(
                    StandardCharsets.ISO_8859_1));
            settings(session).forEach((name, value) ->
            {
                if (pattern.matches(name.getBytes(StandardCharsets.US_ASCII), 0, name.length()))
                {
                    found.put(name, value);
                }
            });
        }
        session.writer().map(found.size());
        found.forEach((name, value) ->
        {
            session.writer().bulk(name);
            session.writer().bulk(value);
        });
    }

    /** What tools ask for, as it is here. */
    private static Map<String, String> settings(final Session session)
    {
        final Map<String, String> settings = new LinkedHashMap<>();
        settings.put("save", "");
        settings.put("appendonly", "no");
        settings.put("maxmemory", "0");
        settings.put("maxmemory-policy", "noeviction");
        settings.put("databases", "1");
        settings.put("proto-max-bulk-len", "16384");
        settings.put("cluster-enabled", session.worker().settings().isCluster() ? "yes" : "no");
        return settings;
    }

    static void info(final Session session)
    {
        final boolean isCluster = session.worker().settings().isCluster();
        final StringBuilder text = new StringBuilder();
        text.append("# Server\r\nredis_version:").append(ConnectionCommands.REDIS_VERSION)
            .append("\r\nredis_mode:").append(ConnectionCommands.mode(session))
            .append("\r\nserver_name:verbena\r\nprocess_id:")
            .append(ProcessHandle.current().pid())
            .append("\r\n\r\n# Stats\r\ntotal_commands_processed:").append(session.worker().commandCount())
            .append("\r\n\r\n# Replication\r\nrole:master\r\nconnected_slaves:0\r\n")
            .append("\r\n# Persistence\r\nloading:0\r\n")
            .append("\r\n# Cluster\r\ncluster_enabled:").append(isCluster ? 1 : 0).append("\r\n")
            .append("\r\n# Keyspace\r\n");
        session.writer().verbatim(text.toString());
    }

    static void command(final Session session)
    {
        final RespDecoder arguments = session.arguments();
        final Collection<Command<Session>> all = session.commands().commands();
        if (1 == arguments.count())
        {
            session.writer().array(all.size());
            all.forEach((command) -> describe(command, session.writer()));
        }
        else if (!isSubcommand(session, COMMAND_ARITIES))
        {
            return;
        }
        else if (Arguments.is(arguments, 1, "COUNT"))
        {
            session.writer().number(all.size());
        }
        else if (Arguments.is(arguments, 1, "LIST"))
        {
            session.writer().set(all.size());
            all.forEach((command) -> session.writer().bulk(command.lowerName()));
        }
        else if (Arguments.is(arguments, 1, "INFO"))
        {
            commandInfo(session);
        }
        else if (Arguments.is(arguments, 1, "DOCS"))
        {
            commandDocs(session);
        }
        else
        {
            getKeys(session);
        }
    }

    private static void commandInfo(final Session session)
    {
        final RespDecoder arguments = session.arguments();
        if (2 == arguments.count())
        {
            session.writer().array(session.commands().commands().size());
            session.commands().commands().forEach((command) -> describe(command, session.writer()));
            return;
        }
        session.writer().array(arguments.count() - 2);
        for (int i = 2; i < arguments.count(); i++)
        {
            final Command<Session> command = session.commands().find(arguments.text(i));
            if (null == command)
            {
                session.writer().noArray();
            }
            else
            {
                describe(command, session.writer());
            }
        }
    }

    private static void describe(final Command<Session> command, final RespWriter writer)
    {
        writer.array(10);
        writer.bulk(command.lowerName());
        writer.number(command.arity());
        writer.set(command.flags().size());
        command.flags().forEach(writer::simple);
        writer.number(command.firstKey());
        writer.number(command.lastKey());
        writer.number(command.step());
        writer.set(0);
        writer.array(0);
        writer.array(0);
        writer.array(0);
    }

    private static void commandDocs(final Session session)
    {
        final RespDecoder arguments = session.arguments();
        final RespWriter writer = session.writer();
        final Map<String, Command<Session>> found = new LinkedHashMap<>();
        if (2 == arguments.count())
        {
            session.commands().commands().forEach((command) -> found.put(command.lowerName(), command));
        }
        for (int i = 2; i < arguments.count(); i++)
        {
            final Command<Session> command = session.commands().find(arguments.text(i));
            if (null != command)
            {
                found.put(command.lowerName(), command);
            }
        }
        writer.map(found.size());
        found.forEach((name, command) ->
        {
            writer.bulk(name);
            writer.map(2);
            writer.bulk("summary");
            writer.bulk(command.summary());
            writer.bulk("group");
            writer.bulk(0 == command.firstKey() ? "server" : "string");
        });
    }

    private static void getKeys(final Session session)
    {
        final RespDecoder arguments = session.arguments();
        final Command<Session> command = session.commands().find(arguments.text(2));
        final int count = arguments.count() - 2;
        if (null == command)
        {
            session.writer().error("ERR Invalid command specified");
        }
        else if (0 == command.firstKey())
        {
            session.writer().error("ERR The command has no key arguments");
        }
        else if (command.isWrongCount(count))
        {
            session.writer().error("ERR Invalid number of arguments specified for command");
        }
        else
        {
            final int last = command.lastKey() < 0 ? count + command.lastKey() : command.lastKey();
            session.writer().array((last - command.firstKey()) / command.step() + 1);
            for (int i = command.firstKey(); i <= last; i += command.step())
            {
                session.writer().bulk(arguments.text(2 + i));
            }
        }
    }
}
