package io.verbena.cli.admin;

import io.verbena.cli.cluster.ClusterFolder;
import io.verbena.cli.cluster.ProcessTable;
import io.verbena.server.HealthServer;
import io.verbena.server.MetaServerRole;
import io.verbena.server.dashboard.DashboardSource;

import org.agrona.concurrent.EpochClock;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemEpochClock;
import org.agrona.concurrent.SystemNanoClock;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * What the dashboard of a meta server shows: its own figures, those of the processes that {@code up} started in its
 * folder, the tables, and what is wrong with any of them. Gathered when asked for, at most once a second for all who
 * ask. Thread-safe.
 */
public final class ClusterDashboard implements DashboardSource
{
    /** What was gathered is shown again for so long. */
    static final long FRESH_NS = TimeUnit.SECONDS.toNanos(1);

    private final Supplier<List<Map<String, Object>>> processes;
    private final TableSampler tables;
    private final NanoClock clock;
    private final EpochClock wallClock;
    private final String address;
    private Map<String, Object> last;
    private long lastNs;

    /**
     * @param address   of the cluster.
     * @param processes gathers them, as in {@code status --json}; it returns within seconds.
     * @param tables    samples them.
     */
    ClusterDashboard(
        final String address, final Supplier<List<Map<String, Object>>> processes, final TableSampler tables,
        final NanoClock clock, final EpochClock wallClock)
    {
        this.address = address;
        this.processes = processes;
        this.tables = tables;
        this.clock = clock;
        this.wallClock = wallClock;
    }

    /**
     * Opens that of a meta server.
     *
     * @param data      its folder; {@code up} keeps its processes there.
     * @param tokenFile of the cluster.
     * @param role      the meta server, in this process.
     * @return what it shows, closed by the caller.
     */
    public static DashboardSource open(final Path data, final Path tokenFile, final MetaServerRole role)
    {
        final ProcessTable table = new ProcessTable(ClusterFolder.of(data).processes());
        return new ClusterDashboard(role.address().toString(), () -> processes(table, role),
            TableSampler.of(role.address().toString(), tokenFile), SystemNanoClock.INSTANCE, SystemEpochClock.INSTANCE);
    }

    private static List<Map<String, Object>> processes(final ProcessTable table, final MetaServerRole role)
    {
        final List<Map<String, Object>> all = new ArrayList<>(ProcessFigures.of(table.entries()));
        final long pid = ProcessHandle.current().pid();
        if (all.stream().noneMatch((process) -> Objects.equals(pid, process.get("pid"))))
        {
            // It was started by hand: no file says so.
            final Map<String, Object> own = new LinkedHashMap<>();
            own.put("name", role.name());
            own.put("pid", pid);
            own.put("live", true);
            own.put("health", HealthServer.figures(role, role.failure().isEmpty()));
            all.addFirst(own);
        }
        return all;
    }

    @Override
    public synchronized Map<String, Object> status()
    {
        if (null == last || clock.nanoTime() - lastNs >= FRESH_NS)
        {
            last = gather();
            lastNs = clock.nanoTime();
        }
        return last;
    }

    private Map<String, Object> gather()
    {
        tables.begin();
        final List<Map<String, Object>> gathered = processes.get();
        final List<String> errors = new ArrayList<>();
        final List<String> warnings = new ArrayList<>();
        gathered.forEach((process) -> errors.addAll(StatusFaults.of(process)));
        gathered.forEach((process) -> warnings.addAll(StatusLimits.warnings(process)));
        final TableSampler.Sample sample = tables.last();
        if (!sample.failure().isEmpty())
        {
            warnings.add("tables: " + sample.failure());
        }
        final Map<String, Object> all = new LinkedHashMap<>();
        all.put("time_ms", wallClock.time());
        all.put("address", address);
        all.put("ready", gathered.stream().allMatch(ProcessFigures::isReady));
        all.put("errors", errors);
        all.put("warnings", warnings);
        all.put("processes", gathered);
        all.put("tables", sample.tables());
        all.put("tables_time_ms", sample.timeMs());
        return all;
    }

    @Override
    public void close()
    {
        tables.close();
    }
}
