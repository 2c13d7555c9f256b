package io.verbena.compute.group;

import static io.verbena.test.Mutation.calling;
import static io.verbena.test.Mutation.returning;
import static io.verbena.test.Mutation.type;

import io.verbena.table.allocation.EpochTracker;
import io.verbena.test.Mutation;

import java.util.function.BooleanSupplier;

/**
 * Memory of groups without one of the steps by which it is given away and comes back. The table in {@code
 * docs/protocol/mirrored-leases.md} names what each step prevents and the test that shows it.
 */
public enum GroupMutation
{
    /** What goes out of use goes back by the leases that were seen by chance. */
    LOOK_FIRST(calling(GroupLink.class, "look", GroupMutation.class, "seen")),
    /** The index of a group's table is used again before every node has closed it. */
    GROUP_INDEX_WAIT(returning(GroupReclaimer.class, "returnEpoch", GroupMutation.PASSED)
        .and(returning(type("io.verbena.compute.NodeSession"), "returnEpoch", GroupMutation.PASSED)));

    /** An epoch that all have passed. */
    private static final long PASSED = -EpochTracker.REUSE_DISTANCE;

    private final Mutation mutation;

    GroupMutation(final Mutation mutation)
    {
        this.mutation = mutation;
    }

    public Mutation mutation()
    {
        return mutation;
    }

    static BooleanSupplier seen(final GroupLink link)
    {
        return () -> true;
    }
}
