package io.verbena.cli.role;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.SettingsProvider;
import io.verbena.compute.ComputeNodeConfiguration;
import io.verbena.protocol.bootstrap.BootstrapAnswer;
import io.verbena.protocol.bootstrap.NetworkFabric;
import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.spi.ProcessRole;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.resp.RespConfiguration;
import io.verbena.resp.RespException;
import io.verbena.server.ComputeNodeRole;
import io.verbena.server.OtlpExport;
import io.verbena.server.StartTimeline;

import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.net.URI;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/**
 * {@code verbena compute-node}. Compute nodes come when there is load, so one starts as fast as it can: {@link #plain}
 * does without the library for command lines, which takes a fifth of the start.
 */
@Command(
    name = ComputeNodeCommand.NAME,
    description = "Run a compute node in the foreground, until SIGTERM or Ctrl-C.",
    footer = {"", "Each option may also come from the environment (VERBENA_CLUSTER for --cluster) or from the " +
        "property file that VERBENA_CONFIG names. Prints a line that begins with 'ready:' when it serves."},
    defaultValueProvider = SettingsProvider.class)
public final class ComputeNodeCommand implements Callable<Integer>
{
    /** The command's name. */
    public static final String NAME = "compute-node";
    private static final Set<String> PLAIN_OPTIONS = Set.of("--cluster", "--token-file", "--health-port");
    private static final String BUSY_POLL = "--busy-poll";
    private static final String ENCRYPT = "--encrypt";
    /** Makes it a spare. */
    public static final String SPARE = "--spare";
    private static final int MAX_NAME = 255;
    /** Where the environment may hold something of this command. */
    private static final Set<String> VARIABLES = Set.of(
        SettingsProvider.FILE_VARIABLE, "VERBENA_DEBUG", "VERBENA_STACKTRACE", "VERBENA_CLUSTER",
        "VERBENA_TOKEN_FILE", "VERBENA_HEALTH_PORT", "VERBENA_BUSY_POLL", "VERBENA_GROWING_TABLES",
        "VERBENA_SWEEP_INTERVAL", "VERBENA_MAX_MEMORY_NODES", "VERBENA_MAX_CLIENTS", "VERBENA_FABRIC",
        "VERBENA_ADVERTISE", "VERBENA_INSECURE_NETWORK", "VERBENA_RESP_PORT", "VERBENA_RESP_LISTEN",
        "VERBENA_RESP_TABLE", "VERBENA_RESP_PASSWORD_FILE", "VERBENA_RESP_OPEN", "VERBENA_RESP_MAX_CLIENTS",
        "VERBENA_RESP_CLUSTER", "VERBENA_RESP_ANNOUNCE", "VERBENA_RESP_TLS_CERTIFICATE", "VERBENA_RESP_TLS_KEY",
        "VERBENA_RESP_TLS_CA", "VERBENA_SLOWLOG_THRESHOLD_US", "VERBENA_SLOWLOG_SAMPLE", "VERBENA_SPARE",
        "VERBENA_NAME", "VERBENA_TLS_CA", "VERBENA_TLS_CERT", "VERBENA_TLS_KEY", "VERBENA_OTLP_ENDPOINT",
        "VERBENA_ENCRYPT", "VERBENA_FILL_MIB_PER_SECOND");
    private static final int MAX_PORT_DIGITS = 9;
    private static final int LONGEST_SWEEP_SECONDS = 86_400;
    private static final int FASTEST_FILL_MIB = 1 << 20;

    @Spec
    private CommandSpec spec;

    @Mixin
    private RoleOptions options;

    @Option(names = BUSY_POLL, description = "Never sleep: the least latency, for a processor that it burns.")
    private boolean busyPoll;

    @Option(names = "--growing-tables", arity = "1", paramLabel = "BOOLEAN", defaultValue = "true",
        description = "Whether this node splits what fills up, so that tables grow, and merges what has become " +
            "nearly empty. Default: ${DEFAULT-VALUE}.")
    private boolean growingTables = true;

