package io.verbena.resp.command;

import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.TableReference;
import io.verbena.resp.session.Session;
import io.verbena.resp.session.TableOperation;
import io.verbena.resp.session.Task;

/** Finds a table by its name, and selects it. */
final class SelectTask extends Task
{
    private final String name;
    private final boolean isNumber;
    private boolean isAsked;

    /**
     * @param name     of the table.
     * @param isNumber whether the client gave a number for it.
     */
    SelectTask(final String name, final boolean isNumber)
    {
        this.name = name;
        this.isNumber = isNumber;
    }

    @Override
    public void proceed(final Session session)
    {
        if (!isAsked)
        {
            isAsked = true;
            session.worker().ask(ControlRequest.Kind.FIND_TABLE, name, session.caller(),
                (answer) -> take(session, answer));
        }
    }

    private void take(final Session session, final ControlRequest answer)
    {
        if (session.isClosed())
        {
            return;
        }
        if (ControlRequest.Status.OK == answer.status())
        {
            session.select((TableReference)answer.result());
            session.writer().ok();
        }
        else if (ControlRequest.Status.NOT_FOUND == answer.status())
        {
            session.writer().error(isNumber ? "ERR DB index is out of range: there is no table \"" + name + "\"" :
                "ERR there is no table \"" + name + "\"");
        }
        else if (ControlRequest.Status.PERMISSION_DENIED == answer.status())
        {
            session.writer().error("NOPERM " + answer.detail());
        }
        else
        {
            session.writer().error("ERR table \"" + name + "\" cannot be found now: " + answer.status());
        }
        session.endTask();
        session.resume();
    }

    @Override
    public void onAnswer(final Session session, final TableOperation operation)
    {
        throw new IllegalStateException("a task without operations got the answer of one: " + operation);
    }
}
