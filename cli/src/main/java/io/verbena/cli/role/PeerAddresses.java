package io.verbena.cli.role;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.protocol.bootstrap.BootstrapException;
import io.verbena.protocol.bootstrap.ClusterAddress;

import java.util.List;

/** Where the members of a group of meta servers reach each other. */
public final class PeerAddresses
{
    private PeerAddresses()
    {
    }

    /**
     * @param option whose value it is.
     * @param value  addresses of members, HOST:PORT, separated by commas.
     * @return each.
     */
    public static List<ClusterAddress> parse(final String option, final String value)
    {
        final List<ClusterAddress> all;
        try
        {
            all = ClusterAddress.parse(value).all();
        }
        catch (final BootstrapException ex)
        {
            throw new CommandFailedException(ExitStatus.USAGE, option + ": " + ex.getMessage(), ex);
        }
        for (final ClusterAddress peer : all)
        {
            if (0 == peer.port() || !value.contains(":" + peer.port()) ||
                1 != all.stream().filter(peer::equals).count())
            {
                throw new CommandFailedException(ExitStatus.USAGE, option + ": " + peer.host() + ':' + peer.port() +
                    " must have a port, and be there once", null);
            }
        }
        return all;
    }
}
