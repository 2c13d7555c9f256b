package io.verbena.resp.command;

import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.RequestExpiry;
import io.verbena.protocol.request.RequestKind;
import io.verbena.resp.codec.RespDecoder;
import io.verbena.resp.codec.RespWriter;
import io.verbena.resp.session.OperationSteps;
import io.verbena.resp.session.Session;
import io.verbena.resp.session.TableOperation;

/** Commands on one string. Stateless. */
final class StringCommands
{
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

    /** The second number says on what it depends, as for {@link #SET_GET}. */
    private static final OperationSteps SET = new OperationSteps()
    {
        @Override
        protected void reply(final TableOperation operation, final RespWriter writer)
        {
            // What would be past its deadline at once is not written: what was there is deleted, or looked at.
            final boolean isDone = switch (operation.kind())
            {
                case DELETE -> operation.second() <= 0 || OperationAnswer.DELETED == operation.answer();
                case EXISTS -> OperationAnswer.NOT_FOUND == operation.answer();
                default -> OperationAnswer.STORED == operation.answer();
            };
            if (isDone)
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
            return isHindered ? Change.NONE : Deadlines.PAST != operation.wantedExpiry() ? Change.WRITE :
                foundLength < 0 ? Change.NONE : Change.DELETE;
        }
    };

    /** A time that cannot be is an error only where there is a record, as in Redis. */
    private static final OperationSteps GETEX = new OldValueSteps()
    {
        @Override
        protected Change change(final TableOperation operation, final int foundLength)
        {
            operation.keep(foundLength, 0);
            if (foundLength < 0)
            {
                return Change.NONE;
            }
            operation.fail(Deadlines.refusal(operation.wantedExpiry(), "getex"));
            final boolean isSame = RequestExpiry.NONE == operation.wantedExpiry() && 0 == operation.foundExpiryMs();
            return isSame || null != operation.failure() ? Change.NONE : sameValue(operation, foundLength);
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
        write(session, SETNX, RequestKind.PUT_IF_ABSENT, 2, 0, RequestExpiry.NONE);
    }

    static void getset(final Session session)
    {
        write(session, SET_GET, RequestKind.GET, 2, 0, RequestExpiry.NONE);
    }

    static void setex(final Session session)
    {
        setFor(session, true, "setex");
    }

    static void psetex(final Session session)
    {
        setFor(session, false, "psetex");
    }

    private static void setFor(final Session session, final boolean isSeconds, final String name)
    {
        final long expiry = Deadlines.above0(session.arguments(), 2, isSeconds, true);
        if (!isRefused(session, expiry, name))
        {
            write(session, SET, RequestKind.PUT, 3, 0, expiry);
        }
    }

    static void set(final Session session)
    {
        final RespDecoder arguments = session.arguments();
        boolean isGet = false;
        boolean isKept = false;
        int condition = 0;
        int time = 0;
        boolean isWrong = false;
        int i = 3;
        while (i < arguments.count() && !isWrong)
        {
            final int option = i++;
            if (Arguments.is(arguments, option, "NX") && condition <= 0)
            {
                condition = -1;
            }
            else if (Arguments.is(arguments, option, "XX") && condition >= 0)
            {
                condition = 1;
            }
            else if (Arguments.is(arguments, option, "GET"))
            {
                isGet = true;
            }
            else if (Arguments.is(arguments, option, "KEEPTTL") && 0 == time)
            {
                isKept = true;
            }
            else
            {
                isWrong = isKept || !Deadlines.isTime(arguments, option, time);
                time = option;
                i++;
            }
        }
        final long expiry = isWrong ? Deadlines.SYNTAX_ERROR :
            isKept ? RequestExpiry.KEEP : Deadlines.ofOption(arguments, time);
        if (!isRefused(session, expiry, "set"))
        {
            set(session, isGet, condition, expiry);
        }
    }

    private static void set(final Session session, final boolean isGet, final int condition, final long expiry)
    {
        if (isGet)
        {
            write(session, SET_GET, RequestKind.GET, 2, condition, expiry);
        }
        else if (Deadlines.PAST == expiry)
        {
            write(session, SET, condition < 0 ? RequestKind.EXISTS : RequestKind.DELETE, 2, condition, expiry);
        }
        else
        {
            write(session, SET, 0 == condition ? RequestKind.PUT :
                condition < 0 ? RequestKind.PUT_IF_ABSENT : RequestKind.PUT_IF_PRESENT, 2, condition, expiry);
        }
    }

    static void getex(final Session session)
    {
        final RespDecoder arguments = session.arguments();
        boolean isPersist = false;
        int time = 0;
        boolean isWrong = false;
        int i = 2;
        while (i < arguments.count() && !isWrong)
        {
            final int option = i++;
            if (Arguments.is(arguments, option, "PERSIST") && 0 == time)
            {
                isPersist = true;
            }
            else
            {
                isWrong = isPersist || !Deadlines.isTime(arguments, option, time);
                time = option;
                i++;
            }
        }
        if (isWrong)
        {
            refuse(session, Arguments.SYNTAX_ERROR);
            return;
        }
        final TableOperation operation = session.operation(isPersist || time > 0 ? GETEX : GET);
        if (null != operation)
        {
            operation.wantedExpiry(Deadlines.ofOption(arguments, time));
            operation.ask(RequestKind.GET, 0);
        }
    }

    private static boolean isRefused(final Session session, final long expiry, final String name)
    {
        final String refusal = Deadlines.refusal(expiry, name);
        if (null != refusal)
        {
            refuse(session, refusal);
        }
        return null != refusal;
    }

    private static void write(
        final Session session, final OperationSteps steps, final RequestKind kind, final int value,
        final int condition, final long expiry)
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
            operation.wantedExpiry(expiry);
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
}
