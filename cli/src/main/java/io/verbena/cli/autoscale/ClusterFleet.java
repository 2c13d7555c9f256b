package io.verbena.cli.autoscale;

import io.verbena.cli.autoscale.launch.Launcher;
import io.verbena.cli.cluster.JsonReader;
import io.verbena.cli.cluster.JsonReader.MalformedJsonException;
import io.verbena.cli.cluster.MetaCalls;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.raas.directory.PeerRecord;

import org.agrona.concurrent.NanoClock;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Nodes anywhere, seen as members of the cluster, which a {@link Launcher} starts and ends. Needs the address and the
 * token of the cluster, and nothing of the hosts. Used by one thread.
 */
final class ClusterFleet implements Fleet
{
    private static final String AWAY = "away";
    private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(20);
    /** How long a node that was ended may take until it has left. */
    private static final long END_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(60);

    private final ClusterNodes nodes;
    private final Launcher launcher;
    private final long launchTimeoutNs;
    private final NanoClock clock;
    private final SpareLaunches launches;
    /** What nodes are called, by their incarnations. */
    private final Map<Integer, String> names = new HashMap<>();
    /** Nodes of the launcher that served and were not ended. */
    private final Set<String> expected = new TreeSet<>();
    private List<PeerRecord> last;

    /**
     * @param opener         connects to the meta server.
     * @param launcher       of nodes.
     * @param permission     to activate nodes and have them leave; the launcher looks for itself.
     * @param launchTimeoutS that a node may take until it serves.
     * @param clock          for deadlines.
     */
    ClusterFleet(
        final Supplier<MetaCalls> opener, final Launcher launcher, final ChangePermission permission,
        final long launchTimeoutS, final NanoClock clock)
    {
        nodes = new ClusterNodes(opener, permission);
        this.launcher = launcher;
        launchTimeoutNs = TimeUnit.SECONDS.toNanos(launchTimeoutS);
        this.clock = clock;
        launches = new SpareLaunches(clock);
    }

    @Override
    public State observe()
    {
        final List<String> figures;
        try
        {
            last = nodes.list();
            figures = nodes.figures(last);
        }
        catch (final CommandFailedException ex)
        {
            if (ExitStatus.UNAVAILABLE != ex.exitStatus() || null == last)
            {
                throw ex;
            }
            return new State(serving().size(), spares().size(), List.of(), List.of(),
                "the meta server is not reached: " + ex.getMessage());
        }
        names.keySet().retainAll(last.stream().map(PeerRecord::incarnation).toList());
        final List<DemandSample> samples = new ArrayList<>();
        boolean isReached = true;
        for (int i = 0; i < last.size(); i++)
        {
            final Map<String, Object> health = read(figures.get(i));
            final PeerRecord node = last.get(i);
            if (health.get("name") instanceof final String name)
            {
                names.put(node.incarnation(), name);
            }
            isReached &= !AWAY.equals(health.get("meta_server"));
            final DemandSample sample = ClusterNodes.isSpare(node) ? null :
                DemandSample.of(Integer.toString(node.incarnation()), health);
            if (null != sample)
            {
                samples.add(sample);
            }
        }
        return new State(serving().size(), spares().size(), dead(), samples,
            isReached ? null : "the meta server does not answer the nodes");
    }

    private static Map<String, Object> read(final String figures)
    {
        try
        {
            return null == figures ? Map.of() : JsonReader.object(figures);
        }
        catch (final MalformedJsonException ex)
        {
            return Map.of(); // of another version: it counts as a node without figures
        }
    }

    private List<String> dead()
    {
        if (launcher.restarts())
        {
            return List.of();
        }
        final List<String> present = names();
        serving().stream().map(this::name).filter(launcher::owns).forEach(expected::add);
        return expected.stream().filter((name) -> !present.contains(name)).toList();
    }

    private List<PeerRecord> serving()
    {
        return last.stream().filter((node) -> !ClusterNodes.isSpare(node)).toList();
    }

    /** The oldest first: clients are connected to those already. */
    private List<PeerRecord> spares()
    {
        return last.stream().filter(ClusterNodes::isSpare)
            .sorted(Comparator.comparingInt(PeerRecord::incarnation)).toList();
    }

    private String name(final PeerRecord node)
    {
        return names.getOrDefault(node.incarnation(), "");
    }

    /** @return what the nodes call themselves, spares too; empty where one has not said so yet. */
    List<String> names()
    {
        return last.stream().map(this::name).toList();
    }

