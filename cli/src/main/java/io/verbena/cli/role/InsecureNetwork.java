package io.verbena.cli.role;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.protocol.bootstrap.NetworkFabric;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a role to its own host unless the handshake is over TLS and packets are sealed, or the user allows otherwise.
 * Stateless.
 */
final class InsecureNetwork
{
    /** Of the option. */
    static final String DESCRIPTION = "Let other hosts reach it without TLS and --encrypt.";
    private static final Logger LOGGER = LoggerFactory.getLogger(InsecureNetwork.class);
    private static final String WHY =
        "without TLS and sealed packets, hosts on the way may read and change every record";
    private static final String WHERE_TRUSTED =
        "on a network of which all hosts are trusted, as one of WireGuard, --insecure-network";

    private InsecureNetwork()
    {
    }

    /**
     * @param isAllowed by the user.
     * @param what      is there, as the user knows it.
     * @param place     address or interface; null: on no network.
     * @param fabric    of the role: where its packets cannot be sealed, that is no advice.
     * @param isSecure  whether the handshake is over TLS, and whatever goes to other hosts is encrypted.
     */
    static void check(
        final boolean isAllowed, final String what, final String place, final String fabric, final boolean isSecure)
    {
        if (isSecure || null == place || !NetworkFabric.isForOtherHosts(place))
        {
            return;
        }
        final boolean canBeSealed = NetworkFabric.isNetwork(fabric) || !NetworkFabric.takesClear(fabric);
        final String why = canBeSealed ? WHY :
            "packets of " + fabric + " cannot be sealed: hosts on the way may read and change every record";
        if (!isAllowed)
        {
            throw new CommandFailedException(ExitStatus.USAGE, what + " is for other hosts, too: " + why + (
                canBeSealed ? ". Give the cluster --encrypt and a certificate ('up --tls --encrypt'), or, " +
                WHERE_TRUSTED : ". Give, " + WHERE_TRUSTED), null);
        }
        LOGGER.warn(
            "{} is for other hosts, too, as --insecure-network allows: {}; see docs/across-hosts.md", what, why);
    }
}
