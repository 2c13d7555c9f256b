package io.verbena.table.check;

import io.verbena.raas.OneSidedPort;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.table.TableEngine;
import java.util.function.IntConsumer;
import org.agrona.concurrent.UnsafeBuffer;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * A port to memory that nobody changes meanwhile, for an engine that repairs a stopped store: carries each request out
 * when it is staged, and answers a batch when {@link #poll} is called. Reads and swaps only: a repair makes nothing
 * new. Used by the owner thread of the engine.
 */
final class OfflinePort implements OneSidedPort
{
    private static final int SPACE = 256;
    private static final int NONE = -1;

    private final RepairableStore store;
    private final int memoryNodeId;
    private final int copy;
    private final long regionLengthBytes;
    private final UnsafeBuffer target = new UnsafeBuffer(0, 0);
    private int cookie = NONE;

    /** @param copy of the node's memory, of several where it is a group. */
    OfflinePort(final RepairableStore store, final int memoryNodeId, final int copy, final long regionLengthBytes)
    {
        this.store = store;
        this.memoryNodeId = memoryNodeId;
        this.copy = copy;
        this.regionLengthBytes = regionLengthBytes;
    }

    /** Answers the batch that was posted, if one was. */
    void poll(final IntConsumer completed)
    {
        if (cookie != NONE)
        {
            final int answered = cookie;
            cookie = NONE;
            completed.accept(answered);
        }
    }

    /** Answers as an engine wants it. */
    static IntConsumer completionsOf(final TableEngine engine)
    {
        return (cookie) -> engine.onBatchComplete(cookie, WorkCompletionStatus.SUCCESS);
    }

    @Override
    public boolean isReady()
    {
        return cookie == NONE;
    }

    @Override
    public boolean isFailed()
    {
        return false;
    }

    @Override
    public int space()
    {
        return SPACE;
    }

    @Override
    public long regionLengthBytes()
    {
        return regionLengthBytes;
    }

    @Override
    public void begin()
    {
        // each request is carried out when it is staged
    }

    @Override
    public void abort()
    {
        // see begin()
    }

    private UnsafeBuffer target(final MemoryRegion local, final long localOffset, final int lengthBytes)
    {
        target.wrap(local.address() + localOffset, lengthBytes);
        return target;
    }

    @Override
    public void read(final MemoryRegion local, final long localOffset, final int lengthBytes, final long remoteOffset)
    {
        store.readCopy(memoryNodeId, copy, remoteOffset, target(local, localOffset, lengthBytes), lengthBytes);
    }

    @Override
    public void write(final MemoryRegion local, final long localOffset, final int lengthBytes, final long remoteOffset)
    {
        throw new UnsupportedOperationException("a repair of a stopped store writes nothing new");
    }

    @Override
    public void compareSwap(
        final MemoryRegion local,
        final long localOffset,
        final long remoteOffset,
        final long expected,
        final long desired)
    {
        final UnsafeBuffer found = target(local, localOffset, Long.BYTES);
        store.readCopy(memoryNodeId, copy, remoteOffset, found, Long.BYTES);
        if (found.getLong(0, LITTLE_ENDIAN) == expected)
        {
            store.swapCopy(memoryNodeId, copy, remoteOffset, expected, desired);
        }
    }

    @Override
    public void fenceNext()
    {
        // in order anyway
    }

    @Override
    public int complete(final int postedCookie)
    {
        cookie = postedCookie;
        return PostStatus.OK;
    }
}
