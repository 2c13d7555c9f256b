package io.verbena.compute.group;

import io.verbena.compute.memory.MemoryLink;
import io.verbena.compute.session.SessionParts;
import io.verbena.protocol.view.FillProgress;
import io.verbena.protocol.view.ViewAttempt;
import io.verbena.raas.OneSidedPort;
import io.verbena.table.mirror.ByteRanges;
import io.verbena.table.mirror.ChunkCopy;

import org.agrona.CloseHelper;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.function.BooleanSupplier;

/**
 * Brings the memory of who is filled nearer to the primary's, pass after pass, over two connections: the memory node
 * records the group's leases, pages are compared, and those that differ are copied, both at a bounded rate. It ends
 * when little differs, when no pass brings it nearer, or with a reason. The connections stay the caller's, who closes
 * this when nothing of them is under way. Owned by the node's thread.
 */
final class FillPasses implements AutoCloseable
{
    private enum Step
    {
        LEASING, COMPARING, COPYING
    }

    /** What is to be done next. */
    enum Outcome
    {
        GOES_ON,
        /** Little differs, or more will not be reached: the view is to be closed. */
        FILLED,
        /** A connection or a call has failed: what was copied is found to be equal by others. */
        BROKEN,
        /** It cannot come in, however often it is tried. */
        REFUSED
    }

    /** So much is read or written by one request: others on this thread wait some microseconds. */
    static final int PIECE_BYTES = 64 << 10;
    static final int RING_PIECES = 4;

    private static final Logger LOGGER = LoggerFactory.getLogger(FillPasses.class);
    /** So many bytes are compared for one that may be copied: both memory nodes read them, and send a 256th. */
    private static final int COMPARED_PER_COPIED = 4;
    /** Where a smaller part than this differs, the rest is left to the closed view. */
    private static final int SMALL_PART = 64;
    private static final long SMALL_BYTES = 256L << 20;
    /** Nor after the first pass where it takes less than a tenth of a second at the rate. */
    private static final int SMALL_PART_OF_SECOND = 10;
    private static final int MAX_PASSES = 8;
    private static final long PAUSE_NS = 2_000_000;
    private static final long NS_PER_SECOND = 1_000_000_000;

    private final SessionParts session;
    private final ViewAttempt attempt;
    private final MemoryLink primary;
    private final MemoryLink memoryNode;
    private final OneSidedPort source;
    private final OneSidedPort target;
    private final Pace pace;
    private Step step;
    private int pass;
    private BooleanSupplier primaryLook;
    private EnteringMember entering;
    private PageComparison comparing;
    private ChunkCopy copying;
    /** Of the last comparison; none of before counts, since connections may have failed in the midst of a pass. */
    private long differingBytes = Long.MAX_VALUE;
    private long pacedBytes;
    private long patienceEndsNs;
    private long againAtNs;
    private Outcome outcome = Outcome.GOES_ON;
    private String why = "";

    /**
     * @param attempt    to fill the memory node.
     * @param primary    whose chunk headers were read since.
     * @param memoryNode that is filled.
     * @param source     to the primary, used by nobody else; its completions go to {@link #onRead}.
     * @param target     to who is filled, likewise; its completions go to {@link #onWritten}.
     * @param pace       of what is copied.
     * @param pass       with which it begins, 1 or more.
     * @param nowNs      the clock now.
     */
    FillPasses(
        final SessionParts session, final ViewAttempt attempt, final MemoryLink primary, final MemoryLink memoryNode,
        final OneSidedPort source, final OneSidedPort target, final Pace pace, final int pass, final long nowNs)
    {
        this.session = session;
        this.attempt = attempt;
        this.primary = primary;
        this.memoryNode = memoryNode;
        this.source = source;
        this.target = target;
        this.pace = pace;
        this.pass = pass;
        lease(nowNs);
    }

    /** @return what is to be done next; but for {@link Outcome#GOES_ON} this has ended. */
    Outcome outcome()
    {
        return outcome;
    }

    /** @return why it has ended without being filled, one line. */
    String why()
    {
        return why;
    }

    /** @return 1 or more. */
    int pass()
    {
        return pass;
    }

    /** @return when the next step is due, where that alone is waited for; else {@link Long#MAX_VALUE}. */
    long nextAtNs()
    {
        return Step.LEASING == step ? Long.MAX_VALUE : pace.nextAtNs();
    }

    /** Goes on. @return work done. */
    int poll(final long nowNs)
    {
        if (!session.holdsLease().getAsBoolean() || source.isFailed() || target.isFailed())
        {
            return end(Outcome.BROKEN, "a connection has failed, or this node's lease is over");
        }
        return switch (step)
        {
            case LEASING -> pollLeasing(nowNs);
            case COMPARING -> pace.isDue(nowNs) ? pollComparing(nowNs) : 0;
            case COPYING -> pace.isDue(nowNs) ? pollCopying(nowNs) : 0;
        };
    }

    private int end(final Outcome with, final String reason)
    {
        outcome = with;
        why = reason;
        return 1;
    }

