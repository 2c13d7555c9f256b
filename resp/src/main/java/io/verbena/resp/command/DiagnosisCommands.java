package io.verbena.resp.command;

import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.RequestKind;
import io.verbena.resp.codec.DecimalNumber;
import io.verbena.resp.codec.RespDecoder;
import io.verbena.resp.codec.RespWriter;
import io.verbena.resp.session.Session;
import io.verbena.resp.session.TableOperation;

import java.util.Locale;
import java.util.Map;

/** Commands of tools that look for memory, and for what values are. Stateless. */
final class DiagnosisCommands
{
    private static final Map<String, Integer> MEMORY_ARITIES = Map.of("USAGE", -3);
    private static final Map<String, Integer> OBJECT_ARITIES =
        Map.of("ENCODING", 3, "REFCOUNT", 3, "IDLETIME", 3, "FREQ", 3);
    private static final String NO_IDLE_TIME = "ERR idle time is not tracked";
    /** As Redis says it without such a policy. */
    private static final String NO_FREQUENCY = "ERR An LFU maxmemory policy is not selected, access frequency not " +
        "tracked. Please note that when switching between policies at runtime LRU and LFU data will take some time " +
        "to adjust.";
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

    /** What is counted for no record; of none there is nothing to say. */
    private static final class NotCounted extends Reading
    {
        private final String refusal;

        NotCounted(final String refusal)
        {
            this.refusal = refusal;
        }

        @Override
        protected void take(final TableOperation operation, final RespWriter writer)
        {
            if (OperationAnswer.FOUND == operation.answer())
            {
                writer.error(refusal);
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

    static void memory(final Session session)
    {
        final RespDecoder arguments = session.arguments();
        if (!Subcommands.is(session, MEMORY_ARITIES))
        {
            return;
        }
        for (int i = 3; i < arguments.count(); i += 2)
        {
            final boolean isOption = Arguments.is(arguments, i, "SAMPLES") && i + 1 < arguments.count();
            if (!isOption || !Arguments.isNumber(arguments, i + 1) || Arguments.number(arguments, i + 1) < 0)
            {
                final boolean isNumber = !isOption || Arguments.isNumber(arguments, i + 1);
                session.writer().error(isNumber ? Arguments.SYNTAX_ERROR : Arguments.NO_INTEGER);
                return;
            }
        }
        read(session, new Usage());
    }

    static void object(final Session session)
    {
        if (Subcommands.is(session, OBJECT_ARITIES))
        {
            read(session, switch (session.arguments().text(1).toUpperCase(Locale.ROOT))
            {
                case "REFCOUNT" -> new References();
                case "IDLETIME" -> new NotCounted(NO_IDLE_TIME);
                case "FREQ" -> new NotCounted(NO_FREQUENCY);
                default -> new Encoding();
            });
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
