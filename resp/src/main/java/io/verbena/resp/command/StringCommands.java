package io.verbena.resp.command;

import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.RequestKind;
import io.verbena.resp.codec.DecimalNumber;
import io.verbena.resp.codec.RespDecoder;
import io.verbena.resp.codec.RespWriter;
import io.verbena.resp.session.OperationSteps;
import io.verbena.resp.session.Session;
import io.verbena.resp.session.TableOperation;

/** Commands on one string. Stateless. */
final class StringCommands
{
    /** What is replied where a time is given and records do not end by themselves. */
    static final String NO_EXPIRY =
        "ERR records of this node do not expire: the command was not carried out, leave out the time";

    private static final OperationSteps GET = new OperationSteps()
    {
        @Override
        protected void reply(final TableOperation operation, final RespWriter writer)
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
    };

    private static final OperationSteps SET = new OperationSteps()
    {
        @Override
        protected void reply(final TableOperation operation, final RespWriter writer)
        {
            if (OperationAnswer.STORED == operation.answer())
            {
                writer.ok();
            }
            else
            {
                writer.nothing();
            }
        }
    };

    private static final OperationSteps SETNX = new OperationSteps()
    {
        @Override
        protected void reply(final TableOperation operation, final RespWriter writer)
        {
            writer.number(OperationAnswer.STORED == operation.answer() ? 1 : 0);
        }
    };

    private static final OperationSteps STRLEN = new OperationSteps()
    {
        @Override
        protected void reply(final TableOperation operation, final RespWriter writer)
        {
            writer.number(OperationAnswer.FOUND == operation.answer() ? operation.foundLength() : 0);
        }
    };

    private static final OperationSteps GETRANGE = new OperationSteps()
    {
        @Override
        protected void reply(final TableOperation operation, final RespWriter writer)
        {
            final int length = OperationAnswer.FOUND == operation.answer() ? operation.foundLength() : 0;
            final long first = operation.first();
            final long last = operation.second();
            final long from = Math.max(0, first < 0 ? first + length : first);
            final long to = Math.min(length - 1, Math.max(0, last < 0 ? last + length : last));
            final boolean isBackwards = first < 0 && last < 0 && first > last;
            final boolean isNothing = isBackwards || from > to || 0 == length;
            writer.bulk(operation.found(), isNothing ? 0 : (int)from, isNothing ? 0 : (int)(to - from + 1));
        }
    };

    /** Replies the old value, whose length is kept. */
    private abstract static class OldValueSteps extends UpdateSteps
    {
        @Override
        protected void reply(final TableOperation operation, final RespWriter writer)
        {
            if (operation.first() < 0)
            {
                writer.nothing();
            }
            else
            {
                writer.bulk(operation.found(), 0, (int)operation.first());
            }
        }
    }

    /** The second number says on what it depends: 0 nothing, 1 that there is a record, -1 that there is none. */
    private static final OperationSteps SET_GET = new OldValueSteps()
    {
        @Override
        protected Change change(final TableOperation operation, final int foundLength)
        {
            operation.keep(foundLength, operation.second());
            final boolean isHindered = operation.second() > 0 && foundLength < 0 ||
                operation.second() < 0 && foundLength >= 0;
            return isHindered ? Change.NONE : Change.WRITE;
        }
    };

    private static final OperationSteps GETDEL = new OldValueSteps()
    {
        @Override
        protected Change change(final TableOperation operation, final int foundLength)
        {
            operation.keep(foundLength, 0);
            return foundLength < 0 ? Change.NONE : Change.DELETE;
        }
    };

    private StringCommands()
    {
    }

    static void get(final Session session)
    {
        ask(session, GET, RequestKind.GET);
    }

    static void strlen(final Session session)
    {
        ask(session, STRLEN, RequestKind.GET);
    }

    static void getdel(final Session session)
    {
        ask(session, GETDEL, RequestKind.GET);
    }

    private static void ask(final Session session, final OperationSteps steps, final RequestKind kind)
    {
        final TableOperation operation = session.operation(steps);
        if (null != operation)
        {
            operation.ask(kind, 0);
        }
    }

    static void getrange(final Session session)
    {
        final RespDecoder arguments = session.arguments();
        if (!Arguments.isNumber(arguments, 2) || !Arguments.isNumber(arguments, 3))
        {
            refuse(session, Arguments.NO_INTEGER);
            return;
        }
        final TableOperation operation = session.operation(GETRANGE);
        if (null != operation)
        {
            operation.keep(Arguments.number(arguments, 2), Arguments.number(arguments, 3));
            operation.ask(RequestKind.GET, 0);
        }
    }

    static void setnx(final Session session)
    {
        write(session, SETNX, RequestKind.PUT_IF_ABSENT, 2, 0);
    }

    static void getset(final Session session)
    {
        write(session, SET_GET, RequestKind.GET, 2, 0);
    }

    static void set(final Session session)
    {
        final RespDecoder arguments = session.arguments();
        boolean isGet = false;
        int condition = 0;
        String error = null;
        for (int i = 3; i < arguments.count() && null == error; i++)
        {
            if (Arguments.is(arguments, i, "NX") && condition <= 0)
            {
                condition = -1;
            }
            else if (Arguments.is(arguments, i, "XX") && condition >= 0)
            {
                condition = 1;
            }
            else if (Arguments.is(arguments, i, "GET"))
            {
                isGet = true;
            }
            else if (!Arguments.is(arguments, i, "KEEPTTL"))
            {
                error = timeError(arguments, i);
            }
        }
        if (null != error)
        {
            refuse(session, error);
        }
        else if (isGet)
        {
            write(session, SET_GET, RequestKind.GET, 2, condition);
        }
        else
        {
            write(session, SET, 0 == condition ? RequestKind.PUT :
                condition < 0 ? RequestKind.PUT_IF_ABSENT : RequestKind.PUT_IF_PRESENT, 2, 0);
        }
    }

    private static String timeError(final RespDecoder arguments, final int i)
    {
        final boolean isTime = Arguments.is(arguments, i, "EX") || Arguments.is(arguments, i, "PX") ||
            Arguments.is(arguments, i, "EXAT") || Arguments.is(arguments, i, "PXAT");
        return isTime && i + 1 < arguments.count() ? NO_EXPIRY : Arguments.SYNTAX_ERROR;
    }

    private static void write(
        final Session session, final OperationSteps steps, final RequestKind kind, final int value,
        final int condition)
    {
        final String refusal = session.valueRefusal(value);
        if (null != refusal)
        {
            refuse(session, refusal);
            return;
        }
        final TableOperation operation = session.operation(steps);
        if (null != operation)
        {
            operation.valueOf(session.arguments(), value);
            operation.keep(0, condition);
            operation.ask(kind, 0);
        }
    }

    /** Replies an error in the place of an operation. */
    static void refuse(final Session session, final String error)
    {
        final TableOperation operation = session.operation(GET);
        if (null != operation)
        {
            session.refuse(operation, error);
        }
    }

    /** What a number becomes in the value to write. */
    static void writeNumber(final TableOperation operation, final long number)
    {
        operation.writtenLength(DecimalNumber.write(number, operation.roomForValue(DecimalNumber.MAX_DIGITS), 0));
    }
}