    @Option(names = "--sweep-interval", paramLabel = "SECONDS", defaultValue = "300",
        description = "In so many seconds the compute nodes together walk each table once, to take away records " +
            "whose deadlines have passed and that nobody asks for: 1 to 86400, or 0 for never. " +
            "Default: ${DEFAULT-VALUE}.")
    private int sweepIntervalSeconds = 300;

    @Option(names = "--fill-mib-per-second", paramLabel = "N", defaultValue = "256",
        description = "Most MiB a second copied to a memory node that comes into a group: 1 to 1048576. " +
            "Default: ${DEFAULT-VALUE}.")
    private int fillMibPerSecond = 256;

    @Option(names = "--max-memory-nodes", paramLabel = "N", defaultValue = "128",
        description = "Most memory nodes that it connects to, 1 to 2048: tables on further ones cannot be used here, " +
            "which 'status' and the log say. Default: ${DEFAULT-VALUE}.")
    private int maxMemoryNodes = 128;

    @Option(names = "--max-clients", paramLabel = "N", defaultValue = "256",
        description = "Most clients connected at once, 1 to 4096; one more is refused, and tries again with pauses. " +
            "Default: ${DEFAULT-VALUE}.")
    private int maxClients = ComputeNodeRole.DEFAULT_MAX_CLIENTS;

    @Option(names = ENCRYPT, description = "Refuse clients that do not encrypt, and roce in clear, not RNICs.")
    private boolean encrypt;

    @Option(names = SPARE, description = "Be ready, and have no clients sent here before the autoscaler activates " +
        "this node, which takes milliseconds.")
    private boolean spare;

    @Option(names = "--name", paramLabel = "NAME", defaultValue = "",
        description = "What the autoscaler calls this node, of at most 255 letters, digits and the marks . _ @ : - .")
    private String name = "";

    @Mixin
    private SlowlogOptions slowlog = new SlowlogOptions();

    @Mixin
    private RespOptions resp = new RespOptions();

    /**
     * Understands a command line that leaves no question: options of this command alone, each once, with their values
     * as words of their own, as {@code up} gives them.
     *
     * @param args        the whole command line.
     * @param environment of the process; where it holds settings of this command, the library reads them.
     * @return the command, to be {@linkplain #run run}; null where the library has to look, also to say what is wrong.
     */
    public static ComputeNodeCommand plain(final String[] args, final Map<String, String> environment)
    {
        if (0 == args.length || !NAME.equals(args[0]) ||
            VARIABLES.stream().anyMatch(environment::containsKey))
        {
            return null;
        }
        final Map<String, String> given = new HashMap<>();
        for (int i = 1; i < args.length; i++)
        {
            final String option = args[i];
            final boolean isFlag = BUSY_POLL.equals(option) || SPARE.equals(option) || ENCRYPT.equals(option);
            final String value = isFlag ? "" : ++i < args.length ? args[i] : "";
            final boolean isPlain = isFlag || PLAIN_OPTIONS.contains(option) && value.matches("[^-@\"'].*");
            if (!isPlain || null != given.put(option, value))
            {
                return null;
            }
        }
        return of(given);
    }

    private static ComputeNodeCommand of(final Map<String, String> given)
    {
        final String port = given.getOrDefault("--health-port", "0");
        if (!given.containsKey("--cluster") || !given.containsKey("--token-file") ||
            port.length() > MAX_PORT_DIGITS || !port.chars().allMatch((digit) -> '0' <= digit && digit <= '9'))
        {
            return null;
        }
        final ComputeNodeCommand command = new ComputeNodeCommand();
        command.options =
            RoleOptions.of(given.get("--cluster"), Path.of(given.get("--token-file")), Integer.parseInt(port));
        command.busyPoll = given.containsKey(BUSY_POLL);
        command.spare = given.containsKey(SPARE);
        command.encrypt = given.containsKey(ENCRYPT);
        return command;
    }

    @Override
    public Integer call()
    {
        return run(spec.commandLine().getOut());
    }

