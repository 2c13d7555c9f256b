package io.verbena.cli.autoscale.launch;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;

import org.agrona.concurrent.NanoClock;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Nodes on listed hosts, which a command starts and another one ends, such as units of systemd by ssh. A node is called
 * HOST-N; each new one comes to the host that has the fewest. Nothing is kept between two runs: the names that nodes
 * report say where they are.
 */
public final class CommandLauncher implements Launcher
{
    private static final String HOST = "[A-Za-z0-9][A-Za-z0-9_.:@-]{0,200}";

    private final CommandTemplate start;
    private final CommandTemplate stop;
    private final List<String> hosts;
    private final long timeoutMs;
    private final NanoClock clock;
    /** Names whose start was begun, with the time by which they must have come. */
    private final Map<String, Long> begun = new ConcurrentHashMap<>();

    /**
     * @param start     command that starts the node {name} on {host}, and does not wait for its end.
     * @param stop      command that ends it, by SIGTERM, and may wait for that.
     * @param hosts     where nodes may run, 1 or more, all different.
     * @param timeoutMs of a command, and until a node has come.
     * @param clock     for that.
     * @throws CommandFailedException USAGE, one line, when one of these cannot be meant.
     */
    public CommandLauncher(
        final String start, final String stop, final List<String> hosts, final long timeoutMs, final NanoClock clock)
    {
        this.start = new CommandTemplate("--start", start);
        this.stop = new CommandTemplate("--stop", stop);
        this.hosts = List.copyOf(hosts);
        this.timeoutMs = timeoutMs;
        this.clock = clock;
        final Set<String> seen = new HashSet<>();
        for (final String host : hosts)
        {
            if (!host.matches(HOST) || !seen.add(host))
            {
                throw new CommandFailedException(ExitStatus.USAGE, "--hosts '" + host +
                    "': must be names of hosts, each once, of letters, digits and the marks . _ @ : -", null);
            }
        }
        for (final CommandTemplate template : List.of(this.start, this.stop))
        {
            if (hosts.size() > 1 && !template.text().contains("{host}"))
            {
                throw new CommandFailedException(ExitStatus.USAGE, template.option() + " '" + template.text() +
                    "': must contain {host}, as there are " + hosts.size() + " of them", null);
            }
        }
    }

    /** The host of a node that is called HOST-N, or null. */
    private String host(final String name)
    {
        final int dash = name.lastIndexOf('-');
        return dash > 0 && name.substring(dash + 1).matches("[1-9]\\d{0,8}") &&
            hosts.contains(name.substring(0, dash)) ?
            name.substring(0, dash) : null;
    }

    @Override
    public boolean owns(final String name)
    {
        return null != host(name);
    }

    @Override
    public boolean restarts()
    {
        return false;
    }

    @Override
    public void start(final int count, final List<String> present)
    {
        dropOld(present);
        final Set<String> taken = new HashSet<>(present);
        taken.addAll(begun.keySet());
        final List<String> names = new ArrayList<>();
        for (int i = 0; i < count; i++)
        {
            final String name = next(taken);
            taken.add(name);
            names.add(name);
            begun.put(name, clock.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs));
        }
        together(names, (name) ->
        {
            try
            {
                start.run(name, host(name), timeoutMs);
            }
            catch (final CommandFailedException ex)
            {
                begun.remove(name);
                throw ex;
            }
        });
    }

    private String next(final Set<String> taken)
    {
        final String host = hosts.stream().min(Comparator.comparingLong((final String each) ->
            taken.stream().filter((name) -> each.equals(host(name))).count())).orElseThrow();
        int number = 1;
        while (taken.contains(host + '-' + number))
        {
            number++;
        }
        return host + '-' + number;
    }

    @Override
    public void end(final List<String> names)
    {
        together(names, (name) -> stop.run(name, host(name), timeoutMs));
    }

    /** All at once: each may take as long as a node drains. Throws the first failure when all have ended. */
    private static void together(final List<String> names, final Consumer<String> action)
    {
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor())
        {
            final List<Future<?>> actions = new ArrayList<>();
            names.forEach((name) -> actions.add(threads.submit(() -> action.accept(name))));
            CommandFailedException failure = null;
            for (final Future<?> each : actions)
            {
                try
                {
                    each.get();
                }
                catch (final InterruptedException ex)
                {
                    threads.shutdownNow();
                    throw new CommandFailedException(ExitStatus.INTERRUPTED, "interrupted", ex);
                }
                catch (final ExecutionException ex)
                {
                    failure = null != failure ? failure : ex.getCause() instanceof final CommandFailedException known ?
                        known : new CommandFailedException(ExitStatus.INTERNAL, ex.getCause().toString(), ex);
                }
            }
            if (null != failure)
            {
                throw failure;
            }
        }
    }

    @Override
    public int coming(final List<String> present)
    {
        dropOld(present);
        return begun.size();
    }

    private void dropOld(final List<String> present)
    {
        begun.keySet().removeAll(present);
        final long nowNs = clock.nanoTime();
        begun.values().removeIf((deadlineNs) -> deadlineNs - nowNs <= 0);
    }

    @Override
    public void giveUp(final List<String> present)
    {
        begun.keySet().removeAll(present);
        final List<String> names = List.copyOf(begun.keySet());
        begun.clear();
        end(names);
    }
}
