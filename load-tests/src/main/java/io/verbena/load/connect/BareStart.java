package io.verbena.load.connect;

import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.RdmaException;
import org.agrona.concurrent.NanoClock;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiFunction;

/**
 * How long a JVM takes from exec until it has opened a device of the {@code soft} fabric, connected to this process and
 * read 64 bytes: what the start of a compute node is compared with. Used by one thread; closed by its opener.
 */
public final class BareStart implements AutoCloseable
{
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(60);
    private static final long POLL_NS = TimeUnit.MICROSECONDS.toNanos(100);
    private static final int REGION_BYTES = 4096;
    private static final double NS_PER_MS = 1e6;

    private final String fabricName;
    private final BiFunction<String, List<String>, List<String>> commandLine;
    private final NanoClock clock;
    private final Fabric fabric;
    private final Device device;
    private final ProtectionDomain domain;
    private final CompletionQueue completions;
    private final MemoryRegion region;

    /**
     * @param fabricName  of shared memory, in a directory that nobody else uses.
     * @param commandLine of a JVM, from the name of its main class and its arguments.
     * @param clock       real time.
     */
    public BareStart(
        final String fabricName,
        final BiFunction<String, List<String>, List<String>> commandLine,
        final NanoClock clock)
    {
        this.commandLine = commandLine;
        this.clock = clock;
        fabric = Fabrics.open(fabricName);
        this.fabricName = fabricName;
        device = fabric.openDevice("bare-start");
        domain = device.allocateProtectionDomain();
        completions = device.createCompletionQueue(2);
        region = domain.allocateRegistered(REGION_BYTES, AccessFlags.REMOTE_READ);
    }

    /**
     * Starts one.
     *
     * @return milliseconds from exec until it has read.
     * @throws RdmaException when it does not.
     */
    public double startMs()
    {
        final List<String> command = commandLine.apply(FirstReadMain.class.getName(), List.of(
            fabricName, Long.toString(device.address().gidHigh()),
            Long.toString(device.address().gidLow()), Long.toString(device.address().serviceLocator()),
            Long.toString(region.segment().address()), Integer.toString(region.remoteKey())));
        try (ConnectionListener listener = device.listen(FirstReadMain.SERVICE_PORT);
            QueuePair queuePair = domain.createQueuePair(
                completions, completions, new QueuePairCapabilities(1, 1, 0, 1)))
        {
            final long startNs = clock.nanoTime();
            final Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
            try
            {
                accept(listener, queuePair, process, startNs);
                final String said = process.inputReader(StandardCharsets.UTF_8).readLine();
                final long endNs = clock.nanoTime();
                if (!FirstReadMain.READ.equals(said))
                {
                    throw new RdmaException("the process that reads once said: " + said);
                }
                return (endNs - startNs) / NS_PER_MS;
            }
            finally
            {
                process.destroyForcibly().onExit().join();
            }
        }
        catch (final IOException ex)
        {
            throw new RdmaException("cannot start a process that reads once: " + ex.getMessage(), ex);
        }
    }

    private void accept(
        final ConnectionListener listener, final QueuePair queuePair, final Process process, final long startNs)
    {
        ConnectionRequest request = listener.poll();
        while (request == null)
        {
            if (!process.isAlive() || clock.nanoTime() - startNs > TIMEOUT_NS)
            {
                throw new RdmaException("the process that reads once does not connect");
            }
            // It needs the processor more than this one does.
            LockSupport.parkNanos(POLL_NS);
            request = listener.poll();
        }
        request.accept(queuePair, AccessFlags.REMOTE_READ, new byte[0]);
    }

    @Override
    public void close()
    {
        region.close();
        completions.close();
        domain.close();
        device.close();
        fabric.close();
    }
}
