package io.verbena.memory;

import io.verbena.raas.identity.PeerIdentity;
import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.FormatException;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.SuperblockDescriptor;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.HashSet;
import java.util.Set;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * Shows the chunk table to clients: one header for each chunk behind the last chunk of the region, and the view version
 * in the superblock's page, which grows after headers have changed. Each header goes to a journal in that page first:
 * the next process finds it whole when this one is killed halfway. One thread.
 */
final class ChunkHeaders
{
    private static final int JOURNAL_HEADER_OFFSET = Long.BYTES;
    private static final int JOURNAL_CHECK_OFFSET = JOURNAL_HEADER_OFFSET + ChunkDescriptor.HEADER_BYTES;
    private static final int JOURNAL_BYTES = JOURNAL_CHECK_OFFSET + Long.BYTES;

    private final MemorySegment region;
    private final MemorySegment headers;
    private final UnsafeBuffer header = new UnsafeBuffer();
    private final UnsafeBuffer journal;
    private final int chunkCount;
    private long version;
    private boolean hasChanged;

    /**
     * @param region        from its first byte.
     * @param headersOffset of the first header.
     * @param chunkCount    headers.
     */
    ChunkHeaders(final MemorySegment region, final long headersOffset, final int chunkCount)
    {
        this.region = region;
        this.chunkCount = chunkCount;
        headers = region.asSlice(headersOffset, (long)chunkCount * ChunkDescriptor.HEADER_BYTES);
        journal = new UnsafeBuffer(
            region.asSlice(SuperblockDescriptor.JOURNAL_OFFSET, JOURNAL_BYTES).address(), JOURNAL_BYTES);
        version = SuperblockDescriptor.viewVersion(region);
    }

    /** Whether a group of memory nodes has leased one of the chunks. */
    boolean hasGroups()
    {
        return !groups().isEmpty();
    }

    /** Groups that have leased chunks; a new set. */
    Set<Integer> groups()
    {
        final Set<Integer> groups = new HashSet<>();
        for (int i = 0; i < chunkCount; i++)
        {
            header.wrap(headers.address() + (long)i * ChunkDescriptor.HEADER_BYTES, ChunkDescriptor.HEADER_BYTES);
            if (ChunkDescriptor.STATE_FREE != ChunkDescriptor.state(header, 0) &&
                0 != ChunkDescriptor.group(header, 0))
            {
                groups.add(ChunkDescriptor.group(header, 0));
            }
        }
        return groups;
    }

    /** The owner that a header names; null for none. */
    static PeerIdentity owner(final DirectBuffer header)
    {
        return identity(ChunkDescriptor.ownerNodeId(header, 0), ChunkDescriptor.ownerIncarnation(header, 0));
    }

    /** The reaper that a header names; null for none. */
    static PeerIdentity reaper(final DirectBuffer header)
    {
        return identity(ChunkDescriptor.reaperNodeId(header, 0), ChunkDescriptor.reaperIncarnation(header, 0));
    }

    private static PeerIdentity identity(final int nodeId, final int incarnation)
    {
        return 0 == nodeId ? null : new PeerIdentity(nodeId, incarnation);
    }

    /** What begins at an offset of the region is no subtable any more; nobody uses it. */
    void clearSubtable(final long offset)
    {
        region.asSlice(offset, SubtableDescriptor.HEADER_BYTES).fill((byte)0);
    }

    /** Writes one header; {@link #publish} makes it visible. */
    void write(
        final int index, final int state, final PeerIdentity owner, final PeerIdentity reaper, final long leaseNumber,
        final long requestId, final int group, final long view, final long count)
    {
        // At most one of journal and header is halfway at any moment.
        VarHandle.releaseFence();
        journal.putLong(0, index, LITTLE_ENDIAN);
        ChunkDescriptor.write(
            journal,
            JOURNAL_HEADER_OFFSET,
            state,
            null == owner ? 0 : owner.nodeId(),
            null == owner ? 0 : owner.incarnation(),
            null == reaper ? 0 : reaper.nodeId(),
            null == reaper ? 0 : reaper.incarnation(),
            leaseNumber,
            requestId,
            group,
            view,
            count);
        journal.putLong(JOURNAL_CHECK_OFFSET, journalCheck(), LITTLE_ENDIAN);
        VarHandle.releaseFence();
        copyFromJournal(index);
        hasChanged = true;
    }

    /** Raises the view version if a header has changed since the last time; release. */
    void publish()
    {
        if (hasChanged)
        {
            hasChanged = false;
            SuperblockDescriptor.writeViewVersion(region, ++version);
        }
    }

    /** Ends what the process before was writing when it was killed; before anything is read. */
    void redo()
    {
        final long index = journal.getLong(0, LITTLE_ENDIAN);

        if (ChunkDescriptor.isWhole(journal, JOURNAL_HEADER_OFFSET) &&
            journalCheck() == journal.getLong(JOURNAL_CHECK_OFFSET, LITTLE_ENDIAN) &&
            index >= 0 && index < chunkCount)
        {
            copyFromJournal((int)index);
            hasChanged = true;
        }
    }

    /**
     * Reads a header that the process before has left.
     *
     * @param index of the chunk.
     * @return where its header begins is 0 in this; good until the next call.
     * @throws FormatException when it is damaged.
     */
    UnsafeBuffer read(final int index)
    {
        at(index);

        try
        {
            ChunkDescriptor.check(header, 0);
        }
        catch (final FormatException ex)
        {
            throw new FormatException("chunk " + index + ": " + ex.getMessage() +
                "; start it with --accept-damage to serve what is in the chunk, and use its memory no more");
        }

        return header;
    }

    /**
     * @param index of the chunk.
     * @return whether its header is damaged.
     */
    boolean isDamaged(final int index)
    {
        try
        {
            at(index);
            ChunkDescriptor.check(header, 0);
            return false;
        }
        catch (final FormatException ex)
        {
            return true;
        }
    }

    /** @return the bytes of a header as they are; a copy. */
    byte[] bytes(final int index)
    {
        final byte[] bytes = new byte[ChunkDescriptor.HEADER_BYTES];
        at(index);
        header.getBytes(0, bytes);
        return bytes;
    }

    /** Puts the bytes of a header back, where nobody was let in. */
    void putBack(final int index, final byte[] bytes)
    {
        journal.setMemory(0, JOURNAL_BYTES, (byte)0); // else it would be done again
        at(index);
        header.putBytes(0, bytes);
    }

    private void copyFromJournal(final int index)
    {
        at(index);
        header.putBytes(0, journal, JOURNAL_HEADER_OFFSET, ChunkDescriptor.HEADER_BYTES);
    }

    private void at(final int index)
    {
        header.wrap(headers.address() + (long)index * ChunkDescriptor.HEADER_BYTES, ChunkDescriptor.HEADER_BYTES);
    }

    /** Ties the index to the header, which has a checksum of its own. */
    private long journalCheck()
    {
        return ~journal.getLong(0, LITTLE_ENDIAN) ^
            journal.getLong(JOURNAL_HEADER_OFFSET + ChunkDescriptor.CHECKSUM_OFFSET, LITTLE_ENDIAN);
    }
}
