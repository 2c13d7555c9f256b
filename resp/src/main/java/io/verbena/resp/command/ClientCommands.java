package io.verbena.resp.command;

import io.verbena.protocol.access.Grant;
import io.verbena.protocol.access.TableRight;
import io.verbena.protocol.access.UserRights;
import io.verbena.resp.codec.RespDecoder;
import io.verbena.resp.codec.RespWriter;
import io.verbena.resp.session.ServedPort;
import io.verbena.resp.session.Session;
import io.verbena.resp.session.SessionState;

import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** CLIENT: about the own connection, and those of others. Stateless. */
final class ClientCommands
{
    private static final Map<String, Integer> ARITIES = Map.ofEntries(Map.entry("ID", 2), Map.entry("GETNAME", 2),
        Map.entry("SETNAME", 3), Map.entry("SETINFO", 4), Map.entry("INFO", 2), Map.entry("LIST", -2),
        Map.entry("KILL", -3), Map.entry("NO-EVICT", 3), Map.entry("NO-TOUCH", 3), Map.entry("GETREDIR", 2),
        Map.entry("TRACKINGINFO", 2), Map.entry("TRACKING", -3), Map.entry("UNBLOCK", -3),
        Map.entry("REPLY", 3), Map.entry("PAUSE", -3), Map.entry("UNPAUSE", 2));
    private static final Set<String> TYPES = Set.of("normal", "master", "replica", "slave", "pubsub");
    private static final String NO_SUCH_CLIENT = "ERR No such client";
    private static final String DATABASE = "db";
    private static final long LONGEST_PAUSE_MS = TimeUnit.DAYS.toMillis(36_500);

    /** Which clients are meant; what is null does not matter. */
    private static final class Filter
    {
        private Set<Long> ids;
        private String address;
        private String ownAddress;
        private String type;
        private String user;
        private boolean passesSelf = true;

        /** @return the error, or null. */
        private String take(final Session session, final int i)
        {
            final RespDecoder arguments = session.arguments();
            final String value = arguments.text(i + 1);
            switch (arguments.text(i).toUpperCase(Locale.ROOT))
            {
                case "ID" ->
                {
                    if (!Arguments.isNumber(arguments, i + 1) || Arguments.number(arguments, i + 1) < 1)
                    {
                        return "ERR client-id should be greater than 0";
                    }
                    ids = Set.of(Arguments.number(arguments, i + 1));
                }
                case "ADDR" -> address = value;
                case "LADDR" -> ownAddress = value;
                case "USER" ->
                {
                    user = value;
                    return SessionState.DEFAULT_USER.equals(value) || null != session.worker().access().user(value) ?
                        null : "ERR No such user '" + value + "'";
                }
                case "TYPE" ->
                {
                    type = value.toLowerCase(Locale.ROOT);
                    return TYPES.contains(type) ? null : "ERR Unknown client type '" + value + "'";
                }
                case "SKIPME" ->
                {
                    passesSelf = "yes".equalsIgnoreCase(value);
                    return passesSelf || "no".equalsIgnoreCase(value) ? null : Arguments.SYNTAX_ERROR;
                }
                default ->
                {
                    return Arguments.SYNTAX_ERROR;
                }
            }
            return null;
        }

        private boolean isMeant(final ServedPort.Client client)
        {
            return (null == ids || ids.contains(client.state().id())) &&
                (null == address || address.equals(client.addresses()[0])) &&
                (null == user || user.equals(client.state().userName())) &&
                (null == ownAddress || ownAddress.equals(client.addresses()[1])) &&
                (null == type || "normal".equals(type));
        }
    }

    private ClientCommands()
    {
    }

