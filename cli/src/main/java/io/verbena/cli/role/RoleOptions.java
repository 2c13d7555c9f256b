package io.verbena.cli.role;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.protocol.bootstrap.BootstrapAnswer;
import io.verbena.protocol.bootstrap.BootstrapClient;
import io.verbena.protocol.bootstrap.BootstrapException;
import io.verbena.protocol.bootstrap.BootstrapLocator;
import io.verbena.protocol.bootstrap.ClusterAddress;
import io.verbena.protocol.bootstrap.ClusterToken;
import io.verbena.protocol.bootstrap.MetaServerLocator;

import picocli.CommandLine.Option;

import java.nio.file.Path;

/** What every role but the meta server takes. */
public final class RoleOptions
{
    private static final int TIMEOUT_MS = 10_000;

    @Option(names = "--cluster", paramLabel = "ADDRESS", required = true,
        description = "Address of the cluster: verbena://host:port.")
    private String cluster;

    @Option(names = "--token-file", paramLabel = "FILE", required = true,
        description = "File with the cluster's token, mode 0600.")
    private Path tokenFile;

    @Option(names = "--health-port", paramLabel = "PORT", defaultValue = "0",
        description = "Port of the health endpoint on loopback; 0, the default, for any.")
    private int healthPort;

    /** As the options would be given. */
    static RoleOptions of(final String cluster, final Path tokenFile, final int healthPort)
    {
        final RoleOptions options = new RoleOptions();
        options.cluster = cluster;
        options.tokenFile = tokenFile;
        options.healthPort = healthPort;
        return options;
    }

    int healthPort()
    {
        return healthPort;
    }

    /** Shakes hands. */
    BootstrapAnswer bootstrap()
    {
        try
        {
            return BootstrapClient.ask(ClusterAddress.parse(cluster), ClusterToken.read(tokenFile), TIMEOUT_MS);
        }
        catch (final BootstrapException ex)
        {
            throw failed(ex);
        }
    }

    @Override
    public String toString()
    {
        return "RoleOptions{cluster=" + cluster + ", tokenFile=" + tokenFile + ", healthPort=" + healthPort + '}';
    }

    /** Finds the meta server again when it is started again. */
    MetaServerLocator locator(final BootstrapAnswer first)
    {
        return new BootstrapLocator(ClusterAddress.parse(cluster), ClusterToken.read(tokenFile), first);
    }

    public static CommandFailedException failed(final BootstrapException ex)
    {
        return new CommandFailedException(switch (ex.reason())
        {
            // As for clients, to which all but the first are an invalid request.
            case UNREACHABLE -> ExitStatus.UNAVAILABLE;
            case BAD_ADDRESS, VERSION_MISMATCH, WRONG_TOKEN -> ExitStatus.USAGE;
        }, ex.getMessage(), ex);
    }
}
