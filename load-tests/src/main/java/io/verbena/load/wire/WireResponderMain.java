package io.verbena.load.wire;

import com.sun.management.ThreadMXBean;
import io.verbena.rdma.roce.udp.UdpPort;
import io.verbena.rdma.roce.udp.UdpPortOptions;
import org.agrona.concurrent.SystemNanoClock;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The other side of the wire: a process that answers, by plain UDP ({@code echo}) or as an RDMA device ({@code
 * engine}). Arguments: which, packets in flight, queue pairs, thousandths of its packets that are lost. Commands come
 * as lines on its input, each is answered by a line; it ends with its input. Polls while there is something to do, and
 * sleeps in the kernel otherwise: at once in mode {@code wait}, after two milliseconds in mode {@code poll}.
 */
final class WireResponderMain
{
    private static final long IDLE_NS = 2_000_000;
    private static final long SLEEP_NS = 5_000_000;

    private final ThreadMXBean threads = (ThreadMXBean)ManagementFactory.getThreadMXBean();
    private final Queue<String> commands = new ConcurrentLinkedQueue<>();
    private final UdpPort port;
    private final WireResponder responder;
    private boolean isPolling = true;

    private WireResponderMain(final UdpPort port, final WireResponder responder)
    {
        this.port = port;
        this.responder = responder;
    }

    public static void main(final String[] args) throws IOException
    {
        final UdpPort port = UdpPort.open(new UdpPortOptions(InetAddress.getByName(WireLink.FAR_ADDRESS), 0));
        final WireResponder responder =
            "echo".equals(args[0]) ? new EchoResponder(port) :
            new EngineResponder(
                port, Integer.parseInt(args[1]), Integer.parseInt(args[2]), Integer.parseInt(args[3]));
        new WireResponderMain(port, responder).run();
    }

    private void run()
    {
        Thread.ofPlatform().daemon().start(this::readCommands);
        System.out.println(port.address().serviceLocator() + " " + responder.greeting());
        long lastNs = SystemNanoClock.INSTANCE.nanoTime();
        while (true)
        {
            if (responder.work())
            {
                lastNs = SystemNanoClock.INSTANCE.nanoTime();
            }
            else if (!isPolling || SystemNanoClock.INSTANCE.nanoTime() - lastNs > IDLE_NS)
            {
                port.await(SLEEP_NS, -1);
            }
            final String command = commands.poll();
            if (command != null)
            {
                System.out.println(answer(command.split(" ")));
            }
        }
    }

    private String answer(final String[] words)
    {
        switch (words[0])
        {
            case "poll", "wait" ->
            {
                isPolling = "poll".equals(words[0]);
                return words[0];
            }
            case "counts" ->
            {
                return threads.getCurrentThreadCpuTime() + " " + threads.getCurrentThreadAllocatedBytes() + " " +
                    (port.counters().sent + port.counters().received);
            }
            case "connect" ->
            {
                responder.connect(words);
                return "connected";
            }
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    private void readCommands()
    {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)))
        {
            for (String line = lines.readLine(); line != null; line = lines.readLine())
            {
                commands.add(line);
            }
        }
        catch (final IOException ex)
        {
            // The same as the end.
        }
        Runtime.getRuntime().halt(0);
    }
}
