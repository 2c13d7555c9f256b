package io.verbena.resp.command;

import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.RequestKind;
import io.verbena.resp.codec.RespDecoder;
import io.verbena.resp.codec.RespWriter;
import io.verbena.resp.session.OperationSteps;
import io.verbena.resp.session.Session;
import io.verbena.resp.session.TableOperation;

import java.util.Arrays;

/** Commands on keys, one or several. Stateless. */
final class KeyCommands
{
    private static final OperationSteps DELETE = new OperationSteps()
    {
        @Override
        protected void reply(final TableOperation operation, final RespWriter writer)
        {
            writer.number(OperationAnswer.DELETED == operation.answer() ? 1 : 0);
        }
    };

    private static final OperationSteps EXISTS = new OperationSteps()
    {
        @Override
        protected void reply(final TableOperation operation, final RespWriter writer)
        {
            writer.number(isPresent(operation) ? 1 : 0);
        }
    };

    private static final OperationSteps TYPE = new OperationSteps()
    {
        @Override
        protected void reply(final TableOperation operation, final RespWriter writer)
        {
            writer.simple(isPresent(operation) ? "string" : "none");
        }
    };

    /** Counts the keys that were there. */
    private static final class Counting extends KeysTask
    {
        private final RequestKind kind;
        private long sum;

        Counting(final RequestKind kind)
        {
            super(1);
            this.kind = kind;
        }

        @Override
        protected void ask(final TableOperation operation, final RespDecoder arguments, final int key)
        {
            operation.ask(kind, 0);
        }

        @Override
        protected void take(final TableOperation operation, final RespWriter writer)
        {
            sum += OperationAnswer.DELETED == operation.answer() || isPresent(operation) ? 1 : 0;
        }

        @Override
        protected void endReply(final RespWriter writer)
        {
            writer.number(sum);
        }
    }

    private static final class Getting extends KeysTask
    {
        Getting()
        {
            super(1);
        }

        @Override
        protected void beginReply(final RespWriter writer, final int keys)
        {
            writer.array(keys);
        }

        @Override
        protected void ask(final TableOperation operation, final RespDecoder arguments, final int key)
        {
            operation.ask(RequestKind.GET, 0);
        }

        @Override
        protected void take(final TableOperation operation, final RespWriter writer)
        {
            if (OperationAnswer.FOUND == operation.answer())
            {
                writer.bulk(operation.foundValue(), 0, operation.foundLength());
            }
            else
            {
                writer.nothing();
            }
        }

        @Override
        protected void endReply(final RespWriter writer)
        {
            // All was said.
        }
    }

    /** Writes all keys; a key that comes twice is written once, with its last value. */
    private static final class Setting extends KeysTask
    {
        Setting()
        {
            super(2);
        }

        @Override
        protected void ask(final TableOperation operation, final RespDecoder arguments, final int key)
        {
            operation.valueOf(arguments, lastOf(arguments, key) + 1);
            operation.ask(RequestKind.PUT, 0);
        }

        /** Where a key comes last: a write for an earlier one writes the same. */
        private static int lastOf(final RespDecoder arguments, final int key)
        {
            // Searched in short commands only; long ones are ordered by parts, which do not overlap.
            int last = key;
            for (int i = key + 2; i < Math.min(arguments.count(), key + 2 * MOST_TOGETHER); i += 2)
            {
                if (isSame(arguments, key, i))
                {
                    last = i;
                }
            }
            return last;
        }

        @Override
        protected void take(final TableOperation operation, final RespWriter writer)
        {
            // Stored, or a failure.
        }

        @Override
        protected void endReply(final RespWriter writer)
        {
            writer.ok();
        }
    }

    /** As many writes of one command may be under way at once. */
    private static final int MOST_TOGETHER = 64;
    /** Keys of a command that copies: the one that is read, and the one that is written. */
    private static final int COPIED_KEYS = 2;

    private KeyCommands()
    {
    }

    private static boolean isPresent(final TableOperation operation)
    {
        return OperationAnswer.FOUND == operation.answer() || OperationAnswer.EXISTS == operation.answer();
    }

