package io.verbena.memory;

import io.verbena.table.format.FormatException;
import io.verbena.table.format.Superblock;
import io.verbena.table.format.SuperblockDescriptor;

import java.lang.foreign.MemorySegment;

/** Decides whether a region is new, or that of an earlier process of its node. Stateless. */
final class RegionAdoption
{
    private RegionAdoption()
    {
    }

    /**
     * Looks at the superblock.
     *
     * @param region   from its first byte; used by nobody.
     * @param folder   says who the node is; null: the region is new.
     * @param expected what the superblock must say, but for id and incarnation.
     * @return whether the region is to be taken up; false: it is new.
     * @throws FormatException     when it is damaged, or another node's.
     * @throws MemoryNodeException when it is new, and should not be.
     */
    static boolean isFound(final MemorySegment region, final MemoryFolder folder, final Superblock expected)
    {
        if (null == folder)
        {
            return false;
        }

        final Superblock found = SuperblockDescriptor.recover(region);

        if (null == found && 0 != folder.nodeId())
        {
            throw new MemoryNodeException("memory of node " + folder.nodeId() + " is gone, and its records with it: " +
                "it was in shared memory of this host, which was restarted, or somebody removed it; begin with an " +
                "empty data folder instead of " + folder.path(), null);
        }

        if (null == found)
        {
            return false;
        }

        final Superblock wanted = new Superblock(
            folder.nodeId(),
            found.incarnation(),
            expected.regionLengthBytes(),
            expected.chunksOffset(),
            expected.chunkLengthBytes(),
            expected.chunkCount(),
            expected.chunkHeadersOffset());

        if (!found.equals(wanted))
        {
            throw new FormatException("it is not the memory of this node: found " + found + ", wanted " + wanted);
        }

        return true;
    }
}
