package io.verbena.cli.autoscale;

import io.verbena.cli.autoscale.policy.ScaleLimits;
import io.verbena.cli.cluster.ClusterFolder;
import io.verbena.cli.cluster.HealthProbe;
import io.verbena.cli.cluster.ProcessTable;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;

import org.agrona.concurrent.EpochClock;
import org.agrona.concurrent.NanoClock;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** A cluster on this host under a load and an autoscaler, looked at all the time. Used by one thread. */
final class AutoscaleRun implements AutoCloseable
{
    private static final long POLL_MS = 5;
    private static final long CALM_MS = 1_000;
    private static final double CALM_SHARE = 0.05;
    private static final long SPARES_TIMEOUT_NS = TimeUnit.MINUTES.toNanos(5);

    private static final String ACTIVATED = " is activated";

    /** When a spare was to be activated, and when the meta server had done so. */
    private record Activation(long decidedNs, long activatedNs)
    {
    }

    /** How many nodes there were from a time on. */
    record Nodes(int window, int count)
    {
    }

    private final LocalFleet fleet;
    private final ProcessTable processes;
    private final OpenLoad load;
    private final NanoClock clock;
    private final EpochClock wallClock;
    private final List<Nodes> nodes = new ArrayList<>();
    private final List<Double> joinsMs = new ArrayList<>();
    private final List<String> decisions = new ArrayList<>();
    private final Map<Long, Activation> activations = new HashMap<>();
    private final List<String> joinSteps = new ArrayList<>();
    private final Thread limiter;
    private volatile CpuQuota quota;
    private volatile boolean isOver;

    AutoscaleRun(
        final ClusterFolder folder, final OpenLoad load, final NanoClock clock, final EpochClock wallClock)
    {
        this.load = load;
        this.clock = clock;
        this.wallClock = wallClock;
        fleet = new LocalFleet(folder, 120);
        processes = new ProcessTable(folder.processes());
        limiter = Thread.ofPlatform().daemon().name("verbena-quota").start(this::limit);
    }

    /** Holds compute nodes to a quota from now on, as soon as their processes are there. */
    void limitBy(final CpuQuota newQuota)
    {
        quota = newQuota;
    }

    /** Looks for no more processes; those that are limited stay so. */
    void stopLimits()
    {
        quota = null;
    }

    private void limit()
    {
        final Set<Long> limited = new HashSet<>();
        while (!isOver)
        {
            final CpuQuota now = quota;
            if (null != now)
            {
                computeNodes().stream().filter((entry) -> limited.add(entry.pid())).forEach((entry) ->
                    limit(now, entry.pid()));
            }
            try
            {
                Thread.sleep(POLL_MS);
            }
            catch (final InterruptedException ex)
            {
                return;
            }
        }
    }

    private static void limit(final CpuQuota quota, final long pid)
    {
        try
        {
            quota.limit(pid);
        }
        catch (final IOException ex)
        {
            // it has ended just now
        }
    }

    private List<ProcessTable.Entry> computeNodes()
    {
        return processes.entries().stream()
            .filter((entry) -> entry.name().startsWith("compute-") || entry.name().startsWith("spare-")).toList();
    }

    /** Has so many spares, which takes as long as they start; returns how long, in ms. */
    double awaitSpares(final int count) throws InterruptedException
    {
        final long beganNs = clock.nanoTime();
        String trouble = "";
        while (fleet.observe().spares() < count)
        {
            final String failed = fleet.keepSpares(count);
            trouble = null == failed ? trouble : ": " + failed;
            if (clock.nanoTime() - beganNs > SPARES_TIMEOUT_NS)
            {
                throw new CommandFailedException(ExitStatus.FAILED, count + " spares are not ready after " +
                    TimeUnit.NANOSECONDS.toSeconds(SPARES_TIMEOUT_NS) + " s" + trouble, null);
            }
            Thread.sleep(POLL_MS);
        }
        return (clock.nanoTime() - beganNs) / 1e6;
    }

    /**
     * Waits until spares have warmed up, and until their compilers have done with that: until all of them together use
     * less than a twentieth of a processor for a second.
     *
     * @return how long, in ms.
     */
    double awaitWarmUp() throws InterruptedException
    {
        final long beganNs = clock.nanoTime();
        long lastNs = beganNs;
        long lastUsedNs = processorNs();
        while (true)
        {
            Thread.sleep(CALM_MS);
            final long nowNs = clock.nanoTime();
            final long usedNs = processorNs();
            if (usedNs - lastUsedNs < CALM_SHARE * (nowNs - lastNs) && spares().stream().map(HealthProbe::figures)
                .allMatch((health) -> null != health && Boolean.FALSE.equals(health.get("warming_up"))))
            {
                return (clock.nanoTime() - beganNs) / 1e6;
            }
            if (nowNs - beganNs > SPARES_TIMEOUT_NS)
            {
                throw new CommandFailedException(ExitStatus.FAILED, "spares still warm up after " +
                    TimeUnit.NANOSECONDS.toSeconds(SPARES_TIMEOUT_NS) + " s", null);
            }
            lastNs = nowNs;
            lastUsedNs = usedNs;
        }
    }