    private static boolean isSame(final RespDecoder arguments, final int i, final int j)
    {
        final int length = arguments.length(i);
        return length == arguments.length(j) && Arrays.equals(
            arguments.array(), arguments.offset(i), arguments.offset(i) + length,
            arguments.array(), arguments.offset(j), arguments.offset(j) + length);
    }

    static void del(final Session session)
    {
        oneOrMore(session, DELETE, RequestKind.DELETE);
    }

    static void exists(final Session session)
    {
        oneOrMore(session, EXISTS, RequestKind.EXISTS);
    }

    private static void oneOrMore(final Session session, final OperationSteps steps, final RequestKind kind)
    {
        if (session.arguments().count() > 2)
        {
            if (areKeys(session, 1))
            {
                session.begin(new Counting(kind));
            }
            return;
        }
        ask(session, steps, kind);
    }

    static void type(final Session session)
    {
        ask(session, TYPE, RequestKind.EXISTS);
    }

    private static void ask(final Session session, final OperationSteps steps, final RequestKind kind)
    {
        final TableOperation operation = session.operation(steps);
        if (null != operation)
        {
            operation.ask(kind, 0);
        }
    }

    static void mget(final Session session)
    {
        if (areKeys(session, 1))
        {
            session.begin(new Getting());
        }
    }

    static void mset(final Session session)
    {
        if (0 == session.arguments().count() % 2)
        {
            session.writer().error("ERR wrong number of arguments for 'mset' command");
        }
        else if (areKeys(session, 2))
        {
            session.begin(new Setting());
        }
    }

    static void rename(final Session session)
    {
        copy(session, CopyTask.Kind.RENAME, null);
    }

    static void renamenx(final Session session)
    {
        copy(session, CopyTask.Kind.RENAME_IF_ABSENT, null);
    }

    static void copy(final Session session)
    {
        final RespDecoder arguments = session.arguments();
        boolean isReplaced = false;
        String table = session.state().tableName();
        for (int i = COPIED_KEYS + 1; i < arguments.count(); i++)
        {
            if (Arguments.is(arguments, i, "DB") && i + 1 < arguments.count())
            {
                i++;
                if (!Arguments.isNumber(arguments, i))
                {
                    session.writer().error(Arguments.NO_INTEGER);
                    return;
                }
                if (Arguments.number(arguments, i) < 0)
                {
                    session.writer().error("ERR DB index is out of range");
                    return;
                }
                table = ConnectionCommands.tableName(session, Arguments.number(arguments, i));
            }
            else if (Arguments.is(arguments, i, "REPLACE"))
            {
                isReplaced = true;
            }
            else
            {
                session.writer().error(Arguments.SYNTAX_ERROR);
                return;
            }
        }
        final boolean isSelected = table.equals(session.state().tableName());
        if (isSelected && isSame(arguments, 1, COPIED_KEYS))
        {
            session.writer().error("ERR source and destination objects are the same");
            return;
        }
        copy(session, isReplaced ? CopyTask.Kind.COPY : CopyTask.Kind.COPY_IF_ABSENT, isSelected ? null : table);
    }

    private static void copy(final Session session, final CopyTask.Kind kind, final String table)
    {
        final String from = session.keyRefusal(1);
        final String refusal = null == from ? session.keyRefusal(COPIED_KEYS) : from;
        if (null != refusal)
        {
            session.writer().error(refusal);
            return;
        }
        session.begin(new CopyTask(kind, null == table && isSame(session.arguments(), 1, COPIED_KEYS), table));
    }

    /** Whether all keys, and the values beside them, can be; else the reply is written. Nothing is begun before. */
    private static boolean areKeys(final Session session, final int step)
    {
        String refusal = null;
        for (int i = 1; i < session.arguments().count() && null == refusal; i += step)
        {
            refusal = session.keyRefusal(i);
            if (null == refusal && step > 1)
            {
                refusal = session.valueRefusal(i + 1);
            }
        }
        if (null != refusal)
        {
            session.writer().error(refusal);
        }
        return null == refusal;
    }
}
