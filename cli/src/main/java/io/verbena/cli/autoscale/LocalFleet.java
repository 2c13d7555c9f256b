package io.verbena.cli.autoscale;

import io.verbena.cli.cluster.ClusterFolder;
import io.verbena.cli.cluster.HealthProbe;
import io.verbena.cli.cluster.LocalCluster;
import io.verbena.cli.cluster.MetaCalls;
import io.verbena.cli.cluster.ProcessTable;
import io.verbena.cli.cluster.ProcessTable.Entry;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;

import org.agrona.concurrent.SystemNanoClock;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/**
 * Processes of this host, as {@code verbena scale} starts and ends them. The lock of the cluster is held while
 * processes are started or ended; a spare is activated without it. Used by one thread.
 */
final class LocalFleet implements Fleet
{
    private static final String COMPUTE = "compute-";
    private static final String SPARE = "spare-";
    private static final String META = "meta-server";
    private static final String AWAY = "away";
    private static final int UNSEEN = -1;
    private static final long META_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(2);

    /** A process that is ready and was not activated. */
    private record Spare(Entry entry, int nodeId, int incarnation)
    {
    }

    private final ClusterFolder folder;
    private final ProcessTable processes;
    private final long launchTimeoutS;
    private final Consumer<LocalCluster> setup;
    private final ClusterNodes nodes;
    private final SpareLaunches launches = new SpareLaunches(SystemNanoClock.INSTANCE);
    /** Numbers of processes that were activated here: their own figures say so a moment later. */
    private final Set<Long> activated = new HashSet<>();
    private List<Spare> spares = List.of();
    /** Nodes that the last look has seen; {@link #UNSEEN} when they were changed since. */
    private int seen = UNSEEN;

    /**
     * @param folder         of the cluster.
     * @param launchTimeoutS that a node may take until it serves.
     */
    LocalFleet(final ClusterFolder folder, final long launchTimeoutS)
    {
        this(folder, launchTimeoutS, (_) -> {});
    }

    /** As the other one; {@code setup} sees the cluster before each change. */
    LocalFleet(final ClusterFolder folder, final long launchTimeoutS, final Consumer<LocalCluster> setup)
    {
        this.setup = setup;
        this.folder = folder;
        this.launchTimeoutS = launchTimeoutS;
        processes = new ProcessTable(folder.processes());
        nodes = new ClusterNodes(() -> MetaCalls.open(folder, META_TIMEOUT_NS), ChangePermission.ALWAYS);
    }

    @Override
    public State observe()
    {
        final List<Entry> entries = processes.entries();
        if (entries.isEmpty())
        {
            throw new CommandFailedException(
                ExitStatus.UNAVAILABLE, "no cluster is up in " + folder.path() + ": 'verbena up'", null);
        }
        final List<Entry> running = new ArrayList<>();
        final List<String> dead = new ArrayList<>();
        boolean isMetaServerLive = false;
        for (final Entry entry : entries)
        {
            isMetaServerLive |= entry.name().startsWith(META) && entry.isLive();
            final boolean isSpare = entry.name().startsWith(SPARE);
            if (!isSpare && !entry.name().startsWith(COMPUTE))
            {
                continue;
            }
            if (!entry.isLive() && (!isSpare || activated.contains(entry.pid())))
            {
                dead.add(entry.name());
            }
            else if (entry.isLive() && 0 != entry.healthPort()) // else it has not been ready yet
            {
                running.add(entry);
            }
        }
        return state(running, dead, isMetaServerLive);
    }

    private State state(final List<Entry> running, final List<String> dead, final boolean isMetaServerLive)
    {
        final List<Map<String, Object>> figures = figures(running);
        final List<DemandSample> samples = new ArrayList<>();
        final List<Spare> ready = new ArrayList<>();
        boolean isReached = true;
        for (int i = 0; i < running.size(); i++)
        {
            final Entry entry = running.get(i);
            final Map<String, Object> health = figures.get(i);
            isReached &= null == health || !AWAY.equals(health.get("meta_server"));
            if (isSpare(entry, health))
            {
                addSpare(entry, health, ready);
            }
            else
            {
                final DemandSample sample = DemandSample.of(Long.toString(entry.pid()), health);
                if (null != sample)
                {
                    samples.add(sample);
                }
            }
        }
        final int live = (int)IntStream.range(0, running.size())
            .filter((i) -> !isSpare(running.get(i), figures.get(i))).count();
        // Clients are connected to the oldest ones already.
        ready.sort(Comparator.comparingInt(Spare::incarnation));
        spares = ready;
        seen = live;
        return new State(live, ready.size(), dead, samples, !isMetaServerLive ?
            "the meta server is dead: './verbena up' starts it again" :
            isReached ? null : "the meta server does not answer the nodes");
    }

