package io.verbena.cli.admin;

import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The traces of operations as lines of text. Stateless. */
final class SlowlogText
{
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss.SSS", Locale.ROOT);
    private static final double US_PER_MS = 1_000;
    private static final double US_PER_S = 1_000_000;
    private static final String NO_HASH = "0000000000000000";

    private SlowlogText()
    {
    }

    /**
     * @param operation as {@code docs/slowlog.md} describes it, with {@code node} besides.
     * @param zone      of the times shown.
     * @return a line of the operation, and an indented one for each of its steps.
     */
    static String of(final Map<?, ?> operation, final ZoneId zone)
    {
        final StringBuilder text = new StringBuilder();
        final double queuedUs = number(operation, "queued_us");
        text.append(TIME.withZone(zone).format(Instant.ofEpochMilli((long)number(operation, "ended_ms"))))
            .append(' ').append(operation.get("node"))
            .append(' ').append(words(operation.get("kind"))).append(' ').append(words(operation.get("answer")))
            .append(" in ").append(time(number(operation, "response_us")));
        if (queuedUs > 0)
        {
            text.append(", queued ").append(time(queuedUs));
        }
        text.append(": table ").append(operation.get("table")).append(", key of ")
            .append(count((long)number(operation, "key_bytes"), "byte"));
        if (!NO_HASH.equals(operation.get("key_hash")))
        {
            text.append(" (hash ").append(operation.get("key_hash")).append(')');
        }
        final long valueBytes = (long)number(operation, "value_bytes");
        final long retries = (long)number(operation, "retries");
        text.append(valueBytes > 0 ? ", value of " + count(valueBytes, "byte") : "")
            .append(0 == retries ? "" : 1 == retries ? ", 1 retry" : ", " + retries + " retries");
        text.append('\n');
        final List<?> steps = (List<?>)operation.get("steps");
        final long leftOut = (long)number(operation, "left_out");
        for (int i = 0; i < steps.size(); i++)
        {
            if (leftOut > 0 && steps.size() / 2 == i)
            {
                text.append("    ... ").append(leftOut).append(" more\n");
            }
            step(text, (Map<?, ?>)steps.get(i));
        }
        return text.toString();
    }

    private static void step(final StringBuilder text, final Map<?, ?> step)
    {
        final boolean waits = Boolean.TRUE.equals(step.get("waits"));
        final long roundTrips = (long)number(step, "round_trips");
        text.append(String.format(Locale.ROOT, "    at %9s for %9s  %-14s %s%n", time(number(step, "from_us")),
            time(number(step, "took_us")), words(step.get("step")), waits ? "waited" :
                count((long)number(step, "verbs"), "verb") + " to memory node " + (long)number(step, "memory_node") +
                (roundTrips > 1 ? ", " + roundTrips + " round trips" : "")));
    }

    private static String count(final long count, final String noun)
    {
        return count + " " + noun + (1 == count ? "" : "s");
    }

    /** @return a time with three digits or so. */
    static String time(final double us)
    {
        return us >= US_PER_S ? String.format(Locale.ROOT, "%.2f s", us / US_PER_S) : us >= US_PER_MS ?
            String.format(Locale.ROOT, "%.2f ms", us / US_PER_MS) : String.format(Locale.ROOT, "%.1f us", us);
    }

    private static String words(final Object name)
    {
        return String.valueOf(name).replace('_', ' ');
    }

    private static double number(final Map<?, ?> figures, final String name)
    {
        return ((Number)figures.get(name)).doubleValue();
    }
}
