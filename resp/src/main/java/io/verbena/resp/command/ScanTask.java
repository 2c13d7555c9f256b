package io.verbena.resp.command;

import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.RecordPage;
import io.verbena.protocol.request.RequestKind;
import io.verbena.resp.session.Session;
import io.verbena.resp.session.TableOperation;
import io.verbena.resp.session.Task;

/** A walk over the table of a session, one range after the other. */
abstract class ScanTask extends Task
{
    private RequestKind kind;
    private final int mark;
    private long position;
    private boolean isUnderWay;
    private boolean isAgain;
    private boolean isOver;

    /**
     * @param session  of the command.
     * @param kind     SCAN or COUNT.
     * @param position where it begins.
     */
    ScanTask(final Session session, final RequestKind kind, final long position)
    {
        this.kind = kind;
        this.position = position;
        mark = session.writer().length();
    }

    /**
     * Takes a range.
     *
     * @param page what was found, see {@link RecordPage}, or a {@code CountPage}.
     * @param next where the next range begins, or {@link RecordPage#END}.
     * @return whether it shall go on with the next range.
     */
    protected abstract boolean take(Session session, byte[] page, long next);

    /** Begins another walk in the place of the present one; for {@link #take}. */
    protected final void again(final RequestKind newKind, final long newPosition)
    {
        kind = newKind;
        position = newPosition;
        isAgain = true;
    }

    /** Writes the reply. */
    protected abstract void reply(Session session);

    @Override
    public void proceed(final Session session)
    {
        if (isOver || isUnderWay)
        {
            return;
        }
        final TableOperation operation = session.operation();
        if (null != operation)
        {
            isUnderWay = true;
            operation.ask(kind, position);
        }
    }

    @Override
    public void onAnswer(final Session session, final TableOperation operation)
    {
        isUnderWay = false;
        final String failure = operation.failure();
        final byte[] page = operation.foundValue();
        position = operation.version();
        final boolean isFound = null == failure && OperationAnswer.FOUND == operation.answer();
        session.release(operation);
        if (!isFound)
        {
            fail(session, null == failure ? "ERR the table cannot be walked over now" : failure);
        }
        else
        {
            final boolean goesOn = take(session, page, position) && RecordPage.END != position;
            if (!goesOn && !isAgain)
            {
                end(session);
            }
            isAgain = false;
        }
    }

    private void fail(final Session session, final String error)
    {
        onClosed(session);
        session.writer().rewind(mark);
        session.writer().error(error);
        isOver = true;
        session.endTask();
    }

    private void end(final Session session)
    {
        isOver = true;
        reply(session);
        session.endTask();
    }
}
