package io.verbena.resp.command;

import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.RecordPage;
import io.verbena.protocol.request.RequestKind;
import io.verbena.protocol.request.TableReference;
import io.verbena.resp.session.Session;
import io.verbena.resp.session.TableOperation;
import io.verbena.resp.session.Task;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.regex.Pattern;

/** Deletes what it meets in the selected table, or in all databases, one page after the other. */
final class FlushTask extends Task
{
    private static final int AT_A_TIME = 64;
    private static final Pattern DATABASE = Pattern.compile("db[1-9]\\d*");

    private final Queue<byte[]> pages = new ArrayDeque<>();
    private final Queue<String> names = new ArrayDeque<>();
    /** Null while the next one is looked for. */
    private TableReference table;
    private boolean isNamed;
    private boolean isAsking;
    private long position;
    private int at;
    private int underWay;
    private boolean isScanning;
    private String failure;

    /** @param table to empty; null: all those that numbers name, and no other. */
    FlushTask(final TableReference table)
    {
        this.table = table;
        isNamed = null != table;
    }

    @Override
    public void proceed(final Session session)
    {
        while (!isAsking && null == failure)
        {
            if (null == table)
            {
                if (!findNext(session))
                {
                    break;
                }
            }
            else if (!empty(session))
            {
                return;
            }
        }
        if (0 == underWay && !isScanning && !isAsking)
        {
            end(session);
        }
    }

    private void end(final Session session)
    {
        if (null == failure)
        {
            session.writer().ok();
        }
        else
        {
            session.writer().error(failure);
        }
        session.endTask();
    }

    /** @return whether there is one to look for. */
    private boolean findNext(final Session session)
    {
        if (!isNamed)
        {
            isAsking = true;
            session.worker().ask(
                ControlRequest.Kind.LIST_TABLES, null, session.caller(), (answer) -> onNames(session, answer));
        }
        else if (!names.isEmpty())
        {
            isAsking = true;
            session.worker().ask(
                ControlRequest.Kind.FIND_TABLE, names.poll(), session.caller(), (answer) -> onTable(session, answer));
        }
        return isAsking;
    }

    private void onNames(final Session session, final ControlRequest answer)
    {
        isNamed = true;
        if (ControlRequest.Status.OK == answer.status())
        {
            for (final Object name : (List<?>)answer.result())
            {
                if (session.state().defaultTable().equals(name) || DATABASE.matcher((String)name).matches())
                {
                    names.add((String)name);
                }
            }
        }
        else
        {
            failure = "ERR the tables cannot be listed now: " + answer.status();
        }
        goOn(session);
    }

    private void onTable(final Session session, final ControlRequest answer)
    {
        if (ControlRequest.Status.OK == answer.status())
        {
            table = (TableReference)answer.result();
        }
        else if (ControlRequest.Status.NOT_FOUND != answer.status())
        {
            failure = "ERR table \"" + answer.tableName() + "\" cannot be found now: " + answer.status();
        }
        goOn(session);
    }

    private void goOn(final Session session)
    {
        isAsking = false;
        if (!session.isClosed())
        {
            session.resume();
        }
    }

    /** @return whether the table is empty; else answers are awaited. */
    private boolean empty(final Session session)
    {
        while (!isScanning && underWay < AT_A_TIME && null == failure && !isOver())
        {
            final TableOperation operation = session.operation(table);
            if (null == operation)
            {
                return false;
            }
            if (pages.isEmpty())
            {
                isScanning = true;
                operation.ask(RequestKind.SCAN, position);
            }
            else
            {
                underWay++;
                delete(operation);
            }
        }
        if (0 != underWay || isScanning)
        {
            return false;
        }
        table = null;
        position = 0;
        return true;
    }

    private boolean isOver()
    {
        return pages.isEmpty() && RecordPage.END == position;
    }

    private void delete(final TableOperation operation)
    {
        final byte[] page = pages.peek();
        operation.keyOf(page, at + RecordPage.KEY_OFFSET, RecordPage.keyLength(page, at));
        at = behind(page, at);
        if (at == page.length)
        {
            pages.poll();
            at = 0;
        }
        operation.ask(RequestKind.DELETE, 0);
    }

    @Override
    public void onAnswer(final Session session, final TableOperation operation)
    {
        failure = null == failure ? operation.failure() : failure;
        if (RequestKind.SCAN == operation.kind())
        {
            isScanning = false;
            if (null == failure && OperationAnswer.FOUND == operation.answer())
            {
                position = operation.version();
                if (operation.foundLength() > 0)
                {
                    pages.add(operation.foundValue());
                }
            }
            else if (null == failure)
            {
                failure = "ERR the table cannot be walked over now";
            }
        }
        else
        {
            underWay--;
        }
        session.release(operation);
    }

    /** Where the record behind the one at a place of a page is. */
    static int behind(final byte[] page, final int at)
    {
        return at + RecordPage.KEY_OFFSET + RecordPage.keyLength(page, at) + RecordPage.valueLength(page, at);
    }
}
