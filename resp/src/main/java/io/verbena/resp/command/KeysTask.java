package io.verbena.resp.command;

import io.verbena.resp.codec.RespDecoder;
import io.verbena.resp.codec.RespWriter;
import io.verbena.resp.session.Session;
import io.verbena.resp.session.TableOperation;
import io.verbena.resp.session.Task;

/**
 * One operation on each of several keys, some at a time; not atomic. Answers are taken in the order of the keys. The
 * first failure is the reply.
 */
abstract class KeysTask extends Task
{
    private static final int AT_A_TIME = 64;

    private final int step;
    private final int end;
    private final TableOperation[] part = new TableOperation[AT_A_TIME];
    private int asked;
    private int answered;
    private int next;
    private int mark = -1;
    private boolean isAsking;
    private String failure;

    /** @param step from one key to the next. */
    KeysTask(final int step)
    {
        this(step, 1, Integer.MAX_VALUE);
    }

    /**
     * @param step  from one key to the next.
     * @param first position of the first key.
     * @param end   position behind the last key; where there are fewer arguments, these end before.
     */
    KeysTask(final int step, final int first, final int end)
    {
        this.step = step;
        this.next = first;
        this.end = end;
    }

    /** Writes what comes before the answers. */
    protected void beginReply(final RespWriter writer, final int keys)
    {
        // Most reply a sum.
    }

    /** Asks for one key. */
    protected abstract void ask(TableOperation operation, RespDecoder arguments, int key);

    /** Takes the answer for a key. */
    protected abstract void take(TableOperation operation, RespWriter writer);

    /** Writes what comes after the answers. */
    protected abstract void endReply(RespWriter writer);

    @Override
    public void proceed(final Session session)
    {
        if (mark < 0)
        {
            mark = session.writer().length();
            beginReply(session.writer(), (session.arguments().count() - 1) / step);
        }
        isAsking = true;
        final int last = Math.min(end, session.arguments().count());
        while (asked < AT_A_TIME && 0 == answered && next < last && null == failure)
        {
            final TableOperation operation = session.operation();
            if (null == operation)
            {
                isAsking = false;
                return;
            }
            part[asked++] = operation;
            operation.keyOf(session.arguments(), next);
            ask(operation, session.arguments(), next);
            next += step;
        }
        isAsking = false;
        if (0 == asked)
        {
            end(session);
        }
    }

    @Override
    public void onAnswer(final Session session, final TableOperation operation)
    {
        answered++;
        if (answered == asked && !isAsking)
        {
            takePart(session);
        }
    }

    private void takePart(final Session session)
    {
        for (int i = 0; i < asked; i++)
        {
            failure = null == failure ? part[i].failure() : failure;
            if (null == failure)
            {
                take(part[i], session.writer());
            }
            session.release(part[i]);
            part[i] = null;
        }
        asked = 0;
        answered = 0;
    }

    private void end(final Session session)
    {
        if (null == failure)
        {
            endReply(session.writer());
        }
        else
        {
            session.writer().rewind(mark);
            session.writer().error(failure);
        }
        session.endTask();
    }

    /** Those not answered yet are among them: they come back by themselves when they are. */
    @Override
    public void onClosed(final Session session)
    {
        for (int i = 0; i < asked; i++)
        {
            if (part[i].isAnswered())
            {
                session.release(part[i]);
            }
        }
    }
}
