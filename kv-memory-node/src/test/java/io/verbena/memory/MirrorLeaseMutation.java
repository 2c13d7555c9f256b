package io.verbena.memory;

import io.verbena.protocol.mirror.LeftLease;
import io.verbena.protocol.mirror.MirroredLease;
import io.verbena.test.Mutation;

import static io.verbena.test.Mutation.returning;

/** Leases by groups without one of their checks; {@code docs/protocol/mirrored-leases.md} has the table. */
enum MirrorLeaseMutation
{
    /** A lease is recorded whatever count it has. */
    LARGER_COUNT(returning(MirrorLeases.class, "isOutdated", false)),
    /** A lease is recorded in a chunk that another lease has. */
    FREE_ON_ALL(returning(MirrorLeases.class, "isFree", true)),
    /** A chunk is used when the first member has recorded its lease. */
    RECORDED_BY_ALL(returning(MirroredLease.class, "isRecordedByAll", true)),
    /** What a node has left is returned when members seem to differ, without asking them to refuse it. */
    REFUSED_FIRST(returning(LeftLease.class, "isRefused", true)),
    /** A member does what is asked of it alone with chunks of a group. */
    GROUPS_CHUNK(returning(LeaseNames.class, "isMirrored", false)),
    /** A request that is returned frees what another one of the same name has. */
    OF_THE_REQUEST(returning(MirrorLeases.class, "isOfAnother", false)),
    /** A lease of an old view is recorded. */
    NEWEST_VIEW(returning(MirrorLeases.class, "isOldView", false));

    private final Mutation mutation;

    MirrorLeaseMutation(final Mutation mutation)
    {
        this.mutation = mutation;
    }

    Mutation.Opened open()
    {
        return mutation.open();
    }
}
