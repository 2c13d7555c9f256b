package io.verbena.load.wire;

import com.sun.management.ThreadMXBean;
import io.verbena.rdma.roce.udp.UdpPort;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.Arrays;

/**
 * The near side of the wire: makes the link and the responders, and measures both in turn. Runs in a network namespace
 * of its own. Arguments: those of {@link WireOptions}, with the processors to use before the last one. Prints a line
 * for each figure.
 */
final class WireRequesterMain
{
    /** Bytes of a packet around a payload: BTH and CRC, and the header that the operation has besides. */
    private static final int READ_REQUEST_BYTES = 32;
    private static final int READ_RESPONSE_BYTES = 20;
    private static final int CAS_REQUEST_BYTES = 44;
    private static final int CAS_RESPONSE_BYTES = 28;
    private static final int WRITE_REQUEST_BYTES = 32;
    private static final int ACKNOWLEDGE_BYTES = 20;
    private static final String BULK = "read_1_mib";
    private static final String LOSSES = "raw_transfers_with_loss";
    private static final String CPU = "responder_cpu_per_read";
    private static final String NEAR_GARBAGE = "allocated_per_packet_requester";
    private static final String FAR_GARBAGE = "allocated_per_packet_responder";
    private static final int RECORD_BYTES = 64;
    private static final int WRITTEN_BYTES = 128;
    private static final int LARGE_BYTES = 1 << 20;
    private static final int BATCH = 64;
    private static final double MOST = 1.5;
    private static final double LEAST_BULK = 0.5;
    private static final double NS_PER_US = 1_000;
    private static final double NS_PER_S = 1e9;
    private static final double BITS_PER_GBIT = 1e9;
    private static final long WARM_UP_NS = 1_500_000_000L;
    private static final long NS_PER_MS = 1_000_000;

    private final NanoClock clock = SystemNanoClock.INSTANCE;
    private final ThreadMXBean threads = (ThreadMXBean)ManagementFactory.getThreadMXBean();
    private final WireOptions options;
    private final UdpPort enginePort;
    private final ResponderProcess echoProcess;
    private final ResponderProcess engineProcess;
    private final EchoRequester echo;
    private final EngineRequester engine;

    private WireRequesterMain(
        final WireOptions options, final ResponderProcess echoProcess, final ResponderProcess engineProcess)
        throws IOException
    {
        this.options = options;
        this.echoProcess = echoProcess;
        this.engineProcess = engineProcess;
        enginePort = WireLink.openNear();
        echo = new EchoRequester(WireLink.openNear(), echoProcess.address());
        engine = new EngineRequester(enginePort, options.windowPackets());
        engineProcess.ask(engine.connect(engineProcess.address(), engineProcess.greeting(), options.pathMtuBytes()));
    }

    public static void main(final String[] args) throws IOException
    {
        final WireOptions options = new WireOptions(Integer.parseInt(args[0]), Integer.parseInt(args[1]),
            Integer.parseInt(args[2]), Integer.parseInt(args[3]), args[5]);
        final String processors = args[4];
        try (WireLink link = new WireLink(options.mtuBytes());
            ResponderProcess echoProcess = new ResponderProcess(link, "echo", 0, options, processors);
            ResponderProcess engineProcess =
                new ResponderProcess(link, "engine", EngineSide.QUEUE_PAIRS, options, processors))
        {
            new WireRequesterMain(options, echoProcess, engineProcess).run();
            SharedLink.measure(link, options, processors);
        }
    }

    private void run() throws IOException
    {
        final Runnable readEcho =
            () -> echo.exchange(1, READ_REQUEST_BYTES, 1, READ_RESPONSE_BYTES + RECORD_BYTES);
        final Runnable batchEcho =
            () -> echo.exchange(BATCH, READ_REQUEST_BYTES, 1, READ_RESPONSE_BYTES + RECORD_BYTES);
        final Runnable readBatch = () -> engine.read(BATCH, RECORD_BYTES);
        latency("read_64_one_outstanding", () -> engine.read(1, RECORD_BYTES), readEcho, 1);
        latency("cas_one_outstanding", engine::compareSwap,
            () -> echo.exchange(1, CAS_REQUEST_BYTES, 1, CAS_RESPONSE_BYTES), 1);
        latency("write_128_one_outstanding", () -> engine.write(WRITTEN_BYTES),
            () -> echo.exchange(1, WRITE_REQUEST_BYTES + WRITTEN_BYTES, 1, ACKNOWLEDGE_BYTES), 1);
        latency("read_64_in_batches_of_64", readBatch, batchEcho, BATCH);
        bulk();
        costs(readBatch, batchEcho);
    }

