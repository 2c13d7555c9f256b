package io.verbena.rdma.conformance;

import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.sim.device.SimFabric;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.RdmaException;

import java.util.function.Supplier;

/**
 * A way from requester to responder that the rules are run on.
 *
 * @param name      for people, such as {@code soft} or {@code ibverbs:rxe0}.
 * @param allowList name of the list of rules that may be unsupported on it.
 * @param rigs      opens a fresh pair of devices.
 * @param end       what {@link #close()} does.
 */
public record ConformancePath(String name, AllowList allowList, Supplier<VerbsRig> rigs, Runnable end)
    implements AutoCloseable
{
    /** Name of the allow-list of {@code soft} with a network. */
    private static final String NETWORK = "soft-network";
    private static final RealTimeRig.Pace SOFT = new RealTimeRig.Pace(1_000_000, 5_000_000_000L, false);
    private static final RealTimeRig.Pace SOFT_PROCESSES = new RealTimeRig.Pace(5_000_000, 5_000_000_000L, false);
    private static final RealTimeRig.Pace ROCE = new RealTimeRig.Pace(3_000_000, 5_000_000_000L, true);
    /** Devices may be those of a virtual machine that is twenty times slower than this one. */
    private static final RealTimeRig.Pace WIRE = new RealTimeRig.Pace(100_000_000, 30_000_000_000L, false);

    /**
     * Both devices in this process.
     *
     * @param fabricName as {@link Fabrics#open} takes it; without a seed {@code sim} begins with seed 1.
     * @return the path.
     * @throws RdmaException when there is no such fabric.
     */
    public static ConformancePath of(final String fabricName)
    {
        return of(fabricName, allowList(fabricName), () -> open(
            Fabrics.open(fabricName), hasNetwork(fabricName) ? ROCE : SOFT));
    }

    /**
     * Both devices in this process, on two hosts as far as they know: what they share memory with is another directory.
     *
     * @param fabricName of {@code soft} with a directory and a network.
     * @return the path, which is the network.
     */
    public static ConformancePath acrossHosts(final String fabricName)
    {
        final String otherName = onOtherHost(fabricName);
        return of(fabricName + " across hosts", AllowList.of(NETWORK + "-hosts"), () -> new RealTimeRig(
            Fabrics.open(fabricName), Fabrics.open(otherName), ROCE));
    }

    /**
     * The responder in a process of its own, and on another host as far as both know.
     *
     * @param fabricName of {@code soft} with a directory and a network.
     * @return the path, which is the network.
     */
    public static ConformancePath acrossHostsAndProcesses(final String fabricName)
    {
        final String otherName = onOtherHost(fabricName);
        final ResponderHost host = new ResponderHost();
        return new ConformancePath(fabricName + " across hosts and processes", AllowList.of(NETWORK + "-hosts"),
            () -> new RealTimeRig(Fabrics.open(fabricName), host.open(otherName), ROCE), host::close);
    }

    /** The same network, and memory that nobody here has. */
    private static String onOtherHost(final String fabricName)
    {
        final String otherName = fabricName.replaceFirst("(,network=)", "-other-host$1");
        if (!hasNetwork(fabricName) || otherName.equals(fabricName))
        {
            throw new RdmaException("'" + fabricName + "' has no directory and network: give " +
                "soft:DIRECTORY,network=ADDRESS; other names have one way only, which they always take");
        }
        return otherName;
    }

    private static boolean hasNetwork(final String fabricName)
    {
        return fabricName.matches("soft:(.*,)?network=.*");
    }

    /** Of the provider, amended where memory windows are offered against better knowledge. */
    private static AllowList allowList(final String fabricName)
    {
        final AllowList list = AllowList.of(hasNetwork(fabricName) ? NETWORK : provider(fabricName));
        return fabricName.matches("ibverbs:.*,windows=on(,.*)?") ?
            list.amendedBy(AllowList.of("ibverbs-windows")) : list;
    }

    /**
     * A path of somebody's own making, with nothing to close.
     *
     * @param name      for people.
     * @param allowList of rules that may fail.
     * @param rigs      opens a fresh pair of devices.
     * @return the path.
     */
    public static ConformancePath of(final String name, final AllowList allowList, final Supplier<VerbsRig> rigs)
    {
        return new ConformancePath(name, allowList, rigs, () -> { });
    }

    /**
     * The responder in a process of its own, which is started with the first rig and ends with the path.
     *
     * @param fabricName as {@link Fabrics#open} takes it, at both ends.
     * @return the path.
     */
    public static ConformancePath acrossProcesses(final String fabricName)
    {
        final ResponderHost host = new ResponderHost();
        return new ConformancePath(
            fabricName + " across processes",
            AllowList.of((hasNetwork(fabricName) ? NETWORK : provider(fabricName)) + "-processes"),
            () -> new RealTimeRig(
                Fabrics.open(fabricName), host.open(fabricName),
                pace(provider(fabricName), hasNetwork(fabricName) ? ROCE : SOFT_PROCESSES)),
            host::close);
    }

    private static VerbsRig open(final Fabric fabric, final RealTimeRig.Pace soft)
    {
        if (fabric instanceof final SimFabric sim)
        {
            return new SimRig(sim);
        }
        return new RealTimeRig(fabric, pace(fabric.provider(), soft));
    }

    private static RealTimeRig.Pace pace(final String provider, final RealTimeRig.Pace soft)
    {
        return switch (provider)
        {
            case "soft" -> soft;
            case "roce" -> ROCE;
            default -> WIRE;
        };
    }

    private static String provider(final String fabricName)
    {
        final int colon = fabricName.indexOf(':');
        return colon < 0 ? fabricName : fabricName.substring(0, colon);
    }

    @Override
    public void close()
    {
        end.run();
    }

    @Override
    public String toString()
    {
        return name;
    }
}
