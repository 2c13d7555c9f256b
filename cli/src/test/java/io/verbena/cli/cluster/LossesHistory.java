package io.verbena.cli.cluster;

import io.verbena.elle.Validity;
import io.verbena.elle.check.Elle;
import io.verbena.elle.history.Event;
import io.verbena.elle.history.EventType;
import io.verbena.elle.history.History;
import io.verbena.elle.history.HistoryBuilder;
import io.verbena.elle.history.Operation;
import io.verbena.elle.linear.LinearOptions;
import io.verbena.elle.linear.LinearVerdict;
import io.verbena.elle.linear.Models;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What clients called and what was answered, in the functions of the checker's model of a map with versions, each value
 * written once; and what that shows. Two judges that share nothing: one compares what is there in the end with the
 * writes that were acknowledged, the other checks that everything is linearizable. Thread-safe.
 */
final class LossesHistory
{
    private static final long CHECK_NS = TimeUnit.MINUTES.toNanos(5);
    private static final Set<String> WRITES =
        Set.of("put", "put-if-absent", "replace", "delete", "delete-version");

    private final String source;
    private final List<Event> events = new ArrayList<>();
    private int nextProcess;
    private long acknowledged;

    /** A write that may have taken effect; a position is that of an event. */
    private record Write(int begin, int end, Object value, boolean isAcknowledged)
    {
    }

    LossesHistory(final String source)
    {
        this.source = source;
    }

    /** One who calls, one function after another; one that does not know what became of a call calls no more. */
    synchronized int newProcess()
    {
        return nextProcess++;
    }

    synchronized void add(
        final int process, final EventType type, final String function, final String key, final Object value)
    {
        events.add(new Event(process, type, function, key, value, Operation.NO_TIME, -1, 0));
        acknowledged += EventType.OK == type && WRITES.contains(function) && isDone(value) ? 1 : 0;
    }

    /** Writes that were acknowledged, and changed something. */
    synchronized long acknowledgedCount()
    {
        return acknowledged;
    }

    synchronized int callCount()
    {
        return (int)events.stream().filter((event) -> EventType.INVOKE == event.type()).count();
    }

    /** Calls that ended like that. */
    synchronized long count(final EventType type)
    {
        return events.stream().filter((event) -> type == event.type()).count();
    }

    private static boolean isDone(final Object answer)
    {
        return !(answer instanceof List<?>) && !Boolean.FALSE.equals(answer);
    }

    /**
     * Compares the last read of each key, which is behind all else, with the writes.
     *
     * @return a line for each key that no longer has what was acknowledged, nor anything that replaced it.
     */
    synchronized List<String> lost()
    {
        final Map<String, List<Write>> writes = new TreeMap<>();
        final Map<String, Object> found = new HashMap<>();
        final Map<Integer, Integer> begins = new HashMap<>();
        for (int i = 0; i < events.size(); i++)
        {
            final Event event = events.get(i);
            final Integer process = (Integer)event.process();
            if (EventType.INVOKE == event.type())
            {
                begins.put(process, i);
            }
            else if (EventType.OK == event.type() && "get".equals(event.f()))
            {
                found.put((String)event.key(), event.value() instanceof final List<?> some ? some.getFirst() : null);
            }
            else if (WRITES.contains(event.f()) && EventType.FAIL != event.type() &&
                (EventType.INFO == event.type() || isDone(event.value())))
            {
                final boolean isOver = EventType.OK == event.type();
                final Object input = events.get(begins.get(process)).value();
                writes.computeIfAbsent((String)event.key(), (_) -> new ArrayList<>()).add(new Write(
                    begins.get(process), isOver ? i : Integer.MAX_VALUE, written(event.f(), input), isOver));
            }
        }
        final List<String> lost = new ArrayList<>();
        writes.forEach((key, all) ->
        {
            // Whatever ended before another acknowledged write began has been replaced.
            final int lastBegin = all.stream().filter(Write::isAcknowledged).mapToInt(Write::begin).max().orElse(-1);
            final List<Object> possible = new ArrayList<>();
            all.stream().filter((write) -> write.end > lastBegin).forEach((write) -> possible.add(write.value));
            if (lastBegin >= 0 && !possible.contains(found.get(key)))
            {
                lost.add(key + " holds " + found.get(key) + ", not one of " + possible);
            }
        });
        return lost;
    }

    /** @return what the key holds after such a write; null: nothing. */
    private static Object written(final String function, final Object input)
    {
        return switch (function)
        {
            case "put", "put-if-absent" -> input;
            case "replace" -> ((List<?>)input).getLast();
            default -> null;
        };
    }

    /** @return the checker's verdict on everything. */
    synchronized LinearVerdict verdict()
    {
        final HistoryBuilder builder = new HistoryBuilder(source);
        events.forEach(builder::add);
        final History history = builder.build();
        return Elle.checkLinearizable(
            history, Models.versionedKvMap(), LinearOptions.defaults().withTimeoutNs(CHECK_NS));
    }

    /** Fails unless both judges find nothing. */
    void requireSound(final Object context)
    {
        assertThat(lost()).as("acknowledged writes that are lost: %s", context).isEmpty();
        final LinearVerdict verdict = verdict();
        assertThat(verdict.validity()).as("linearizable: %s: %s", context, verdict.explanation())
            .isEqualTo(Validity.VALID);
    }
}
