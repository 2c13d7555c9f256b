package io.verbena.embedded;

import io.verbena.client.KvException;
import io.verbena.client.KvOutcomeUnknownException;
import io.verbena.client.KvTable;
import io.verbena.client.TableOptions;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A program with a cluster inside that is busy writing when it is told to end. It closes nothing itself; at its end it
 * says what became of what it had begun.
 */
public final class InterruptedProgram
{
    private static final int UNDER_WAY = 2_000;
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final long REPORT_NS = TimeUnit.SECONDS.toNanos(20);

    private final Map<String, Integer> outcomes = new TreeMap<>();
    private final Semaphore room = new Semaphore(UNDER_WAY);

    private InterruptedProgram()
    {
    }

    /** @param args name of the fabric. */
    public static void main(final String[] args)
    {
        final InterruptedProgram program = new InterruptedProgram();
        final EmbeddedCluster cluster = EmbeddedCluster.start(
            new EmbeddedClusterOptions().fabric(args[0]).memoryNodes(2).memoryBytesPerNode(64L << 20));
        final KvTable table = cluster.client().createTable("t", new TableOptions(100_000));
        final List<Thread> writers = new ArrayList<>();
        for (int i = 0; i < 2; i++)
        {
            final int first = i * UNDER_WAY;
            writers.add(new Thread(() -> program.write(table, first)));
        }
        Runtime.getRuntime().addShutdownHook(new Thread(() -> program.report(writers)));
        writers.forEach(Thread::start);
    }

    private void write(final KvTable table, final int first)
    {
        try
        {
            for (int i = 0; ; i++)
            {
                room.acquireUninterruptibly();
                final byte[] key = Integer.toString(first + i % UNDER_WAY).getBytes();
                table.withTimeout(TIMEOUT).putAsync(key, new byte[500])
                    .whenComplete((version, failure) -> onEnd(failure));
                if (UNDER_WAY == i)
                {
                    System.out.println("busy");
                }
            }
        }
        catch (final KvException ex)
        {
            count("refused at once: " + ex.getMessage());
            room.release();
        }
    }

    private void onEnd(final Throwable failure)
    {
        final Throwable why = failure instanceof CompletionException ? failure.getCause() : failure;
        count(null == why ? "acknowledged" : (why instanceof KvOutcomeUnknownException ? "UNKNOWN: " : "refused: ") +
            why.getMessage());
        room.release();
    }

    private synchronized void count(final String outcome)
    {
        outcomes.merge(outcome, 1, Integer::sum);
    }

    /** When nothing is under way any more. */
    private void report(final List<Thread> writers)
    {
        final long deadlineNs = System.nanoTime() + REPORT_NS;
        while ((writers.stream().anyMatch(Thread::isAlive) || room.availablePermits() < UNDER_WAY) &&
            System.nanoTime() - deadlineNs < 0)
        {
            LockSupport.parkNanos(1_000_000);
        }
        if (room.availablePermits() < UNDER_WAY)
        {
            count("UNKNOWN: without an answer: " + (UNDER_WAY - room.availablePermits()));
        }
        synchronized (this)
        {
            System.out.println("outcomes: " + outcomes);
        }
    }
}
