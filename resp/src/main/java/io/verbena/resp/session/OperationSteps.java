package io.verbena.resp.session;

import io.verbena.resp.codec.RespWriter;

/** What a command does with the answers to its operation, and what it replies. Stateless: one serves all sessions. */
public abstract class OperationSteps
{
    /**
     * Takes an answer that is no failure.
     *
     * @param operation that was answered.
     * @return whether the command is over; if not, it has asked something else with {@link TableOperation#ask}.
     */
    protected boolean onAnswer(final TableOperation operation)
    {
        return true;
    }

    /**
     * Writes the reply; after the last answer, and after all replies before it.
     *
     * @param operation that was answered.
     * @param writer    of its session.
     */
    protected abstract void reply(TableOperation operation, RespWriter writer);
}