    /** Chunks may have been leased since the pass before. */
    private void lease(final long nowNs)
    {
        patienceEndsNs = nowNs + MemberFill.PATIENCE_NS;
        comparing = null;
        why = "the primary's chunk headers were not read";
        look(nowNs);
    }

    private void look(final long atNs)
    {
        againAtNs = atNs;
        entering = null;
        primaryLook = primary.lookAgain();
        step = Step.LEASING;
    }

    private int pollLeasing(final long nowNs)
    {
        if (null == entering && (againAtNs - nowNs > 0 || !primaryLook.getAsBoolean()))
        {
            return patienceEndsNs - nowNs > 0 ? 0 : end(Outcome.REFUSED, "it is not ready in time: " + why);
        }
        if (null == entering)
        {
            entering = new EnteringMember(attempt, primary, memoryNode, session.timeoutNs(), false);
        }
        final int workCount = entering.poll();
        if (entering.isDone())
        {
            compare();
        }
        else if (!entering.failure().isEmpty())
        {
            onNotEntered(nowNs);
        }
        return workCount;
    }

    /** The meta server says to the memory node who fills it when it says so to this node: either may be first. */
    private void onNotEntered(final long nowNs)
    {
        why = entering.failure();
        if (entering.isRefused())
        {
            look(nowNs + PAUSE_NS);
        }
        else
        {
            end(entering.isFinal() ? Outcome.REFUSED : Outcome.BROKEN, why);
        }
    }

    private void compare()
    {
        LOGGER.info("memory node {} has recorded the leases: {}, pass={}", memoryNode.memoryNodeId(), attempt, pass);
        comparing = new PageComparison(primary, memoryNode, entering.chunkOffsets(), entering.chunkLengthBytes(),
            session.raas().device().random().nextLong(), session.timeoutNs());
        step = Step.COMPARING;
    }

    private int pollComparing(final long nowNs)
    {
        final long before = comparing.bytesCompared();
        final int workCount = comparing.poll();
        pace.spend((comparing.bytesCompared() - before) / COMPARED_PER_COPIED, nowNs);
        if (!comparing.failure().isEmpty())
        {
            end(Outcome.BROKEN, comparing.failure());
        }
        else if (comparing.isDone())
        {
            decide(comparing.differing());
        }
        return workCount;
    }

    private void decide(final ByteRanges differing)
    {
        final boolean isNearer = differing.totalBytes() <= differingBytes / 2;
        differingBytes = differing.totalBytes();
        LOGGER.info("memory node {} differs in {} of {} bytes: {}, pass={}", memoryNode.memoryNodeId(), differingBytes,
            comparing.bytesCompared(), attempt, pass);
        if (isLittle() || pass == MAX_PASSES || pass > 2 && !isNearer)
        {
            end(Outcome.FILLED, "");
            return;
        }
        copying = new ChunkCopy(
            session.raas().protectionDomain(), source, target, differing, PIECE_BYTES, RING_PIECES);
        pacedBytes = 0;
        step = Step.COPYING;
    }

    private boolean isLittle()
    {
        return differingBytes <= Math.min(SMALL_BYTES, comparing.bytesCompared() / SMALL_PART) ||
            pass > 1 && pace.durationNs(differingBytes) <= NS_PER_SECOND / SMALL_PART_OF_SECOND;
    }

    private int pollCopying(final long nowNs)
    {
        // Completions come between two polls.
        pace.spend(copying.bytesCopied() - pacedBytes, nowNs);
        pacedBytes = copying.bytesCopied();
        if (!pace.isDue(nowNs) && !copying.isDone())
        {
            return 0;
        }
        final int workCount = copying.poll();
        if (copying.hasFailed())
        {
            end(Outcome.BROKEN, "a request has failed");
        }
        else if (copying.isDone())
        {
            pass++;
            close();
            lease(nowNs);
        }
        return workCount;
    }

    /** Takes the completion of the source's next batch. */
    void onRead(final int status)
    {
        if (null != copying)
        {
            copying.onRead(status);
        }
    }

    /** Takes the completion of the target's next batch. */
    void onWritten(final int status)
    {
        if (null != copying)
        {
            copying.onWritten(status);
        }
    }

    /** @return how far it is in this pass; null before anything is compared. */
    FillProgress progress()
    {
        if (null == comparing)
        {
            return null;
        }
        final long totalBytes = (long)entering.chunkOffsets().length * entering.chunkLengthBytes();
        if (Step.COPYING != step)
        {
            return new FillProgress(
                attempt, 0, 0, comparing.bytesCompared(), totalBytes, pass, FillProgress.UNKNOWN);
        }
        final long leftBytes = differingBytes - copying.bytesCopied();
        return new FillProgress(attempt, copying.bytesCopied(), differingBytes, comparing.bytesCompared(), totalBytes,
            pass, (int)Math.ceilDiv(pace.durationNs(leftBytes), NS_PER_SECOND));
    }

    /** When no request touches local memory any more. */
    @Override
    public void close()
    {
        CloseHelper.close(copying);
        copying = null;
    }
}
