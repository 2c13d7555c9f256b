package io.verbena.cli.role;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.protocol.bootstrap.NetworkFabric;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps a role to its own host unless the user allows otherwise, until peers are authenticated. Stateless. */
final class InsecureNetwork
{
    /** Of the option. */
    static final String DESCRIPTION =
        "Allow an address that other hosts reach, although nodes do not encrypt.";
    private static final Logger LOGGER = LoggerFactory.getLogger(InsecureNetwork.class);
    private static final String WHY =
        "hosts that reach it are not authenticated yet, and may read and change every record";

    private InsecureNetwork()
    {
    }

    /**
     * @param isAllowed by the user.
     * @param what      is there, as the user knows it.
     * @param place     address or interface; null: on no network.
     */
    static void check(final boolean isAllowed, final String what, final String place)
    {
        if (null == place || !NetworkFabric.isForOtherHosts(place))
        {
            return;
        }
        if (!isAllowed)
        {
            throw new CommandFailedException(ExitStatus.USAGE, what + " is for other hosts, too: " + WHY +
                ". On a network of which all hosts are trusted, as one of WireGuard, give --insecure-network", null);
        }
        LOGGER.warn(
            "{} is for other hosts, too, as --insecure-network allows: {}; see docs/across-hosts.md", what, WHY);
    }
}