    private void latency(final String name, final Runnable ours, final Runnable reference, final int operations)
    {
        if (!options.wants(name))
        {
            return;
        }
        final double[] medians = medians(ours, reference);
        print(WireFigure.ratio(name, "us", medians[0] / operations / NS_PER_US, medians[1] / operations / NS_PER_US,
            MOST));
    }

    private void bulk()
    {
        if (!options.wants(BULK, LOSSES))
        {
            return;
        }
        final int payloadBytes = options.pathMtuBytes();
        final int replies = LARGE_BYTES / payloadBytes;
        final double[] medians = medians(() -> engine.read(1, LARGE_BYTES),
            () -> echo.exchange(1, READ_REQUEST_BYTES, replies, READ_RESPONSE_BYTES + payloadBytes));
        final double bits = (double)LARGE_BYTES * Byte.SIZE * NS_PER_S / BITS_PER_GBIT;
        print(WireFigure.atLeast(BULK, "Gbit/s", bits / medians[0], bits / medians[1], LEAST_BULK));
        print(WireFigure.value(LOSSES, "count", echo.lostExchanges(), Double.NaN));
    }

    private void costs(final Runnable readBatch, final Runnable batchEcho) throws IOException
    {
        if (!options.wants(CPU, NEAR_GARBAGE, FAR_GARBAGE))
        {
            return;
        }
        final double[] cpuNs = new double[options.rounds()];
        final double[] echoCpuNs = new double[options.rounds()];
        double nearBytes = Double.MAX_VALUE;
        double farBytes = Double.MAX_VALUE;
        echoProcess.ask("wait");
        engineProcess.ask("wait");
        for (int i = 0; i < options.rounds(); i++)
        {
            echoCpuNs[i] = cpuNs(echoProcess, batchEcho);
            final ResponderProcess.Counts before = engineProcess.counts();
            final long packets = enginePort.counters().sent + enginePort.counters().received;
            final long allocatedBytes = threads.getCurrentThreadAllocatedBytes();
            final long count = repeat(readBatch, options.roundMs() * NS_PER_MS);
            nearBytes = Math.min(nearBytes, (double)(threads.getCurrentThreadAllocatedBytes() - allocatedBytes) /
                (enginePort.counters().sent + enginePort.counters().received - packets));
            final ResponderProcess.Counts used = engineProcess.counts().minus(before);
            cpuNs[i] = (double)used.cpuNs() / (count * BATCH);
            farBytes = Math.min(farBytes, (double)used.allocatedBytes() / used.packets());
        }
        print(WireFigure.ratio(
            CPU, "us", median(cpuNs) / NS_PER_US, median(echoCpuNs) / NS_PER_US, MOST));
        // A command and its answer allocate, too: less than a byte for each packet of a round.
        print(WireFigure.value(NEAR_GARBAGE, "bytes", Math.floor(nearBytes), 0));
        print(WireFigure.value(FAR_GARBAGE, "bytes", Math.floor(farBytes), 0));
    }

    private double cpuNs(final ResponderProcess process, final Runnable batch) throws IOException
    {
        final long before = process.counts().cpuNs();
        final long count = repeat(batch, options.roundMs() * NS_PER_MS);
        return (double)(process.counts().cpuNs() - before) / (count * BATCH);
    }

    /** Nanoseconds of an exchange: ours and the reference, in turn, medians of the rounds. */
    private double[] medians(final Runnable ours, final Runnable reference)
    {
        final double[] oursNs = new double[options.rounds()];
        final double[] referenceNs = new double[options.rounds()];
        final long warmUpNs = Math.min(WARM_UP_NS, options.roundMs() * NS_PER_MS * 5);
        repeat(reference, warmUpNs);
        repeat(ours, warmUpNs);
        for (int i = 0; i < options.rounds(); i++)
        {
            referenceNs[i] = meanNs(reference);
            oursNs[i] = meanNs(ours);
        }
        return new double[] {median(oursNs), median(referenceNs)};
    }

    private double meanNs(final Runnable exchange)
    {
        final long startNs = clock.nanoTime();
        final long count = repeat(exchange, options.roundMs() * NS_PER_MS);
        return (double)(clock.nanoTime() - startNs) / count;
    }

    private long repeat(final Runnable exchange, final long durationNs)
    {
        final long endNs = clock.nanoTime() + durationNs;
        long count = 0;
        do
        {
            exchange.run();
            count++;
        }
        while (clock.nanoTime() - endNs < 0);
        return count;
    }

    private static double median(final double[] values)
    {
        final double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    private static void print(final WireFigure figure)
    {
        System.out.println(figure.line());
    }
}
