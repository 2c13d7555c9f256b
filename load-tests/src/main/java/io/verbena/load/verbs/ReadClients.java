package io.verbena.load.verbs;

import io.verbena.rdma.sim.SimWorld;
import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import org.agrona.collections.IntArrayList;
import org.agrona.concurrent.Agent;

import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * Connections of one machine, each with one READ at a time. A connection on a queue pair of its own rings a doorbell
 * for each READ. Connections that share differ by their number in {@code wrId}, as RDMAdvisor's vQPN, and what
 * was gathered for a queue pair since the last call goes out with one doorbell.
 */
final class ReadClients implements Agent
{
    private static final int POLL_BATCH = 256;
    private static final int OFFSET_GRAIN_BYTES = 4096;

    private final MemoryRegion local;
    private final List<Source> sources;
    private final List<QueuePair> queuePairs;
    private final CompletionQueue completions;
    private final int readBytes;
    private final SimWorld world;
    private final RandomGenerator random;
    private final boolean isShared;
    private final WorkCompletions polled = new WorkCompletions(POLL_BATCH);
    /** Connections that want to READ, by queue pair. */
    private final List<IntArrayList> waiting = new ArrayList<>();
    /** Queue pairs for which somebody waits. */
    private final IntArrayList ready = new IntArrayList();
    private final long[] startedNs;
    private long completed;
    private long measured;
    private double latencySumNs;

    /**
     * Memory of another machine.
     *
     * @param region    to read.
     * @param handle    to its device for DC; null: the queue pair leads there.
     * @param number    of the DC target.
     * @param accessKey of the DC target.
     */
    record Source(MemoryRegion region, AddressHandle handle, int number, long accessKey)
    {
    }

    ReadClients(
        final MemoryRegion local,
        final List<Source> sources,
        final List<QueuePair> queuePairs,
        final CompletionQueue completions,
        final int connections,
        final int readBytes,
        final SimWorld world)
    {
        this.local = local;
        this.sources = sources;
        this.queuePairs = queuePairs;
        this.completions = completions;
        this.readBytes = readBytes;
        this.world = world;
        this.random = world.random();
        this.isShared = queuePairs.size() < connections;
        this.startedNs = new long[connections];
        queuePairs.forEach(queuePair -> waiting.add(new IntArrayList()));
        for (int connection = 0; connection < connections; connection++)
        {
            want(connection);
        }
    }

    long completed()
    {
        return completed;
    }

    void resetLatency()
    {
        measured = 0;
        latencySumNs = 0;
    }

    double meanLatencyNs()
    {
        return latencySumNs / measured;
    }

    @Override
    public int doWork()
    {
        int worked = 0;
        int count = completions.poll(polled);
        while (count > 0)
        {
            for (int i = 0; i < count; i++)
            {
                onCompletion((int)polled.wrId(i), polled.status(i));
            }
            worked += count;
            count = completions.poll(polled);
        }
        final int readyCount = ready.size();
        int kept = 0;
        for (int i = 0; i < readyCount; i++)
        {
            final int index = ready.getInt(i);
            worked += post(index);
            if (!waiting.get(index).isEmpty())
            {
                ready.setInt(kept++, index);
            }
        }
        while (ready.size() > kept)
        {
            ready.removeAt(ready.size() - 1);
        }
        return worked;
    }

    private void want(final int connection)
    {
        startedNs[connection] = world.clock().nanoTime();
        final int index = isShared ? random.nextInt(queuePairs.size()) : connection;
        if (waiting.get(index).isEmpty())
        {
            ready.addInt(index);
        }
        waiting.get(index).addInt(connection);
    }

    private void onCompletion(final int connection, final int status)
    {
        if (status != WorkCompletionStatus.SUCCESS)
        {
            throw new IllegalStateException("READ failed: connection=" + connection + ", status=" + status);
        }
        completed++;
        measured++;
        latencySumNs += world.clock().nanoTime() - startedNs[connection];
        want(connection);
    }

    private int post(final int index)
    {
        final IntArrayList connections = waiting.get(index);
        final QueuePair queuePair = queuePairs.get(index);
        final int count = Math.min(connections.size(), queuePair.sendQueueSpace());
        if (count == 0)
        {
            return 0;
        }
        queuePair.begin();
        for (int i = 0; i < count; i++)
        {
            final boolean isDc = sources.get(0).handle != null;
            final Source source = sources.get(isDc ? random.nextInt(sources.size()) : index % sources.size());
            queuePair.read(
                connections.getInt(i), SendFlags.SIGNALED, local.address(), readBytes, local.localKey(),
                source.region.address() + offset(source.region), source.region.remoteKey());
            if (isDc)
            {
                queuePair.toDcTarget(source.handle, source.number, source.accessKey);
            }
        }
        queuePair.complete();
        for (int i = count; i < connections.size(); i++)
        {
            connections.setInt(i - count, connections.getInt(i));
        }
        for (int i = 0; i < count; i++)
        {
            connections.removeAt(connections.size() - 1);
        }
        return count;
    }

    private long offset(final MemoryRegion target)
    {
        return random.nextLong((target.lengthBytes() - readBytes) / OFFSET_GRAIN_BYTES + 1) * OFFSET_GRAIN_BYTES;
    }

    @Override
    public String roleName()
    {
        return "read-clients";
    }
}
