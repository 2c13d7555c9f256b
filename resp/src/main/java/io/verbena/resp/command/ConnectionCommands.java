package io.verbena.resp.command;

import io.verbena.raas.identity.PeerIdentity;
import io.verbena.resp.codec.RespDecoder;
import io.verbena.resp.codec.RespWriter;
import io.verbena.resp.session.Session;
import io.verbena.resp.session.SessionState;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.concurrent.TimeUnit;

/** Commands about the connection itself. Stateless. */
final class ConnectionCommands
{
    /** The version of Redis whose commands these are. */
    static final String REDIS_VERSION = "7.0.15";
    static final String WRONG_PASSWORD = "WRONGPASS invalid username-password pair or user is disabled.";
    static final String NOT_AUTHENTICATED = "NOAUTH HELLO must be called with the client already " +
        "authenticated, otherwise the HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client " +
        "and select the RESP protocol version at the same time";
    private static final int MAX_NAME_BYTES = 512;

    /** What a {@code HELLO} asks for. Used once, by the thread of the session. */
    private static final class HelloOptions
    {
        private final Session session;
        private final int version;
        private String name;
        /** Position of the name of a user, its secret is behind it; 0: none. */
        private int user;
        private boolean hasPassword;

        HelloOptions(final Session session, final int version)
        {
            this.session = session;
            this.version = version;
        }

        /** @return what is wrong, or null. */
        String read()
        {
            final RespDecoder arguments = session.arguments();
            for (int i = 2; i < arguments.count(); i++)
            {
                if (Arguments.is(arguments, i, "AUTH") && i + 2 < arguments.count())
                {
                    if (!readUser(i + 1))
                    {
                        return WRONG_PASSWORD;
                    }
                    i += 2;
                }
                else if (Arguments.is(arguments, i, "SETNAME") && i + 1 < arguments.count())
                {
                    name = arguments.text(++i);
                    if (!isName(name))
                    {
                        return "ERR Client names cannot contain spaces, newlines or special characters.";
                    }
                }
                else
                {
                    return "ERR Syntax error in HELLO option '" + arguments.shownText(i) + "'";
                }
            }
            return 0 != user || hasPassword || !session.isStranger() ? null : NOT_AUTHENTICATED;
        }

        /** Of {@code default} the password is known at once; the secret of another user is checked later. */
        private boolean readUser(final int position)
        {
            final boolean isDefault = Arguments.is(session.arguments(), position, "DEFAULT");
            user = isDefault ? 0 : position;
            hasPassword = isDefault(session, position, position + 1);
            return !isDefault || hasPassword;
        }

        /** Does it, and replies. */
        void carryOut()
        {
            if (0 == user)
            {
                if (hasPassword)
                {
                    session.authenticate(ofPassword(session), SessionState.DEFAULT_USER);
                }
                reply();
                return;
            }
            final byte[] secret =
                session.arguments().isKept(user + 1) ? session.arguments().bytes(user + 1) : new byte[0];
            session.begin(new AuthTask(session.arguments().text(user), new String(secret, StandardCharsets.UTF_8),
                this::reply));
        }

        private void reply()
        {
            if (null != name)
            {
                session.state().name(name);
            }
            session.version(version);
            helloReply(session, version);
        }
    }

    private ConnectionCommands()
    {
    }

    static void ping(final Session session)
    {
        final RespDecoder arguments = session.arguments();
        if (arguments.count() > 2)
        {
            session.writer().error("ERR wrong number of arguments for 'ping' command");
        }
        else if (1 == arguments.count())
        {
            session.writer().simple("PONG");
        }
        else
        {
            echo(session);
        }
    }

    static void echo(final Session session)
    {
        final RespDecoder arguments = session.arguments();
        if (arguments.isKept(1))
        {
            session.writer().bulk(arguments.array(), arguments.offset(1), arguments.length(1));
        }
        else
        {
            session.writer().error("ERR argument has " + arguments.length(1) + " bytes: at most " +
                RespDecoder.MAX_ARGUMENT_BYTES + " are possible");
        }
    }

    static void time(final Session session)
    {
        final Instant now = Instant.now();
        session.writer().array(2);
        session.writer().bulk(Long.toString(now.getEpochSecond()));
        session.writer().bulk(Long.toString(TimeUnit.NANOSECONDS.toMicros(now.getNano())));
    }

    static void quit(final Session session)
    {
        session.writer().ok();
        session.closeAfterReplies();
    }

