package io.verbena.table.growth;

import io.verbena.raas.OneSidedPort;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.table.access.BatchCookies;
import io.verbena.table.access.Scratch;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.moving.MoveBatch;

/**
 * The requests of a split or merge behind one doorbell, their memory, and what they have cost. Owner thread of the
 * engine only; the memory is that of one split at a time: first what all of it shares, then a range for each of the
 * groups under way, which have batches of their own.
 */
public final class GrowthBatch extends MoveBatch
{
    /** Cookie of its batches; those of groups have the number of their lane, from 1, in the bits above. */
    static final int COOKIE = BatchCookies.GROWTH;
    private static final int LANE_SHIFT = 4;
    private static final int LANE_MASK = 15 << LANE_SHIFT;
    /** Groups that may be under way at a time. */
    public static final int MAX_LANES = 8;
    static final int GROUPS_PER_WRITE = 64;
    static final int HEADER_AT = MAX_SWAPS * Long.BYTES;
    static final int SECOND_HEADER_AT = HEADER_AT + SubtableDescriptor.HEADER_BYTES;
    static final int FORMAT_AT = SECOND_HEADER_AT + SubtableDescriptor.HEADER_BYTES;
    static final int SCRATCH_BYTES = FORMAT_AT + GROUPS_PER_WRITE * BucketDescriptor.GROUP_BYTES;
    private static final int LANE_BYTES = MAX_SWAPS * Long.BYTES + SplitGroup.MEMORY_BYTES;

    private final int groupAt;
    private final int cookie;
    private long doorbells;

    GrowthBatch(final Scratch scratch)
    {
        this(scratch, 0, COOKIE);
    }

    private GrowthBatch(final Scratch scratch, final int swapsAt, final int cookie)
    {
        super(scratch, swapsAt);
        groupAt = swapsAt + MAX_SWAPS * Long.BYTES;
        this.cookie = cookie;
    }

    /** @return the batches of a lane, from 0: of the groups that are worked on there one after the other. */
    static GrowthBatch ofLane(final Scratch scratch, final int lane)
    {
        return new GrowthBatch(scratch, SCRATCH_BYTES + lane * LANE_BYTES, COOKIE | lane + 1 << LANE_SHIFT);
    }

    static Scratch allocateScratch(final ProtectionDomain protectionDomain)
    {
        return new Scratch(protectionDomain, SCRATCH_BYTES + MAX_LANES * LANE_BYTES);
    }

    /** @return whether a completion is one of a split or merge. */
    public static boolean isCookie(final int cookie)
    {
        return (cookie & ~LANE_MASK) == COOKIE;
    }

    /** @return the lane of a completion, from 0, or -1 for what the whole split does. */
    static int laneOf(final int cookie)
    {
        return ((cookie & LANE_MASK) >>> LANE_SHIFT) - 1;
    }

    /** @return where the memory of a lane's group begins, {@link SplitGroup#MEMORY_BYTES} of it. */
    int groupAt()
    {
        return groupAt;
    }

    @Override
    public void begin(final OneSidedPort onPort)
    {
        super.begin(onPort);
        port.begin();
    }

    /** @return whether it is under way. */
    boolean complete()
    {
        final boolean isPosted = port.complete(cookie) == PostStatus.OK;
        doorbells += isPosted ? 1 : 0;
        return isPosted;
    }

    long doorbells()
    {
        return doorbells;
    }
}
