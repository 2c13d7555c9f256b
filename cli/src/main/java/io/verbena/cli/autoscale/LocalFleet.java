package io.verbena.cli.autoscale;

import io.verbena.cli.cluster.ClusterFolder;
import io.verbena.cli.cluster.HealthProbe;
import io.verbena.cli.cluster.LocalCluster;
import io.verbena.cli.cluster.ProcessTable;
import io.verbena.cli.cluster.ProcessTable.Entry;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;

/** Processes of this host, as {@code verbena scale} starts and ends them; its lock is held during a change only. */
final class LocalFleet implements Fleet
{
    private static final String COMPUTE = "compute-";
    private static final String META = "meta-server";
    private static final String AWAY = "away";

    private final ClusterFolder folder;
    private final ProcessTable processes;
    private final long launchTimeoutS;
    private final Consumer<LocalCluster> setup;

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
        final List<Entry> live = new ArrayList<>();
        final List<String> dead = new ArrayList<>();
        boolean isMetaServerLive = false;
        for (final Entry entry : entries)
        {
            isMetaServerLive |= META.equals(entry.name()) && entry.isLive();
            if (entry.name().startsWith(COMPUTE))
            {
                if (!entry.isLive())
                {
                    dead.add(entry.name());
                }
                else if (0 != entry.healthPort()) // else it has not been ready yet
                {
                    live.add(entry);
                }
            }
        }
        final List<Map<String, Object>> figures = figures(live);
        final List<DemandSample> samples = new ArrayList<>();
        boolean isReached = true;
        for (int i = 0; i < live.size(); i++)
        {
            final Map<String, Object> health = figures.get(i);
            final DemandSample sample = DemandSample.of(live.get(i).name(), health);
            isReached &= null == health || !AWAY.equals(health.get("meta_server"));
            if (null != sample)
            {
                samples.add(sample);
            }
        }
        return new State(live.size(), dead, samples, !isMetaServerLive ?
            "the meta server is dead: './verbena up' starts it again" :
            isReached ? null : "the meta server does not answer the nodes");
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

    private static void scale(final LocalCluster cluster, final int nodes, final Consumer<String> progress)
    {
        try
        {
            cluster.scale(nodes, progress);
        }
        catch (final CommandFailedException ex)
        {
            cluster.endUnready(progress);
            throw ex;
        }
    }

    @Override
    public void resize(final int nodes, final Consumer<String> progress)
    {
        try (LocalCluster cluster = LocalCluster.openExisting(folder))
        {
            cluster.readyTimeoutS(launchTimeoutS);
            setup.accept(cluster);
            scale(cluster, nodes, progress);
        }
    }
}
