package io.verbena.cli.role;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.OptionRange;
import io.verbena.cli.console.SettingsProvider;
import io.verbena.memory.MemoryFolder;
import io.verbena.memory.MemoryNodeException;
import io.verbena.memory.checkpoint.CheckpointException;
import io.verbena.protocol.bootstrap.BootstrapAnswer;
import io.verbena.protocol.bootstrap.NetworkFabric;
import io.verbena.protocol.bootstrap.MetaServerLocator;
import io.verbena.protocol.message.FailureDomain;
import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.spi.ProcessRole;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.server.MemoryNodeRole;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/** {@code verbena memory-node}. */
@Command(
    name = "memory-node",
    description = "Run a memory node in the foreground, until SIGTERM or Ctrl-C.",
    footer = {"", "Each option may also come from the environment (VERBENA_CLUSTER for --cluster) or from the " +
        "property file that VERBENA_CONFIG names. Prints a line that begins with 'ready:' when it serves."},
    defaultValueProvider = SettingsProvider.class)
public final class MemoryNodeCommand implements Callable<Integer>
{
    /** Most registered memory of a node, MiB. */
    public static final int MAX_MIB = 128 << 10;
    private static final int MAX_RESPONDER_THREADS = 32;
    private static final long DEFAULT_LENGTH_BYTES = 256L << 20;

    @Spec
    private CommandSpec spec;

    @Mixin
    private RoleOptions options;

    @Option(names = "--memory", paramLabel = "MIB",
        description = "Registered memory, in MiB. Default: as the folder says, 256 for a new node.")
    private Integer memoryMib;

    @Option(names = "--data", paramLabel = "DIR",
        description = "Folder with the node's identity: its next process finds the memory of this one, also after " +
            "kill -9. Default: none, the memory ends with the process.")
    private Path data;

    @Option(names = "--failure-domain", paramLabel = "LABEL",
        description = "What nodes share that are lost together, such as rack-1; '' for nothing. Default: as the " +
            "folder says.")
    private String failureDomain;

    @Option(names = "--checkpoint-seconds", paramLabel = "S", defaultValue = "60",
        description = "Between checkpoints; 0: only when asked for, at the end, and of new or changed groups. " +
            "Default: ${DEFAULT-VALUE}.")
    private int checkpointSeconds;

    @Option(names = "--accept-damage",
        description = "Serve memory with damaged records in it: operations on their keys fail with a typed error. " +
            "Default: end, and change nothing.")
    private boolean acceptsDamage;

    @Option(names = "--responder-threads", paramLabel = "N", defaultValue = "1",
        description = "Threads that answer other hosts, 1 to 32; each has a UDP port, the one after the other where " +
            "--advertise gives one. Default: ${DEFAULT-VALUE}.")
    private int responderThreads;

    @Option(names = "--encrypt", description = "Refuse roce in clear, not RNICs.")
    private boolean encrypt;

    /** What it has to look through, or to restore, before it is ready. */
    private long regionLengthBytes;

    @Override
    public Integer call()
    {
        OptionRange.check("--memory", null == memoryMib ? 1 : memoryMib, 1, MAX_MIB);
        OptionRange.check("--checkpoint-seconds", checkpointSeconds, 0, Integer.MAX_VALUE);
        OptionRange.check("--responder-threads", responderThreads, 1, MAX_RESPONDER_THREADS);
        checkFailureDomain("--failure-domain", null == failureDomain ? FailureDomain.NONE : failureDomain);
        RoleProcess.begin();
        final BootstrapAnswer cluster = options.bootstrap();
        final String name = options.fabric(cluster, encrypt, false, responderThreads);
        Fabric fabric = null;
        MemoryNodeRole role = null;
        try
        {
            fabric = Fabrics.open(name, ProcessRole.SERVER);
            role = open(fabric, cluster);
        }
        catch (final RdmaException | MemoryNodeException | CheckpointException ex)
        {
            throw new CommandFailedException(ExitStatus.CANNOT_CREATE, "memory node: " + ex.getMessage(), ex);
        }
        finally
        {
            if (null == role && null != fabric)
            {
                fabric.close();
            }
        }
        final long readyTimeoutNs = RoleProcess.JOIN_TIMEOUT_NS +
            MemoryFolder.walkTimeoutNs(regionLengthBytes);
        return RoleProcess.run(fabric, role, false, readyTimeoutNs, options.healthPort(),
            spec.commandLine().getOut(), "on " + name, NetworkFabric.whySilent(cluster));
    }

    /** Refuses what is no label of a failure domain; an empty one is that of a node on its own. */
    public static void checkFailureDomain(final String option, final String label)
    {
        if (!FailureDomain.NONE.equals(label) && !FailureDomain.isLabel(label))
        {
            throw new CommandFailedException(ExitStatus.USAGE, option + ' ' + label + ": a label has 1 to " +
                FailureDomain.MAX_LABEL_LENGTH + " letters, digits, '.', '_' or '-', and begins with a letter or digit",
                null);
        }
    }

    private MemoryNodeRole open(final Fabric fabric, final BootstrapAnswer cluster)
    {
        final MetaServerLocator metaServer = options.locator(cluster);
        final long lengthBytes = null == memoryMib ? 0 : (long)memoryMib << 20;
        if (null == data)
        {
            return MemoryNodeRole.open(fabric, metaServer, 0 == lengthBytes ? DEFAULT_LENGTH_BYTES : lengthBytes,
                null == failureDomain ? FailureDomain.NONE : failureDomain);
        }
        final MemoryFolder folder = MemoryFolder.open(data, lengthBytes, DEFAULT_LENGTH_BYTES);
        folder.requireCluster(cluster.clusterId());
        if (null != failureDomain)
        {
            folder.failureDomain(failureDomain);
        }
        regionLengthBytes = folder.regionLengthBytes();
        return MemoryNodeRole.open(fabric, metaServer, folder, TimeUnit.SECONDS.toNanos(checkpointSeconds),
            acceptsDamage);
    }
}
