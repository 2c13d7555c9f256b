package io.verbena.cli.hosts;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.hosts.wire.LinkFaults;
import io.verbena.cli.hosts.wire.Wire;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The hosts and the switch between them, made by a process that is alone in its namespaces: with the end of that
 * process the kernel ends all others in them and removes everything. Without faults the switch is the kernel's bridge;
 * with faults it is a {@link Wire}. One thread.
 */
final class HostNetwork implements AutoCloseable
{
    private static final String BRIDGE = "switch";
    private static final String FORWARDING = "3";
    private static final String DISABLED = "0";
    private static final long TIMEOUT_S = 10;

    private final HostsFolder folder;
    private final List<Host> hosts;
    private final List<Process> holders = new ArrayList<>();
    private Set<String> cut = Set.of();
    private Wire wire;

    private HostNetwork(final HostsFolder folder, final int hosts)
    {
        this.folder = folder;
        this.hosts = IntStream.rangeClosed(1, hosts).mapToObj(Host::new).toList();
    }

    /**
     * Makes it.
     *
     * @param folder   takes the scripts of the hosts.
     * @param hosts    1 to 64.
     * @param mtuBytes of each link.
     * @param faults   of each link.
     * @return the network; it ends with this process, too.
     */
    static HostNetwork open(final HostsFolder folder, final int hosts, final int mtuBytes, final LinkFaults faults)
    {
        final HostNetwork network = new HostNetwork(folder, hosts);
        try
        {
            network.writeNames();
            network.makeLinks(mtuBytes);
            for (final Host host : network.hosts)
            {
                network.makeHost(host, !faults.isNone());
            }
            network.join(faults);
            folder.writeLinks(network.cut);
            return network;
        }
        catch (final IOException ex)
        {
            throw new CommandFailedException(
                ExitStatus.UNAVAILABLE, "hosts cannot be made: " + ex.getMessage(), ex);
        }
    }

    List<Host> hosts()
    {
        return hosts;
    }

    /** @return what befell frames, for people; null where no frame has a fault. */
    String counts()
    {
        return null == wire ? null : wire.counts().toString();
    }

    private void writeNames() throws IOException
    {
        folder.write("names", "127.0.0.1 localhost\n::1 localhost\n" + hosts.stream()
            .map((host) -> host.ipv6() + ' ' + host.name() + '\n' + host.ipv4() + ' ' + host.name() + ".ipv4\n")
            .collect(Collectors.joining()));
    }

    private void makeLinks(final int mtuBytes) throws IOException
    {
        // The switch has no addresses and says nothing by itself.
        Files.writeString(Path.of("/proc/sys/net/ipv6/conf/default/disable_ipv6"), "1");
        for (final Host host : hosts)
        {
            run("ip", "link", "add", host.name(), "address", Wire.mac(host.number() - 1), "mtu",
                Integer.toString(mtuBytes), "type", "veth", "peer", "name", host.switchPort(), "mtu",
                Integer.toString(mtuBytes));
            run("ip", "link", "set", host.switchPort(), "up");
        }
    }

    private void makeHost(final Host host, final boolean sendsWholeFrames) throws IOException
    {
        if (sendsWholeFrames)
        {
            Wire.sendWholeFrames(host.name());
        }
        // It holds the host's namespaces until its input ends, which is when this process does.
        final Process holder = new ProcessBuilder("unshare", "--net", "--mount", "--uts", "sh", "-c",
            "read -r _; " + String.join(" && ",
                "hostname " + host.name(),
                "mount -t tmpfs shm /dev/shm",
                "mount --bind '" + folder.path().resolve("names") + "' /etc/hosts",
                "ip link set lo up",
                "ip link set " + host.name() + " name eth0",
                "echo 0 > /proc/sys/net/ipv6/conf/eth0/accept_dad",
                "ip address add " + host.ipv6() + "/64 dev eth0 nodad",
                "ip address add " + host.ipv4() + "/24 dev eth0",
                "ip link set eth0 up",
                "echo made") + "; exec cat").redirectErrorStream(true).start();
        holders.add(holder);
        awaitNamespace(holder);
        run("ip", "link", "set", host.name(), "netns", Long.toString(holder.pid()));
        final Writer in = holder.outputWriter(StandardCharsets.UTF_8);
        in.write("go\n");
        in.flush();
        final BufferedReader out = holder.inputReader(StandardCharsets.UTF_8);
        final String said = out.readLine();
        if (!"made".equals(said))
        {
            throw new IOException(host.name() + ": " + said);
        }
        writeScript(host, holder.pid());
    }

