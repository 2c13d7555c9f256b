package io.verbena.cli.cluster;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.role.RoleOptions;
import io.verbena.protocol.bootstrap.BootstrapClient;
import io.verbena.protocol.bootstrap.BootstrapException;
import io.verbena.protocol.bootstrap.ClusterAddress;
import io.verbena.protocol.bootstrap.ClusterToken;
import io.verbena.protocol.bootstrap.LastingPort;
import io.verbena.server.MetaGroupRole;

import org.agrona.concurrent.SystemNanoClock;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** The meta server of a cluster on this host, or the group of them. One thread. */
final class MetaServers
{
    static final String NAME = "meta-server";
    /** What {@code up} listens at without the option. */
    static final String ANY_PORT = "verbena://127.0.0.1:0";
    /** Until a new group has a leader: all its processes have just started. */
    private static final int LEADER_TIMEOUT_MS = (int)TimeUnit.SECONDS.toMillis(60);

    private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(20);

    private final ClusterFolder folder;
    private final NodeLauncher launcher;
    private List<String> options = List.of();
    private Integer wanted;

    MetaServers(final ClusterFolder folder, final NodeLauncher launcher)
    {
        this.folder = folder;
        this.launcher = launcher;
    }

    /** Further options of those that are started from now on. */
    void options(final List<String> moreOptions)
    {
        options = moreOptions;
    }

    /** How many there are to be; null: as many as there were, or 1. */
    void count(final Integer count)
    {
        wanted = count;
    }

    /**
     * Starts them, on the data of the cluster that was here, and at its address, when its memory is to be found again.
     *
     * @param isEarlier whether it is.
     */
    void start(final String listen, final String fabric, final boolean isEarlier, final Consumer<String> progress)
    {
        final String peers = isEarlier ? folder.peers() : null;
        final int count = null != wanted ? wanted : null != peers ? size(peers) : 1;
        if (null != peers && count != size(peers))
        {
            throw new CommandFailedException(ExitStatus.USAGE, "--meta-servers " + count + ": the cluster has " +
                size(peers) + ", and a group cannot change its size yet; leave the option out", null);
        }
        if (1 == count)
        {
            startOne(listen, fabric, isEarlier, progress);
        }
        else
        {
            startGroup(listen, fabric, isEarlier, peers, count, progress);
        }
    }

    private void startOne(
        final String listen, final String fabric, final boolean isEarlier, final Consumer<String> progress)
    {
        final boolean isAny = ANY_PORT.equals(listen);
        final List<String> arguments = single(isEarlier && isAny ? folder.address() : listen, fabric);
        if (!isEarlier)
        {
            folder.removeGroup();
            arguments.add("--fresh");
        }
        final String ready = launcher.start(NAME, arguments);
        final int at = ready.indexOf("verbena://");
        folder.write(ready.substring(at, ready.indexOf(' ', at)), fabric);
        progress.accept(NAME + ' ' + ready);
    }

    private void startGroup(
        final String listen, final String fabric, final boolean isEarlier, final String peers, final int count,
        final Consumer<String> progress)
    {
        ClusterToken.readOrCreate(folder.token());
        final boolean isNew = null == peers;
        if (isNew)
        {
            folder.removeGroup();
            final List<ClusterAddress> all = addresses(ClusterAddress.parse(listen), 2 * count);
            folder.write(ClusterAddress.SCHEME + "://" + text(all.subList(0, count)), fabric,
                text(all.subList(count, all.size())), false);
        }
        for (int member = 1; member <= count; member++)
        {
            final List<String> arguments = member(member);
            if (isNew && !isEarlier)
            {
                arguments.add("--fresh");
            }
            progress.accept(name(member) + ' ' + launcher.start(name(member), arguments));
        }
        awaitLeader();
        if (isNew)
        {
            awaitLogs(count);
        }
        folder.write(folder.address(), fabric, folder.peers(), true);
    }