    /** One called a spare that does not answer now counts as one: its clients, if any, stay with it. */
    private boolean isSpare(final Entry entry, final Map<String, Object> health)
    {
        return entry.name().startsWith(SPARE) && !activated.contains(entry.pid()) &&
            (null == health || !Boolean.FALSE.equals(health.get("spare")));
    }

    private static void addSpare(final Entry entry, final Map<String, Object> health, final List<Spare> ready)
    {
        if (null != health && Boolean.TRUE.equals(health.get("ready")) &&
            health.get("node_id") instanceof final Long nodeId &&
            health.get("incarnation") instanceof final Long incarnation)
        {
            ready.add(new Spare(entry, nodeId.intValue(), incarnation.intValue()));
        }
    }

    /** Of all at once: one that does not answer takes 2 s. */
    private static List<Map<String, Object>> figures(final List<Entry> entries)
    {
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor())
        {
            final List<Future<Map<String, Object>>> asked = entries.stream()
                .map((entry) -> threads.submit(() -> HealthProbe.figures(entry))).toList();
            final List<Map<String, Object>> figures = new ArrayList<>();
            asked.forEach((future) -> figures.add(join(future)));
            return figures;
        }
    }

    private static Map<String, Object> join(final Future<Map<String, Object>> future)
    {
        try
        {
            return future.get();
        }
        catch (final InterruptedException ex)
        {
            throw new CommandFailedException(ExitStatus.INTERRUPTED, "interrupted", ex);
        }
        catch (final ExecutionException ex)
        {
            return null; // a node without figures
        }
    }

    @Override
    public void resize(final int wanted, final Consumer<String> progress)
    {
        // Files are read only when spares have been activated: clients wait for those.
        final int live = UNSEEN == seen ? liveWithoutLook() : seen;
        seen = UNSEEN;
        final List<Spare> taken = spares.subList(0, Math.clamp((long)wanted - live, 0, spares.size()));
        for (final Spare spare : taken)
        {
            nodes.activate(spare.nodeId, spare.incarnation);
            activated.add(spare.entry.pid());
            progress.accept(spare.entry.name() + " is activated");
        }
        final boolean isDone = wanted == live + taken.size() && processes.entries().stream().noneMatch(
            (entry) -> entry.name().startsWith(COMPUTE) && !entry.isLive());
        spares = List.copyOf(spares.subList(taken.size(), spares.size()));
        if (isDone && launches.isUnderWay())
        {
            return; // names can wait, until the launches give the lock back
        }
        launches.alone(() ->
        {
            try (LocalCluster cluster = LocalCluster.openExisting(folder))
            {
                cluster.readyTimeoutS(launchTimeoutS);
                setup.accept(cluster);
                cluster.promoteSpares((entry) -> activated.contains(entry.pid()));
                if (!isDone)
                {
                    scale(cluster, wanted, progress);
                }
            }
        });
    }

    /** Processes that run and are no spares, by what is known already: nobody is asked, who would take time. */
    private int liveWithoutLook()
    {
        final Set<Long> waiting = new HashSet<>();
        spares.forEach((spare) -> waiting.add(spare.entry.pid()));
        return (int)processes.entries().stream().filter((entry) -> entry.isLive() && 0 != entry.healthPort())
            .filter((entry) -> entry.name().startsWith(COMPUTE) || activated.contains(entry.pid())).count();
    }

    private static void scale(final LocalCluster cluster, final int wanted, final Consumer<String> progress)
    {
        try
        {
            cluster.scale(wanted, progress);
        }
        catch (final CommandFailedException ex)
        {
            cluster.endUnready(progress);
            throw ex;
        }
    }

    @Override
    public String keepSpares(final int wanted)
    {
        if (wanted > 0)
        {
            nodes.prepare();
        }
        final List<Entry> entries =
            processes.entries().stream().filter((entry) -> entry.name().startsWith(SPARE)).toList();
        final long there = entries.stream()
            .filter((entry) -> entry.isLive() && !activated.contains(entry.pid())).count();
        if (there == wanted && there == entries.size())
        {
            return launches.failure();
        }
        return launches.begin(() ->
        {
            try (LocalCluster cluster = LocalCluster.openExisting(folder))
            {
                cluster.readyTimeoutS(launchTimeoutS);
                setup.accept(cluster);
                cluster.promoteSpares((entry) -> activated.contains(entry.pid()));
                cluster.scaleSpares(wanted, (_) -> {});
            }
        });
    }

    /** Waits for launches that are under way, and leaves the spares. */
    @Override
    public void close()
    {
        launches.close();
        nodes.close();
    }
}
