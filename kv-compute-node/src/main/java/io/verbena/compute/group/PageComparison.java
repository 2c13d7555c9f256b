package io.verbena.compute.group;

import io.verbena.compute.memory.MemoryLink;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.control.MemoryNodeClient;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.view.PageChecksumsDescriptor;
import io.verbena.table.mirror.ByteRanges;

import org.agrona.collections.LongArrayList;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * Finds the pages of chunks that differ at two memory nodes, which stand at the same offsets at both: each calculates
 * checksums of its own memory, and those are compared here. So what is equal does not go over the network.
 *
 * <p>Pages that are said to be equal are, but for one chance in 2^128, if nobody changes them meanwhile. What is
 * changed may be said to be equal or to differ. It does not know of views or leases: whoever uses it does. Made for one
 * comparison. Owned by the node's thread.
 */
public final class PageComparison
{
    /** As many ranges are asked for at a time, each of both memory nodes. */
    static final int MOST_UNDER_WAY = 8;

    /** A range of pages that both memory nodes are asked for. */
    private record Question(
        long offset, int lengthBytes, ControlCall<long[]> ofPrimary, ControlCall<long[]> ofMemoryNode)
    {
    }

    private final MemoryLink primary;
    private final MemoryLink memoryNode;
    /** Of the connections that there are now: later ones may lead to another incarnation. */
    private final MemoryNodeClient primaryClient;
    private final MemoryNodeClient memoryNodeClient;
    private final ByteRanges chunks;
    private final long seed;
    private final long timeoutNs;
    private final List<Question> underWay = new ArrayList<>(MOST_UNDER_WAY);
    /** Of pages that differ, and their lengths; those that follow each other are one, where they were so asked for. */
    private final LongArrayList offsets = new LongArrayList();
    private final LongArrayList lengthsBytes = new LongArrayList();
    /** What is asked for next. */
    private int range;
    /** As many bytes of that range have been asked for. */
    private long rangeBytes;
    private long bytesCompared;
    private ByteRanges differing;
    private String failure = "";

    /**
     * Begins; {@link #poll} asks.
     *
     * @param primary          one memory node, connected; its link stays the caller's.
     * @param memoryNode       the other, likewise.
     * @param chunkOffsets     of the chunks, in any order, the same at both, multiples of
     *                         {@link PageChecksumsDescriptor#PAGE_BYTES}; not kept.
     * @param chunkLengthBytes of each chunk, 1 or more.
     * @param seed             of the checksums, another one for each comparison: so pages that differ are not equal by
     *                         the same chance twice.
     * @param timeoutNs        of each call.
     * @throws IllegalArgumentException when chunks overlap, or have no bytes.
     */
    public PageComparison(
        final MemoryLink primary, final MemoryLink memoryNode, final long[] chunkOffsets, final int chunkLengthBytes,
        final long seed, final long timeoutNs)
    {
        this.primary = primary;
        this.memoryNode = memoryNode;
        primaryClient = primary.client();
        memoryNodeClient = memoryNode.client();
        chunks = ByteRanges.of(chunkOffsets, chunkLengthBytes);
        this.seed = seed;
        this.timeoutNs = timeoutNs;
        finish();
    }

    /** @return why it cannot go on, one line; empty while it can. */
    public String failure()
    {
        return failure;
    }

    /** @return whether all pages were compared. */
    public boolean isDone()
    {
        return null != differing;
    }

    /**
     * @return the pages that differ.
     * @throws IllegalStateException before {@link #isDone()}.
     */
    public ByteRanges differing()
    {
        if (null == differing)
        {
            throw new IllegalStateException("not all pages were compared: " + this);
        }
        return differing;
    }

    /** @return bytes that were compared so far, whether they differ or not. */
    public long bytesCompared()
    {
        return bytesCompared;
    }

    /** Goes on. @return work done. */
    public int poll()
    {
        if (isDone() || !failure.isEmpty())
        {
            return 0;
        }
        requireConnected(primary, primaryClient);
        requireConnected(memoryNode, memoryNodeClient);
        final int workCount = takeAnswers() + ask();
        finish();
        return workCount;
    }

    private void requireConnected(final MemoryLink link, final MemoryNodeClient client)
    {
        if (!link.isReady() || client != link.client())
        {
            failure = "memory node " + link.memoryNodeId() + " is not connected any more";
        }
    }

    private int takeAnswers()
    {
        int workCount = 0;
        final Iterator<Question> questions = underWay.iterator();
        while (failure.isEmpty() && questions.hasNext())
        {
            final Question question = questions.next();
            requireAnswer(primary, question.ofPrimary);
            requireAnswer(memoryNode, question.ofMemoryNode);
            if (failure.isEmpty() && question.ofPrimary.isDone() && question.ofMemoryNode.isDone())
            {
                compare(question);
                questions.remove();
                workCount++;
            }
        }
        return workCount;
    }

    /** What has not ended yet is none that has failed. */
    private void requireAnswer(final MemoryLink link, final ControlCall<long[]> call)
    {
        if (call.isDone() && ControlStatus.OK != call.status())
        {
            failure = "memory node " + link.memoryNodeId() + ": " + call.failure();
        }
    }

    private void compare(final Question question)
    {
        final long[] one = question.ofPrimary.result();
        final long[] other = question.ofMemoryNode.result();
        for (int page = 0; 2 * page < one.length; page++)
        {
            if (one[2 * page] != other[2 * page] || one[2 * page + 1] != other[2 * page + 1])
            {
                final int at = page * PageChecksumsDescriptor.PAGE_BYTES;
                addDiffering(question.offset + at,
                    Math.min(PageChecksumsDescriptor.PAGE_BYTES, question.lengthBytes - at));
            }
        }
        bytesCompared += question.lengthBytes;
    }

    private void addDiffering(final long offset, final int lengthBytes)
    {
        final int last = offsets.size() - 1;
        if (last >= 0 && offsets.getLong(last) + lengthsBytes.getLong(last) == offset)
        {
            lengthsBytes.setLong(last, lengthsBytes.getLong(last) + lengthBytes);
        }
        else
        {
            offsets.addLong(offset);
            lengthsBytes.addLong(lengthBytes);
        }
    }

    private int ask()
    {
        int workCount = 0;
        while (failure.isEmpty() && range < chunks.count() && underWay.size() < MOST_UNDER_WAY)
        {
            final long offset = chunks.offset(range) + rangeBytes;
            final int lengthBytes = (int)Math.min(
                PageChecksumsDescriptor.MAX_LENGTH_BYTES, chunks.lengthBytes(range) - rangeBytes);
            underWay.add(new Question(offset, lengthBytes,
                primaryClient.pageChecksums(offset, lengthBytes, seed, timeoutNs),
                memoryNodeClient.pageChecksums(offset, lengthBytes, seed, timeoutNs)));
            rangeBytes += lengthBytes;
            if (rangeBytes == chunks.lengthBytes(range))
            {
                range++;
                rangeBytes = 0;
            }
            workCount++;
        }
        return workCount;
    }

    private void finish()
    {
        if (failure.isEmpty() && range == chunks.count() && underWay.isEmpty())
        {
            differing = ByteRanges.of(offsets.toLongArray(), lengthsBytes.toLongArray());
        }
    }

    @Override
    public String toString()
    {
        return "PageComparison{memory nodes " + primary.memoryNodeId() + ", " + memoryNode.memoryNodeId() + ": " +
            bytesCompared + " of " + chunks.totalBytes() + " bytes, differing=" + differing + ", failure=" + failure +
            '}';
    }
}
