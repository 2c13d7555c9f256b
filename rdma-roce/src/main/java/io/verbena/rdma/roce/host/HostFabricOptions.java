package io.verbena.rdma.roce.host;

import io.verbena.rdma.roce.device.RoceFabricOptions;
import io.verbena.rdma.verbs.RdmaException;

/**
 * What follows the colon of a fabric's name: {@link #SYNTAX}.
 *
 * @param memory  directory of the shared memory and what belongs to it, as {@code soft} takes it; may be empty.
 * @param network address, port and packets.
 */
record HostFabricOptions(String memory, RoceFabricOptions network)
{
    static final String SYNTAX =
        "DIRECTORY,network=ADDRESS|[ADDRESS]:PORT|INTERFACE[,mtu=BYTES][,spin_us=US][,threads=N]" +
        "[,encrypt=KEYFILE[,clear=accepted]]";

    private static final String NETWORK = "network=";
    private static final String HUGE_PAGES = ",huge-pages";

    static boolean hasNetwork(final String argument)
    {
        return start(argument) >= 0;
    }

    /** Where the network's part begins; -1 without one. */
    private static int start(final String argument)
    {
        if (argument.startsWith(NETWORK))
        {
            return 0;
        }
        final int comma = argument.indexOf("," + NETWORK);
        return comma < 0 ? -1 : comma + 1;
    }

    static HostFabricOptions parse(final String argument)
    {
        final int start = start(argument);
        final String memory = argument.substring(0, Math.max(0, start - 1));
        // Without an argument, as when providers are listed: the usual directory and the loopback interface.
        final String network = argument.isEmpty() ? "" : argument.substring(start + NETWORK.length());
        if (!argument.isEmpty() && network.isEmpty() || network.startsWith(",") || network.contains(",memory="))
        {
            throw new RdmaException("bad fabric argument '" + argument + "': soft with a network takes " + SYNTAX +
                ", such as soft:/dev/shm/mine,network=fd00::1; memory lies in DIRECTORY");
        }
        final boolean isHuge = network.endsWith(HUGE_PAGES);
        return new HostFabricOptions(
            isHuge ? memory + HUGE_PAGES : memory,
            RoceFabricOptions.parse(
                isHuge ? network.substring(0, network.length() - HUGE_PAGES.length()) : network));
    }
}
