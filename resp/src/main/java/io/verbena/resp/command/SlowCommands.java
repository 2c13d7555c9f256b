package io.verbena.resp.command;

import io.verbena.resp.codec.RespDecoder;
import io.verbena.resp.codec.RespWriter;
import io.verbena.resp.session.Session;
import io.verbena.resp.session.SlowLog;
import io.verbena.resp.session.SlowOperations;
import io.verbena.resp.session.SlowOperations.SlowOperation;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * SLOWLOG and LATENCY, from the slow operations of the node. It knows neither keys nor clients of them, and one event
 * only: {@code command}. Stateless.
 */
final class SlowCommands
{
    private static final Map<String, Integer> SLOWLOG_ARITIES = Map.of("GET", -2, "LEN", 2, "RESET", 2);
    private static final Map<String, Integer> LATENCY_ARITIES = Map.of("LATEST", 2, "HISTORY", 3, "RESET", -2,
        "DOCTOR", 2, "GRAPH", 3, "HISTOGRAM", -2);
    private static final long DEFAULT_COUNT = 10;
    private static final long ALL = -1;
    private static final String EVENT = "command";
    private static final long MS_OF_SECOND = TimeUnit.SECONDS.toMillis(1);

    private SlowCommands()
    {
    }

    static void slowlog(final Session session)
    {
        if (!Subcommands.is(session, SLOWLOG_ARITIES))
        {
            return;
        }
        final SlowOperations operations = log(session).operations();
        if (Arguments.is(session.arguments(), 1, "LEN"))
        {
            session.writer().number(operations.latestFirst().size());
        }
        else if (Arguments.is(session.arguments(), 1, "RESET"))
        {
            operations.forget();
            session.writer().ok();
        }
        else
        {
            get(session, operations);
        }
    }

    private static SlowLog log(final Session session)
    {
        return session.worker().port().slowLog();
    }

    private static void get(final Session session, final SlowOperations operations)
    {
        final RespDecoder arguments = session.arguments();
        final boolean hasCount = arguments.count() > 2;
        if (arguments.count() > 3)
        {
            Subcommands.refuse(session);
        }
        else if (hasCount && (!Arguments.isNumber(arguments, 2) || Arguments.number(arguments, 2) < ALL))
        {
            session.writer().error("ERR count should be greater than or equal to -1");
        }
        else
        {
            final long count = hasCount ? Arguments.number(arguments, 2) : DEFAULT_COUNT;
            final List<SlowOperation> slow = operations.latestFirst();
            final int shown = (int)(ALL == count ? slow.size() : Math.min(count, slow.size()));
            session.writer().array(shown);
            slow.subList(0, shown).forEach((operation) -> write(operation, session.writer()));
        }
    }

    private static void write(final SlowOperation operation, final RespWriter writer)
    {
        writer.array(6);
        writer.number(operation.number());
        writer.number(operation.endedMs() / MS_OF_SECOND);
        writer.number(TimeUnit.NANOSECONDS.toMicros(operation.responseNs()));
        writer.array(operation.words().size());
        operation.words().forEach(writer::bulk);
        // The log is that of the engine, which knows no clients; clients parse an address.
        writer.bulk("?:0");
        writer.bulk("");
    }

    static void latency(final Session session)
    {
        if (!Subcommands.is(session, LATENCY_ARITIES))
        {
            return;
        }
        final RespDecoder arguments = session.arguments();
        if (Arguments.is(arguments, 1, "LATEST"))
        {
            latest(session);
        }
        else if (Arguments.is(arguments, 1, "HISTORY"))
        {
            history(session);
        }
        else if (Arguments.is(arguments, 1, "RESET"))
        {
            final boolean isMeant = 2 == arguments.count() || isAny(arguments);
            session.writer().number(isMeant && log(session).resetLatencies() ? 1 : 0);
        }
        else
        {
            session.writer().error("ERR LATENCY " + arguments.text(1).toUpperCase(Locale.ROOT) +
                " is not supported: LATEST and HISTORY show slow operations, the node's metrics have histograms");
        }
    }

    private static boolean isAny(final RespDecoder arguments)
    {
        for (int i = 2; i < arguments.count(); i++)
        {
            if (isEvent(arguments, i))
            {
                return true;
            }
        }
        return false;
    }

    private static boolean isEvent(final RespDecoder arguments, final int i)
    {
        return EVENT.equals(arguments.text(i));
    }

    private static void latest(final Session session)
    {
        final List<SlowOperation> latencies = log(session).latencies();
        final RespWriter writer = session.writer();
        if (latencies.isEmpty())
        {
            writer.array(0);
            return;
        }
        writer.array(1);
        writer.array(4);
        writer.bulk(EVENT);
        writer.number(latencies.getFirst().endedMs() / MS_OF_SECOND);
        writer.number(ms(latencies.getFirst()));
        writer.number(latencies.stream().mapToLong(SlowCommands::ms).max().orElse(0));
    }

    /** As Redis: the longest of each second, the latest second at the end. */
    private static void history(final Session session)
    {
        final Map<Long, Long> longestBySecond = new TreeMap<>();
        if (isEvent(session.arguments(), 2))
        {
            log(session).latencies().forEach((operation) ->
                longestBySecond.merge(operation.endedMs() / MS_OF_SECOND, ms(operation), Math::max));
        }
        session.writer().array(longestBySecond.size());
        longestBySecond.forEach((second, longestMs) ->
        {
            session.writer().array(2);
            session.writer().number(second);
            session.writer().number(longestMs);
        });
    }

    private static long ms(final SlowOperation operation)
    {
        return TimeUnit.NANOSECONDS.toMillis(operation.responseNs());
    }
}
