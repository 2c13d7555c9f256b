package io.verbena.table.mirror;

import io.verbena.raas.OneSidedPort;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;

/**
 * A port whose batches complete when a test says so, and that does with local memory the worst that is allowed until
 * then: a READ's is spoilt when it is posted and right when it completes, and a WRITE's is looked at when it completes.
 */
final class LatePort implements OneSidedPort
{
    private static final byte SPOILT = (byte)0xEE;

    /** A batch of one request. */
    private record Posted(boolean isRead, UnsafeBuffer local, int lengthBytes, int offset)
    {
    }

    private final UnsafeBuffer memory;
    private final Queue<Posted> posted = new ArrayDeque<>();
    private Posted staged;
    /** Requests that a batch and those under way may have together. */
    int room = 100;
    boolean isReady = true;
    boolean isFailed;
    /** What the next batches are answered with as they are posted. */
    int postStatus = PostStatus.OK;
    int mostUnderWay;
    int begun;
    long bytesRead;
    long bytesWritten;
    final List<Integer> offsets = new ArrayList<>();

    LatePort(final UnsafeBuffer memory)
    {
        this.memory = memory;
    }

    /** @return whether a batch is under way. */
    boolean isBusy()
    {
        return !posted.isEmpty();
    }

    /** Executes the first batch; whoever calls says so to its owner. @return its length in bytes. */
    int completeNext()
    {
        final Posted next = posted.remove();
        if (next.isRead)
        {
            next.local.putBytes(0, memory, next.offset, next.lengthBytes);
        }
        else
        {
            memory.putBytes(next.offset, next.local, 0, next.lengthBytes);
        }
        return next.lengthBytes;
    }

    /** The first batch fails. */
    void failNext()
    {
        posted.remove();
    }

    @Override
    public boolean isReady()
    {
        return isReady;
    }

    @Override
    public boolean isFailed()
    {
        return isFailed;
    }

    @Override
    public int space()
    {
        return room - posted.size();
    }

    @Override
    public long regionLengthBytes()
    {
        return memory.capacity();
    }

    @Override
    public void begin()
    {
        if (!isReady || space() <= 0 || staged != null)
        {
            throw new IllegalStateException("begin: ready=" + isReady + " space=" + space() + " staged=" + staged);
        }
        begun++;
    }

    @Override
    public void abort()
    {
        staged = null;
    }

    @Override
    public void read(
        final MemoryRegion local, final long localOffset, final int lengthBytes, final long remoteOffset)
    {
        stage(true, local, localOffset, lengthBytes, remoteOffset);
    }

    @Override
    public void write(
        final MemoryRegion local, final long localOffset, final int lengthBytes, final long remoteOffset)
    {
        stage(false, local, localOffset, lengthBytes, remoteOffset);
    }

    private void stage(
        final boolean isRead, final MemoryRegion local, final long localOffset, final int lengthBytes,
        final long remoteOffset)
    {
        memory.boundsCheck((int)remoteOffset, lengthBytes);
        staged = new Posted(isRead, new UnsafeBuffer(
            local.segment().asSlice(localOffset, lengthBytes).address(), lengthBytes), lengthBytes, (int)remoteOffset);
    }

    @Override
    public void compareSwap(
        final MemoryRegion local, final long localOffset, final long remoteOffset, final long expected,
        final long desired)
    {
        throw new UnsupportedOperationException("a copy has no use for it");
    }

    @Override
    public void fenceNext()
    {
        throw new UnsupportedOperationException("a copy has no use for it");
    }

    @Override
    public int complete(final int cookie)
    {
        final Posted batch = staged;
        staged = null;
        if (postStatus == PostStatus.OK)
        {
            posted.add(batch);
            post(batch);
        }
        return postStatus;
    }

    private void post(final Posted batch)
    {
        mostUnderWay = Math.max(mostUnderWay, posted.size());
        offsets.add(batch.offset);
        bytesRead += batch.isRead ? batch.lengthBytes : 0;
        bytesWritten += batch.isRead ? 0 : batch.lengthBytes;
        if (batch.isRead)
        {
            batch.local.setMemory(0, batch.lengthBytes, SPOILT);
        }
    }
}
