package io.verbena.load.verbs;

import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.SplittableRandom;

/**
 * Operations on the lines of a target region, in one shuffled order, bare and posted. Each line holds the next one of
 * a cycle through all of them, and at byte 8 a word for swaps, 0. All loops take the place in the order where they
 * begin, and return something that depends on all they did. Used by one thread.
 */
final class LineOperations
{
    private static final int LINE_BYTES = 64;
    /** Requests posted with one doorbell, the last one signalled; the target's word is at this byte of a line. */
    private static final int BATCH = 16;
    private static final int WORD_OFFSET = 8;
    private static final long SEED = 1;
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();

    private final WorkCompletions completions = new WorkCompletions(BATCH);
    private final QueuePair queuePair;
    private final CompletionQueue completionQueue;
    private final MemoryRegion target;
    private final MemoryRegion local;
    private final MemorySegment targetSegment;
    private final MemorySegment localSegment;
    private final int operationsCount;
    private final int[] lines;
    private final int mask;

    /**
     * @param queuePair       connected to the target's domain; not owned.
     * @param completionQueue of its sends.
     * @param target          a power of two long; overwritten.
     * @param local           {@value #BATCH} lines or more.
     * @param operationsCount of each loop, a multiple of {@value #BATCH}.
     */
    LineOperations(
        final QueuePair queuePair,
        final CompletionQueue completionQueue,
        final MemoryRegion target,
        final MemoryRegion local,
        final int operationsCount)
    {
        this.queuePair = queuePair;
        this.completionQueue = completionQueue;
        this.target = target;
        this.local = local;
        this.operationsCount = operationsCount;
        targetSegment = target.segment();
        localSegment = local.segment();
        lines = cycle((int)(target.lengthBytes() / LINE_BYTES));
        mask = lines.length - 1;
        for (int i = 0; i < lines.length; i++)
        {
            targetSegment.set(ValueLayout.JAVA_LONG, (long)i * LINE_BYTES, lines[i]);
        }
    }

    long copyDependent(final long first)
    {
        long line = lineAt(first);
        for (int i = 0; i < operationsCount; i++)
        {
            MemorySegment.copy(targetSegment, line * LINE_BYTES, localSegment, 0, LINE_BYTES);
            line = localSegment.get(ValueLayout.JAVA_LONG, 0);
        }
        return line;
    }

    long readDependent(final long first)
    {
        long line = lineAt(first);
        for (int i = 0; i < operationsCount; i++)
        {
            queuePair.begin();
            queuePair.read(i, SendFlags.SIGNALED, local.address(), LINE_BYTES, local.localKey(),
                target.address() + line * LINE_BYTES, target.remoteKey());
            post();
            line = localSegment.get(ValueLayout.JAVA_LONG, 0);
        }
        return line;
    }

    long copyIndependent(final long first)
    {
        long sum = 0;
        for (int i = 0; i < operationsCount; i++)
        {
            final long slot = (long)(i & BATCH - 1) * LINE_BYTES;
            MemorySegment.copy(targetSegment, lineAt(first + i) * LINE_BYTES, localSegment, slot, LINE_BYTES);
            sum += localSegment.get(ValueLayout.JAVA_LONG, slot);
        }
        return sum;
    }

    long readIndependent(final long first)
    {
        long sum = 0;
        for (int i = 0; i < operationsCount; i += BATCH)
        {
            queuePair.begin();
            for (int j = 0; j < BATCH; j++)
            {
                queuePair.read(i, flags(j), local.address() + j * LINE_BYTES, LINE_BYTES, local.localKey(),
                    target.address() + lineAt(first + i + j) * LINE_BYTES, target.remoteKey());
            }
            post();
            for (int j = 0; j < BATCH; j++)
            {
                sum += localSegment.get(ValueLayout.JAVA_LONG, (long)j * LINE_BYTES);
            }
        }
        return sum;
    }

    long compareAndExchange(final long first)
    {
        long sum = 0;
        for (int i = 0; i < operationsCount; i++)
        {
            sum += (long)WORD.compareAndExchange(
                targetSegment, lineAt(first + i) * LINE_BYTES + WORD_OFFSET, 0L, 0L);
        }
        return sum;
    }

    long compareSwap(final long first)
    {
        long sum = 0;
        for (int i = 0; i < operationsCount; i += BATCH)
        {
            queuePair.begin();
            for (int j = 0; j < BATCH; j++)
            {
                queuePair.compareSwap(i, flags(j), local.address() + j * Long.BYTES, local.localKey(),
                    target.address() + lineAt(first + i + j) * LINE_BYTES + WORD_OFFSET, target.remoteKey(), 0, 0);
            }
            post();
            for (int j = 0; j < BATCH; j++)
            {
                sum += localSegment.get(ValueLayout.JAVA_LONG, (long)j * Long.BYTES);
            }
        }
        return sum;
    }

    private long lineAt(final long place)
    {
        return lines[(int)place & mask];
    }

    private static int flags(final int indexInBatch)
    {
        return indexInBatch == BATCH - 1 ? SendFlags.SIGNALED : 0;
    }

    private void post()
    {
        final int status = queuePair.complete();
        if (status != PostStatus.OK)
        {
            throw new RdmaException("cannot post: status=" + status);
        }
        while (completionQueue.poll(completions) == 0)
        {
            Thread.onSpinWait();
        }
        if (completions.status(0) != WorkCompletionStatus.SUCCESS)
        {
            throw new RdmaException("request failed: status=" + completions.status(0));
        }
    }

    /** A single cycle through all lines in random order (Sattolo's algorithm). */
    private static int[] cycle(final int count)
    {
        final int[] next = new int[count];
        for (int i = 0; i < count; i++)
        {
            next[i] = i;
        }
        final SplittableRandom random = new SplittableRandom(SEED);
        for (int i = count - 1; i > 0; i--)
        {
            final int j = random.nextInt(i);
            final int swap = next[i];
            next[i] = next[j];
            next[j] = swap;
        }
        return next;
    }
}
