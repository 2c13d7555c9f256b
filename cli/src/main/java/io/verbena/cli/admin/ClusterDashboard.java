package io.verbena.cli.admin;

import io.verbena.cli.autoscale.RecentDecisions;
import io.verbena.cli.cluster.ClusterFolder;
import io.verbena.cli.cluster.ProcessTable;
import io.verbena.client.KvClientOptions;
import io.verbena.server.HealthServer;
import io.verbena.server.Role;
import io.verbena.server.dashboard.DashboardSource;
import io.verbena.server.dashboard.TableSampler;

import org.agrona.concurrent.EpochClock;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemEpochClock;
import org.agrona.concurrent.SystemNanoClock;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
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

    private static final int MOST_EVENTS = 20;

    private final Supplier<List<Map<String, Object>>> processes;
    private final TableSampler tables;
    private final Events events;
    private final NanoClock clock;
    private final EpochClock wallClock;
    private final String address;
    private final BooleanSupplier leads;
    private Map<String, Object> last;
    private long lastNs;

    /** What happened, the latest first. */
    interface Events
    {
        /** @return slow operations of all compute nodes, as in {@code slowlog --json}. */
        List<Map<String, Object>> slowOperations();

        /** @return decisions of the autoscaler that changed something, or would have. */
        List<Map<String, Object>> decisions();
    }

    /**
     * @param address   of the cluster.
     * @param leads     whether the tables can be counted by way of this meta server.
     * @param processes gathers them, as in {@code status --json}; it returns within seconds.
     * @param tables    samples them.
     * @param events    asked whenever processes are gathered.
     */
    ClusterDashboard(
        final String address, final BooleanSupplier leads, final Supplier<List<Map<String, Object>>> processes,
        final TableSampler tables, final Events events, final NanoClock clock, final EpochClock wallClock)
    {
        this.address = address;
        this.leads = leads;
        this.processes = processes;
        this.tables = tables;
        this.events = events;
        this.clock = clock;
        this.wallClock = wallClock;
    }

    /**
     * Opens that of a meta server.
     *
     * @param data    its folder; {@code up} keeps its processes there, or in the folder around those of a group.
     * @param client  with which a client of the cluster connects.
     * @param role    the meta server, in this process.
     * @param address where it is found while it leads.
     * @param leads   whether it is found there.
     * @return what it shows, closed by the caller.
     */
    public static DashboardSource open(
        final Path data, final KvClientOptions client, final Role role, final String address,
        final BooleanSupplier leads)
    {
        final ClusterFolder own = ClusterFolder.of(data);
        final Path around = data.toAbsolutePath().getParent();
        final ClusterFolder folder = Files.exists(own.processes()) || null == around ||
            !Files.exists(ClusterFolder.of(around).processes()) ? own : ClusterFolder.of(around);
        final ProcessTable table = new ProcessTable(folder.processes());
        final Events events = new Events()
        {
            @Override
            public List<Map<String, Object>> slowOperations()
            {
                final List<Map<String, Object>> all = SlowOperations.of(table.entries(), "slow");
                return null == all ? List.of() : all.reversed().stream().limit(MOST_EVENTS).toList();
            }

            @Override
            public List<Map<String, Object>> decisions()
            {
                return RecentDecisions.of(own, MOST_EVENTS);
            }
        };
        return new ClusterDashboard(address, leads, () -> processes(table, role),
            ClusterTables.sampler(address, client), events, SystemNanoClock.INSTANCE, SystemEpochClock.INSTANCE);
    }

    private static List<Map<String, Object>> processes(final ProcessTable table, final Role role)
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
        final boolean mayCount = leads.getAsBoolean();
        if (mayCount)
        {
            tables.begin();
        }
        final List<Map<String, Object>> gathered = processes.get();
        final List<String> errors = new ArrayList<>();
        final List<String> warnings = new ArrayList<>();
        gathered.forEach((process) -> errors.addAll(StatusFaults.of(process)));
        gathered.forEach((process) -> warnings.addAll(StatusLimits.warnings(process)));
        final TableSampler.Sample sample = tables.last();
        if (mayCount && !sample.failure().isEmpty())
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
        all.put("slow_operations", events.slowOperations());
        all.put("autoscaler_decisions", events.decisions());
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
