package io.verbena.cli.admin;

import io.verbena.cli.cluster.HealthProbe;
import io.verbena.cli.cluster.ProcessTable.Entry;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** What the processes of a cluster on this host report, all asked at once. Stateless. */
final class ProcessFigures
{
    /** More than a probe takes to end by itself. */
    private static final long TIMEOUT_S = 5;

    private ProcessFigures()
    {
    }

    /**
     * Asks all of them; those that do not answer delay the others not at all, and the whole by 5 s at most.
     *
     * @param entries of the processes.
     * @return {@code name}, {@code pid}, {@code live} and {@code health} of each, null where it did not answer.
     */
    static List<Map<String, Object>> of(final List<Entry> entries)
    {
        return of(entries, HealthProbe::figures);
    }

    /** As the other one, with anything else that a process answers as {@code health}. */
    static List<Map<String, Object>> of(
        final List<Entry> entries, final Function<Entry, Map<String, Object>> question)
    {
        final List<Callable<Map<String, Object>>> probes =
            entries.stream().map((entry) -> (Callable<Map<String, Object>>)() -> figures(entry, question)).toList();
        final List<Map<String, Object>> all = new ArrayList<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor())
        {
            final List<Future<Map<String, Object>>> answers =
                threads.invokeAll(probes, TIMEOUT_S, TimeUnit.SECONDS);
            for (int i = 0; i < entries.size(); i++)
            {
                all.add(answer(entries.get(i), answers.get(i)));
            }
        }
        catch (final InterruptedException ex)
        {
            Thread.currentThread().interrupt();
            entries.subList(all.size(), entries.size()).forEach((entry) -> all.add(figures(entry, true, null)));
        }
        return all;
    }

    private static Map<String, Object> answer(final Entry entry, final Future<Map<String, Object>> answer)
        throws InterruptedException
    {
        try
        {
            return answer.get();
        }
        catch (final CancellationException | ExecutionException ex)
        {
            return figures(entry, true, null);
        }
    }

    private static Map<String, Object> figures(
        final Entry entry, final Function<Entry, Map<String, Object>> question)
    {
        final boolean isLive = entry.isLive();
        return figures(entry, isLive, isLive ? question.apply(entry) : null);
    }

    private static Map<String, Object> figures(
        final Entry entry, final boolean isLive, final Map<String, Object> health)
    {
        final Map<String, Object> process = new LinkedHashMap<>();
        process.put("name", entry.name());
        process.put("pid", entry.pid());
        process.put("live", isLive);
        process.put("health", health);
        return process;
    }

    /** @return whether a process is ready by its own word. */
    static boolean isReady(final Map<String, Object> process)
    {
        return process.get("health") instanceof final Map<?, ?> health && Boolean.TRUE.equals(health.get("ready"));
    }
}
