package io.verbena.resp.command;

import io.verbena.resp.codec.RespDecoder;
import io.verbena.resp.codec.RespWriter;
import io.verbena.resp.session.Command;
import io.verbena.resp.session.Session;

import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Commands about the server, and those that are refused. Stateless. */
final class ServerCommands
{
    private static final Map<String, Integer> COMMAND_ARITIES =
        Map.of("COUNT", 2, "LIST", -2, "INFO", -2, "DOCS", -2, "GETKEYS", -4,
            "GETKEYSANDFLAGS", -4);
    private static final String NOT_ATOMIC = " is not supported: operations on several keys are not atomic here";

    private ServerCommands()
    {
    }

    /** A pipeline that begins with MULTI and ends with EXEC has no effect, although replies come one by one. */
    static void refuseTransaction(final Session session)
    {
        session.refuseTransaction(Arguments.is(session.arguments(), 0, "MULTI"));
        refuse(session);
    }

    static void refuse(final Session session)
    {
        session.writer().error("ERR " + session.arguments().text(0).toUpperCase(Locale.ROOT) + NOT_ATOMIC);
    }

    static void refuseMsetnx(final Session session)
    {
        if (0 == session.arguments().count() % 2)
        {
            session.writer().error("ERR wrong number of arguments for 'msetnx' command");
        }
        else
        {
            refuse(session);
        }
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
        else if (!Subcommands.is(session, COMMAND_ARITIES))
        {
            return;
        }
        else if (Arguments.is(arguments, 1, "COUNT"))
        {
            session.writer().number(all.size());
        }
        else if (Arguments.is(arguments, 1, "LIST"))
        {
            commandList(session);
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
            getKeys(session, Arguments.is(arguments, 1, "GETKEYSANDFLAGS"));
        }
    }

    private static void commandList(final Session session)
    {
        final RespDecoder arguments = session.arguments();
        final boolean isFiltered = 5 == arguments.count() && Arguments.is(arguments, 2, "FILTERBY");
        if (isFiltered && Arguments.is(arguments, 3, "MODULE"))
        {
            session.writer().set(0);
        }
        else if (2 == arguments.count() || isFiltered && Arguments.is(arguments, 3, "PATTERN"))
        {
            final GlobPattern pattern = new GlobPattern((isFiltered ? arguments.text(4) : "*")
                .toLowerCase(Locale.ROOT).getBytes(StandardCharsets.ISO_8859_1));
            final List<String> names = session.commands().commands().stream().map(Command::lowerName).filter((name) ->
                pattern.matches(name.getBytes(StandardCharsets.US_ASCII), 0, name.length())).toList();
            session.writer().set(names.size());
            names.forEach(session.writer()::bulk);
        }
        else
        {
            session.writer().error(Arguments.SYNTAX_ERROR);
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
                session.writer().nothing();
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

    private static void getKeys(final Session session, final boolean hasFlags)
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
                if (hasFlags)
                {
                    session.writer().array(2);
                }
                session.writer().bulk(arguments.text(2 + i));
                if (hasFlags)
                {
                    final List<String> flags = KeyFlags.of(arguments, 2, i == command.firstKey());
                    session.writer().set(flags.size());
                    flags.forEach(session.writer()::simple);
                }
            }
        }
    }
}
