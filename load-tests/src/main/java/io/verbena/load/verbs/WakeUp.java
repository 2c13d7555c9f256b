package io.verbena.load.verbs;

import io.verbena.rdma.soft.shared.LinuxCalls;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.CompletionChannel;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import org.agrona.concurrent.NanoClock;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * One side of a measurement of how long a sleeper takes to wake, by a bare futex on a line that both processes map and
 * by a SEND to a completion channel, in turns. The caller sends the time of the call, the sleeper
 * writes to a line how long ago that was when it woke: clocks of processes of one host agree. The caller rests in
 * between, so that the sleeper sleeps. Used by one thread. Closed by its creator.
 */
final class WakeUp implements AutoCloseable
{
    /** Offsets in the file of lines, behind those of the ping-pong, two lines apart. */
    private static final int FUTEX_OFFSET = 1024;
    private static final int CALLED_OFFSET = FUTEX_OFFSET + 256;
    private static final int REPORT_OFFSET = CALLED_OFFSET + 256;
    private static final int REPORTED_OFFSET = REPORT_OFFSET + Long.BYTES;
    private static final int DEPTH = 16;
    private static final int SLOT_BYTES = 64;
    private static final long REST_NS = 100_000;
    private static final long LONGEST_SLEEP_NS = 1_000_000_000L;
    private static final int SPINS_BETWEEN_LOOKS = 1 << 12;
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

    private final WorkCompletions completions = new WorkCompletions(1);
    private final Arena arena = Arena.ofShared();
    private final NanoClock clock;
    private final MemorySegment lines;
    private final ProtectionDomain domain;
    private final CompletionChannel channel;
    private final CompletionQueue sends;
    private final CompletionQueue receives;
    private final MemoryRegion region;
    private final QueuePair queuePair;
    private final BooleanSupplier isPeerAlive;
    private int callsCount;
    private long reportsCount;

    /** Parameters as of {@link PingPong}. */
    WakeUp(final Device device, final Path linesFile, final BooleanSupplier isPeerAlive)
    {
        this.isPeerAlive = isPeerAlive;
        clock = device.clock();
        lines = PingPong.map(linesFile, arena);
        domain = device.allocateProtectionDomain();
        channel = device.createCompletionChannel();
        sends = device.createCompletionQueue(2 * DEPTH);
        receives = device.createCompletionQueue(2 * DEPTH, channel);
        region = domain.allocateRegistered((DEPTH + 1) * SLOT_BYTES, AccessFlags.ALL_REMOTE);
        queuePair = domain.createQueuePair(sends, receives, new QueuePairCapabilities(DEPTH, DEPTH, Long.BYTES, 1));
    }

    /** @return to be connected. */
    QueuePair queuePair()
    {
        return queuePair;
    }

    /** Posts all receives; between INIT and the first message of the peer. */
    void postReceives()
    {
        for (int slot = 0; slot < DEPTH; slot++)
        {
            postReceive(slot);
        }
    }

    /**
     * Calls; the other side {@linkplain #sleep sleeps} as often.
     *
     * @param warmUpCount  first calls, not reported.
     * @param samplesCount calls after those, 1 or more.
     * @return what was measured.
     */
    WakeUpRow call(final int warmUpCount, final int samplesCount)
    {
        final long[] bareNs = new long[samplesCount];
        final long[] postedNs = new long[samplesCount];
        awaitReport();
        for (int i = -warmUpCount; i < samplesCount; i++)
        {
            LockSupport.parkNanos(REST_NS);
            WORD.setRelease(lines, (long)CALLED_OFFSET, clock.nanoTime());
            INT.setVolatile(lines, (long)FUTEX_OFFSET, ++callsCount);
            LinuxCalls.wake(lines.address() + FUTEX_OFFSET);
            final long bare = awaitReport();
            LockSupport.parkNanos(REST_NS);
            post();
            final long posted = awaitReport();
            if (i >= 0)
            {
                bareNs[i] = bare;
                postedNs[i] = posted;
            }
        }
        Arrays.sort(bareNs);
        Arrays.sort(postedNs);
        final int tail = (int)(samplesCount * 99L / 100);
        return new WakeUpRow("send_wake_up", bareNs[samplesCount / 2], bareNs[tail], postedNs[samplesCount / 2],
            postedNs[tail], samplesCount);
    }

    /** Sleeps as often as the other side calls. */
    void sleep(final int warmUpCount, final int samplesCount)
    {
        receives.requestNotification(false);
        report(0);
        for (int i = 0; i < warmUpCount + samplesCount; i++)
        {
            while ((int)INT.getVolatile(lines, (long)FUTEX_OFFSET) == callsCount)
            {
                LinuxCalls.waitWhile(lines.address() + FUTEX_OFFSET, callsCount, LONGEST_SLEEP_NS);
            }
            final long bareNs = clock.nanoTime() - (long)WORD.getAcquire(lines, (long)CALLED_OFFSET);
            callsCount++;
            report(bareNs);
            while (channel.await(LONGEST_SLEEP_NS) == null)
            {
                Thread.onSpinWait();
            }
            final long wokenNs = clock.nanoTime();
            report(wokenNs - receive());
        }
    }

    private void post()
    {
        final long slot = (long)DEPTH * SLOT_BYTES;
        region.segment().set(ValueLayout.JAVA_LONG, slot, clock.nanoTime());
        queuePair.begin();
        queuePair.send(0, SendFlags.INLINE | SendFlags.SIGNALED, region.address() + slot, Long.BYTES,
            region.localKey());
        check(PostStatus.OK, queuePair.complete());
        while (sends.poll(completions) == 0)
        {
            Thread.onSpinWait();
        }
        check(WorkCompletionStatus.SUCCESS, completions.status(0));
    }

    /** Takes the message, and arms again. */
    private long receive()
    {
        if (receives.poll(completions) != 1)
        {
            throw new RdmaException("woken without a message");
        }
        check(WorkCompletionStatus.SUCCESS, completions.status(0));
        final int slot = (int)completions.wrId(0);
        final long calledNs = region.segment().get(ValueLayout.JAVA_LONG, (long)slot * SLOT_BYTES);
        postReceive(slot);
        receives.requestNotification(false);
        return calledNs;
    }

    private void report(final long latencyNs)
    {
        lines.set(ValueLayout.JAVA_LONG, REPORT_OFFSET, latencyNs);
        WORD.setRelease(lines, (long)REPORTED_OFFSET, ++reportsCount);
    }

    private long awaitReport()
    {
        reportsCount++;
        for (int spins = 1; (long)WORD.getAcquire(lines, (long)REPORTED_OFFSET) != reportsCount; spins++)
        {
            Thread.onSpinWait();
            if (spins % SPINS_BETWEEN_LOOKS == 0)
            {
                Thread.yield();
                if (!isPeerAlive.getAsBoolean())
                {
                    throw new RdmaException("the other process of the wake-ups has ended");
                }
            }
        }
        return lines.get(ValueLayout.JAVA_LONG, REPORT_OFFSET);
    }

    private void postReceive(final int slot)
    {
        check(PostStatus.OK, queuePair.postReceive(
            slot, region.address() + slot * SLOT_BYTES, Long.BYTES, region.localKey()));
    }

    private static void check(final int expected, final int status)
    {
        if (status != expected)
        {
            throw new RdmaException("wake-up failed: status=" + status);
        }
    }

    @Override
    public void close()
    {
        queuePair.close();
        region.close();
        sends.close();
        receives.close();
        channel.close();
        domain.close();
        arena.close();
    }
}
