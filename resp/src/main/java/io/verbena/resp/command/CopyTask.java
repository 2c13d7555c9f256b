package io.verbena.resp.command;

import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.RequestKind;
import io.verbena.protocol.request.TableReference;
import io.verbena.resp.codec.RespWriter;
import io.verbena.resp.session.Session;
import io.verbena.resp.session.TableOperation;
import io.verbena.resp.session.Task;

/**
 * Writes the record of one key under another key with its deadline; where it is renamed, deletes the first one as it
 * was read. Not atomic: in between both keys exist. If somebody writes the first key meanwhile, it is read and written
 * again, so that no write is lost.
 */
final class CopyTask extends Task
{
    /** What a command does with the record, and how it replies. */
    enum Kind
    {
        /** Deletes the first key, replaces what the second one has. */
        RENAME(true, true),
        /** Deletes the first key, unless the second one exists. */
        RENAME_IF_ABSENT(true, false),
        /** Keeps the first key, replaces what the second one has. */
        COPY(false, true),
        /** Keeps the first key, does nothing if the second one exists. */
        COPY_IF_ABSENT(false, false);

        private final boolean deletes;
        private final boolean replaces;

        Kind(final boolean deletes, final boolean replaces)
        {
            this.deletes = deletes;
            this.replaces = replaces;
        }
    }

    private static final int FROM = 1;
    private static final int TO = 2;

    private final Kind kind;
    private final boolean isSameKey;
    private final String toName;
    private TableReference to;
    private boolean isAsked;
    private TableOperation operation;
    private long version;
    private boolean isUnderWay;
    private boolean isWritten;
    private boolean isOver;
    private String failure;

    /**
     * @param kind      of command; its first argument is the key that is read, its second one the key that is written.
     * @param isSameKey whether both are the same record.
     * @param toName    name of the table that is written; null: the selected one.
     */
    CopyTask(final Kind kind, final boolean isSameKey, final String toName)
    {
        this.kind = kind;
        this.isSameKey = isSameKey;
        this.toName = toName;
    }

    @Override
    public void proceed(final Session session)
    {
        if (null != toName && null == to)
        {
            findTable(session);
        }
        else if (null == operation)
        {
            operation = session.operation();
            if (null != operation)
            {
                ask(session, FROM, RequestKind.GET, 0);
            }
        }
        else if (isOver)
        {
            session.release(operation);
            reply(session.writer());
            session.endTask();
        }
    }

    private void findTable(final Session session)
    {
        if (!isAsked)
        {
            isAsked = true;
            session.worker().ask(ControlRequest.Kind.FIND_TABLE, toName, session.caller(),
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
            to = (TableReference)answer.result();
        }
        else
        {
            session.writer().error(
                ControlRequest.Status.PERMISSION_DENIED == answer.status() ? "NOPERM " + answer.detail() :
                ControlRequest.Status.NOT_FOUND == answer.status() ?
                "ERR DB index is out of range: there is no table \"" + toName + "\"" :
                "ERR table \"" + toName + "\" cannot be found now: " + answer.status());
            session.endTask();
        }
        session.resume();
    }

    private void ask(final Session session, final int key, final RequestKind request, final long operand)
    {
        isUnderWay = true;
        operation.table(TO == key && null != to ? to : session.table());
        operation.keyOf(session.arguments(), key);
        operation.ask(request, operand);
    }

    @Override
    public void onAnswer(final Session session, final TableOperation answered)
    {
        isUnderWay = false;
        failure = answered.failure();
        if (null != failure)
        {
            isOver = true;
            return;
        }
        switch (answered.kind())
        {
            case GET -> onRead(session);
            case DELETE_BY_VERSION -> onDeleted(session);
            default -> onWritten(session);
        }
    }

    private void onRead(final Session session)
    {
        if (OperationAnswer.FOUND != operation.answer())
        {
            // Deleted by somebody else since it was written under the other key: renamed all the same.
            failure = isWritten || !kind.deletes ? null : "ERR no such key";
            isOver = true;
        }
        else if (isSameKey)
        {
            isOver = true;
        }
        else
        {
            version = operation.version();
            operation.wantedExpiry(operation.foundExpiryMs());
            operation.valueOf(operation.found(), 0, operation.foundLength());
            ask(session, TO, kind.replaces || isWritten ? RequestKind.PUT : RequestKind.PUT_IF_ABSENT, 0);
        }
    }

    private void onWritten(final Session session)
    {
        isWritten |= OperationAnswer.STORED == operation.answer();
        if (isWritten && kind.deletes)
        {
            ask(session, FROM, RequestKind.DELETE_BY_VERSION, version);
        }
        else
        {
            isOver = true;
        }
    }

    private void onDeleted(final Session session)
    {
        if (OperationAnswer.VERSION_MISMATCH == operation.answer())
        {
            ask(session, FROM, RequestKind.GET, 0);
        }
        else
        {
            isOver = true;
        }
    }

    private void reply(final RespWriter writer)
    {
        if (null != failure)
        {
            writer.error(failure);
        }
        else if (Kind.RENAME == kind)
        {
            writer.ok();
        }
        else
        {
            writer.number(isWritten ? 1 : 0);
        }
    }

    /** One under way comes back by itself. */
    @Override
    public void onClosed(final Session session)
    {
        if (null != operation && !isUnderWay)
        {
            session.release(operation);
        }
    }
}