    static void reset(final Session session)
    {
        session.reset();
        session.writer().simple("RESET");
    }

    /** A number is a database: 0 the table of the port, n the table "dbn"; anything else is the name of a table. */
    static void select(final Session session)
    {
        final RespDecoder arguments = session.arguments();
        final boolean isNumber = Arguments.isNumber(arguments, 1);
        final long number = isNumber ? Arguments.number(arguments, 1) : -1;
        if (isNumber && number < 0 || 0 == arguments.length(1))
        {
            session.writer().error(isNumber ? "ERR DB index is out of range" : Arguments.NO_INTEGER);
            return;
        }
        session.begin(new SelectTask(isNumber ? tableName(session, number) :
            new String(utf8(arguments, 1), StandardCharsets.UTF_8), isNumber));
    }

    /** The table of a database. */
    static String tableName(final Session session, final long number)
    {
        return 0 == number ? session.state().defaultTable() : "db" + number;
    }

    private static byte[] utf8(final RespDecoder arguments, final int i)
    {
        return arguments.isKept(i) ? arguments.bytes(i) : new byte[0];
    }

    static void auth(final Session session)
    {
        final RespDecoder arguments = session.arguments();
        if (arguments.count() > 3)
        {
            session.writer().error(Arguments.SYNTAX_ERROR);
        }
        else if (3 == arguments.count() && !Arguments.is(arguments, 1, "DEFAULT"))
        {
            session.begin(new AuthTask(arguments.text(1), new String(utf8(arguments, 2), StandardCharsets.UTF_8),
                session.writer()::ok));
        }
        else if (2 == arguments.count() && !session.state().needsPassword())
        {
            session.writer().error("ERR AUTH <password> called without any password configured for the default " +
                "user. Are you sure your configuration is correct?");
        }
        else if (isPassword(session, arguments.count() - 1))
        {
            session.authenticate(ofPassword(session), SessionState.DEFAULT_USER);
            session.writer().ok();
        }
        else
        {
            session.writer().error(WRONG_PASSWORD);
        }
    }

    /** Compares in a time that does not depend on the password. */
    private static boolean isPassword(final Session session, final int password)
    {
        final byte[] expected = session.worker().settings().password();
        final byte[] given = utf8(session.arguments(), password);
        return null == expected ? !session.worker().access().isEnforced() : MessageDigest.isEqual(expected, given);
    }

    /** Who has the password of the port may do everything; without one nobody is more than anybody else. */
    static PeerIdentity ofPassword(final Session session)
    {
        return session.state().needsPassword() ? PeerIdentity.OPERATOR : PeerIdentity.CLIENT;
    }

    static void hello(final Session session)
    {
        final RespDecoder arguments = session.arguments();
        final RespWriter writer = session.writer();
        long version = session.state().version();
        if (arguments.count() > 1)
        {
            if (!Arguments.isNumber(arguments, 1))
            {
                writer.error("ERR Protocol version is not an integer or out of range");
                return;
            }
            version = Arguments.number(arguments, 1);
            if (version < 2 || version > 3)
            {
                writer.error("NOPROTO unsupported protocol version");
                return;
            }
        }
        final HelloOptions options = new HelloOptions(session, (int)version);
        final String error = options.read();
        if (null != error)
        {
            writer.error(error);
        }
        else
        {
            options.carryOut();
        }
    }

    /** @return whether the password of the port was given, or none is needed; with the user {@code default}. */
    static boolean isDefault(final Session session, final int user, final int password)
    {
        return Arguments.is(session.arguments(), user, "DEFAULT") && isPassword(session, password);
    }

    static void helloReply(final Session session, final int version)
    {
        final RespWriter writer = session.writer();
        writer.map(7);
        writer.bulk("server");
        writer.bulk("redis");
        writer.bulk("version");
        writer.bulk(REDIS_VERSION);
        writer.bulk("proto");
        writer.number(version);
        writer.bulk("id");
        writer.number(session.state().id());
        writer.bulk("mode");
        writer.bulk(mode(session));
        writer.bulk("role");
        writer.bulk("master");
        writer.bulk("modules");
        writer.array(0);
    }

    /** How it is called where clients ask what kind of server this is. */
    static String mode(final Session session)
    {
        return session.worker().settings().isCluster() ? "cluster" : "standalone";
    }

    static boolean isName(final String name)
    {
        return name.length() <= MAX_NAME_BYTES && name.chars().allMatch((letter) -> letter >= '!' && letter <= '~');
    }
}
