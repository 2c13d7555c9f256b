package io.verbena.cli;

import io.verbena.cli.cluster.ProcessDemoCluster;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.OptionRange;
import io.verbena.cli.console.OutputFile;
import io.verbena.cli.console.Terminal;
import io.verbena.cli.hosts.HostsDemo;
import io.verbena.load.LoadException;
import io.verbena.load.demo.Demo;
import io.verbena.load.demo.DemoOptions;
import io.verbena.load.demo.DemoReport;
import io.verbena.load.demo.DemoReportText;
import io.verbena.load.demo.InterruptedRunException;
import io.verbena.load.report.Progress;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.UnaryOperator;

/**
 * {@code verbena demo}: the store end to end in one process.
 */
@Command(
    name = "demo",
    description = {
        "Start a cluster, in this process or of processes, load it, run a YCSB workload while a compute node comes " +
        "and one leaves or is killed; " +
        "check that no operation failed, that what clients saw is linearizable and that no acknowledged write is " +
        "lost; report."},
    footer = {"", "Exit status 0: all checks hold; 1: an operation failed or a check did; " +
        "69: the fabric cannot be used here.", "",
        "Examples: verbena demo",
        "          verbena demo --workload f --seconds 30 --rate 20000 --json f.json",
        "          verbena demo --processes",
        "          verbena demo --processes --meta-servers 3",
        "          verbena demo --processes --replicas 3",
        "          verbena demo -P my.properties",
        "          verbena demo --fabric ibverbs:rxe0 --records 200 --threads 2"})
final class DemoCommand implements Callable<Integer>
{
    private static final long BYTES_PER_MIB = 1 << 20;
    private static final long MOST_MIB = 1L << 30;
    private static final int MOST_HOSTS = 64;

    /** Makes a run of these options; the tests put faults into it. */
    interface DemoFactory
    {
        Demo create(DemoOptions options, Progress progress, boolean processes, boolean hosts, int metaServers);
    }

    private final DemoFactory factory;

    @Spec
    private CommandSpec spec;

    @Option(names = {"-w", "--workload"}, paramLabel = "a|b|c|d|f",
        description = "YCSB core workload: a update heavy, b read mostly, c read only, d read latest, " +
            "f read-modify-write. Default: a.")
    private String workload;

    @Option(names = "-P", paramLabel = "FILE", description = "A YCSB property file instead; its recordcount, " +
        "maxexecutiontime, threadcount and target hold where the options below are not given.")
    private Path propertyFile;

    @Option(names = "--records", paramLabel = "N", description = "Records to load. Default: 100,000.")
    private Long records;

    @Option(names = "--seconds", paramLabel = "S", description = "Length of the run. Default: 10.")
    private Long seconds;

    @Option(names = "--timeout", paramLabel = "S", description = "Deadline of each operation in seconds, judged too. " +
        "Default: 5, with --replicas 15; an emulated or very busy machine needs more.")
    private Long timeout;

    @Option(names = "--threads", paramLabel = "N", description = "Threads that run the workload. Default: 8.")
    private Long threads;

    @Option(names = "--rate", paramLabel = "N", description = "Operations a second over all threads; latencies then " +
        "count from when an operation was meant to start. Default: as fast as it goes.")
    private Long rate;

    @Option(names = "--memory", paramLabel = "MIB", description = "Registered memory of each memory node, " +
        "in MiB, on soft of /dev/shm. Default: what the workload needs.")
    private Long memoryMib;

    @Option(names = "--fabric", paramLabel = "NAME", defaultValue = "soft",
        description = "Fabric of the cluster: soft, soft:DIRECTORY, roce:ADDRESS or ibverbs:DEVICE. " +
            "Default: soft.")
    private String fabric;

    @Option(names = "--processes", description = "Run each node as a process of its own on this host, on a soft " +
        "fabric of its own; the compute node that goes is killed by SIGKILL.")
    private boolean processes;

    @Option(names = "--hosts", paramLabel = "N", description = "Run each node as a process in one of N emulated " +
        "hosts (2 to 64), on fabric roce, with 1 %% of all packets lost and 1 %% overtaken, and one link cut for 3 s " +
        "in the middle; records, threads, length and deadline are others by default. Needs what verbena dev hosts " +
        "needs.")
    private Integer hosts;

    @Option(names = "--meta-servers", paramLabel = "N", description = "With --processes: 1, or a group of 3 or 5 " +
        "meta servers, whose leader is killed by SIGKILL before the compute node comes. Default: 1.")
    private Integer metaServers;

    @Option(names = "--replicas", paramLabel = "N", description = "Copies of the table, each on another memory node, " +
        "1 to 3; with --processes, and more than one, a memory node is killed by SIGKILL. Default: 1.")
    private Long replicas;

    @Option(names = "--inside-hosts", hidden = true, description = "This process is in the first of the hosts.")
    private boolean insideHosts;

    @Option(names = "--json", paramLabel = "FILE", description = "Write all figures to this file too.")
    private Path json;

    @Option(names = "--history", paramLabel = "FILE", description = "Keep the register clients' history in this " +
        "file, for: verbena check --model versioned-kv-map FILE.")
    private Path history;

