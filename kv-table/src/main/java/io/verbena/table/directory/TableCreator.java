package io.verbena.table.directory;

import io.verbena.raas.OneSidedPort;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.table.access.BatchCookies;
import io.verbena.table.access.Scratch;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.TableDescriptor;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * Formats the subtables of a new table by one-sided WRITEs: groups first, each subtable's header line when they are
 * done. Nobody can find the table before its descriptor is published, so readers never meet a half-made one. Made by
 * {@code TableEngine.createTable}, driven by its poll; owner thread only.
 */
public final class TableCreator
{
    /** Where it stands. */
    public enum State
    {
        /** Writing. */
        RUNNING,
        /** All subtables are written; {@link #descriptor()} may be published. */
        DONE,
        /** {@link #failure()} says why; the chunks may hold anything and must be formatted again before use. */
        FAILED
    }

    /** Marks cookies of a creator among those of operations. */
    public static final int COOKIE = BatchCookies.CREATOR;
    private static final int GROUPS_PER_WRITE = 320;
    private static final int HEADER_AT = GROUPS_PER_WRITE * BucketDescriptor.GROUP_BYTES;

    private final NodeLinks links;
    private final TableDescriptor descriptor;
    private final Scratch scratch;
    private final long deadlineNs;
    private State state = State.RUNNING;
    private String failure;
    private int suffix = -1;
    private int group;
    private boolean inFlight;

    public TableCreator(
        final NodeLinks links,
        final ProtectionDomain protectionDomain,
        final TableDescriptor descriptor,
        final long deadlineNs)
    {
        this.links = links;
        this.descriptor = descriptor;
        this.deadlineNs = deadlineNs;
        scratch = new Scratch(protectionDomain, HEADER_AT + SubtableDescriptor.HEADER_BYTES);
        nextSubtable();
    }

    /** @return where it stands. */
    public State state()
    {
        return state;
    }

    /** @return why it failed, or null. */
    public String failure()
    {
        return failure;
    }

    /** @return the table, to be published when {@link State#DONE}. */
    public TableDescriptor descriptor()
    {
        return descriptor;
    }

    /** @return whether it ended and no write of it is under way any more: one that failed may have one for a while. */
    public boolean isFinished()
    {
        return state != State.RUNNING && !inFlight;
    }

    public boolean isInFlightAt(final int memoryNodeId)
    {
        return inFlight && DirectoryEntry.memoryNodeId(descriptor.entry(suffix)) == memoryNodeId;
    }

    /** A memory node has come in that has nothing of what was written: begins again, if it writes there. */
    public void writeAgain(final int memoryNodeId)
    {
        for (int entry = 0; state == State.RUNNING && entry <= suffix; entry++)
        {
            if (DirectoryEntry.memoryNodeId(descriptor.entry(entry)) == memoryNodeId)
            {
                suffix = entry - 1;
                nextSubtable();
                return;
            }
        }
    }

    /** Ends it when no request can touch its memory any more. */
    public void close()
    {
        if (!isFinished())
        {
            inFlight = false;
            state = State.FAILED;
            failure = failure == null ? "engine closed" : failure;
            scratch.close();
        }
    }

    public int poll(final long nowNs)
    {
        if (state != State.RUNNING || inFlight)
        {
            if (state == State.RUNNING && nowNs - deadlineNs >= 0)
            {
                fail("deadline passed while formatting subtable " + suffix + " of " + descriptor.subtableCount());
            }
            return 0;
        }
        final OneSidedPort port = links.get(DirectoryEntry.memoryNodeId(descriptor.entry(suffix))).port;
        if (nowNs - deadlineNs >= 0 || port != null && port.isFailed())
        {
            fail((port == null || port.isFailed() ? "memory node cannot be reached" : "deadline passed") +
                ": node=" + DirectoryEntry.memoryNodeId(descriptor.entry(suffix)) + " subtable=" + suffix);
            return 1;
        }
        if (port == null || !port.isReady() || port.space() < 1)
        {
            return 0;
        }
        inFlight = post(port) == PostStatus.OK;
        return 1;
    }

    public void onComplete(final int status)
    {
        if (!inFlight)
        {
            return;
        }
        inFlight = false;
        if (state != State.RUNNING)
        {
            scratch.close();
        }
        else if (status != WorkCompletionStatus.SUCCESS)
        {
            fail("write failed: " + WorkCompletionStatus.text(status) + " subtable=" + suffix + " group=" + group);
        }
        else if (group < descriptor.groupCount())
        {
            group += Math.min(GROUPS_PER_WRITE, descriptor.groupCount() - group);
        }
        else
        {
            nextSubtable();
        }
    }

    private int post(final OneSidedPort port)
    {
        final long subtable = DirectoryEntry.subtableOffset(descriptor.entry(suffix));
        port.begin();
        if (group < descriptor.groupCount())
        {
            final int groups = Math.min(GROUPS_PER_WRITE, descriptor.groupCount() - group);
            port.write(scratch.region, 0, groups * BucketDescriptor.GROUP_BYTES,
                subtable + SubtableDescriptor.GROUPS_OFFSET + (long)group * BucketDescriptor.GROUP_BYTES);
        }
        else
        {
            port.write(scratch.region, HEADER_AT, SubtableDescriptor.HEADER_BYTES, subtable);
        }
        return port.complete(COOKIE);
    }

    private void nextSubtable()
    {
        suffix++;
        group = 0;
        if (suffix == descriptor.subtableCount())
        {
            state = State.DONE;
            scratch.close();
            return;
        }
        final long header = BucketDescriptor.header(descriptor.tableId(), suffix, descriptor.depth());
        for (int at = 0; at < HEADER_AT; at += BucketDescriptor.BUCKET_BYTES)
        {
            scratch.buffer.putLong(at + BucketDescriptor.HEADER_OFFSET, header, LITTLE_ENDIAN);
        }
        SubtableDescriptor.write(scratch.buffer, HEADER_AT, descriptor.tableId(), suffix, descriptor.depth(),
            descriptor.groupCount(), descriptor.hashSeed(), 0);
    }

    /** With a batch under way the scratch memory is freed when that completes. */
    private void fail(final String reason)
    {
        state = State.FAILED;
        failure = reason;
        if (!inFlight)
        {
            scratch.close();
        }
    }
}