    /**
     * Until each member of a new group has an entry of the log. The vote of one that has none does not count, as its
     * disk could be a new one, so that the group would not survive the leader's death.
     */
    private void awaitLogs(final int count)
    {
        final long endNs = SystemNanoClock.INSTANCE.nanoTime() + TimeUnit.MILLISECONDS.toNanos(LEADER_TIMEOUT_MS);
        while (membersWithLog() < count)
        {
            if (SystemNanoClock.INSTANCE.nanoTime() - endNs > 0)
            {
                throw new CommandFailedException(ExitStatus.UNAVAILABLE, "only " + membersWithLog() + " of " + count +
                    " meta servers have the group's log after " + LEADER_TIMEOUT_MS / 1_000 +
                    " s: see the logs in " + folder.logs(), null);
            }
            LockSupport.parkNanos(POLL_NS);
        }
    }

    private long membersWithLog()
    {
        return new ProcessTable(folder.processes()).entries().stream()
            .filter((process) -> process.name().startsWith(NAME) && process.isLive())
            .map(HealthProbe::figures)
            .filter((figures) -> null != figures &&
                figures.get("group_applied_index") instanceof final Number applied && applied.longValue() >= 0)
            .count();
    }

    private void awaitLeader()
    {
        try
        {
            BootstrapClient.ask(
                ClusterAddress.parse(folder.address()), ClusterToken.read(folder.token()), LEADER_TIMEOUT_MS);
        }
        catch (final BootstrapException ex)
        {
            throw RoleOptions.failed(ex);
        }
    }

    /** Starts one again that died, on what it had. */
    String restart(final String name)
    {
        return launcher.start(name, null == folder.peers() ? single(folder.address(), folder.fabric()) :
            member(Integer.parseInt(name.substring(NAME.length() + 1))));
    }

    private List<String> single(final String listen, final String fabric)
    {
        final List<String> arguments = new ArrayList<>(List.of(NAME, "--listen", listen, "--data",
            folder.path().toString(), "--token-file", folder.token().toString(), "--fabric", fabric));
        arguments.addAll(options);
        arguments.addAll(new ClusterTls(folder).options());
        return arguments;
    }

    private List<String> member(final int member)
    {
        final ClusterAddress own = ClusterAddress.parse(folder.address()).all().get(member - 1);
        final List<String> arguments = new ArrayList<>(List.of(NAME, "--listen", own.toString(), "--data",
            folder.metaServer(member).toString(), "--token-file", folder.token().toString(), "--fabric",
            folder.fabric(), "--peers", folder.peers(), "--member", Integer.toString(member)));
        if (!folder.isGroupMade() && !Files.exists(folder.metaServer(member).resolve(MetaGroupRole.FOLDER)))
        {
            arguments.add("--new-group");
        }
        arguments.addAll(options);
        arguments.addAll(new ClusterTls(folder).options());
        return arguments;
    }

    private static String name(final int member)
    {
        return NAME + '-' + member;
    }

    private static int size(final String peers)
    {
        return ClusterAddress.parse(peers).all().size();
    }

    private static String text(final List<ClusterAddress> addresses)
    {
        return addresses.stream().map((each) -> each.host() + ':' + each.port()).collect(Collectors.joining(","));
    }

    /** From the port that is given on, or free ones, which members bind later, one of them only when it leads. */
    private static List<ClusterAddress> addresses(final ClusterAddress listen, final int count)
    {
        final List<ClusterAddress> addresses = new ArrayList<>();
        final List<ServerSocket> sockets = new ArrayList<>();
        try
        {
            for (int i = 0; i < count; i++)
            {
                if (0 != listen.port())
                {
                    addresses.add(new ClusterAddress(listen.host(), listen.port() + i));
                    continue;
                }
                final ServerSocket socket = new ServerSocket();
                sockets.add(socket);
                LastingPort.bind(socket, InetAddress.getByName(listen.host()), 1);
                addresses.add(new ClusterAddress(listen.host(), socket.getLocalPort()));
            }
            return addresses;
        }
        catch (final IOException ex)
        {
            throw new CommandFailedException(
                ExitStatus.UNAVAILABLE, "no free ports at " + listen.host() + ": " + ex.getMessage(), ex);
        }
        finally
        {
            for (final ServerSocket socket : sockets)
            {
                close(socket);
            }
        }
    }

    private static void close(final ServerSocket socket)
    {
        try
        {
            socket.close();
        }
        catch (final IOException ignore)
        {
            // Its port is taken, then, which who is to use it says.
        }
    }
}
