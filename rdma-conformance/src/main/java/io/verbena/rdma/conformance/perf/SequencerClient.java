package io.verbena.rdma.conformance.perf;

import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.VerbCounters;

import java.lang.foreign.ValueLayout;

/**
 * One client: asks for as many numbers as its window lets it, and takes them from where they arrive. A slot of the
 * window is a line of both regions: at its begin what is asked with, at {@link #NUMBER} the number.
 */
final class SequencerClient
{
    /** Of what is sent unsignalled, every so many are signalled all the same, to free the send queue. */
    static final int SIGNAL_EVERY = 16;
    static final int LINE_BYTES = 64;
    static final int NUMBER = 32;

    private final int index;
    private final QueuePair queuePair;
    private final MemoryRegion local;
    private final MemoryRegion remote;
    private final SequencerVariant variant;
    private final int window;
    private final int[] free;
    private int freeCount;
    private long sentCount;

    SequencerClient(
        final int index,
        final QueuePair queuePair,
        final MemoryRegion local,
        final MemoryRegion remote,
        final SequencerOptions options,
        final SequencerVariant variant)
    {
        this.index = index;
        this.queuePair = queuePair;
        this.local = local;
        this.remote = remote;
        this.variant = variant;
        window = options.window();
        free = new int[window];
        for (int slot = 0; slot < window; slot++)
        {
            free[freeCount++] = slot;
        }
    }

    /** Of either region: the counter's line, and one for each slot. */
    static long bytes(final SequencerOptions options)
    {
        return (1L + options.clients() * options.window()) * LINE_BYTES;
    }

    static long offset(final int wrId)
    {
        return (1L + wrId) * LINE_BYTES;
    }

    /** Flags of the nth SEND of a queue pair, from 0. */
    static int flags(final SequencerVariant variant, final long n)
    {
        final boolean isSignalled = !variant.has(SequencerVariant.UNSIGNALED) ||
            n % SIGNAL_EVERY == SIGNAL_EVERY - 1;
        return (isSignalled ? SendFlags.SIGNALED : 0) | (variant.has(SequencerVariant.INLINE) ? SendFlags.INLINE : 0);
    }

    int index()
    {
        return index;
    }

    /** Asks for at most so many numbers; returns how many. */
    int ask(final int most)
    {
        final int count = Math.min(Math.min(most, freeCount), queuePair.sendQueueSpace());
        if (count == 0)
        {
            return 0;
        }
        final boolean isBatched = variant.has(SequencerVariant.DOORBELL_BATCHING);
        if (isBatched)
        {
            queuePair.begin();
        }
        for (int i = 0; i < count; i++)
        {
            final int slot = free[--freeCount];
            if (variant != SequencerVariant.ATOMICS)
            {
                postReceive(slot);
            }
            if (!isBatched)
            {
                queuePair.begin();
            }
            stage(slot);
            if (!isBatched)
            {
                complete();
            }
        }
        if (isBatched)
        {
            complete();
        }
        return count;
    }

    private void stage(final int slot)
    {
        final int wrId = index * window + slot;
        final long line = local.address() + offset(wrId);
        if (variant == SequencerVariant.ATOMICS)
        {
            queuePair.fetchAdd(wrId, SendFlags.SIGNALED, line + NUMBER, local.localKey(),
                remote.address(), remote.remoteKey(), 1);
        }
        else
        {
            queuePair.send(wrId, flags(variant, sentCount++), line,
                variant.has(SequencerVariant.HEADER_ONLY) ? 0 : Long.BYTES, local.localKey());
        }
    }

    private void postReceive(final int slot)
    {
        final int wrId = index * window + slot;
        final int status = queuePair.postReceive(wrId, local.address() + offset(wrId) + NUMBER,
            variant.has(SequencerVariant.HEADER_ONLY) ? 0 : Long.BYTES, local.localKey());
        if (status != PostStatus.OK)
        {
            throw new RdmaException("a receive of client " + index + " was not posted: status=" + status);
        }
    }

    private void complete()
    {
        final int status = queuePair.complete();
        if (status != PostStatus.OK)
        {
            throw new RdmaException("client " + index + " cannot post: status=" + status);
        }
    }

    /** The number that arrived in a slot, which is free from now on. */
    long take(final int slot, final int immediate)
    {
        free[freeCount++] = slot;
        return variant.has(SequencerVariant.HEADER_ONLY) ? immediate :
            local.segment().get(ValueLayout.JAVA_LONG, offset(index * window + slot) + NUMBER);
    }

    VerbCounters counters()
    {
        return queuePair.counters();
    }
}
