package io.verbena.load.demo;

import io.verbena.client.KvTable;
import io.verbena.elle.history.HistoryRecorder;
import io.verbena.load.demo.RegisterFunctions.Function;
import org.agrona.concurrent.NanoClock;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Clients that work on a few keys of the same table, as registers with versions, and write down what they called and
 * what was returned. They come in bursts that begin together, so that operations on a key overlap, and pause between,
 * so that the load proper is hardly disturbed. Used by one thread.
 */
final class RegisterWorkload
{

    private static final int BURST = 10;
    private static final long LEAST_SLOT_NS = TimeUnit.MILLISECONDS.toNanos(10);
    // Keeps the check to seconds, however long the run is.
    private static final long MOST_OPERATIONS = 200_000;

    private final List<RegisterClient> clients = new ArrayList<>();
    private final HistoryRecorder recorder;
    private final RegisterFunctions functions;
    private final ElapsedDeadlines deadlines;
    private final NanoClock clock;

    /**
     * Clients that write down what happens into that file.
     */
    RegisterWorkload(final KvTable table, final Path file, final NanoClock clock, final RunCounters counters)
        throws IOException
    {
        this.clock = clock;
        recorder = HistoryRecorder.create(file);
        functions = RegisterFunctions.in(recorder);
        deadlines = new ElapsedDeadlines(clock);
        for (int i = 0; i < RegisterCalls.CLIENTS; i++)
        {
            clients.add(new RegisterClient(
                table, i, new RegisterCalls(i, recorder.newLane(), functions, deadlines, clock, counters)));
        }
    }

    /**
     * Starts the clients; they end by themselves at that time, which may be put off meanwhile.
     */
    WorkerThreads start(final long startNs, final LongSupplier endNs)
    {
        final long bursts = MOST_OPERATIONS / (RegisterCalls.CLIENTS * BURST);
        final long slotNs = Math.max(LEAST_SLOT_NS, (endNs.getAsLong() - startNs) / bursts);
        final WorkerThreads workers = new WorkerThreads();
        for (final RegisterClient client : clients)
        {
            workers.start("register-" + client.process(), () ->
            {
                long slot = startNs;
                while (slot - endNs.getAsLong() < 0)
                {
                    Pace.until(clock, slot);
                    for (int i = 0; i < BURST; i++)
                    {
                        client.step();
                    }
                    slot = Math.max(slot + slotNs, clock.nanoTime());
                }
            });
        }
        return workers;
    }

    List<RegisterClient> clients()
    {
        return clients;
    }

    /**
     * Deadlines that writes have named.
     */
    int deadlines()
    {
        return deadlines.count();
    }

    /**
     * Makes the recording whole; after the clients have ended.
     */
    void finishRecording() throws IOException
    {
        deadlines.record(recorder.newLane(), functions.number(Function.ELAPSE));
        recorder.close();
    }
}