    /** Until it has left the network namespace of this process, its link would stay in this one. */
    private static void awaitNamespace(final Process holder) throws IOException
    {
        final Path own = Path.of("/proc/self/ns/net");
        final Path other = Path.of("/proc", Long.toString(holder.pid()), "ns/uts");
        final Path ownLast = Path.of("/proc/self/ns/uts");
        for (int i = 0; i < TimeUnit.SECONDS.toMillis(TIMEOUT_S); i++)
        {
            // unshare(1) asks for all namespaces in one call.
            if (!Files.readSymbolicLink(other).equals(Files.readSymbolicLink(ownLast)))
            {
                return;
            }
            pause();
        }
        throw new IOException("unshare does not leave " + own + " within " + TIMEOUT_S + " s");
    }

    private static void pause()
    {
        try
        {
            Thread.sleep(1);
        }
        catch (final InterruptedException ex)
        {
            throw new CommandFailedException(ExitStatus.INTERRUPTED, "interrupted", ex);
        }
    }

    /** From outside of all namespaces, first into those of this process. */
    private void writeScript(final Host host, final long pid) throws IOException
    {
        final String text = """
            #!/bin/sh
            # Runs a command in host %1$s: %2$s COMMAND...
            into='nsenter --target %3$d --net --mount --uts --'
            run='cd "$0" && exec "$@"'
            export %4$s='%5$s'
            if [ "$(readlink /proc/self/ns/pid)" = '%6$s' ]; then
              exec $into sh -c "$run" "$PWD" "$@"
            fi
            read -r pid < '%5$s/namespaces' && first=$(cat "/proc/$pid/task/$pid/children") || exit 69
            first=${first%%%% *}
            if [ "$(readlink /proc/self/ns/user)" != "$(readlink "/proc/$first/ns/user")" ]; then
              user='--user --preserve-credentials'
            fi
            exec nsenter --target "$first" $user --mount --pid -- $into sh -c "$run" "$PWD" "$@"
            """.formatted(host.name(), folder.path().resolve(host.name()), pid, HostsFolder.VARIABLE, folder.path(),
            Files.readSymbolicLink(Path.of("/proc/self/ns/pid")));
        folder.write(host.name(), text);
        Files.setPosixFilePermissions(
            folder.path().resolve(host.name()), PosixFilePermissions.fromString("rwx------"));
    }

    private void join(final LinkFaults faults) throws IOException
    {
        if (!faults.isNone())
        {
            wire = Wire.start(hosts.stream().map(Host::switchPort).toList(), faults);
            return;
        }
        run("ip", "link", "add", BRIDGE, "type", "bridge", "mcast_snooping", "0");
        run("ip", "link", "set", BRIDGE, "up");
        for (final Host host : hosts)
        {
            run("ip", "link", "set", host.switchPort(), "master", BRIDGE);
        }
    }

    /** Cuts and restores links as the folder asks for; does nothing when it asks for nothing new. */
    void pollCuts() throws IOException
    {
        final Set<String> requested = folder.requestedCuts();
        if (requested.equals(cut))
        {
            return;
        }
        long links = 0;
        final Set<String> known = new TreeSet<>();
        for (final Host host : hosts)
        {
            final boolean isCut = requested.contains(host.name());
            links |= isCut ? 1L << host.number() - 1 : 0;
            known.addAll(isCut ? Set.of(host.name()) : Set.of());
            if (null == wire && isCut != cut.contains(host.name()))
            {
                // The link stays up: both ends learn from silence alone that nobody is there.
                run("bridge", "link", "set", "dev", host.switchPort(), "state", isCut ? DISABLED : FORWARDING);
            }
        }
        if (null != wire)
        {
            wire.cut(links);
        }
        cut = requested;
        folder.writeLinks(known);
    }

    private static void run(final String... command) throws IOException
    {
        final Process process;
        try
        {
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
        }
        catch (final IOException ex)
        {
            throw new IOException("no program '" + command[0] + "': install the package iproute2", ex);
        }
        try
        {
            process.outputWriter().close();
            final String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            if (!process.waitFor(TIMEOUT_S, TimeUnit.SECONDS) || 0 != process.exitValue())
            {
                throw new IOException(String.join(" ", command) + ": " + said);
            }
        }
        catch (final InterruptedException ex)
        {
            throw new CommandFailedException(ExitStatus.INTERRUPTED, "interrupted", ex);
        }
    }

    @Override
    public void close()
    {
        if (null != wire)
        {
            wire.close();
        }
        holders.forEach(Process::destroyForcibly);
    }
}
