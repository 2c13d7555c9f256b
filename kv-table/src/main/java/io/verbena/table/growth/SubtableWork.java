package io.verbena.table.growth;

import io.verbena.raas.OneSidedPort;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.table.access.Scratch;
import io.verbena.table.directory.NodeLink;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;

/**
 * What an engine does to subtables of one memory node beside operations: one batch of requests after the other, until
 * it is done, fails, or its deadline has passed. Belongs to the epoch in which it began, so that no memory it works on
 * is used for anything else meanwhile. Driven by the poll of {@link EngineGrowth}; owner thread only.
 */
public abstract sealed class SubtableWork permits TableSplit, TableMerge, FillProbe
{
    /** Where it stands. */
    public enum State
    {
        /** Under way. */
        RUNNING,
        /** All that it was for is done. */
        DONE,
        /** {@link #failure()} says why. What was done stays, and harms nobody. */
        FAILED
    }

    final OpenTable table;
    final GrowthBatch batch;
    final NodeLink link;
    /** Where it begins: a subtable as the engine knew it then. */
    final int wantedSuffix;
    final int wantedDepth;
    final long wantedOffset;
    final long beginEpoch;
    private final long deadlineNs;
    private State state = State.RUNNING;
    private String failure;
    private boolean inFlight;
    private boolean isLinkOurs;

    /** @param entry of the directory: a subtable, whose memory node is that of all it works on. */
    SubtableWork(
        final OpenTable table, final int entry, final Scratch scratch, final long beginEpoch, final long deadlineNs)
    {
        this.table = table;
        this.beginEpoch = beginEpoch;
        this.deadlineNs = deadlineNs;
        batch = new GrowthBatch(scratch);
        wantedSuffix = table.directory.suffix(entry);
        wantedDepth = table.directory.depth(entry);
        wantedOffset = table.directory.groupsOffset(entry) - SubtableDescriptor.GROUPS_OFFSET;
        link = table.link(wantedSuffix & table.descriptor().subtableCount() - 1);
    }

    /** @return where it stands. */
    public final State state()
    {
        return state;
    }

    /** @return why it failed, or null. */
    public final String failure()
    {
        return failure;
    }

    /** @return whether it has ended, and nothing of it is under way. */
    public final boolean isFinished()
    {
        return state != State.RUNNING && !isInFlight();
    }

    /** @return whether the memory given may be part of the table now; if not, it is the caller's still, once ended. */
    public final boolean usesGivenMemory()
    {
        return isLinkOurs;
    }

    /** @return requests posted. */
    public long verbs()
    {
        return batch.verbs();
    }

    /** @return doorbells rung, each a round trip. */
    public long doorbells()
    {
        return batch.doorbells();
    }

    /** @return bytes read, written and swapped. */
    public long payloadBytes()
    {
        return batch.payloadBytes();
    }

    /** Stages the requests of the next batch. */
    abstract void stage();

    /** The batch was answered, and the work goes on. */
    abstract void onAnswer();

    /** @return whether the batch under way is the swap that makes the memory given part of the table. */
    boolean isLinking()
    {
        return false;
    }

    /** @return what that swap expects. */
    long linkedOn()
    {
        return SplitLink.NONE;
    }

    /** @return what it is at, for messages. */
    abstract String progress();

    /** @return the epoch that must not be passed yet, or {@link Long#MAX_VALUE}. */
    final long heldEpoch()
    {
        return isFinished() ? Long.MAX_VALUE : beginEpoch;
    }

    final boolean isInFlightAt(final NodeLink node)
    {
        return isInFlight() && link == node;
    }

    boolean isInFlight()
    {
        return inFlight;
    }

    final int poll(final long nowNs)
    {
        if (state != State.RUNNING)
        {
            return 0;
        }
        if (nowNs - deadlineNs >= 0)
        {
            fail("deadline passed " + progress());
            return 1;
        }
        if (inFlight)
        {
            return 0;
        }
        final OneSidedPort port = link.port;
        if (port != null && port.isFailed() || !waitsForNode() && (port == null || !port.isReady()))
        {
            fail("memory node " + link.memoryNodeId + " cannot be reached");
            return 1;
        }
        return port == null || !port.isReady() || port.space() < OneSidedPort.LEAST_SPACE ? 0 : post(port);
    }

    /** @return whether it goes on when a memory node that cannot be reached just now is back. */
    boolean waitsForNode()
    {
        return true;
    }

    /** Rings the doorbell of the next batch. */
    int post(final OneSidedPort port)
    {
        batch.begin(port);
        stage();
        inFlight = batch.complete();
        return 1;
    }

    /** @param cookie of the batch that is answered. */
    void onComplete(final int cookie, final int status)
    {
        if (!inFlight)
        {
            return;
        }
        inFlight = false;
        if (isLinking())
        {
            // Also when the deadline has passed. Whether a link took that was not answered is not known: then the
            // memory given is the table's, or lost until it is found to be named by nothing.
            isLinkOurs = status != WorkCompletionStatus.SUCCESS || batch.result(0) == linkedOn();
        }
        if (state == State.RUNNING && status == WorkCompletionStatus.SUCCESS)
        {
            onAnswer();
        }
        else if (state == State.RUNNING)
        {
            fail("request failed: " + WorkCompletionStatus.text(status) + ' ' + progress());
        }
    }

    /** Its connection is lost. */
    void onDetached()
    {
        onComplete(GrowthBatch.COOKIE, WorkCompletionStatus.WR_FLUSH_ERR);
    }

    /** Another memory node is to have what it has formatted. */
    void writeAgain()
    {
    }

    /** The link to the memory given was taken back. */
    final void unlinked()
    {
        isLinkOurs = false;
    }

    final void done()
    {
        state = State.DONE;
    }

    final void fail(final String reason)
    {
        state = State.FAILED;
        failure = reason;
    }

    /** Ends it when no request can touch its memory any more. */
    void close()
    {
        isLinkOurs |= inFlight && isLinking();
        inFlight = false;
        if (state == State.RUNNING)
        {
            fail("engine closed");
        }
    }

    @Override
    public String toString()
    {
        return getClass().getSimpleName() + "{state=" + state + ' ' + progress() + " verbs=" + verbs() +
            (failure == null ? "" : " failure=" + failure) + '}';
    }
}
