package io.verbena.cli.autoscale;

import io.verbena.cli.autoscale.policy.Decision;
import io.verbena.cli.autoscale.policy.Demand;
import io.verbena.server.HealthServer;

import java.io.PrintWriter;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * A decision with its inputs and with what came of it: a line of the log.
 *
 * @param timeMs   since 1970.
 * @param decision made.
 * @param demand   that it was made on.
 * @param outcome  one of the words below.
 * @param detail   what was done, or why not; may be empty.
 */
record DecisionRecord(long timeMs, Decision decision, Demand demand, String outcome, String detail)
{
    /** Nothing was to change. */
    static final String HELD = "held";
    /** Changed. */
    static final String DONE = "done";
    /** Changing failed; some nodes may have been started or ended. */
    static final String FAILED = "failed";
    /** To be changed, but not now. */
    static final String DELAYED = "delayed";
    /** To be changed, but nothing is. */
    static final String DRY_RUN = "dry run";
    private static final DateTimeFormatter TIME =
        DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss", Locale.ROOT).withZone(ZoneId.systemDefault());

    /** @return the record, with what else went wrong. */
    DecisionRecord withTrouble(final String trouble)
    {
        return new DecisionRecord(timeMs, decision, demand, outcome,
            detail.isEmpty() ? trouble : detail + "; " + trouble);
    }

    /** @return the record as members of a JSON object. */
    Map<String, Object> json()
    {
        final Map<String, Object> members = new LinkedHashMap<>();
        members.put("time_ms", timeMs);
        members.put("from", decision.fromNodes());
        members.put("to", decision.toNodes());
        members.put("needed", decision.neededNodes());
        members.put("rule", decision.rule().name().toLowerCase(Locale.ROOT));
        members.put("outcome", outcome);
        members.put("reason", decision.reason());
        members.put("detail", detail);
        members.put("reporting_nodes", demand.reportingNodes());
        members.put("use_nodes", demand.useNodes());
        members.put("operations_per_second", demand.operationsPerSecond());
        members.put("p99_us", demand.p99Us());
        members.put("wait_p99_us", demand.waitP99Us());
        members.put("processors", demand.processorShare());
        return members;
    }

    /** @return whether a person wants to see it who asks only for what happened. */
    static boolean isEvent(final Map<String, Object> members)
    {
        return !HELD.equals(members.get("outcome"));
    }

    /**
     * Writes the members of a record for people.
     *
     * @param members as of {@link #json()}, or as read from a log.
     * @return one line.
     */
    static String line(final Map<String, Object> members)
    {
        final Object from = members.get("from");
        final Object to = members.get("to");
        final Object detail = members.get("detail");
        return TIME.format(Instant.ofEpochMilli(((Number)members.get("time_ms")).longValue())) + "  " +
            (from.equals(to) ? to + " stay" : from + " -> " + to) + "  " + members.get("reason") +
            (HELD.equals(members.get("outcome")) ? "" : "; " + members.get("outcome")) +
            (null == detail || "".equals(detail) ? "" : ": " + detail) +
            String.format(Locale.ROOT, "  [%,.0f operations/s, p99 %,.0f us, wait p99 %,.0f us]",
                number(members, "operations_per_second"), number(members, "p99_us"), number(members, "wait_p99_us"));
    }

    /** Prints a record that is an event, or any. */
    static void print(
        final Map<String, Object> members, final PrintWriter out, final boolean isJson, final boolean isAny)
    {
        if (isAny || isEvent(members))
        {
            out.println(isJson ? HealthServer.json(members) : line(members));
            out.flush();
        }
    }

    private static double number(final Map<String, Object> members, final String name)
    {
        return members.get(name) instanceof final Number number ? number.doubleValue() : 0;
    }
}