    private List<ProcessTable.Entry> spares()
    {
        return computeNodes().stream().filter((entry) -> entry.name().startsWith("spare-")).toList();
    }

    /** Time of processors that spares have used. */
    private long processorNs()
    {
        return spares().stream().mapToLong((entry) -> ProcessHandle.of(entry.pid())
            .flatMap((process) -> process.info().totalCpuDuration()).map(Duration::toNanos).orElse(0L)).sum();
    }

    /** Changes the number of nodes, and notes when that was decided. */
    void resize(final int count, final Consumer<String> progress)
    {
        final Map<String, Long> pids = new HashMap<>();
        computeNodes().forEach((entry) -> pids.put(entry.name(), entry.pid()));
        final long nowNs = clock.nanoTime();
        fleet.resize(count, (line) ->
        {
            progress.accept(line);
            if (line.endsWith(ACTIVATED))
            {
                activations.put(pids.get(line.substring(0, line.length() - ACTIVATED.length())),
                    new Activation(nowNs, clock.nanoTime()));
            }
        });
        nodes.add(new Nodes(load.window(), count));
    }

    /** Notes when each spare that was activated served its first request; drops those that are known already. */
    void noteJoins()
    {
        for (final ProcessTable.Entry entry : computeNodes())
        {
            final Activation activation = activations.get(entry.pid());
            final Map<String, Object> health = null == activation ? null : HealthProbe.figures(entry);
            if (null != health && health.get("first_request_after_us") instanceof final Long afterUs && afterUs >= 0 &&
                health.get("first_client_after_us") instanceof final Long clientAfterUs &&
                health.get("began_ns") instanceof final Long began)
            {
                // The clock of all processes of a host is one.
                final double joinMs = (began + TimeUnit.MICROSECONDS.toNanos(afterUs) - activation.decidedNs) / 1e6;
                final double activatedMs = (activation.activatedNs - activation.decidedNs) / 1e6;
                final double clientMs =
                    (began + TimeUnit.MICROSECONDS.toNanos(clientAfterUs) - activation.decidedNs) / 1e6;
                joinsMs.add(joinMs);
                joinSteps.add(String.format(Locale.ROOT,
                    "the meta server has answered after %.1f ms, a client %s, a request is answered after %.1f ms",
                    activatedMs, clientMs < 0 ? "was connected before" :
                    String.format(Locale.ROOT, "is connected after %.1f ms", clientMs), joinMs));
                activations.remove(entry.pid());
            }
        }
    }

    /** Lets an autoscaler work for some time, or until a condition holds after one of its decisions. */
    void autoscale(
        final ScaleLimits limits, final long periodMs, final int spares, final long lengthMs,
        final Predicate<DecisionRecord> until) throws InterruptedException
    {
        final Autoscaler autoscaler = new Autoscaler(new Watched(), limits, periodMs, spares, false, clock, wallClock);
        final long beganNs = clock.nanoTime();
        while (clock.nanoTime() - beganNs < TimeUnit.MILLISECONDS.toNanos(lengthMs))
        {
            final long nowNs = clock.nanoTime();
            final DecisionRecord record = autoscaler.step();
            if (!DecisionRecord.HELD.equals(record.outcome()))
            {
                decisions.add(DecisionRecord.line(record.json()));
            }
            noteJoins();
            if (until.test(record))
            {
                return;
            }
            Thread.sleep(Math.max(0, periodMs - TimeUnit.NANOSECONDS.toMillis(clock.nanoTime() - nowNs)));
        }
    }

    /** The nodes, with a note of each change. */
    private final class Watched implements Fleet
    {
        @Override
        public State observe()
        {
            final State state = fleet.observe();
            if (nodes.isEmpty() || nodes.getLast().count() != state.live())
            {
                nodes.add(new Nodes(load.window(), state.live()));
            }
            return state;
        }

        @Override
        public void resize(final int count, final Consumer<String> progress)
        {
            AutoscaleRun.this.resize(count, progress);
        }

        @Override
        public String keepSpares(final int spares)
        {
            return fleet.keepSpares(spares);
        }
    }

    LocalFleet fleet()
    {
        return fleet;
    }

    List<Nodes> nodes()
    {
        return nodes;
    }

    List<Double> joinsMs()
    {
        return joinsMs;
    }

    /** @return what took how long of each join, a line each. */
    List<String> joinSteps()
    {
        return joinSteps;
    }

    List<String> decisions()
    {
        return decisions;
    }

    /** @return requests that compute nodes which are there have refused, so that they were sent again. */
    long refused()
    {
        return computeNodes().stream().map(HealthProbe::figures)
            .mapToLong((health) -> null != health && health.get("refused_requests") instanceof final Long count ?
                count : 0).sum();
    }

    @Override
    public void close()
    {
        isOver = true;
        limiter.interrupt();
        fleet.close();
    }
}