    DemoCommand()
    {
        this((options, progress, processes, hosts, metaServers) -> processes || hosts ?
            new Demo(options, progress,
                hosts ? (needs) -> HostsDemo.start(needs, progress::say) :
                    (needs) -> ProcessDemoCluster.start(needs, metaServers),
                UnaryOperator.identity()) :
            new Demo(options, progress));
    }

    DemoCommand(final DemoFactory factory)
    {
        this.factory = factory;
    }

    @Override
    public Integer call() throws InterruptedException
    {
        final DemoOptions options = options();
        if (null != hosts && !insideHosts)
        {
            return HostsDemo.run(hosts, inside());
        }
        try
        {
            final Demo demo = factory.create(options, Terminal.progress(), processes, insideHosts,
                null == metaServers ? 1 : metaServers);
            final OutputFile output = OutputFile.open("--json", json);
            OutputFile.open("--history", history);
            final DemoReport report = demo.run();
            spec.commandLine().getOut().print(DemoReportText.of(report));
            spec.commandLine().getOut().flush();
            output.write(report.json());
            return report.passed() ? ExitStatus.OK : ExitStatus.FAILED;
        }
        catch (final InterruptedRunException ex)
        {
            // Said already, by what closed the cluster.
            return ExitStatus.INTERRUPTED;
        }
        catch (final LoadException ex)
        {
            throw new CommandFailedException(exitStatus(ex.reason()), ex.getMessage(), ex);
        }
    }

    /** The command line that was given, for the process in the first host. */
    private List<String> inside()
    {
        final List<String> arguments =
            new ArrayList<>(spec.root().commandLine().getParseResult().originalArgs());
        arguments.add("--inside-hosts");
        return arguments;
    }

    private DemoOptions options()
    {
        if (null != hosts)
        {
            OptionRange.check("--hosts", hosts, 2, MOST_HOSTS);
        }
        if (null != hosts && (processes || !"soft".equals(fabric)))
        {
            throw new CommandFailedException(ExitStatus.USAGE, "--hosts " + hosts +
                " runs processes on fabric roce: leave out " + (processes ? "--processes" : "--fabric"), null);
        }
        checkMetaServers();
        if (workload != null && propertyFile != null)
        {
            throw new CommandFailedException(
                ExitStatus.USAGE, "--workload " + workload + " and -P " + propertyFile + ": choose one", null);
        }
        if (processes && !"soft".equals(fabric))
        {
            throw new CommandFailedException(ExitStatus.USAGE,
                "--processes and --fabric " + fabric + ": processes of one host have a soft fabric of their own", null);
        }
        return new DemoOptions()
            .workload(workload == null ? "a" : workload)
            .propertyFile(propertyFile)
            .records(given("--records", orOnHosts(records, HostsDemo.RECORDS), DemoOptions.MAX_RECORDS))
            .seconds(given("--seconds", orOnHosts(seconds, HostsDemo.SECONDS), DemoOptions.MAX_SECONDS))
            .timeoutSeconds(given("--timeout", orOnHosts(timeout, HostsDemo.TIMEOUT_S), DemoOptions.MAX_SECONDS))
            .threads((int)given("--threads", orOnHosts(threads, HostsDemo.THREADS), DemoOptions.MAX_THREADS))
            .rate(given("--rate", rate, DemoOptions.MAX_RATE))
            .fabric(fabric)
            .copies((int)Math.max(1, given("--replicas", replicas, DemoOptions.MAX_COPIES)))
            .history(history)
            .memoryBytesPerNode(given("--memory", memoryMib, MOST_MIB) * BYTES_PER_MIB);
    }

    private void checkMetaServers()
    {
        if (null != metaServers && 1 != metaServers && 3 != metaServers && 5 != metaServers)
        {
            throw new CommandFailedException(
                ExitStatus.USAGE, "--meta-servers " + metaServers + ": 1, or a group of 3 or 5", null);
        }
        if (null != metaServers && 1 != metaServers && !processes)
        {
            throw new CommandFailedException(ExitStatus.USAGE,
                "--meta-servers " + metaServers + " is a group of processes of this host: give --processes", null);
        }
    }

    private Long orOnHosts(final Long value, final long otherwise)
    {
        return null == value && null != hosts && null == propertyFile ? Long.valueOf(otherwise) : value;
    }

    private static long given(final String option, final Long value, final long most)
    {
        if (value != null && (value < 1 || value > most))
        {
            throw new CommandFailedException(ExitStatus.USAGE, option + " " + value + ": must be 1 to " + most, null);
        }
        return value == null ? 0 : value;
    }

    private static int exitStatus(final LoadException.Reason reason)
    {
        return switch (reason)
        {
            case USAGE -> ExitStatus.USAGE;
            case BAD_DATA -> ExitStatus.BAD_DATA;
            case UNAVAILABLE -> ExitStatus.UNAVAILABLE;
            case CANNOT_CREATE -> ExitStatus.CANNOT_CREATE;
            case FAILED -> ExitStatus.FAILED;
        };
    }
}
