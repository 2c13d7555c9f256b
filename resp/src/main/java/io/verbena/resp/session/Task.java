package io.verbena.resp.session;

/**
 * A command of several operations, which has its session for itself. Made anew for each command. By the thread of
 * the session.
 */
public abstract class Task implements Session.Running
{
    /**
     * Begins, or goes on after the worker had no operation left. Ends with {@link Session#endTask()}.
     *
     * @param session of the command.
     */
    public abstract void proceed(Session session);

    /**
     * Takes an answer, failure or not; ends or keeps the operation, see {@link Session#release}.
     *
     * @param session   of the command.
     * @param operation that was answered.
     */
    public abstract void onAnswer(Session session, TableOperation operation);

    /**
     * The client has gone: gives back operations that were answered; those under way come back by themselves.
     *
     * @param session of the command.
     */
    public void onClosed(final Session session)
    {
        // Most keep none.
    }
}
