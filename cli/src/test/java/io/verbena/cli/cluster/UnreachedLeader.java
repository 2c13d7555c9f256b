package io.verbena.cli.cluster;

import io.verbena.cli.cluster.ProcessTable.Entry;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.KvException;
import io.verbena.client.KvTable;
import io.verbena.client.TableOptions;
import io.verbena.protocol.bootstrap.ClusterToken;
import io.verbena.protocol.bootstrap.OwnerOnly;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * Runs in h1 of five emulated hosts, with a client there, the nodes in h5, and a meta server of a group in each other
 * one: the host of the leader is cut off from the client first, from the nodes too then, and never from the other
 * members. Argument: a folder.
 */
public final class UnreachedLeader
{
    private static final String HOSTS_VARIABLE = "VERBENA_HOSTS";
    private static final String CLIENT_HOST = "h1";
    private static final String NODES_HOST = "h5";
    private static final String GROUP = "verbena://h2:7373,h3:7373,h4:7373";
    private static final String PEERS = "h2:7474,h3:7474,h4:7474";
    /** Nobody has that address: frames that are sent there arrive nowhere, and nothing says so. */
    private static final String[] ENTRY_TO_NOWHERE =
        {"replace", "lladdr", "02:00:00:00:ff:ff", "nud", "permanent"};
    private static final Duration OPERATION = Duration.ofSeconds(5);
    private static final Duration CONTROL = Duration.ofSeconds(60);
    private static final Duration CONNECT = Duration.ofSeconds(3);
    private static final long STEP_NS = TimeUnit.SECONDS.toNanos(120);
    /** More than half of a node's lease of 10 s, after which a leader gives way that nodes do not reach. */
    private static final long CLIENT_CUT_NS = TimeUnit.SECONDS.toNanos(7);
    /** Longer than the leases of nodes, 10 s. */
    private static final long CUT_NS = TimeUnit.SECONDS.toNanos(13);
    private static final int STARTS = 3;
    private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(20);

    private final Path folder;
    private final Path token;
    private final ProcessTable processes;
    private final NodeLauncher launcher;
    private final AtomicBoolean isOver = new AtomicBoolean();

    private UnreachedLeader(final Path folder)
    {
        this.folder = folder;
        token = folder.resolve("token");
        processes = new ProcessTable(folder.resolve("processes"));
        launcher = new NodeLauncher(processes, folder.resolve("logs"));
        launcher.readyTimeoutS(TimeUnit.NANOSECONDS.toSeconds(STEP_NS));
        launcher.jvmFlags(List.of("-XX:TieredStopAtLevel=1"));
        launcher.places(new NodePlaces("roce", UnreachedLeader::script, List.of("--insecure-network")));
    }

    public static void main(final String[] arguments) throws Exception
    {
        final UnreachedLeader program = new UnreachedLeader(Path.of(arguments[0]));
        try
        {
            program.run();
            System.out.println("PASSED");
        }
        finally
        {
            program.processes.entries().forEach((entry) -> entry.process().ifPresent(ProcessHandle::destroyForcibly));
        }
        Runtime.getRuntime().halt(0);
    }

    /** Members of the group are called by their hosts. */
    private static String host(final String name)
    {
        return name.startsWith("meta-server") ? "h" + name.substring(name.lastIndexOf('-') + 1) : NODES_HOST;
    }

    private static String script(final String name)
    {
        return Path.of(System.getenv(HOSTS_VARIABLE)).resolve(host(name)).toString();
    }

    private void run() throws Exception
    {
        OwnerOnly.createFolder(folder);
        ClusterToken.readOrCreate(token);
        for (int host = 2; host <= 4; host++)
        {
            launcher.start("meta-server-" + host, List.of("meta-server", "--listen", "verbena://h" + host + ":7373",
                "--data", folder.resolve("meta-" + host).toString(), "--token-file", token.toString(), "--fabric",
                "roce", "--peers", PEERS, "--member", Integer.toString(host - 1), "--new-group"));
        }
        startNode("memory-1", List.of("memory-node", "--cluster", GROUP, "--token-file", token.toString(),
            "--data", folder.resolve("memory-1").toString(), "--memory", "32"));
        startNode("compute-1", List.of("compute-node", "--cluster", GROUP, "--token-file", token.toString()));
        try (KvClient client = connect(CONTROL))
        {
            final KvTable table = client.createTable("t", new TableOptions(1_000));
            final CompletableFuture<Integer> writer = CompletableFuture.supplyAsync(() -> write(table));
            final Entry leader = awaitLeader("");
            cutFromClient(leader, client);
            final String host = host(leader.name());
            cut(host, NODES_HOST, ENTRY_TO_NOWHERE);
            final long cutNs = System.nanoTime();
            final Entry next = awaitLeader(leader.name());
            System.out.println(leader.name() + " led, " + next.name() + " leads after " + seconds(cutNs) + " s");
            connect(CONTROL).close();
            client.createTable("while-cut", new TableOptions(1_000));
            System.out.println("a table was created after " + seconds(cutNs) + " s");
            LockSupport.parkNanos(CUT_NS - (System.nanoTime() - cutNs));
            cut(host, NODES_HOST, "delete");
            cut(host, CLIENT_HOST, "delete");
            client.createTable("after-cut", new TableOptions(1_000));
            isOver.set(true);
            System.out.println(writer.get(STEP_NS, TimeUnit.NANOSECONDS) + " records written, none refused");
        }
    }

