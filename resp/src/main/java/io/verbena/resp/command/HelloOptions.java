package io.verbena.resp.command;

import io.verbena.resp.codec.RespDecoder;
import io.verbena.resp.session.Session;

import java.nio.charset.StandardCharsets;

/** What a {@code HELLO} asks for. Used once, by the thread of the session. */
final class HelloOptions
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
                    return ConnectionCommands.WRONG_PASSWORD;
                }
                i += 2;
            }
            else if (Arguments.is(arguments, i, "SETNAME") && i + 1 < arguments.count())
            {
                name = arguments.text(++i);
                if (!ConnectionCommands.isName(name))
                {
                    return "ERR Client names cannot contain spaces, newlines or special characters.";
                }
            }
            else
            {
                return "ERR Syntax error in HELLO option '" + arguments.text(i) + "'";
            }
        }
        return 0 != user || hasPassword || !session.isStranger() ? null : ConnectionCommands.NOT_AUTHENTICATED;
    }

    /** Of {@code default} the password is known at once; the secret of another user is checked later. */
    private boolean readUser(final int position)
    {
        final boolean isDefault = Arguments.is(session.arguments(), position, "DEFAULT");
        user = isDefault ? 0 : position;
        hasPassword = ConnectionCommands.isDefault(session, position, position + 1);
        return !isDefault || hasPassword;
    }

    /** Does it, and replies. */
    void carryOut()
    {
        if (0 == user)
        {
            if (hasPassword)
            {
                session.authenticate(ConnectionCommands.ofPassword(session));
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
        ConnectionCommands.helloReply(session, version);
    }
}
