package io.verbena.cli.hosts;

import io.verbena.cli.CommandLines;
import io.verbena.cli.cluster.ClusterFolder;
import io.verbena.cli.cluster.HealthProbe;
import io.verbena.cli.cluster.LocalCluster;
import io.verbena.cli.cluster.NodeLauncher;
import io.verbena.cli.cluster.NodePlaces;
import io.verbena.cli.cluster.ProcessTable.Entry;
import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.KvEntry;
import io.verbena.client.KvException;
import io.verbena.client.KvTable;
import io.verbena.client.TableOptions;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Runs in h1 of three emulated hosts: a cluster with its meta server there, memory in h2, which two threads answer for,
 * and its compute node in h3. Processes and links fail, and a client that stays connected says what it sees. Arguments:
 * a folder, and for how long links are cut, in milliseconds.
 */
final class HostsFaultsMain
{
    /** Of each process: most of their work is to start. */
    static final List<String> JVM_FLAGS = List.of("-XX:TieredStopAtLevel=1");
    private static final String MEMORY_ADDRESS = "fd00:77::2";
    private static final int MEMORY_PORT = 4800;
    private static final String COMPUTE_ADDRESS = "fd00:77::3";
    private static final int COMPUTE_PORT = 4810;
    private static final List<String> ORDER = List.of("meta-server", "memory-1", "compute-1");
    private static final Duration OPERATION = Duration.ofSeconds(20);
    private static final long RECOVERY_NS = TimeUnit.SECONDS.toNanos(90);
    private static final long PAUSE_MS = 800;
    private static final long POLL_MS = 10;
    /** Where links are cut for so long, that of the memory is cut too, and its host starts again. */
    static final long DEEP_MS = 10_000;
    private static final byte[] KEY = "key".getBytes(StandardCharsets.UTF_8);
    private static final byte[] NONE = {};

    private final HostsFolder hosts = HostsFolder.find();
    private final ClusterFolder folder;
    private final LocalCluster cluster;
    private final long cutMs;
    private KvTable table;
    private int last;

    private HostsFaultsMain(final Path path, final long cutMs)
    {
        folder = ClusterFolder.of(path);
        cluster = LocalCluster.open(folder);
        this.cutMs = cutMs;
    }

    public static void main(final String[] arguments) throws IOException, InterruptedException
    {
        final HostsFaultsMain main = new HostsFaultsMain(Path.of(arguments[0]), Long.parseLong(arguments[1]));
        try
        {
            main.run();
        }
        finally
        {
            main.cluster.down((line) -> {});
        }
        Runtime.getRuntime().halt(0);
    }

