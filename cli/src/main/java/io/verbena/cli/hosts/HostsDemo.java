package io.verbena.cli.hosts;

import io.verbena.cli.cluster.NodeLauncher;
import io.verbena.cli.cluster.NodePlaces;
import io.verbena.cli.cluster.ProcessDemoCluster;
import io.verbena.load.demo.DemoCluster;

import org.agrona.concurrent.SystemNanoClock;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * The demo on emulated hosts: client and meta server on the first one, the other processes on those behind it and then
 * around again. Frames are lost and overtake each other all the time, and the link of the last host is cut for a while.
 */
public final class HostsDemo
{
    /** Deadline of operations: longer than the link is cut, and what begins anew after that. */
    public static final long TIMEOUT_S = 20;
    /** Length of the run. */
    public static final long SECONDS = 20;
    /** Records: few, since each frame costs a trial network some 10 us. */
    public static final long RECORDS = 2_000;
    /** Threads of the load. */
    public static final long THREADS = 4;

    private static final List<String> FAULTS = List.of("--loss", "0.01", "--reorder", "0.01");
    private static final long BEFORE_CUT_NS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final long CUT_NS = TimeUnit.SECONDS.toNanos(3);
    private static final List<String> ORDER = List.of("meta-server", "memory-1", "memory-2", "compute-1", "compute-2");

    private HostsDemo()
    {
    }

    /**
     * Makes the hosts and runs the demo in the first one.
     *
     * @param hosts     2 to 64.
     * @param arguments of the command line that runs it there.
     * @return its exit status.
     */
    public static int run(final int hosts, final List<String> arguments)
    {
        final List<String> all = new ArrayList<>(List.of(Integer.toString(hosts)));
        all.addAll(FAULTS);
        all.add("--");
        all.addAll(NodeLauncher.commandLine(List.of(), arguments));
        return HostNamespaces.run("demo-" + ProcessHandle.current().pid(), all);
    }

    /**
     * Starts the cluster, in the first host.
     *
     * @param needs of the demo.
     * @param say   hears of the faults.
     * @return the cluster.
     */
    public static DemoCluster start(final DemoCluster.Needs needs, final Consumer<String> say)
    {
        final HostsFolder folder = HostsFolder.find();
        final List<String> hosts = folder.hosts();
        final NodePlaces places = new NodePlaces("roce",
            (name) -> folder.script(hosts.get(ORDER.indexOf(name) % hosts.size())).toString(),
            List.of("--insecure-network"));
        return ProcessDemoCluster.start(needs, places, "verbena://" + hosts.getFirst() + ":0",
            () -> cut(folder, hosts.getLast(), say));
    }

    private static void cut(final HostsFolder folder, final String host, final Consumer<String> say)
    {
        pause(BEFORE_CUT_NS);
        folder.requestCut(host, true);
        say.accept("The link of " + host + " is cut for " + TimeUnit.NANOSECONDS.toSeconds(CUT_NS) + " s");
        pause(CUT_NS);
        folder.requestCut(host, false);
        say.accept("The link of " + host + " is back");
    }

    private static void pause(final long lengthNs)
    {
        final long endNs = SystemNanoClock.INSTANCE.nanoTime() + lengthNs;
        for (long leftNs = lengthNs; leftNs > 0; leftNs = endNs - SystemNanoClock.INSTANCE.nanoTime())
        {
            LockSupport.parkNanos(leftNs);
        }
    }
}
