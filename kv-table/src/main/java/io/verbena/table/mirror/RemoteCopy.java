package io.verbena.table.mirror;

import io.verbena.raas.OneSidedPort;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.table.access.Scratch;
import org.agrona.MutableDirectBuffer;
import org.agrona.collections.LongArrayList;

import java.util.Arrays;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * The memory of a survivor, read page by page over the network and changed there: what is read has to be {@linkplain
 * #isPresent present}, and what was changed is there when {@link #isIdle} says so. Nobody else changes that memory. One
 * batch under way at a time; one thread.
 */
final class RemoteCopy implements SlotReconciliation.Copy, AutoCloseable
{
    /** What is read at a time. */
    static final int PAGE_BYTES = 64 << 10;
    /** A slot and its block, which may lie on three; and as many again, so that the next slots' page stays. */
    private static final int PAGES = 8;
    private static final long NO_PAGE = -1;

    private final OneSidedPort port;
    private final Scratch scratch;
    private final long[] numbers = new long[PAGES];
    private final long[] usedAt = new long[PAGES];
    /** Offset and length of each range that was changed; those before {@link #posted} are on their way. */
    private final LongArrayList changed = new LongArrayList();
    private int posted;
    private long uses;
    private int coming = -1;
    private boolean isUnderWay;
    private boolean isReading;
    private boolean hasFailed;

    /**
     * @param protectionDomain that the port's queue pair belongs to.
     * @param port             to the whole region, used by nobody else; its completions go to {@link #onComplete}.
     */
    RemoteCopy(final ProtectionDomain protectionDomain, final OneSidedPort port)
    {
        this.port = port;
        scratch = new Scratch(protectionDomain, (long)PAGES * PAGE_BYTES);
        Arrays.fill(numbers, NO_PAGE);
    }

    /** Whether a range can be read; if not, {@link #poll} has it come, once nothing else is under way. */
    boolean isPresent(final long offset, final int lengthBytes)
    {
        boolean isPresent = true;
        for (long page = offset / PAGE_BYTES; page * PAGE_BYTES < offset + lengthBytes; page++)
        {
            final int place = place(page);
            if (place >= 0 && place != coming)
            {
                usedAt[place] = ++uses;
            }
            else if (isPresent)
            {
                isPresent = false;
                fetch(page);
            }
        }
        return isPresent;
    }

    private int place(final long page)
    {
        int place = PAGES - 1;
        while (place >= 0 && numbers[place] != page)
        {
            place--;
        }
        return place;
    }

    private void fetch(final long page)
    {
        if (coming >= 0 || !isIdle())
        {
            return;
        }
        int place = 0;
        for (int i = 1; i < PAGES; i++)
        {
            place = usedAt[i] < usedAt[place] ? i : place;
        }
        numbers[place] = page;
        usedAt[place] = ++uses;
        coming = place;
    }

    /** Whether everything that was changed is there, and nothing is under way. */
    boolean isIdle()
    {
        return !isUnderWay && changed.isEmpty() && coming < 0;
    }

    /** Whether a request has failed, or its outcome is unknown; nothing more is posted. */
    boolean hasFailed()
    {
        return hasFailed;
    }

    /** Posts what is due. @return work done. */
    int poll()
    {
        hasFailed |= port.isFailed();
        if (isUnderWay || hasFailed || isIdle() || !port.isReady() || port.space() < 1)
        {
            return 0;
        }
        port.begin();
        final int ranges = stageChanges(port.space());
        isReading = ranges == 0;
        if (isReading)
        {
            final long offset = numbers[coming] * PAGE_BYTES;
            port.read(scratch.region, (long)coming * PAGE_BYTES,
                (int)Math.min(PAGE_BYTES, port.regionLengthBytes() - offset), offset);
        }
        final int status = port.complete(0);
        isUnderWay = status == PostStatus.OK;
        hasFailed |= status == PostStatus.INVALID_STATE;
        posted += isUnderWay ? 2 * ranges : 0;
        return 1;
    }

    private int stageChanges(final int space)
    {
        final int ranges = Math.min((changed.size() - posted) / 2, space);
        for (int i = posted; i < posted + 2 * ranges; i += 2)
        {
            final long offset = changed.getLong(i);
            port.write(scratch.region, local(offset), (int)changed.getLong(i + 1), offset);
        }
        return ranges;
    }

    /** Takes the completion of its batch. */
    void onComplete(final int status)
    {
        isUnderWay = false;
        hasFailed |= status != WorkCompletionStatus.SUCCESS;
        coming = isReading ? -1 : coming;
        if (posted == changed.size())
        {
            changed.clear();
            posted = 0;
        }
    }

    private int local(final long offset)
    {
        final int place = place(offset / PAGE_BYTES);
        if (place < 0 || place == coming)
        {
            throw new IllegalStateException("not present: offset=" + offset);
        }
        return place * PAGE_BYTES + (int)(offset % PAGE_BYTES);
    }

    @Override
    public void read(final long offset, final MutableDirectBuffer target, final int lengthBytes)
    {
        for (int done = 0; done < lengthBytes; )
        {
            final int length = partOf(offset + done, lengthBytes - done);
            target.putBytes(done, scratch.buffer, local(offset + done), length);
            done += length;
        }
    }

    @Override
    public void write(final long offset, final MutableDirectBuffer source, final int lengthBytes)
    {
        for (int done = 0; done < lengthBytes; )
        {
            final int length = partOf(offset + done, lengthBytes - done);
            scratch.buffer.putBytes(local(offset + done), source, done, length);
            change(offset + done, length);
            done += length;
        }
    }

    private static int partOf(final long offset, final int lengthBytes)
    {
        return Math.min(lengthBytes, PAGE_BYTES - (int)(offset % PAGE_BYTES));
    }

    @Override
    public long word(final long offset)
    {
        return scratch.buffer.getLong(local(offset), LITTLE_ENDIAN);
    }

    @Override
    public void word(final long offset, final long word)
    {
        scratch.buffer.putLong(local(offset), word, LITTLE_ENDIAN);
        change(offset, Long.BYTES);
    }

    private void change(final long offset, final int lengthBytes)
    {
        changed.addLong(offset);
        changed.addLong(lengthBytes);
    }

    /** When no request touches local memory any more. */
    @Override
    public void close()
    {
        scratch.close();
    }

    @Override
    public String toString()
    {
        return "RemoteCopy{underWay=" + isUnderWay +
            " changed=" + (changed.size() - posted) / 2 + " failed=" + hasFailed + '}';
    }
}
