package io.verbena.table.allocation;

import io.verbena.raas.identity.PeerIdentity;
import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.Superblock;
import java.util.Arrays;
import java.util.BitSet;
import org.agrona.DirectBuffer;

/**
 * The chunks of a memory node as their headers showed them at one look; may be out of date. What hangs on it, hangs on
 * the epoch in which the look began, see {@link ChunkWatch}. Single owner thread.
 */
public final class ChunkView
{
    private final long chunksOffset;
    private final int chunkLengthBytes;
    private final byte[] states;
    private final int[] ownerNodeIds;
    private final int[] ownerIncarnations;
    private final int[] reaperNodeIds;
    private final int[] reaperIncarnations;
    private final long[] leaseNumbers;
    private final long[] requestIds;
    private final char[] groups;
    private final long[] views;
    private final long[] counts;
    private final BitSet closed = new BitSet();
    private long newestLease;
    private final Superblock superblock;

    /** @param superblock of the memory node. */
    public ChunkView(final Superblock superblock)
    {
        this.superblock = superblock;
        chunksOffset = superblock.chunksOffset();
        chunkLengthBytes = superblock.chunkLengthBytes();
        final int count = superblock.chunkCount();
        states = new byte[count];
        ownerNodeIds = new int[count];
        ownerIncarnations = new int[count];
        reaperNodeIds = new int[count];
        reaperIncarnations = new int[count];
        leaseNumbers = new long[count];
        requestIds = new long[count];
        groups = new char[count];
        views = new long[count];
        counts = new long[count];
    }

    /** @return of the memory node. */
    public Superblock superblock()
    {
        return superblock;
    }

    /**
     * Takes a header over.
     *
     * @param index  of the chunk.
     * @param buffer off-heap.
     * @param offset of the header in it.
     * @return false when the header was caught halfway, or is damaged.
     */
    public boolean read(final int index, final DirectBuffer buffer, final int offset)
    {
        if (!ChunkDescriptor.isWhole(buffer, offset))
        {
            return false;
        }
        states[index] = (byte)ChunkDescriptor.state(buffer, offset);
        ownerNodeIds[index] = ChunkDescriptor.ownerNodeId(buffer, offset);
        ownerIncarnations[index] = ChunkDescriptor.ownerIncarnation(buffer, offset);
        reaperNodeIds[index] = ChunkDescriptor.reaperNodeId(buffer, offset);
        reaperIncarnations[index] = ChunkDescriptor.reaperIncarnation(buffer, offset);
        leaseNumbers[index] = ChunkDescriptor.leaseNumber(buffer, offset);
        requestIds[index] = ChunkDescriptor.requestId(buffer, offset);
        groups[index] = (char)ChunkDescriptor.group(buffer, offset);
        views[index] = ChunkDescriptor.view(buffer, offset);
        counts[index] = ChunkDescriptor.count(buffer, offset);
        newestLease = Math.max(newestLease, leaseNumbers[index]);
        closed.set(index, states[index] == ChunkDescriptor.STATE_ORPHAN ||
            states[index] == ChunkDescriptor.STATE_QUARANTINED);
        return true;
    }

    /** @return chunks in all. */
    public int chunkCount()
    {
        return states.length;
    }

    /** @return bytes of each. */
    public int chunkLengthBytes()
    {
        return chunkLengthBytes;
    }

    /** @return the largest lease number seen: no chunk was leased later before the look began. */
    public long newestLease()
    {
        return newestLease;
    }

    /** @return number of the lease by which a chunk was had last. */
    public long leaseNumber(final int index)
    {
        return leaseNumbers[index];
    }

    /** @return number under which its owner asked for that lease, or 0. */
    public long requestId(final int index)
    {
        return requestIds[index];
    }

    /** @return group whose lease a chunk has, 0 when it is the memory node's own, or free. */
    public int group(final int index)
    {
        return groups[index];
    }

    /** @return view in which a group leased a chunk, or 0. */
    public long groupView(final int index)
    {
        return views[index];
    }

    /** @return the largest count that a lease of this chunk by a group had. */
    public long groupCount(final int index)
    {
        return counts[index];
    }

    /** @return the last owner of a chunk; null for none. */
    public PeerIdentity owner(final int index)
    {
        return node(ownerNodeIds[index], ownerIncarnations[index]);
    }

    /** @return who reclaims a chunk; null for nobody. */
    public PeerIdentity reaper(final int index)
    {
        return node(reaperNodeIds[index], reaperIncarnations[index]);
    }

