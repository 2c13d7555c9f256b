package io.verbena.embedded;

import io.verbena.compute.maintenance.ReclaimMutation;
import io.verbena.memory.MemoryMutation;
import io.verbena.test.Mutation;

import java.util.function.Consumer;

/**
 * What {@code durability.md} and {@code reclamation.md} rely on, each left out alone: a step of the protocol, or what a
 * disk is to do.
 */
enum Flaw
{
    NONE(Mutation.NONE),
    RESTORED(ReclaimMutation.RESTORED.mutation()),
    /** Both: a restoration that was cut short has no incarnation yet, so each of the two notices it. */
    SUPERBLOCK_LAST(MemoryMutation.SUPERBLOCK_LAST.mutation().and(MemoryMutation.OUTDATED.mutation())),
    ORPHAN_UNLESS(MemoryMutation.ORPHAN_UNLESS.mutation()),
    SUPERBLOCK_FIRST(MemoryMutation.SUPERBLOCK_FIRST.mutation()),
    WALK(MemoryMutation.WALK.mutation()),
    STATE_LAST(MemoryMutation.STATE_LAST.mutation()),
    WHOLE_BLOCK(MemoryMutation.WHOLE_BLOCK.mutation()),
    CLAIM(MemoryMutation.CLAIM.mutation()),
    FOLLOW_FROZEN(MemoryMutation.FOLLOW_FROZEN.mutation()),
    LOOK_AGAIN(MemoryMutation.LOOK_AGAIN.mutation()),
    REMOVE_LAST(MemoryMutation.REMOVE_LAST.mutation()),
    CUT_OFF(MemoryMutation.CUT_OFF.mutation()),
    RENAME((host) -> host.disk().writeInPlace()),
    NAMES_SYNCED((host) -> host.disk().forgetNames()),
    BATCH_WHOLE((host) -> host.disk().database().splitBatches()),
    BATCH_SYNCED((host) -> host.disk().database().syncNever());

    private final Mutation mutation;
    private final Consumer<SimMemoryHost> disk;

    Flaw(final Mutation mutation)
    {
        this.mutation = mutation;
        disk = (host) -> { };
    }

    Flaw(final Consumer<SimMemoryHost> disk)
    {
        mutation = Mutation.NONE;
        this.disk = disk;
    }

    /** Of the whole cluster. */
    Mutation mutation()
    {
        return mutation;
    }

    void plant(final SimMemoryHost host)
    {
        disk.accept(host);
    }
}
