package io.verbena.embedded;

import io.verbena.elle.history.Event;
import io.verbena.elle.history.EventType;
import io.verbena.elle.history.History;
import io.verbena.elle.history.HistoryBuilder;
import io.verbena.elle.history.Operation;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * What clients called and were told, with the moments at which memory was lost and restored. Each such moment ends a
 * history and begins the next one:
 *
 * <ul>
 * <li>The first gets a reader of each key that was called when the checkpoint began, and returns with what was
 *     restored: so this must have been the key's state at some moment in between.</li>
 * <li>The second begins with writers of what was restored.</li>
 * <li>Operations under way then may have had their effect in the first, and be lost, or in the second.</li>
 * </ul>
 */
final class EventLog
{
    /** Processes that no client is. */
    private static final int OTHERS = 1_000_000;

    /** Where a checkpoint began and its restoration ended, and what was restored: absent keys are null. */
    private record Cut(int began, int restored, Map<Integer, Object> states)
    {
    }

    private final String name;
    private final int firstKey;
    private final int keyCount;
    private final Function<Object, Object> valueOf;
    private final Function<Object, Object> answerOf;
    private final List<Event> events = new ArrayList<>();
    private final List<Cut> cuts = new ArrayList<>();
    private int nextOther = OTHERS;

    /**
     * @param valueOf  what a writer of a state writes.
     * @param answerOf what it is told.
     */
    EventLog(
        final String name,
        final int firstKey,
        final int keyCount,
        final Function<Object, Object> valueOf,
        final Function<Object, Object> answerOf)
    {
        this.name = name;
        this.firstKey = firstKey;
        this.keyCount = keyCount;
        this.valueOf = valueOf;
        this.answerOf = answerOf;
    }

    void invoke(final int process, final String function, final int key, final Object argument)
    {
        events.add(new Event(process, EventType.INVOKE, function, key, argument, Operation.NO_TIME, -1, 0));
    }

    void complete(final int process, final EventType type, final Object value)
    {
        events.add(new Event(process, type, null, null, value, Operation.NO_TIME, -1, 0));
    }

    /** Where the next event will be. */
    int position()
    {
        return events.size();
    }

    /** Memory was lost, and is restored now from what began at that position. */
    void cut(final int began, final Map<Integer, Object> states)
    {
        cuts.add(new Cut(began, position(), states));
    }

    /** One history for each range between two restorations. */
    List<History> histories()
    {
        final List<History> histories = new ArrayList<>();
        final Map<Integer, Event> open = new HashMap<>();
        int from = 0;
        for (int i = 0; i <= cuts.size(); i++)
        {
            final Cut before = i == 0 ? null : cuts.get(i - 1);
            final Cut after = i == cuts.size() ? null : cuts.get(i);
            histories.add(history(i, from, before, after, open));
            from = after == null ? from : after.restored;
        }
        return histories;
    }

    private History history(
        final int number, final int from, final Cut before, final Cut after, final Map<Integer, Event> open)
    {
        final HistoryBuilder history = new HistoryBuilder(name + ", range " + number);
        if (before != null)
        {
            before.states.forEach((key, state) -> write(history, key, state));
        }
        final Map<Integer, Integer> carried = new HashMap<>();
        open.forEach((process, event) ->
        {
            carried.put(process, nextOther++);
            history.invoke(carried.get(process), event.f(), event.key(), event.value());
        });
        final int to = after == null ? events.size() : after.restored;
        final int began = after == null ? -1 : Math.max(from, after.began);
        final Map<Integer, Integer> readers = new HashMap<>();
        for (int at = from; at <= to; at++)
        {
            if (at == began)
            {
                read(history, readers);
            }
            if (at < to)
            {
                add(history, events.get(at), carried, open);
            }
        }
        readers.forEach((key, process) -> history.ok(process, after.states.get(key)));
        return history.build();
    }

    private void add(
        final HistoryBuilder history,
        final Event event,
        final Map<Integer, Integer> carried,
        final Map<Integer, Event> open)
    {
        final int process = (Integer)event.process();
        if (event.type() == EventType.INVOKE)
        {
            open.put(process, event);
            history.add(event);
            return;
        }
        open.remove(process);
        final Integer other = carried.remove(process);
        if (other == null)
        {
            history.add(event);
        }
        else if (event.type() == EventType.FAIL)
        {
            history.complete(other, EventType.FAIL, null);
        }
        // Else it may have been told of an effect that was lost with the memory.
    }

    private void read(final HistoryBuilder history, final Map<Integer, Integer> readers)
    {
        for (int key = firstKey; key < firstKey + keyCount; key++)
        {
            readers.put(key, nextOther);
            history.invoke(nextOther++, "get", key, null);
        }
    }

    private void write(final HistoryBuilder history, final int key, final Object state)
    {
        if (state != null)
        {
            history.invoke(nextOther, "put", key, valueOf.apply(state));
            history.ok(nextOther++, answerOf.apply(state));
        }
    }
}