    private void run() throws IOException, InterruptedException
    {
        cluster.places(new NodePlaces("roce", (name) -> hosts.script("h" + (ORDER.indexOf(name) + 1)).toString(),
            List.of("--insecure-network")));
        cluster.metaOptions(List.of("--lease-seconds", "3"));
        cluster.memoryOptions(
            List.of("--advertise", "[" + MEMORY_ADDRESS + "]:" + MEMORY_PORT, "--responder-threads", "2"));
        cluster.computeOptions(List.of("--advertise", "[" + COMPUTE_ADDRESS + "]:" + COMPUTE_PORT));
        cluster.jvmFlags(JVM_FLAGS);
        up();
        final Process second = beginOnTakenPort();
        try (KvClient client = KvClient.connect(folder.address(),
            new KvClientOptions().tokenFile(folder.token()).timeout(OPERATION)))
        {
            table = client.createTable("t", new TableOptions(1_000));
            say("memory", "ports " + ports());
            final String said = new String(second.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            say("port in use", said.substring(said.lastIndexOf('\n') + 1) + ", status " + second.waitFor());
            cut("h3");
            pause("memory-1");
            takeAddress();
            leaveHalfOpen();
            kill("memory-1", "compute-1");
            kill("meta-server");
            if (cutMs >= DEEP_MS)
            {
                cut("h2");
                restartHostOfMemory();
            }
        }
    }

    private void up()
    {
        cluster.up("verbena://h1:0", 1, 32, 1, (line) -> {});
    }

    /** A second memory node in h2, with an address of its own but for the second port of the first one. */
    private Process beginOnTakenPort() throws IOException
    {
        final List<String> command = new ArrayList<>(List.of(hosts.script("h2").toString()));
        command.addAll(NodeLauncher.commandLine(NodeLauncher.NODE_FLAGS, List.of("memory-node", "--cluster",
            folder.address(), "--token-file", folder.token().toString(), "--data", folder.path().resolveSibling("other")
            .toString(), "--insecure-network", "--advertise", "[" + MEMORY_ADDRESS + "]:" + (MEMORY_PORT + 1))));
        return new ProcessBuilder(command).redirectErrorStream(true).start();
    }

    /** Which of the UDP ports of the memory node are open in its host. */
    private String ports()
    {
        final List<String> sockets = inHost("h2", "cat", "/proc/net/udp6").lines().toList();
        return IntStream.range(MEMORY_PORT, MEMORY_PORT + 4).filter((port) -> sockets.stream()
            .anyMatch((line) -> line.contains(String.format(":%04X ", port)))).boxed().toList().toString();
    }

    private String inHost(final String host, final String... command)
    {
        final List<String> all = new ArrayList<>(List.of(hosts.script(host).toString()));
        all.addAll(List.of(command));
        try
        {
            final Process process = new ProcessBuilder(all).redirectErrorStream(true).start();
            final String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (0 != process.waitFor())
            {
                throw new IllegalStateException(all + ": " + said);
            }
            return said;
        }
        catch (final IOException | InterruptedException ex)
        {
            throw new IllegalStateException(all.toString(), ex);
        }
    }

    private static void say(final String fault, final String what)
    {
        System.out.println(fault + ": " + what);
    }

    /** Puts, and gets what was put, until both succeed. */
    private void serve(final String fault, final String expected)
    {
        final long endNs = System.nanoTime() + RECOVERY_NS;
        while (true)
        {
            last++;
            try
            {
                final byte[] value = Integer.toString(last).getBytes(StandardCharsets.UTF_8);
                table.put(KEY, value);
                final byte[] read = table.get(KEY).orElseThrow().value();
                say(fault, Arrays.equals(read, value) ? expected : "another value");
                return;
            }
            catch (final KvException ex)
            {
                if (System.nanoTime() - endNs > 0)
                {
                    say(fault, "not served: " + ex);
                    return;
                }
                pause(POLL_MS);
            }
        }
    }

    private Map<String, Long> processes()
    {
        return cluster.live().stream().collect(Collectors.toMap(Entry::name, Entry::pid));
    }

    private void cut(final String host)
    {
        final Map<String, Long> before = processes();
        setLink(host, true);
        pause(cutMs);
        setLink(host, false);
        serve("link of " + host + " cut", "serves again");
        compare("link of " + host + " cut", before);
    }

    private void setLink(final String host, final boolean isCut)
    {
        hosts.requestCut(host, isCut);
        while (hosts.links().contains(host) != isCut)
        {
            pause(POLL_MS);
        }
    }

    /** For less than the retries of a connection and the lease; a put waits meanwhile. */
    private void pause(final String name) throws IOException, InterruptedException
    {
        final Thread putting = Thread.ofPlatform().unstarted(() -> serve(name + " paused", "serves"));
        signal(name, "STOP");
        putting.start();
        pause(PAUSE_MS);
        signal(name, "CONT");
        putting.join();
    }

    private void signal(final String name, final String signal) throws IOException, InterruptedException
    {
        new ProcessBuilder("kill", "-" + signal, Long.toString(cluster.entry(name).pid())).start().waitFor();
    }

    /**
     * The compute node's host has the memory node's address, too: what the compute node sends there comes back to its
     * own host, where nobody takes it.
     */
    private void takeAddress()
    {
        final String fault = "address of h2 twice";
        final Map<String, Long> before = processes();
        inHost("h3", "ip", "address", "add", MEMORY_ADDRESS + "/128", "dev", "eth0", "nodad");
        final long endNs = System.nanoTime() + RECOVERY_NS;
        // First that the connection broke, and then why there is no other one.
        String unreachable = unreachable();
        while (!unreachable.contains(" port " + MEMORY_PORT) && System.nanoTime() - endNs < 0)
        {
            pause(POLL_MS);
            unreachable = unreachable();
        }
        say(fault, unreachable);
        inHost("h3", "ip", "address", "del", MEMORY_ADDRESS + "/128", "dev", "eth0");
        serve(fault, "serves again");
        compare(fault, before);
    }

    /** What the compute node says of memory nodes that it does not reach. */
    private String unreachable()
    {
        final Map<String, Object> figures = HealthProbe.figures(cluster.entry("compute-1"));
        return null == figures ? "" : String.valueOf(figures.get("unreachable_memory_nodes"));
    }

    /**
     * The memory node is another process at its address, and the compute node still has the connection to the one
     * before: no packet of that host has reached it meanwhile.
     */
    private void leaveHalfOpen()
    {
        final String fault = "half-open connection to memory-1";
        final Map<String, Long> before = processes();
        inHost("h2", "ip", "route", "add", "blackhole", COMPUTE_ADDRESS + "/128");
        end("memory-1");
        up();
        inHost("h2", "ip", "route", "del", "blackhole", COMPUTE_ADDRESS + "/128");
        awaitServed(fault, before, "memory-1");
    }

    /** They come back at the addresses that they had; nobody else is started again. */
    private void kill(final String... names)
    {
        final String fault = String.join(", ", names) + " killed";
        final Map<String, Long> before = processes();
        end(names);
        up();
        awaitServed(fault, before, names);
    }

    /** Gets what was put last, and puts; nobody else than those was started again. */
    private void awaitServed(final String fault, final Map<String, Long> before, final String... names)
    {
        final byte[] known = Integer.toString(last).getBytes(StandardCharsets.UTF_8);
        final long endNs = System.nanoTime() + RECOVERY_NS;
        byte[] read = null;
        while (null == read && System.nanoTime() - endNs < 0)
        {
            try
            {
                read = table.get(KEY).map(KvEntry::value).orElse(NONE);
            }
            catch (final KvException ex)
            {
                pause(POLL_MS);
            }
        }
        say(fault, null == read ? "not served" : Arrays.equals(read, known) ? "has the record" :
            "another record: " + new String(read, StandardCharsets.UTF_8));
        serve(fault, "serves again");
        compare(fault, before, names);
    }

    /** Says so if others than those have been started again. */
    private void compare(final String fault, final Map<String, Long> before, final String... names)
    {
        final Map<String, Long> others = new HashMap<>(before);
        final Map<String, Long> after = new HashMap<>(processes());
        others.keySet().removeAll(List.of(names));
        after.keySet().removeAll(List.of(names));
        if (!after.equals(others))
        {
            say(fault, "processes " + after + " after " + others);
        }
    }

    private void end(final String... names)
    {
        for (final String name : names)
        {
            final ProcessHandle process = cluster.entry(name).process().orElseThrow();
            process.destroyForcibly();
            process.onExit().join();
        }
    }

    /** Its memory is gone, and what it had written down is there. */
    private void restartHostOfMemory() throws IOException, InterruptedException
    {
        final CommandLines.Result checkpoint =
            CommandLines.run(List.of("checkpoint", "--data", folder.path().toString()));
        end("memory-1");
        say("h2 started again", "checkpoint " + checkpoint.status() + checkpoint.err());
        new ProcessBuilder(hosts.script("h2").toString(), "sh", "-c", "rm -r /dev/shm/verbena-*").start().waitFor();
        up();
        serve("h2 started again", "serves again");
    }

    private static void pause(final long lengthMs)
    {
        final long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(lengthMs);
        for (long leftNs = endNs - System.nanoTime(); leftNs > 0; leftNs = endNs - System.nanoTime())
        {
            LockSupport.parkNanos(leftNs);
        }
    }
}
