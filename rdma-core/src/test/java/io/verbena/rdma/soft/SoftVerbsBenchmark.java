package io.verbena.rdma.soft;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletions;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.file.Path;

/** Cost of a posted and polled READ and CMP_SWAP against a bare copy and CAS on the same lines; by hand only. */
public final class SoftVerbsBenchmark
{
    private static final int LINE_BYTES = 64;
    /** Processor time, because the machine may be busy with other things. */
    private static final java.lang.management.ThreadMXBean THREADS =
        java.lang.management.ManagementFactory.getThreadMXBean();
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();

    private final QueuePair queuePair;
    private final CompletionQueue completionQueue;
    private final MemoryRegion target;
    private final MemoryRegion local;
    private final WorkCompletions completions = new WorkCompletions(16);
    private final int[] lines;

    private SoftVerbsBenchmark(
        final QueuePair queuePair,
        final CompletionQueue completionQueue,
        final MemoryRegion target,
        final MemoryRegion local)
    {
        this.queuePair = queuePair;
        this.completionQueue = completionQueue;
        this.target = target;
        this.local = local;
        this.lines = chain((int)(target.lengthBytes() / LINE_BYTES));
    }

    /**
     * @param args MiB of target memory, default 1024; operations a round, default 2,000,000.
     */
    public static void main(final String[] args)
    {
        final long targetBytes = (args.length == 0 ? 1024L : Long.parseLong(args[0])) << 20;
        final SoftFabricOptions options = new SoftFabricOptions().directory(Path.of("/dev/shm/verbena-bench"));
        try (SoftFabric fabric = SoftFabric.open(options);
            Device a = fabric.openDevice("a");
            Device b = fabric.openDevice("b");
            ConnectionListener listener = b.listen(1);
            ProtectionDomain aDomain = a.allocateProtectionDomain();
            ProtectionDomain bDomain = b.allocateProtectionDomain();
            CompletionQueue aQueue = a.createCompletionQueue(64);
            CompletionQueue bQueue = b.createCompletionQueue(64);
            MemoryRegion local = aDomain.allocateRegistered(4096, AccessFlags.ALL_REMOTE);
            MemoryRegion target = bDomain.allocateRegistered(targetBytes, AccessFlags.ALL_REMOTE);
            QueuePair ap = aDomain.createQueuePair(aQueue, aQueue, new QueuePairCapabilities(32, 1, 0, 16));
            QueuePair bp = bDomain.createQueuePair(bQueue, bQueue, new QueuePairCapabilities(32, 1, 0, 16)))
        {
            a.connect(ap, b.address(), 1, new byte[0], 1_000_000_000L);
            listener.poll().accept(bp, AccessFlags.ALL_REMOTE, new byte[0]);
            new SoftVerbsBenchmark(ap, aQueue, target, local).run(
                args.length < 2 ? 2_000_000 : Integer.parseInt(args[1]));
        }
    }

    private void run(final int count)
    {
        final MemorySegment segment = target.segment();
        for (int i = 0; i < lines.length; i++)
        {
            segment.set(ValueLayout.JAVA_LONG, (long)i * LINE_BYTES, lines[i]);
        }
        final double[] best = new double[7];
        java.util.Arrays.fill(best, Double.MAX_VALUE);
        for (int round = 0; round < 8; round++)
        {
            final double[] times = {
                time(count, this::bareDependent),
                time(count, this::readDependent),
                time(count, this::bareIndependent),
                time(count, n -> readIndependent(n, 16)),
                time(count, n -> readIndependent(n, 1)),
                time(count, this::bareCas),
                time(count, n -> casIndependent(n, 16)) };
            for (int i = 0; i < best.length; i++)
            {
                best[i] = Math.min(best[i], times[i]);
            }
        }
        System.out.printf("best of 8 rounds of %d, processor time per operation%n", count);
        System.out.printf(
            "dependent:   bare copy %.1f ns, READ %.1f ns (%.2f x)%n", best[0], best[1], best[1] / best[0]);
        System.out.printf(
            "independent: bare copy %.1f ns, READ by 16 %.1f ns (%.2f x), by 1 %.1f ns%n",
            best[2], best[3], best[3] / best[2], best[4]);
        System.out.printf("bare CAS %.1f ns, CMP_SWAP by 16 %.1f ns (%.2f x)%n", best[5], best[6], best[6] / best[5]);
    }

