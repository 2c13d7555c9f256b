package io.verbena.cli.admin;

import io.verbena.cli.cluster.HealthProbe;
import io.verbena.cli.cluster.ProcessTable.Entry;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/** The slow logs of the compute nodes of a cluster as one. Stateless. */
final class SlowOperations
{
    private static final String PATH = "/slowlog";

    private SlowOperations()
    {
    }

    /**
     * Asks all compute nodes at once.
     *
     * @param entries of the processes.
     * @param list    {@code slow} or {@code sampled}.
     * @return their operations, the latest last, each as {@code docs/slowlog.md} describes it with {@code node} and
     * {@code pid} besides; null when no compute node answered.
     */
    static List<Map<String, Object>> of(final List<Entry> entries, final String list)
    {
        final List<Map<String, Object>> operations = new ArrayList<>();
        boolean hasAnswered = false;
        for (final Map<String, Object> process : ProcessFigures.of(
            entries, (entry) -> HealthProbe.ask(entry, PATH)))
        {
            if (process.get("health") instanceof final Map<?, ?> log)
            {
                hasAnswered = true;
                for (final Object each : (List<?>)log.get(list))
                {
                    final Map<String, Object> operation = new LinkedHashMap<>();
                    operation.put("node", process.get("name"));
                    operation.put("pid", process.get("pid"));
                    ((Map<?, ?>)each).forEach((name, value) -> operation.put(name.toString(), value));
                    operations.add(operation);
                }
            }
        }
        operations.sort(Comparator.comparingLong(number("ended_ms")).thenComparingLong(number("number")));
        return hasAnswered ? operations : null;
    }

    static ToLongFunction<Map<String, Object>> number(final String name)
    {
        return (operation) -> ((Number)operation.get(name)).longValue();
    }
}
