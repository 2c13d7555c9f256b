package io.verbena.cli.cluster;

import io.verbena.cli.CommandFailedException;
import io.verbena.cli.ExitStatus;
import io.verbena.cli.VerbenaCommand;
import io.verbena.control.bootstrap.BootstrapAnswer;
import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.server.ComputeNodeRole;
import io.verbena.server.StartTimeline;

import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.util.concurrent.Callable;

/** {@code verbena compute-node}. */
@Command(
    name = "compute-node",
    description = "Run a compute node in the foreground, until SIGTERM or Ctrl-C.",
    footer = {"", "Each option may also come from the environment (VERBENA_CLUSTER for --cluster) or from the " +
        "property file that VERBENA_CONFIG names. Prints a line that begins with 'ready:' when it serves."},
    defaultValueProvider = SettingsProvider.class)
public final class ComputeNodeCommand implements Callable<Integer>
{
    @Spec
    private CommandSpec spec;

    @Mixin
    private RoleOptions options;

    @Option(names = "--busy-poll", description = "Never sleep: the least latency, for a processor that it burns.")
    private boolean busyPoll;

    @Override
    public Integer call()
    {
        final NanoClock clock = SystemNanoClock.INSTANCE;
        final long calledNs = clock.nanoTime();
        RoleProcess.log();
        final BootstrapAnswer cluster = options.bootstrap();
        final long bootstrapNs = clock.nanoTime();
        Fabric fabric = null;
        ComputeNodeRole role = null;
        try
        {
            fabric = Fabrics.open(cluster.fabric());
            final StartTimeline start =
                new StartTimeline(VerbenaCommand.mainNs(), calledNs, bootstrapNs, clock.nanoTime());
            role = ComputeNodeRole.open(fabric, options.locator(cluster), start);
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
        return RoleProcess.run(fabric, role, busyPoll, RoleProcess.JOIN_TIMEOUT_NS, options.healthPort(),
            spec.commandLine().getOut(), "on " + cluster.fabric());
    }
}
