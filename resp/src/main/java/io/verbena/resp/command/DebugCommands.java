package io.verbena.resp.command;

import io.verbena.resp.codec.RespDecoder;
import io.verbena.resp.session.Session;
import io.verbena.resp.session.TableOperation;
import io.verbena.resp.session.Task;

import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** DEBUG SLEEP, and what there is to say of scripts and functions where there are none. Stateless. */
final class DebugCommands
{
    private static final String LOAD = "LOAD";
    private static final Map<String, Integer> DEBUG_ARITIES = Map.of("SLEEP", -2);
    private static final Map<String, Integer> FUNCTION_ARITIES = Map.of("FLUSH", -2, "LIST", -2, LOAD, -3);
    private static final Map<String, Integer> SCRIPT_ARITIES = Map.of("FLUSH", -2, "EXISTS", -3, LOAD, 3);
    private static final double MOST_SECONDS = 3_600;

    /** Replies later; other clients are served meanwhile. */
    private static final class Sleep extends Task
    {
        private final long durationNs;
        private Future<?> end;

        Sleep(final long durationNs)
        {
            this.durationNs = durationNs;
        }

        @Override
        public void proceed(final Session session)
        {
            if (null == end)
            {
                end = session.transport().schedule(durationNs, () -> wake(session));
            }
        }

        private static void wake(final Session session)
        {
            if (!session.isClosed())
            {
                session.writer().ok();
                session.endTask();
                session.resume();
            }
        }

        @Override
        public void onAnswer(final Session session, final TableOperation operation)
        {
            throw new IllegalStateException("a task without operations got the answer of one: " + operation);
        }

        @Override
        public void onClosed(final Session session)
        {
            end.cancel(false);
        }
    }

    private DebugCommands()
    {
    }

    static void debug(final Session session)
    {
        if (Subcommands.is(session, DEBUG_ARITIES) && 3 != session.arguments().count())
        {
            Subcommands.refuse(session);
        }
        else if (Arguments.is(session.arguments(), 1, "SLEEP"))
        {
            final double seconds = seconds(session.arguments().text(2));
            if (seconds >= 0 && seconds <= MOST_SECONDS)
            {
                session.begin(new Sleep((long)(seconds * TimeUnit.SECONDS.toNanos(1))));
            }
            else
            {
                session.writer().error("ERR DEBUG SLEEP takes 0 to 3600 seconds");
            }
        }
    }

    private static double seconds(final String text)
    {
        try
        {
            return Double.parseDouble(text);
        }
        catch (final NumberFormatException ex)
        {
            return Double.NaN;
        }
    }

    /** There are none: a client that empties them before a test finds them empty. */
    static void function(final Session session)
    {
        if (Subcommands.is(session, FUNCTION_ARITIES))
        {
            if (Arguments.is(session.arguments(), 1, "FLUSH"))
            {
                if (session.arguments().count() > 3)
                {
                    Subcommands.refuse(session);
                    return;
                }
                flush(session, "ERR FUNCTION FLUSH only supports SYNC|ASYNC option");
            }
            else if (Arguments.is(session.arguments(), 1, LOAD))
            {
                refuseLoad(session);
            }
            else
            {
                functionList(session);
            }
        }
    }

    private static void functionList(final Session session)
    {
        final RespDecoder arguments = session.arguments();
        int i = 2;
        while (i < arguments.count() && (Arguments.is(arguments, i, "WITHCODE") ||
            Arguments.is(arguments, i, "LIBRARYNAME") && i + 1 < arguments.count()))
        {
            i += Arguments.is(arguments, i, "WITHCODE") ? 1 : 2;
        }
        if (i < arguments.count())
        {
            session.writer().error(Arguments.is(arguments, i, "LIBRARYNAME") ?
                "ERR library name argument was not given" : "ERR Unknown argument " + arguments.text(i));
        }
        else
        {
            session.writer().array(0);
        }
    }

    /** In words of its own: Redisson waits for ever after an unknown EVALSHA. */
    static void refuseScript(final Session session)
    {
        refuse(session, session.arguments().text(0));
    }

    private static void refuseLoad(final Session session)
    {
        refuse(session, session.arguments().text(0) + ' ' + LOAD);
    }

    private static void refuse(final Session session, final String what)
    {
        session.writer().error("ERR " + what.toUpperCase(Locale.ROOT) + " is not supported: the node runs no scripts");
    }

    static void script(final Session session)
    {
        if (Subcommands.is(session, SCRIPT_ARITIES))
        {
            if (Arguments.is(session.arguments(), 1, "FLUSH"))
            {
                flush(session, "ERR SCRIPT FLUSH only support SYNC|ASYNC option");
            }
            else if (Arguments.is(session.arguments(), 1, LOAD))
            {
                refuseLoad(session);
            }
            else
            {
                final int scripts = session.arguments().count() - 2;
                session.writer().array(scripts);
                for (int i = 0; i < scripts; i++)
                {
                    session.writer().number(0);
                }
            }
        }
    }

    private static void flush(final Session session, final String refusal)
    {
        final RespDecoder arguments = session.arguments();
        if (2 == arguments.count() || 3 == arguments.count() &&
            (Arguments.is(arguments, 2, "SYNC") || Arguments.is(arguments, 2, "ASYNC")))
        {
            session.writer().ok();
        }
        else
        {
            session.writer().error(refusal);
        }
    }
}
