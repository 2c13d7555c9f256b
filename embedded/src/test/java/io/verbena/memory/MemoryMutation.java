package io.verbena.memory;

import static io.verbena.test.Mutation.callingFirst;
import static io.verbena.test.Mutation.doingNothing;
import static io.verbena.test.Mutation.returning;
import static io.verbena.test.Mutation.type;

import io.verbena.memory.checkpoint.CheckpointRestore;
import io.verbena.memory.checkpoint.CheckpointSteps;
import io.verbena.memory.checkpoint.CheckpointWriter;
import io.verbena.table.format.Superblock;
import io.verbena.table.format.SuperblockDescriptor;
import io.verbena.table.format.TableDescriptor;
import io.verbena.test.Mutation;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * Memory nodes without a step of adoption, restoration, checkpoints or fencing. The table in {@code
 * docs/protocol/durability-tests.md} names what each prevents and the test that shows it.
 */
public enum MemoryMutation
{
    /** The superblock is written before anything is restored. */
    SUPERBLOCK_LAST(callingFirst(RegionAdoption.class, "restoreRecords", MemoryMutation.class, "writeSuperblock")),
    /** Chunks of nodes that ended while this one was away are nobody's orphans. */
    ORPHAN_UNLESS(doingNothing(ChunkTable.class, "orphanUnless")),
    /** The folder has the node's id and incarnation before the superblock is written. */
    SUPERBLOCK_FIRST(callingFirst(RegionAdoption.class, "announce", MemoryMutation.class, "joinFolder")),
    /** Memory that was found again or restored is served whatever the walk over it met. */
    WALK(returning(MemoryReturn.class, "isWhole", true)),
    /** A checkpoint says what it is of before anything of it is written. */
    STATE_LAST(callingFirst(CheckpointWriter.class, "run", CheckpointSteps.class, "finishFirst")),
    /** A checkpoint takes a block whatever its checksum, and whatever word stands by then. */
    WHOLE_BLOCK(returning(CheckpointWriter.class, "isCurrent", true)),
    /** Whoever restores a checkpoint asks for the tables before it registers. */
    CLAIM(returning(MemoryReturn.class, "registersFirst", false)),
    /** A checkpoint does not follow a frozen word to the slot that took its place. */
    FOLLOW_FROZEN(returning(type("io.verbena.memory.checkpoint.SplitTrail"), "isMoved", false)),
    /** A checkpoint does not read again indexes that became another, or whole, since it read them. */
    LOOK_AGAIN(returning(type("io.verbena.memory.checkpoint.IndexChunks"), "isSettled", true)),
    /** A checkpoint removes what may have moved elsewhere before everything else of it is written. */
    REMOVE_LAST(returning(CheckpointWriter.class, "isNowhereElse", true)),
    /** Memory of an earlier incarnation than the folder's is the node's all the same. */
    OUTDATED(returning(RegionAdoption.class, "isOutdated", false)),
    /** The connections of a node that ended stay open when its chunks are up for reclamation. */
    CUT_OFF(doingNothing(MemoryNode.class, "fence"));

    private final Mutation mutation;

    MemoryMutation(final Mutation mutation)
    {
        this.mutation = mutation;
    }

    public Mutation mutation()
    {
        return mutation;
    }

    static boolean writeSuperblock(
        final MemorySegment region,
        final Superblock superblock,
        final MemoryFolder folder,
        final GroupRestore groups,
        final List<TableDescriptor> tables,
        final CheckpointRestore.Listener listener)
    {
        SuperblockDescriptor.writeBoth(region, superblock);
        return false;
    }

    static boolean joinFolder(
        final MemorySegment region, final Superblock superblock, final MemoryFolder folder, final long clusterId,
        final boolean isComplete)
    {
        if (null != folder)
        {
            folder.joined(superblock.nodeId(), clusterId, superblock.incarnation());
        }
        return false;
    }
}
