package io.verbena.load.verbs;

import io.verbena.rdma.soft.SoftFabric;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.RdmaException;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The process that answers a ping-pong ({@link PingPongMain}), and the side here that asks. Ends with this process. */
final class PingPongProcess implements AutoCloseable
{
    private static final int CONNECT_S = 60;
    private static final int GOES_BY_ITSELF_S = 5;
    private static final List<String> FLAGS =
        List.of("--add-exports", "--add-opens", "--enable-native-access", "--sun-misc-unsafe-memory-access");

    private final Path linesFile;
    private final Device device;
    private final PingPong side;
    private final WakeUp wakeUp;
    private final Process process;

    private PingPongProcess(
        final SoftFabric fabric, final int rounds, final int count, final int warmUpCount, final int samplesCount)
        throws IOException
    {
        linesFile = fabric.directory().resolve("ping-pong.lines");
        Files.write(linesFile, new byte[PingPong.FILE_BYTES], StandardOpenOption.CREATE_NEW);
        device = fabric.openDevice("ping");
        final List<String> command = new ArrayList<>();
        command.add(ProcessHandle.current().info().command().orElse("java"));
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
            .filter(argument -> FLAGS.stream().anyMatch(argument::startsWith)).forEach(command::add);
        command.addAll(List.of("-Xmx256m", "-XX:+UseSerialGC", "-cp", System.getProperty("java.class.path"),
            PingPongMain.class.getName(), fabric.directory().toString(), linesFile.toString(),
            Long.toString(device.address().gidHigh()), Long.toString(device.address().gidLow()),
            Long.toString(device.address().serviceLocator()), Integer.toString(rounds), Integer.toString(count),
            Integer.toString(warmUpCount), Integer.toString(samplesCount)));
        process = new ProcessBuilder(command).redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        side = new PingPong(device, linesFile, process::isAlive);
        wakeUp = new WakeUp(device, linesFile, process::isAlive);
    }

    /**
     * Starts it, with the class path and the flags of this process, and connects.
     *
     * @param fabric       of this process, closed after this.
     * @param rounds       each of {@code count} round trips by lines, then as many by messages.
     * @param count        round trips.
     * @param warmUpCount  first wake-ups after that.
     * @param samplesCount wake-ups after those.
     */
    static PingPongProcess start(
        final SoftFabric fabric, final int rounds, final int count, final int warmUpCount, final int samplesCount)
    {
        try
        {
            final PingPongProcess started = new PingPongProcess(fabric, rounds, count, warmUpCount, samplesCount);
            boolean isConnected = false;
            try
            {
                started.connect();
                // Both have mapped it: nothing of it stays, however they end.
                Files.delete(started.linesFile);
                isConnected = true;
                return started;
            }
            finally
            {
                if (!isConnected)
                {
                    started.close();
                }
            }
        }
        catch (final IOException ex)
        {
            throw new RdmaException("cannot start the other process of the ping-pong: " + ex.getMessage(), ex);
        }
    }

    private void connect()
    {
        try (ConnectionListener pingPong = device.listen(PingPongMain.SERVICE_PORT);
            ConnectionListener wakeUps = device.listen(PingPongMain.SERVICE_PORT + 1))
        {
            connect(pingPong, side.queuePair(), side::postReceives);
            connect(wakeUps, wakeUp.queuePair(), wakeUp::postReceives);
        }
    }

    private void connect(final ConnectionListener listener, final QueuePair queuePair, final Runnable postReceives)
    {
        final long deadlineNs = device.clock().nanoTime() + TimeUnit.SECONDS.toNanos(CONNECT_S);
        ConnectionRequest request = listener.poll();
        while (request == null)
        {
            if (!process.isAlive() || device.clock().nanoTime() - deadlineNs >= 0)
            {
                throw new RdmaException("the other process of the ping-pong does not connect");
            }
            Thread.onSpinWait();
            request = listener.poll();
        }
        request.prepare(queuePair);
        postReceives.run();
        request.accept(queuePair, AccessFlags.ALL_REMOTE, new byte[0]);
    }

    PingPong side()
    {
        return side;
    }

    WakeUp wakeUp()
    {
        return wakeUp;
    }

    @Override
    public void close()
    {
        try
        {
            process.getOutputStream().close();
            if (!process.waitFor(GOES_BY_ITSELF_S, TimeUnit.SECONDS))
            {
                process.destroyForcibly().waitFor();
            }
            Files.deleteIfExists(linesFile);
        }
        catch (final IOException ex)
        {
            process.destroyForcibly();
        }
        catch (final InterruptedException ex)
        {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
        side.close();
        wakeUp.close();
        device.close();
    }
}
