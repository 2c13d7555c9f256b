package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.LinuxCalls;
import io.verbena.rdma.spi.FabricProvider;
import io.verbena.rdma.spi.ProcessRole;
import io.verbena.rdma.verbs.Fabric;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** Opens {@code soft} and {@code soft:DIRECTORY}; with huge pages {@code soft:DIRECTORY,huge-pages}. */
public final class SoftFabricProvider implements FabricProvider
{
    private static final String HUGE_PAGES = ",huge-pages";
    /** Of names that another provider takes, which opens this one's fabric and a way to other hosts. */
    private static final String NETWORK = ",network=";
    /** Less than a lease, which a server that waits does not renew: 2 s. */
    private static final long SERVER_FENCE_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(2);

    @Override
    public String name()
    {
        return "soft";
    }

    @Override
    public String argumentSyntax()
    {
        return "DIRECTORY";
    }

    @Override
    public boolean takes(final String argument)
    {
        return !("," + argument).contains(NETWORK);
    }

    @Override
    public String unavailableReason()
    {
        final Path parent = new SoftFabricOptions().directory().getParent();
        return Files.isDirectory(parent) ?
            null : "no memory file system at " + parent + "; mount a tmpfs there, or name a directory: soft:DIRECTORY";
    }

    @Override
    public Fabric open(final String argument)
    {
        return open(argument, ProcessRole.APPLICATION);
    }

    @Override
    public Fabric open(final String argument, final ProcessRole role)
    {
        return openShared(argument, role);
    }

    /**
     * As {@link #open(String, ProcessRole)}.
     *
     * @param argument directory, or nothing for the default one, and what follows it.
     * @param role     what this process is to its peers.
     * @return the fabric, closed by the caller.
     */
    public static SoftFabric openShared(final String argument, final ProcessRole role)
    {
        final boolean hugePages = argument.endsWith(HUGE_PAGES);
        final String directory =
            hugePages ? argument.substring(0, argument.length() - HUGE_PAGES.length()) : argument;
        final SoftFabricOptions options = new SoftFabricOptions().hugePages(hugePages)
            .mayBeKilled(role == ProcessRole.EXPENDABLE);
        if (role == ProcessRole.SERVER)
        {
            options.fenceTimeoutNs(SERVER_FENCE_TIMEOUT_NS);
        }
        return SoftFabric.open(directory.isEmpty() ? options : options.directory(Path.of(directory)));
    }

    @Override
    public void prepare()
    {
        LinuxCalls.prepare();
    }
}