    private KvClient connect(final Duration timeout)
    {
        return KvClient.connect(GROUP, new KvClientOptions().tokenFile(token).timeout(timeout));
    }

    /**
     * Who is connected goes on, with tables, too, since compute nodes reach the leader; nobody can connect; and the
     * leader, which nodes reach, does not give way.
     */
    private void cutFromClient(final Entry leader, final KvClient client) throws IOException, InterruptedException
    {
        final Object leadership = HealthProbe.figures(leader).get("group_leadership");
        cut(host(leader.name()), CLIENT_HOST, ENTRY_TO_NOWHERE);
        final long cutNs = System.nanoTime();
        client.createTable("while-client-cut", new TableOptions(1_000));
        try
        {
            connect(CONNECT).close();
            throw new AssertionError("a client has connected");
        }
        catch (final KvException ex)
        {
            System.out.println("cannot connect: " + ex.getMessage());
        }
        LockSupport.parkNanos(CLIENT_CUT_NS - (System.nanoTime() - cutNs));
        client.dropTable("while-client-cut");
        if (!leadership.equals(HealthProbe.figures(leader).get("group_leadership")))
        {
            throw new AssertionError("it gave way: " + HealthProbe.figures(leader));
        }
        System.out.println("the same leads after " + seconds(cutNs) + " s");
    }

    /** As whoever keeps services running does: again, if it could not join within its deadline. */
    private void startNode(final String name, final List<String> arguments)
    {
        for (int i = 1; ; i++)
        {
            try
            {
                launcher.start(name, arguments);
                return;
            }
            catch (final CommandFailedException ex)
            {
                if (i == STARTS)
                {
                    throw ex;
                }
                System.out.println(ex.getMessage());
            }
        }
    }

    /** One that nodes reach, or could, other than that one. */
    private Entry awaitLeader(final String other)
    {
        final long sinceNs = System.nanoTime();
        while (System.nanoTime() - sinceNs < STEP_NS)
        {
            for (final Entry entry : processes.entries())
            {
                if (entry.name().startsWith("meta") && !entry.name().equals(other) &&
                    HealthProbe.figures(entry) instanceof final Map<?, ?> figures && figures.containsKey("cluster_id"))
                {
                    return entry;
                }
            }
            LockSupport.parkNanos(POLL_NS);
        }
        throw new AssertionError("no other meta server leads");
    }

    /** Between two hosts, in both directions and for both families of addresses. */
    private static void cut(final String one, final String other, final String... how)
        throws IOException, InterruptedException
    {
        for (final String prefix : List.of("fd00:77::", "10.77.0."))
        {
            neighbour(one, prefix + other.substring(1), how);
            neighbour(other, prefix + one.substring(1), how);
        }
    }

    private static void neighbour(final String host, final String address, final String... how)
        throws IOException, InterruptedException
    {
        final List<String> command = new ArrayList<>(List.of(
            Path.of(System.getenv(HOSTS_VARIABLE)).resolve(host).toString(), "ip", "neighbour", how[0], address));
        command.addAll(List.of(how).subList(1, how.length));
        command.addAll(List.of("dev", "eth0"));
        final int status = new ProcessBuilder(command).inheritIO().start().waitFor();
        if (0 != status)
        {
            throw new AssertionError(command + " ended with status " + status);
        }
    }

    private static long seconds(final long sinceNs)
    {
        return TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - sinceNs);
    }

    private int write(final KvTable table)
    {
        int next = 0;
        while (!isOver.get())
        {
            table.withTimeout(OPERATION).put(ByteBuffer.allocate(Integer.BYTES).putInt(next % 500).array(),
                new byte[100]);
            next++;
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
        }
        return next;
    }
}
