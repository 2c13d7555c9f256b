package io.verbena.cli.cluster;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.role.RoleOptions;
import io.verbena.protocol.bootstrap.BootstrapAnswer;
import io.verbena.protocol.bootstrap.BootstrapClient;
import io.verbena.protocol.bootstrap.BootstrapException;
import io.verbena.protocol.bootstrap.ClusterAddress;
import io.verbena.protocol.bootstrap.ClusterToken;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.control.MetaClient;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.bootstrap.NetworkFabric;
import io.verbena.raas.BatchListener;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.VirtualQp;
import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.spi.ProcessRole;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.RdmaException;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

/** Calls of a tool to the meta server, which work without any compute or memory node. One thread. */
public final class MetaCalls implements AutoCloseable
{
    private static final int BOOTSTRAP_TIMEOUT_MS = 10_000;
    private static final long PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(50);

    private final Fabric fabric;
    private final Device device;
    private final RaasContext raas;
    private final VirtualQp vqp;
    private final MetaClient client;
    private final BootstrapAnswer answer;

    private MetaCalls(final Fabric fabric, final BootstrapAnswer answer, final long timeoutNs)
    {
        this.fabric = fabric;
        this.answer = answer;
        device = fabric.openDevice("node-" + ProcessHandle.current().pid());
        raas = RaasContext.open(device, new RaasConfiguration());
        vqp = raas.connect(answer.metaServer(), BatchListener.CALLS_ONLY, timeoutNs);
        client = new MetaClient(raas, vqp);
    }

    static MetaCalls open(final String address, final Path tokenFile, final String given, final long timeoutNs)
    {
        try
        {
            final ClusterAddress cluster = ClusterAddress.parse(address);
            final BootstrapAnswer answer = BootstrapClient.ask(cluster,
                ClusterToken.read(tokenFile),
                Math.clamp(TimeUnit.NANOSECONDS.toMillis(timeoutNs), 1, BOOTSTRAP_TIMEOUT_MS));
            final String name = NetworkFabric.toJoin(answer, given, null);
            NetworkFabric.requireReachable(cluster, answer, name);
            return new MetaCalls(Fabrics.open(name, ProcessRole.EXPENDABLE), answer, timeoutNs);
        }
        catch (final BootstrapException ex)
        {
            throw RoleOptions.failed(ex);
        }
        catch (final RdmaException ex)
        {
            throw new CommandFailedException(ExitStatus.UNAVAILABLE, ex.getMessage(), ex);
        }
    }

    /** Where a device of the cluster is, for people: on a network its address and port. */
    public String place(final DeviceAddress address)
    {
        return NetworkFabric.place(answer, address);
    }

    /** Makes a call and waits for its end, which comes by the call's deadline. */
    public <T> ControlCall<T> await(final Function<MetaClient, ControlCall<T>> caller)
    {
        final ControlCall<T> call = caller.apply(client);
        while (!call.isDone())
        {
            if (0 == raas.poll())
            {
                LockSupport.parkNanos(PAUSE_NS);
            }
        }
        return call;
    }

    /** As {@link #await}, for an answer that must be there. */
    public <T> T result(final Function<MetaClient, ControlCall<T>> caller)
    {
        final ControlCall<T> call = await(caller);
        if (ControlStatus.OK != call.status())
        {
            throw failed(call);
        }
        return call.result();
    }

    private static CommandFailedException failed(final ControlCall<?> call)
    {
        final boolean isRefused = ControlStatus.INVALID_REQUEST == call.status() ||
            ControlStatus.UNKNOWN_NODE == call.status() || ControlStatus.NO_SUCH_TABLE == call.status();
        return new CommandFailedException(
            isRefused ? ExitStatus.FAILED : ExitStatus.UNAVAILABLE, call.failure(), null);
    }

    @Override
    public void close()
    {
        vqp.close();
        raas.close();
        device.close();
        fabric.close();
    }
}
