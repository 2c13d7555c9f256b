package io.verbena.load.verbs;

import com.sun.management.ThreadMXBean;

import io.verbena.rdma.soft.SoftFabric;
import io.verbena.rdma.soft.SoftFabricOptions;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairCapabilities;

import org.agrona.concurrent.NanoClock;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.function.Consumer;
import java.util.function.LongUnaryOperator;

/**
 * Measures verbs on the {@code soft} fabric against the same memory accesses made bare, in one run: READ and CMP_SWAP
 * of random 64-byte lines between two devices of this process, in processor time of the thread; SEND and receive
 * between this process and one that it starts, in elapsed time. Bare and posted take turns, round by round, on the same
 * lines of the same memory; figures are medians of the rounds. At last, how long a sleeping process takes to wake.
 * Used by one thread.
 */
public final class VerbsBenchmark
{
    /** Rounds before the measured ones, to compile. */
    private static final int WARM_UP_ROUNDS = 3;
    private static final int MOST_WAKE_UPS = 4_000;
    private static final int SERVICE_PORT = 1;
    private static final long CONNECT_TIMEOUT_NS = 10_000_000_000L;
    private static final QueuePairCapabilities CAPABILITIES = new QueuePairCapabilities(32, 1, 0, 16);
    private static final byte[] NOTHING = {};

    private final ThreadMXBean threads = (ThreadMXBean)ManagementFactory.getThreadMXBean();
    private final Path directory = new SoftFabricOptions().directory()
        .resolveSibling("verbena-bench-" + ProcessHandle.current().pid());
    private final long targetBytes;
    private final int operationsCount;
    private final int roundsCount;
    private final NanoClock clock;

    /**
     * @param targetBytes     of target memory: a power of two, 4096 to 2^33.
     * @param operationsCount of each kind in a round: a multiple of 16, more than 0.
     * @param roundsCount     measured rounds, 1 or more.
     * @param clock           real time.
     */
    public VerbsBenchmark(
        final long targetBytes, final int operationsCount, final int roundsCount, final NanoClock clock)
    {
        this.targetBytes = targetBytes;
        this.operationsCount = operationsCount;
        this.roundsCount = roundsCount;
        this.clock = clock;
    }

    /**
     * @param rows    takes each kind of operation as soon as it is measured.
     * @param wakeUps takes the wake-ups, at the end.
     * @throws io.verbena.rdma.verbs.RdmaException when there is not enough memory, or the other process fails.
     */
    public void run(final Consumer<VerbsBenchmarkRow> rows, final Consumer<WakeUpRow> wakeUps)
    {
        try (SoftFabric fabric = SoftFabric.open(new SoftFabricOptions().directory(directory)))
        {
            measureLines(fabric, rows);
            final int samplesCount = Math.min(operationsCount, MOST_WAKE_UPS);
            try (PingPongProcess process = PingPongProcess.start(
                fabric, WARM_UP_ROUNDS + roundsCount, operationsCount, samplesCount / 4, samplesCount))
            {
                final PingPong pingPong = process.side();
                rows.accept(row("send_receive_ping_pong", 2, clock::nanoTime,
                    first -> pingPong.bareAsk(operationsCount), first -> pingPong.ask(operationsCount)));
                wakeUps.accept(process.wakeUp().call(samplesCount / 4, samplesCount));
            }
        }
    }

    private void measureLines(final SoftFabric fabric, final Consumer<VerbsBenchmarkRow> rows)
    {
        try (Device a = fabric.openDevice("a");
            Device b = fabric.openDevice("b");
            ConnectionListener listener = b.listen(SERVICE_PORT);
            ProtectionDomain aDomain = a.allocateProtectionDomain();
            ProtectionDomain bDomain = b.allocateProtectionDomain();
            CompletionQueue aQueue = a.createCompletionQueue(64);
            CompletionQueue bQueue = b.createCompletionQueue(64);
            MemoryRegion local = aDomain.allocateRegistered(4096, AccessFlags.ALL_REMOTE);
            MemoryRegion target = bDomain.allocateRegistered(targetBytes, AccessFlags.ALL_REMOTE);
            QueuePair requester = aDomain.createQueuePair(aQueue, aQueue, CAPABILITIES);
            QueuePair responder = bDomain.createQueuePair(bQueue, bQueue, CAPABILITIES))
        {
            a.connect(requester, b.address(), SERVICE_PORT, NOTHING, CONNECT_TIMEOUT_NS);
            listener.poll().accept(responder, AccessFlags.ALL_REMOTE, NOTHING);
            final LineOperations lines = new LineOperations(requester, aQueue, target, local, operationsCount);
            rows.accept(row("read_dependent", 1.5, threads::getCurrentThreadCpuTime,
                lines::copyDependent, lines::readDependent));
            rows.accept(row("read_independent", 3, threads::getCurrentThreadCpuTime,
                lines::copyIndependent, lines::readIndependent));
            rows.accept(row("compare_swap_independent", 3, threads::getCurrentThreadCpuTime,
                lines::compareAndExchange, lines::compareSwap));
        }
    }

    private interface Clock
    {
        long nanoTime();
    }

    private VerbsBenchmarkRow row(
        final String operation,
        final double goalRatio,
        final Clock time,
        final LongUnaryOperator bare,
        final LongUnaryOperator posted)
    {
        final double[] bareNs = new double[roundsCount];
        final double[] postedNs = new double[roundsCount];
        final double[] allocatedBytes = new double[roundsCount];
        for (int round = -WARM_UP_ROUNDS; round < roundsCount; round++)
        {
            // Where in the shuffled lines this round begins, so that no round finds the lines of the one before.
            final long first = (long)(round + WARM_UP_ROUNDS) * operationsCount;
            final long start = time.nanoTime();
            bare.applyAsLong(first);
            final long middle = time.nanoTime();
            final long allocatedBefore = threads.getCurrentThreadAllocatedBytes();
            final long postedStart = time.nanoTime();
            posted.applyAsLong(first);
            final long end = time.nanoTime();
            final long allocated = threads.getCurrentThreadAllocatedBytes() - allocatedBefore;
            if (round >= 0)
            {
                bareNs[round] = (double)(middle - start) / operationsCount;
                postedNs[round] = (double)(end - postedStart) / operationsCount;
                allocatedBytes[round] = (double)allocated / operationsCount;
            }
        }
        return new VerbsBenchmarkRow(
            operation, median(bareNs), median(postedNs), goalRatio, median(allocatedBytes));
    }

    private static double median(final double[] values)
    {
        Arrays.sort(values);
        final int half = values.length / 2;
        return values.length % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
    }
}
