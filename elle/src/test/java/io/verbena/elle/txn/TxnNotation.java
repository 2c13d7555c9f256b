package io.verbena.elle.txn;

import io.verbena.elle.history.Event;
import io.verbena.elle.history.EventType;
import io.verbena.elle.history.History;
import io.verbena.elle.history.HistoryBuilder;
import io.verbena.elle.history.Keyword;
import io.verbena.elle.history.Operation;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * Histories in a line per transaction: {@code [fail|info] [pN] [@CALL-END] OPS}.
 *
 * <p>{@code ax1} appends 1 to x, {@code wx1} writes it; {@code rx12} reads x as [1 2], or as 12 in a history of
 * registers; {@code rx} reads the empty list or nil. Without times a transaction runs at the same time as all others
 * without, and each is of a process of its own unless that is given. The first line is T0, and so on.
 */
final class TxnNotation
{
    private static final int ALWAYS_FROM = 0;
    private static final int ALWAYS_TO = 1_000;
    private static final int OWN_PROCESSES_FROM = 100;

    private TxnNotation()
    {
    }

    static History lists(final String... lines)
    {
        return history(TxnWorkload.LIST_APPEND, lines);
    }

    static History registers(final String... lines)
    {
        return history(TxnWorkload.RW_REGISTER, lines);
    }

    static History history(final TxnWorkload workload, final String... lines)
    {
        final List<Timed> events = new ArrayList<>();
        for (int i = 0; i < lines.length; i++)
        {
            addLine(events, workload, lines[i], i);
        }
        events.sort(Comparator.comparingInt(Timed::at));
        final HistoryBuilder builder = new HistoryBuilder();
        events.forEach(timed -> builder.add(timed.event));
        return builder.build();
    }

    private static void addLine(
        final List<Timed> events, final TxnWorkload workload, final String line, final int number)
    {
        EventType outcome = EventType.OK;
        int process = OWN_PROCESSES_FROM + number;
        int from = ALWAYS_FROM;
        int to = ALWAYS_TO;
        final List<Object> call = new ArrayList<>();
        final List<Object> result = new ArrayList<>();
        for (final String word : line.trim().split("\\s+"))
        {
            if (word.equals("fail") || word.equals("info"))
            {
                outcome = EventType.ofWord(word);
            }
            else if (word.startsWith("p"))
            {
                process = Integer.parseInt(word.substring(1));
            }
            else if (word.startsWith("@"))
            {
                final String[] times = word.substring(1).split("-");
                from = Integer.parseInt(times[0]);
                to = Integer.parseInt(times[1]);
            }
            else
            {
                call.add(operation(workload, word, false));
                result.add(operation(workload, word, true));
            }
        }
        events.add(new Timed(2 * from, event(process, EventType.INVOKE, call)));
        // Completions at the same moment as a call come after it: the two overlap.
        events.add(new Timed(2 * to + 1, event(process, outcome, outcome == EventType.OK ? result : null)));
    }

    private static List<Object> operation(final TxnWorkload workload, final String word, final boolean isDone)
    {
        final Keyword f = new Keyword(word.startsWith("a") ? "append" : word.substring(0, 1));
        final String key = word.substring(1, 2);
        final String value = word.substring(2);
        if (!word.startsWith("r"))
        {
            return List.of(f, key, Long.valueOf(value));
        }
        final Object read = workload == TxnWorkload.LIST_APPEND ?
            value.chars().mapToObj(digit -> (Object)(long)(digit - '0')).toList() :
            value.isEmpty() ? null : Long.valueOf(value);
        return Arrays.asList(f, key, isDone ? read : null);
    }

    private static Event event(final int process, final EventType type, final Object value)
    {
        return new Event(process, type, "txn", null, value, Operation.NO_TIME, -1, 0);
    }

    private record Timed(int at, Event event)
    {
    }
}