    /**
     * Runs the node until SIGTERM or Ctrl-C.
     *
     * @param out takes the ready line.
     * @return exit status.
     */
    public int run(final PrintWriter out)
    {
        check();
        final RespConfiguration port = resp.configuration(System.getenv());
        final ComputeNodeConfiguration configuration = slowlog.addTo(new ComputeNodeConfiguration()
            .splitsSubtables(growingTables).maxMemoryNodes(maxMemoryNodes)
            .sweepIntervalNs(TimeUnit.SECONDS.toNanos(sweepIntervalSeconds))
            .fillBytesPerSecond((long)fillMibPerSecond << 20).spare(spare).instance(name));
        final URI collector = slowlog.otlpEndpoint();
        final NanoClock clock = SystemNanoClock.INSTANCE;
        final long calledNs = clock.nanoTime();
        RoleProcess.begin();
        final BootstrapAnswer cluster = options.bootstrap();
        final String fabricName = options.fabric(cluster, encrypt, true);
        configuration.requireEncryption(RoleOptions.isEncrypted(encrypt, cluster));
        final long bootstrapNs = clock.nanoTime();
        Fabric fabric = null;
        ComputeNodeRole role = null;
        try
        {
            fabric = Fabrics.open(fabricName, ProcessRole.EXPENDABLE);
            final StartTimeline start =
                new StartTimeline(ProcessStart.mainNs(), calledNs, bootstrapNs, clock.nanoTime());
            role = ComputeNodeRole.open(
                fabric, options.locator(cluster), start, configuration, maxClients, port);
        }
        catch (final RespException ex)
        {
            throw new CommandFailedException(ExitStatus.USAGE, "compute node: " + ex.getMessage(), ex);
        }
        catch (final RdmaException ex)
        {
            throw new CommandFailedException(ExitStatus.CANNOT_CREATE, "compute node: " + ex.getMessage(), ex);
        }
        finally
        {
            if (null == role && null != fabric)
            {
                fabric.close();
            }
        }
        try (OtlpExport _ = null == collector ? null :
            OtlpExport.open(collector, role::slowlog, name.isEmpty() ? fabricName : name))
        {
            return RoleProcess.run(fabric, role, busyPoll, RoleProcess.JOIN_TIMEOUT_NS, options.healthPort(),
                out, "on " + fabricName + (null == port ? "" : " resp=" + port.host() + ":" + role.respPort()),
                NetworkFabric.whySilent(cluster));
        }
    }

    private void check()
    {
        if (maxMemoryNodes < 1 || maxMemoryNodes > ComputeNodeConfiguration.MOST_MEMORY_NODES)
        {
            throw new CommandFailedException(ExitStatus.USAGE, "--max-memory-nodes " + maxMemoryNodes +
                ": must be 1 to " + ComputeNodeConfiguration.MOST_MEMORY_NODES, null);
        }
        if (sweepIntervalSeconds < 0 || sweepIntervalSeconds > LONGEST_SWEEP_SECONDS)
        {
            throw new CommandFailedException(ExitStatus.USAGE, "--sweep-interval " + sweepIntervalSeconds +
                ": must be 1 to " + LONGEST_SWEEP_SECONDS + " seconds, or 0 for no sweep", null);
        }
        if (fillMibPerSecond < 1 || fillMibPerSecond > FASTEST_FILL_MIB)
        {
            throw new CommandFailedException(ExitStatus.USAGE, "--fill-mib-per-second " + fillMibPerSecond +
                ": must be 1 to " + FASTEST_FILL_MIB, null);
        }
        if (maxClients < 1 || maxClients > ComputeNodeRole.MOST_CLIENTS)
        {
            throw new CommandFailedException(ExitStatus.USAGE, "--max-clients " + maxClients + ": must be 1 to " +
                ComputeNodeRole.MOST_CLIENTS, null);
        }
        if (name.length() > MAX_NAME || !name.matches("[\\w.@:-]*"))
        {
            throw new CommandFailedException(ExitStatus.USAGE, "--name " + name +
                ": must have at most 255 letters, digits and the marks . _ @ : -", null);
        }
    }

    @Override
    public String toString()
    {
        return "ComputeNodeCommand{" + options + ", busyPoll=" + busyPoll + ", growingTables=" +
            growingTables + '}';
    }
}
