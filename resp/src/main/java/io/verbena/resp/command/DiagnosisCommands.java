package io.verbena.resp.command;

import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.RequestKind;
import io.verbena.resp.codec.DecimalNumber;
import io.verbena.resp.codec.RespDecoder;
import io.verbena.resp.codec.RespWriter;
import io.verbena.resp.session.Session;
import io.verbena.resp.session.TableOperation;

import java.util.Map;

/** Commands of tools that look for slow commands, for memory, and for what values are. Stateless. */
final class DiagnosisCommands
{
    private static final Map<String, Integer> SLOWLOG_ARITIES = Map.of("GET", -2, "LEN", 2, "RESET", 2);
    private static final Map<String, Integer> LATENCY_ARITIES =
        Map.of("LATEST", 2, "HISTORY", 3, "RESET", -2);
    private static final Map<String, Integer> MEMORY_ARITIES = Map.of("USAGE", -3);
    private static final Map<String, Integer> OBJECT_ARITIES = Map.of("ENCODING", 3, "REFCOUNT", 3);
    /** As Redis has it: a longer string is not kept with its key. */
    private static final int MAX_EMBEDDED_BYTES = 44;

    /** What a record takes beside the bytes of key and value: the head of its block, and its word in the index. */
    private static final int RECORD_OVERHEAD_BYTES = 72;

    /** Reads the record of the key behind the subcommand, and replies about it once. */
    private abstract static class Reading extends KeysTask
    {
        Reading()
        {
            super(1, 2, 3);
        }

        @Override
        protected void ask(final TableOperation operation, final RespDecoder arguments, final int key)
        {
            operation.ask(RequestKind.GET, 0);
        }

        @Override
        protected void endReply(final RespWriter writer)
        {
            // All was said about the key.
        }
    }

    private static final class Usage extends Reading
    {
        @Override
        protected void take(final TableOperation operation, final RespWriter writer)
        {
            if (OperationAnswer.FOUND == operation.answer())
            {
                writer.number((long)RECORD_OVERHEAD_BYTES + operation.keyLength() + operation.foundLength());
            }
            else
            {
                writer.nothing();
            }
        }
    }

    /** A number is "int", whether it is digits or a counter of 8 bytes, which is read as digits. */
    private static final class Encoding extends Reading
    {
        @Override
        protected void take(final TableOperation operation, final RespWriter writer)
        {
            if (OperationAnswer.FOUND == operation.answer())
            {
                writer.bulk(DecimalNumber.isNumber(operation.found(), 0, operation.foundLength()) ? "int" :
                    operation.foundLength() <= MAX_EMBEDDED_BYTES ? "embstr" : "raw");
            }
            else
            {
                writer.nothing();
            }
        }
    }

    /** No value is shared. */
    private static final class References extends Reading
    {
        @Override
        protected void take(final TableOperation operation, final RespWriter writer)
        {
            if (OperationAnswer.FOUND == operation.answer())
            {
                writer.number(1);
            }
            else
            {
                writer.nothing();
            }
        }
    }

    private DiagnosisCommands()
    {
    }

    static void slowlog(final Session session)
    {
        if (Subcommands.is(session, SLOWLOG_ARITIES))
        {
            nothing(session, "LEN");
        }
    }

    static void latency(final Session session)
    {
        if (Subcommands.is(session, LATENCY_ARITIES))
        {
            nothing(session, "RESET");
        }
    }

    /** An empty log: 0 where a number is asked for, else no rows; a log that is emptied is empty. */
    private static void nothing(final Session session, final String number)
    {
        if (Arguments.is(session.arguments(), 1, number))
        {
            session.writer().number(0);
        }
        else if (Arguments.is(session.arguments(), 1, "RESET"))
        {
            session.writer().ok();
        }
        else
        {
            session.writer().array(0);
        }
    }

    static void memory(final Session session)
    {
        final RespDecoder arguments = session.arguments();
        if (!Subcommands.is(session, MEMORY_ARITIES))
        {
            return;
        }
        final boolean hasSamples = 5 == arguments.count() && Arguments.is(arguments, 3, "SAMPLES");
        if (3 != arguments.count() && !hasSamples)
        {
            session.writer().error(Arguments.SYNTAX_ERROR);
        }
        else if (hasSamples && !Arguments.isNumber(arguments, 4))
        {
            session.writer().error(Arguments.NO_INTEGER);
        }
        else
        {
            read(session, new Usage());
        }
    }

    static void object(final Session session)
    {
        if (Subcommands.is(session, OBJECT_ARITIES))
        {
            read(session, Arguments.is(session.arguments(), 1, "REFCOUNT") ? new References() : new Encoding());
        }
    }

    private static void read(final Session session, final Reading task)
    {
        final String refusal = session.keyRefusal(2);
        if (null == refusal)
        {
            session.begin(task);
        }
        else
        {
            session.writer().error(refusal);
        }
    }
}
