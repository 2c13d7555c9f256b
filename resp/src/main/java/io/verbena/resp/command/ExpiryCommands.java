package io.verbena.resp.command;

import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.RequestExpiry;
import io.verbena.protocol.request.RequestKind;
import io.verbena.resp.codec.RespDecoder;
import io.verbena.resp.codec.RespWriter;
import io.verbena.resp.session.OperationSteps;
import io.verbena.resp.session.Session;
import io.verbena.resp.session.TableOperation;

import java.util.concurrent.TimeUnit;

/** Commands on the deadline of a record. Stateless. */
final class ExpiryCommands
{
    private static final int NX = 1;
    private static final int XX = 2;
    private static final int GT = 4;
    private static final int LT = 8;
    private static final long NO_RECORD = -2;
    private static final long NO_DEADLINE = -1;
    private static final long MS_OF_SECOND = TimeUnit.SECONDS.toMillis(1);

    private static final OperationSteps CHANGE = new OperationSteps()
    {
        @Override
        protected void reply(final TableOperation operation, final RespWriter writer)
        {
            final OperationAnswer answer = operation.answer();
            writer.number(OperationAnswer.STORED == answer || OperationAnswer.DELETED == answer ? 1 : 0);
        }
    };

    /**
     * For what the node has no condition of its own. The second number holds the conditions; the first one becomes what
     * is replied.
     */
    private static final OperationSteps CHANGE_IF = new UpdateSteps()
    {
        @Override
        protected Change change(final TableOperation operation, final int foundLength)
        {
            final boolean isDone = foundLength >= 0 && isMet((int)operation.second(), operation);
            operation.keep(isDone ? 1 : 0, operation.second());
            return isDone ? sameValue(operation, foundLength) : Change.NONE;
        }

        @Override
        protected void reply(final TableOperation operation, final RespWriter writer)
        {
            writer.number(operation.first());
        }
    };

    /** Replies a time of the record. */
    private static final class Times extends OperationSteps
    {
        private final boolean isDeadline;
        private final boolean isSeconds;

        Times(final boolean isDeadline, final boolean isSeconds)
        {
            this.isDeadline = isDeadline;
            this.isSeconds = isSeconds;
        }

        @Override
        protected void reply(final TableOperation operation, final RespWriter writer)
        {
            final long ms = isDeadline ? operation.foundExpiryMs() : operation.timeToLiveMs();
            if (OperationAnswer.NOT_FOUND == operation.answer())
            {
                writer.number(NO_RECORD);
            }
            else if (0 == operation.foundExpiryMs())
            {
                writer.number(NO_DEADLINE);
            }
            else
            {
                writer.number(isSeconds ? (ms + MS_OF_SECOND / 2) / MS_OF_SECOND : ms);
            }
        }
    }

    private static final OperationSteps TTL = new Times(false, true);
    private static final OperationSteps PTTL = new Times(false, false);
    private static final OperationSteps EXPIRETIME = new Times(true, true);
    private static final OperationSteps PEXPIRETIME = new Times(true, false);

    private ExpiryCommands()
    {
    }

    /** A record without a deadline lives for ever: any deadline is earlier. */
    private static boolean isMet(final int conditions, final TableOperation operation)
    {
        final long word = operation.wantedExpiry();
        final boolean hasDeadline = 0 != operation.foundExpiryMs();
        final int order = word < 0 ? Long.compare(-word, operation.timeToLiveMs()) :
            Long.compare(word, operation.foundExpiryMs());
        return !(0 != (conditions & NX) && hasDeadline ||
            0 != (conditions & XX) && !hasDeadline ||
            0 != (conditions & GT) && (!hasDeadline || order <= 0) ||
            0 != (conditions & LT) && hasDeadline && order >= 0);
    }

    static void expire(final Session session)
    {
        change(session, true, true, "expire");
    }

    static void pexpire(final Session session)
    {
        change(session, false, true, "pexpire");
    }

    static void expireat(final Session session)
    {
        change(session, true, false, "expireat");
    }

    static void pexpireat(final Session session)
    {
        change(session, false, false, "pexpireat");
    }

    private static void change(
        final Session session, final boolean isSeconds, final boolean isFromNow, final String name)
    {
        final RespDecoder arguments = session.arguments();
        int conditions = 0;
        for (int i = 3; i < arguments.count(); i++)
        {
            final int condition = condition(arguments, i);
            if (0 == condition)
            {
                StringCommands.refuse(session, "ERR Unsupported option " + arguments.shownText(i));
                return;
            }
            conditions |= condition;
        }
        final long word = Deadlines.any(arguments, 2, isSeconds, isFromNow);
        final String contradiction = contradiction(conditions);
        final String refusal = null == contradiction ? Deadlines.refusal(word, name) : contradiction;
        if (null == refusal)
        {
            change(session, conditions, word);
        }
        else
        {
            StringCommands.refuse(session, refusal);
        }
    }

    private static int condition(final RespDecoder arguments, final int i)
    {
        return Arguments.is(arguments, i, "NX") ? NX : Arguments.is(arguments, i, "XX") ? XX :
            Arguments.is(arguments, i, "GT") ? GT : Arguments.is(arguments, i, "LT") ? LT : 0;
    }

    private static String contradiction(final int conditions)
    {
        if (0 != (conditions & NX) && NX != conditions)
        {
            return "ERR NX and XX, GT or LT options at the same time are not compatible";
        }
        return 0 != (conditions & GT) && 0 != (conditions & LT) ?
            "ERR GT and LT options at the same time are not compatible" : null;
    }

    private static void change(final Session session, final int conditions, final long word)
    {
        final boolean isPast = Deadlines.PAST == word;
        final boolean isOwnCondition = (isPast && 0 != conditions) || (XX | LT) == conditions;
        final TableOperation operation = session.operation(isOwnCondition ? CHANGE_IF : CHANGE);
        if (null == operation)
        {
            return;
        }
        operation.wantedExpiry(word);
        operation.keep(0, conditions);
        if (isOwnCondition)
        {
            operation.ask(RequestKind.GET, 0);
        }
        else if (isPast)
        {
            operation.ask(RequestKind.DELETE, 0);
        }
        else
        {
            operation.ask(RequestKind.EXPIRE, nodeCondition(conditions));
        }
    }

    /** A later deadline is one of a record that has one. */
    private static long nodeCondition(final int conditions)
    {
        return switch (conditions)
        {
            case NX -> RequestExpiry.IF_NONE;
            case XX -> RequestExpiry.IF_SOME;
            case GT, XX | GT -> RequestExpiry.IF_LATER;
            case LT -> RequestExpiry.IF_EARLIER;
            default -> RequestExpiry.ALWAYS;
        };
    }

    static void persist(final Session session)
    {
        ask(session, CHANGE, RequestKind.EXPIRE, RequestExpiry.IF_SOME);
    }

    static void ttl(final Session session)
    {
        ask(session, TTL, RequestKind.EXISTS, 0);
    }

    static void pttl(final Session session)
    {
        ask(session, PTTL, RequestKind.EXISTS, 0);
    }

    static void expiretime(final Session session)
    {
        ask(session, EXPIRETIME, RequestKind.EXISTS, 0);
    }

    static void pexpiretime(final Session session)
    {
        ask(session, PEXPIRETIME, RequestKind.EXISTS, 0);
    }

    private static void ask(
        final Session session, final OperationSteps steps, final RequestKind kind, final long operand)
    {
        final TableOperation operation = session.operation(steps);
        if (null != operation)
        {
            operation.ask(kind, operand);
        }
    }
}
