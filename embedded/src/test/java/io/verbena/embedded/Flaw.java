package io.verbena.embedded;

import io.verbena.compute.DroppedGuards;
import io.verbena.memory.DurableNodes;

import java.util.function.Consumer;

/** What {@code durability.md} and {@code reclamation.md} rely on, each left out alone by a mutation check. */
enum Flaw
{
    NONE(0, 0),
    RESTORED(DroppedGuards.RESTORED, 0),
    /** Both: a restoration that was cut short has no incarnation yet, so each of the two notices it. */
    SUPERBLOCK_LAST(0, DurableNodes.SUPERBLOCK_LAST | DurableNodes.OUTDATED),
    ORPHAN_UNLESS(0, DurableNodes.ORPHAN_UNLESS),
    SUPERBLOCK_FIRST(0, DurableNodes.SUPERBLOCK_FIRST),
    WALK(0, DurableNodes.WALK),
    STATE_LAST(0, DurableNodes.STATE_LAST),
    WHOLE_BLOCK(0, DurableNodes.WHOLE_BLOCK),
    CLAIM(0, DurableNodes.CLAIM),
    FOLLOW_FROZEN(0, DurableNodes.FOLLOW_FROZEN),
    LOOK_AGAIN(0, DurableNodes.LOOK_AGAIN),
    REMOVE_LAST(0, DurableNodes.REMOVE_LAST),
    CUT_OFF(0, DurableNodes.CUT_OFF),
    RENAME((host) -> host.disk().writeInPlace()),
    NAMES_SYNCED((host) -> host.disk().forgetNames()),
    BATCH_WHOLE((host) -> host.disk().database().splitBatches()),
    BATCH_SYNCED((host) -> host.disk().database().syncNever());

    private final int computeGuards;
    private final int memoryGuards;
    private final Consumer<SimMemoryHost> disk;

    Flaw(final int computeGuards, final int memoryGuards)
    {
        this.computeGuards = computeGuards;
        this.memoryGuards = memoryGuards;
        disk = (host) -> { };
    }

    Flaw(final Consumer<SimMemoryHost> disk)
    {
        computeGuards = 0;
        memoryGuards = 0;
        this.disk = disk;
    }

    int computeGuards()
    {
        return computeGuards;
    }

    void plant(final SimMemoryHost host)
    {
        host.dropGuards(memoryGuards);
        disk.accept(host);
    }
}
