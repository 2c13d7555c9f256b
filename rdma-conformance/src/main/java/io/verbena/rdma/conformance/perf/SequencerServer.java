package io.verbena.rdma.conformance.perf;

import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.VerbCounters;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import java.lang.foreign.ValueLayout;

/** The counter: the responder's first word for atomics, and a variable of whoever answers for calls. */
final class SequencerServer
{
    private static final int BATCH = 64;

    private final WorkCompletions requests = new WorkCompletions(BATCH);
    private final QueuePair[] queuePairs;
    private final MemoryRegion region;
    private final SequencerOptions options;
    private final SequencerVariant variant;
    private final Runnable freeSends;
    private final long[] sentCounts;
    private long next;

    /**
     * @param queuePairs of the clients, filled in later.
     * @param region     with the counter.
     * @param freeSends  polls what frees send queues, and throws when that goes on for too long.
     */
    SequencerServer(
        final QueuePair[] queuePairs,
        final MemoryRegion region,
        final SequencerOptions options,
        final SequencerVariant variant,
        final Runnable freeSends)
    {
        this.queuePairs = queuePairs;
        this.region = region;
        this.options = options;
        this.variant = variant;
        this.freeSends = freeSends;
        sentCounts = new long[queuePairs.length];
    }

    /** The next number is 0; while nothing is under way. */
    void restart()
    {
        next = 0;
        region.segment().set(ValueLayout.JAVA_LONG, 0, 0);
    }

    void postReceives(final int client)
    {
        for (int slot = 0; slot < options.window() && variant != SequencerVariant.ATOMICS; slot++)
        {
            postReceive(client * options.window() + slot);
        }
    }

    /** Answers what has come. */
    void serve(final CompletionQueue receives)
    {
        if (variant == SequencerVariant.ATOMICS)
        {
            return;
        }
        final int count = receives.poll(requests);
        int open = -1;
        for (int i = 0; i < count; i++)
        {
            check(requests.status(i));
            final int wrId = (int)requests.wrId(i);
            final int client = wrId / options.window();
            // Before the answer, which lets the client ask again.
            postReceive(wrId);
            if (open >= 0 && (open != client || !variant.has(SequencerVariant.DOORBELL_BATCHING)))
            {
                complete(open);
                open = -1;
            }
            if (open < 0)
            {
                awaitSpace(client);
                queuePairs[client].begin();
                open = client;
            }
            stage(client, wrId);
        }
        if (open >= 0)
        {
            complete(open);
        }
    }

    private void stage(final int client, final int wrId)
    {
        final long offset = SequencerClient.offset(wrId) + SequencerClient.NUMBER;
        final long number = next++;
        final int flags = SequencerClient.flags(variant, sentCounts[client]++);
        final QueuePair queuePair = queuePairs[client];
        if (variant.has(SequencerVariant.HEADER_ONLY))
        {
            queuePair.sendWithImmediate(wrId, flags, region.address() + offset, 0, region.localKey(), (int)number);
        }
        else
        {
            region.segment().set(ValueLayout.JAVA_LONG, offset, number);
            queuePair.send(wrId, flags, region.address() + offset, Long.BYTES, region.localKey());
        }
    }

    /** Answers to a whole window fit when completions of earlier ones have been polled. */
    private void awaitSpace(final int client)
    {
        while (queuePairs[client].sendQueueSpace() < options.window())
        {
            freeSends.run();
        }
    }

    private void complete(final int client)
    {
        final int status = queuePairs[client].complete();
        if (status != PostStatus.OK)
        {
            throw new RdmaException("the sequencer cannot answer client " + client + ": status=" + status);
        }
    }

    private void postReceive(final int wrId)
    {
        final int status = queuePairs[wrId / options.window()].postReceive(
            wrId, region.address() + SequencerClient.offset(wrId),
            variant.has(SequencerVariant.HEADER_ONLY) ? 0 : Long.BYTES, region.localKey());
        if (status != PostStatus.OK)
        {
            throw new RdmaException("a receive of the sequencer was not posted: status=" + status);
        }
    }

    VerbCounters addCounters(final VerbCounters counters)
    {
        for (final QueuePair queuePair : queuePairs)
        {
            counters.add(queuePair.counters());
        }
        return counters;
    }

    static void check(final int status)
    {
        if (status != WorkCompletionStatus.SUCCESS)
        {
            throw new RdmaException("a request of the sequencer failed: " + WorkCompletionStatus.text(status));
        }
    }
}