    static void client(final Session session)
    {
        if (!Subcommands.is(session, ARITIES))
        {
            return;
        }
        final RespWriter writer = session.writer();
        switch (session.arguments().text(1).toUpperCase(Locale.ROOT))
        {
            case "ID" -> writer.number(session.state().id());
            case "GETNAME" -> name(session);
            case "SETNAME" -> setName(session);
            case "SETINFO" -> setInfo(session);
            case "INFO" -> writer.verbatim(line(
                session.state(), session.transport().addresses(), session.worker().clock().nanoTime()));
            case "LIST" -> list(session);
            case "KILL" -> kill(session);
            case "GETREDIR" -> writer.number(-1);
            case "TRACKINGINFO" -> trackingInfo(writer);
            case "TRACKING" -> tracking(session);
            case "UNBLOCK" -> unblock(session);
            case "REPLY" -> reply(session);
            case "PAUSE" -> pause(session);
            case "UNPAUSE" -> unpause(session);
            default -> onOrOff(session);
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

    private static void list(final Session session)
    {
        final Filter filter = new Filter();
        final RespDecoder arguments = session.arguments();
        String error = null;
        if (arguments.count() > 3 && Arguments.is(arguments, 2, "ID"))
        {
            filter.ids = new HashSet<>();
            for (int i = 3; i < arguments.count() && null == error; i++)
            {
                error = Arguments.isNumber(arguments, i) ? null : "ERR Invalid client ID";
                if (null == error)
                {
                    filter.ids.add(Arguments.number(arguments, i));
                }
            }
        }
        else if (2 != arguments.count())
        {
            error = 4 == arguments.count() && Arguments.is(arguments, 2, "TYPE") ? filter.take(session, 2) :
                Arguments.SYNTAX_ERROR;
        }
        if (null != error)
        {
            session.writer().error(error);
            return;
        }
        final StringBuilder lines = new StringBuilder();
        final long nowNs = session.worker().clock().nanoTime();
        final boolean seesAll = isAdministrator(session);
        session.worker().port().clients().stream().filter(filter::isMeant)
            // Others' lines have addresses, names, tables and the last command.
            .filter((client) -> seesAll || session.state().userName().equals(client.state().userName()))
            .forEach((client) -> lines.append(line(client.state(), client.addresses(), nowNs)));
        session.writer().verbatim(lines.toString());
    }

    private static void kill(final Session session)
    {
        final RespDecoder arguments = session.arguments();
        final Filter filter = new Filter();
        final boolean isOldForm = 3 == arguments.count();
        String error = isOldForm || 0 == arguments.count() % 2 ? null : Arguments.SYNTAX_ERROR;
        if (isOldForm)
        {
            filter.address = arguments.text(2);
            filter.passesSelf = false;
        }
        for (int i = 2; i + 1 < arguments.count() && null == error; i += 2)
        {
            error = filter.take(session, i);
        }
        if (null != error)
        {
            session.writer().error(error);
            return;
        }
        final List<ServedPort.Client> meant = session.worker().port().clients().stream().filter(filter::isMeant)
            .filter((client) -> !filter.passesSelf || client.state() != session.state()).toList();
        if (!meant.stream().allMatch((client) ->
            session.state().userName().equals(client.state().userName())) && !isAdministrator(session))
        {
            session.writer().error(noPermission(session, "close connections of other users"));
            return;
        }
        for (final ServedPort.Client client : meant)
        {
            if (client.state() == session.state())
            {
                session.closeAfterReplies();
            }
            else
            {
                client.close().run();
            }
        }
        if (!isOldForm)
        {
            session.writer().number(meant.size());
        }
        else if (meant.isEmpty())
        {
            session.writer().error(NO_SUCH_CLIENT);
        }
        else
        {
            session.writer().ok();
        }
    }

    /** What concerns other users takes the right to administer all tables, as long as there are users. */
    private static boolean isAdministrator(final Session session)
    {
        final UserRights rights = session.worker().access().rights(session.caller());
        return null == rights || rights.allowsAny(TableRight.ADMIN.bit(), Grant.ALL_TABLES);
    }

    private static String noPermission(final Session session, final String what)
    {
        return "NOPERM user " + session.state().userName() + " may not " + what +
            ": that takes the right admin on all tables";
    }

    private static void reply(final Session session)
    {
        if (Arguments.is(session.arguments(), 2, "ON"))
        {
            session.replies().on();
            session.writer().ok();
        }
        else if (Arguments.is(session.arguments(), 2, "OFF"))
        {
            session.replies().off();
        }
        else if (Arguments.is(session.arguments(), 2, "SKIP"))
        {
            session.replies().skipNext();
        }
        else
        {
            session.writer().error(Arguments.SYNTAX_ERROR);
        }
    }

    private static void pause(final Session session)
    {
        final RespDecoder arguments = session.arguments();
        final boolean isOfWrites = arguments.count() > 3 && Arguments.is(arguments, 3, "WRITE");
        if (arguments.count() > 4)
        {
            Subcommands.refuse(session);
        }
        else if (arguments.count() > 3 && !isOfWrites && !Arguments.is(arguments, 3, "ALL"))
        {
            session.writer().error("ERR CLIENT PAUSE mode must be WRITE or ALL");
        }
        else if (!Arguments.isNumber(arguments, 2))
        {
            session.writer().error("ERR timeout is not an integer or out of range");
        }
        else if (Arguments.number(arguments, 2) < 0)
        {
            session.writer().error("ERR timeout is negative");
        }
        else if (!isAdministrator(session))
        {
            session.writer().error(noPermission(session, "pause other clients"));
        }
        else
        {
            session.worker().port().pause().begin(session.worker().clock().nanoTime(),
                TimeUnit.MILLISECONDS.toNanos(Math.min(LONGEST_PAUSE_MS, Arguments.number(arguments, 2))),
                !isOfWrites);
            session.writer().ok();
        }
    }

    private static void unpause(final Session session)
    {
        if (isAdministrator(session))
        {
            session.worker().port().pause().end();
            session.writer().ok();
        }
        else
        {
            session.writer().error(noPermission(session, "end a pause"));
        }
    }

    private static void trackingInfo(final RespWriter writer)
    {
        writer.map(3);
        writer.bulk("flags");
        writer.set(1);
        writer.bulk("off");
        writer.bulk("redirect");
        writer.number(-1);
        writer.bulk("prefixes");
        writer.array(0);
    }

    /** It is off, and may be switched off. */
    private static void tracking(final Session session)
    {
        if (3 == session.arguments().count() && Arguments.is(session.arguments(), 2, "OFF"))
        {
            session.writer().ok();
        }
        else
        {
            session.writer().error("ERR CLIENT TRACKING is not supported: the node does not know what clients cache");
        }
    }

    /** No command waits for another client. */
    private static void unblock(final Session session)
    {
        final RespDecoder arguments = session.arguments();
        final boolean hasReason = arguments.count() > 3;
        if (arguments.count() > 4)
        {
            Subcommands.refuse(session);
        }
        else if (hasReason && !Arguments.is(arguments, 3, "TIMEOUT") && !Arguments.is(arguments, 3, "ERROR"))
        {
            session.writer().error("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR");
        }
        else if (Arguments.isNumber(arguments, 2))
        {
            session.writer().number(0);
        }
        else
        {
            session.writer().error(Arguments.NO_INTEGER);
        }
    }

    /** How {@code CLIENT INFO} and {@code CLIENT LIST} describe a client. */
    private static String line(final SessionState state, final String[] addresses, final long nowNs)
    {
        return "id=" + state.id() + " addr=" + addresses[0] + " laddr=" + addresses[1] + " name=" + state.name() +
            " age=" + TimeUnit.NANOSECONDS.toSeconds(nowNs - state.createdNs()) +
            " idle=" + Math.max(0, TimeUnit.NANOSECONDS.toSeconds(nowNs - state.lastNs())) +
            " flags=N db=" + database(state) + " sub=0 psub=0 ssub=0 multi=-1 cmd=" + state.lastCommand() + " user=" +
            state.userName() + " redir=-1 resp=" + state.version() + " lib-name=" + state.libraryName() +
            " lib-ver=" + state.libraryVersion() + " table=" + state.tableName() + "\n";
    }

    /** The number of the selected table; 0 of one that has none. */
    private static String database(final SessionState state)
    {
        final String name = state.tableName();
        return name.matches(DATABASE + "[1-9]\\d*") && !name.equals(state.defaultTable()) ?
            name.substring(DATABASE.length()) : "0";
    }
}