    private interface Body
    {
        long run(int count);
    }

    private static double time(final int count, final Body body)
    {
        final long start = THREADS.getCurrentThreadCpuTime();
        final long sink = body.run(count);
        final long elapsed = THREADS.getCurrentThreadCpuTime() - start;
        if (sink == 42)
        {
            System.out.print("");
        }
        return (double)elapsed / count;
    }

    private long bareDependent(final int count)
    {
        long line = 0;
        for (int i = 0; i < count; i++)
        {
            MemorySegment.copy(target.segment(), line * LINE_BYTES, local.segment(), 0, LINE_BYTES);
            line = local.segment().get(ValueLayout.JAVA_LONG, 0);
        }
        return line;
    }

    private long bareIndependent(final int count)
    {
        long sum = 0;
        for (int i = 0; i < count; i++)
        {
            MemorySegment.copy(
                target.segment(), (long)lines[i & lines.length - 1] * LINE_BYTES, local.segment(),
                (i & 15) * LINE_BYTES, LINE_BYTES);
            sum += local.segment().get(ValueLayout.JAVA_LONG, (i & 15) * LINE_BYTES);
        }
        return sum;
    }

    private long readDependent(final int count)
    {
        long line = 0;
        for (int i = 0; i < count; i++)
        {
            queuePair.begin();
            queuePair.read(
                i, SendFlags.SIGNALED, local.address(), LINE_BYTES, local.localKey(),
                target.address() + line * LINE_BYTES, target.remoteKey());
            queuePair.complete();
            await();
            line = local.segment().get(ValueLayout.JAVA_LONG, 0);
        }
        return line;
    }

    private long readIndependent(final int count, final int batch)
    {
        long sum = 0;
        for (int i = 0; i < count; i += batch)
        {
            queuePair.begin();
            for (int j = 0; j < batch; j++)
            {
                queuePair.read(
                    i, j == batch - 1 ? SendFlags.SIGNALED : 0, local.address() + j * LINE_BYTES, LINE_BYTES,
                    local.localKey(), target.address() + (long)lines[i + j & lines.length - 1] * LINE_BYTES,
                    target.remoteKey());
            }
            queuePair.complete();
            await();
            sum += local.segment().get(ValueLayout.JAVA_LONG, 0);
        }
        return sum;
    }

    private long bareCas(final int count)
    {
        long sum = 0;
        for (int i = 0; i < count; i++)
        {
            final long line = lines[i & lines.length - 1];
            sum += (long)WORD.compareAndExchange(target.segment(), line * LINE_BYTES + 8, 0L, 0L);
        }
        return sum;
    }

    private long casIndependent(final int count, final int batch)
    {
        for (int i = 0; i < count; i += batch)
        {
            queuePair.begin();
            for (int j = 0; j < batch; j++)
            {
                queuePair.compareSwap(
                    i, j == batch - 1 ? SendFlags.SIGNALED : 0, local.address() + j * 8, local.localKey(),
                    target.address() + (long)lines[i + j & lines.length - 1] * LINE_BYTES + 8, target.remoteKey(), 0,
                    0);
            }
            queuePair.complete();
            await();
        }
        return local.segment().get(ValueLayout.JAVA_LONG, 0);
    }

    private void await()
    {
        while (completionQueue.poll(completions) == 0)
        {
            Thread.onSpinWait();
        }
        if (completions.status(0) != 0)
        {
            throw new IllegalStateException("status " + completions.status(0));
        }
    }

    /** A single cycle through all lines in random order. */
    private static int[] chain(final int count)
    {
        final int[] order = new int[count];
        for (int i = 0; i < count; i++)
        {
            order[i] = i;
        }
        final java.util.SplittableRandom random = new java.util.SplittableRandom(1);
        for (int i = count - 1; i > 0; i--)
        {
            final int j = random.nextInt(i);
            final int swap = order[i];
            order[i] = order[j];
            order[j] = swap;
        }
        return order;
    }
}