    private String shown(final PeerRecord node)
    {
        return name(node).isEmpty() ? "node-" + node.nodeId() : name(node);
    }

    @Override
    public void resize(final int wanted, final Consumer<String> progress)
    {
        activate(wanted, progress);
        if (serving().size() < wanted)
        {
            launches.alone(() -> grow(wanted, progress));
        }
        else if (serving().size() > wanted)
        {
            launches.alone(() -> shrink(serving().size() - wanted, progress));
        }
        expected.retainAll(names());
    }

    /** Takes spares, as far as there are any; a spare that has just died is passed over. */
    private void activate(final int wanted, final Consumer<String> progress)
    {
        int missing = wanted - serving().size();
        final List<PeerRecord> now = new ArrayList<>(last);
        for (final PeerRecord spare : spares())
        {
            if (missing <= 0)
            {
                break;
            }
            try
            {
                nodes.activate(spare.nodeId(), spare.incarnation());
            }
            catch (final CommandFailedException ex)
            {
                if (ExitStatus.FAILED != ex.exitStatus())
                {
                    throw ex;
                }
                now.remove(spare);
                continue;
            }
            now.set(now.indexOf(spare), ClusterNodes.activated(spare));
            progress.accept(shown(spare) + " is activated");
            missing--;
        }
        last = now;
    }

    private void grow(final int wanted, final Consumer<String> progress)
    {
        final int missing = wanted - serving().size() - launcher.coming(names());
        if (missing > 0)
        {
            launcher.start(missing, names());
        }
        final long beganNs = clock.nanoTime();
        final Set<Integer> before = new TreeSet<>(serving().stream().map(PeerRecord::incarnation).toList());
        while (serving().size() < wanted)
        {
            if (clock.nanoTime() - beganNs > launchTimeoutNs)
            {
                launcher.giveUp(names());
                throw new CommandFailedException(ExitStatus.UNAVAILABLE, (wanted - serving().size()) +
                    " nodes do not serve after " + TimeUnit.NANOSECONDS.toSeconds(launchTimeoutNs) + " s", null);
            }
            pause();
            observe();
            activate(wanted, (_) -> {});
        }
        serving().stream().filter((node) -> !before.contains(node.incarnation()))
            .forEach((node) -> progress.accept(shown(node) + " is ready"));
    }

    private void shrink(final int count, final Consumer<String> progress)
    {
        final List<PeerRecord> mine =
            serving().reversed().stream().filter((node) -> launcher.owns(name(node))).limit(count).toList();
        if (mine.isEmpty())
        {
            throw new CommandFailedException(ExitStatus.UNAVAILABLE, "no node can be ended: none reports a name that " +
                "the launcher knows, as compute-node --name gives it", null);
        }
        mine.forEach(nodes::leave);
        launcher.end(mine.stream().map(this::name).toList());
        mine.forEach((node) -> expected.remove(name(node)));
        final int from = serving().size();
        final long beganNs = clock.nanoTime();
        while (serving().size() > from - mine.size())
        {
            if (clock.nanoTime() - beganNs > END_TIMEOUT_NS)
            {
                throw new CommandFailedException(ExitStatus.UNAVAILABLE, mine.size() + " nodes were ended and have " +
                    "not left after " + TimeUnit.NANOSECONDS.toSeconds(END_TIMEOUT_NS) + " s", null);
            }
            pause();
            last = nodes.list();
        }
        mine.forEach((node) -> progress.accept(shown(node) + " has ended"));
    }

    private static void pause()
    {
        LockSupport.parkNanos(POLL_NS);
        if (Thread.currentThread().isInterrupted())
        {
            throw new CommandFailedException(ExitStatus.INTERRUPTED, "interrupted", null);
        }
    }

    @Override
    public String keepSpares(final int wanted)
    {
        if (launches.isUnderWay())
        {
            return null;
        }
        final List<String> present = names();
        final int missing = wanted - spares().size() - launcher.coming(present);
        if (missing > 0)
        {
            return launches.begin(() -> launcher.start(missing, present));
        }
        final List<PeerRecord> surplus = spares().reversed().stream()
            .filter((node) -> launcher.owns(name(node))).limit(Math.max(0, spares().size() - wanted)).toList();
        if (surplus.isEmpty())
        {
            return launches.failure();
        }
        surplus.forEach(nodes::leave);
        final List<String> ended = surplus.stream().map(this::name).toList();
        return launches.begin(() -> launcher.end(ended));
    }

    /** Waits for launches that are under way, and leaves the nodes. */
    @Override
    public void close()
    {
        launches.close();
        nodes.close();
    }
}