    private static PeerIdentity node(final int nodeId, final int incarnation)
    {
        return nodeId == 0 ? null : new PeerIdentity(nodeId, incarnation);
    }

    /** @return whether its header was damaged: whether a group's lease stood there is not known. */
    public boolean isUnread(final int index)
    {
        return states[index] == ChunkDescriptor.STATE_QUARANTINED ||
            groups[index] == 0 && counts[index] == ChunkDescriptor.UNREAD_COUNT;
    }

    /** @return whether a group has leased a chunk, and the node that asked for it has ended. */
    public boolean isLeftByGroup(final int index)
    {
        return groups[index] != 0 && (states[index] == ChunkDescriptor.STATE_ORPHAN ||
            states[index] == ChunkDescriptor.STATE_INDEX && ownerNodeIds[index] == 0);
    }

    /** @return whether a chunk that is no group's is an index whose owner has ended. */
    public boolean isIndexOfNobody(final int index)
    {
        return groups[index] == 0 && states[index] == ChunkDescriptor.STATE_INDEX && ownerNodeIds[index] == 0;
    }

    /** @return whether a chunk that is no group's was closed because its owner ended, and not by its owner. */
    public boolean isLeftBehind(final int index)
    {
        return groups[index] == 0 && states[index] == ChunkDescriptor.STATE_ORPHAN &&
            (ownerNodeIds[index] != reaperNodeIds[index] || ownerIncarnations[index] != reaperIncarnations[index]);
    }

    /** @return offset of a chunk in the region. */
    public long offset(final int index)
    {
        return chunksOffset + (long)index * chunkLengthBytes;
    }

    /** @return index of the chunk that an offset lies in. */
    public int index(final long offset)
    {
        return (int)((offset - chunksOffset) / chunkLengthBytes);
    }

    /** @return state of a chunk, see {@link ChunkDescriptor}. */
    public int state(final int index)
    {
        return states[index];
    }

    /** @return whether a chunk that is no group's is in this state, and this node is its owner. */
    public boolean isOwned(final int index, final int state, final int nodeId, final int incarnation)
    {
        return groups[index] == 0 && states[index] == state && ownerNodeIds[index] == nodeId &&
            ownerIncarnations[index] == incarnation;
    }

    /** @return whether a chunk that is no group's is an orphan that this node may claim, or has claimed. */
    public boolean isClaimable(final int index, final int nodeId, final int incarnation)
    {
        return groups[index] == 0 && states[index] == ChunkDescriptor.STATE_ORPHAN &&
            (reaperNodeIds[index] == 0 ||
            reaperNodeIds[index] == nodeId && reaperIncarnations[index] == incarnation);
    }

    /**
     * @param count of the lease.
     * @return whether a chunk has this lease of a group, under which this node uses it as it says.
     */
    public boolean isOwnedInGroup(
        final int index, final int group, final long count, final int state, final int nodeId, final int incarnation)
    {
        return groups[index] == group && counts[index] == count && states[index] == state &&
            ownerNodeIds[index] == nodeId && ownerIncarnations[index] == incarnation;
    }

    /** @return whether a chunk of any group is closed, and not by another node than this one. */
    public boolean isClaimableInGroup(final int index, final int nodeId, final int incarnation)
    {
        return groups[index] != 0 && states[index] == ChunkDescriptor.STATE_ORPHAN &&
            (reaperNodeIds[index] == 0 ||
            reaperNodeIds[index] == nodeId && reaperIncarnations[index] == incarnation);
    }

    /** @return whether any chunk is closed, for good or until its reaper returns it. */
    public boolean hasClosed()
    {
        return !closed.isEmpty();
    }

    /** @return whether any chunk is an orphan: what nobody names in it will be free. */
    public boolean hasOrphans()
    {
        for (int index = closed.nextSetBit(0); index >= 0; index = closed.nextSetBit(index + 1))
        {
            if (states[index] == ChunkDescriptor.STATE_ORPHAN)
            {
                return true;
            }
        }
        return false;
    }

    /** @return whether the chunk of a block is closed: nobody but its reaper may have blocks of it. */
    boolean isClosed(final long offset)
    {
        return !closed.isEmpty() && closed.get(index(offset));
    }

    /** What was just leased or adopted is open, whatever an older look said. */
    void open(final int index)
    {
        closed.clear(index);
    }

    @Override
    public String toString()
    {
        final int[] counts = new int[ChunkDescriptor.STATE_QUARANTINED + 1];
        for (final byte state : states)
        {
            counts[state]++;
        }
        return "ChunkView{free, blocks, index, orphan, quarantined=" + Arrays.toString(counts) + '}';
    }
}
