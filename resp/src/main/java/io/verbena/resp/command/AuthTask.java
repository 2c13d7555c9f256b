package io.verbena.resp.command;

import io.verbena.raas.identity.PeerIdentity;
import io.verbena.resp.session.Session;
import io.verbena.resp.session.TableOperation;
import io.verbena.resp.session.Task;

/** Has the secret of a user checked, and goes on as that user. */
final class AuthTask extends Task
{
    private final String name;
    private final String secret;
    private final Runnable after;
    private boolean isAsked;

    /**
     * @param name   of the user.
     * @param secret of it.
     * @param after  writes the reply once it was right.
     */
    AuthTask(final String name, final String secret, final Runnable after)
    {
        this.name = name;
        this.secret = secret;
        this.after = after;
    }

    @Override
    public void proceed(final Session session)
    {
        if (isAsked)
        {
            return;
        }
        isAsked = true;
        if (!session.worker().check(name, secret, (identity) -> take(session, identity)))
        {
            session.writer().error("ERR too many clients give secrets now, try again");
            session.endTask();
        }
    }

    private void take(final Session session, final PeerIdentity identity)
    {
        if (session.isClosed())
        {
            return;
        }
        if (null == identity)
        {
            session.writer().error(ConnectionCommands.WRONG_PASSWORD);
        }
        else
        {
            session.authenticate(identity, name);
            after.run();
        }
        session.endTask();
        session.resume();
    }

    @Override
    public void onAnswer(final Session session, final TableOperation operation)
    {
        throw new IllegalStateException("a task without operations got the answer of one: " + operation);
    }

    /** Without the secret. */
    @Override
    public String toString()
    {
        return "AuthTask{name=" + name + '}';
    }
}
