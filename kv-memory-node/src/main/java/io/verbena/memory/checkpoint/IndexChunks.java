package io.verbena.memory.checkpoint;

import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.FormatException;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.Superblock;

import org.agrona.concurrent.UnsafeBuffer;

import java.nio.ByteBuffer;
import java.util.Arrays;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * Which chunks of a region hold an index, and which of them a checkpoint has to look at, again or for the first time:
 * those whose lease or header line is another one than when it looked last, and those that were asked for since,
 * because a slot was moved there. When there is none any more, each record that was there all the time was met: the
 * argument stands in {@code docs/protocol/durability.md}. One thread.
 */
final class IndexChunks
{
    private static final int MAX_LOOKS = 100_000;
    private static final int LINE_WORDS = SubtableDescriptor.HEADER_BYTES / Long.BYTES;

    private final RegionLoads loads;
    private final Superblock superblock;
    private final int group;
    private final UnsafeBuffer header = new UnsafeBuffer(ByteBuffer.allocateDirect(ChunkDescriptor.HEADER_BYTES));
    private final UnsafeBuffer line = new UnsafeBuffer(ByteBuffer.allocateDirect(SubtableDescriptor.HEADER_BYTES));
    /** Of each chunk: lease number and header line as they were when the latest look began; null: no index. */
    private final long[][] seen;
    private final boolean[] isWanted;
    private boolean isSettled;

    /** @param group of memory nodes whose chunks are looked at; 0: chunks that no group has. */
    IndexChunks(final RegionLoads loads, final Superblock superblock, final int group)
    {
        this.loads = loads;
        this.superblock = superblock;
        this.group = group;
        seen = new long[superblock.chunkCount()][];
        isWanted = new boolean[superblock.chunkCount()];
    }

    int count()
    {
        return superblock.chunkCount();
    }

    /** @return chunks that hold an index now, about: what is to be looked at at least. */
    int indexes()
    {
        int indexes = 0;
        for (int chunk = 0; chunk < count(); chunk++)
        {
            loads.copy(headerOffset(chunk), header, ChunkDescriptor.HEADER_BYTES);
            indexes += ChunkDescriptor.isWhole(header, 0) && isOurs() ? 1 : 0;
        }
        return indexes;
    }

    /** Whether the header that was read last is of an index, and of the group. */
    private boolean isOurs()
    {
        return ChunkDescriptor.STATE_INDEX == ChunkDescriptor.state(header, 0) &&
            group == ChunkDescriptor.group(header, 0);
    }

    private long headerOffset(final int chunk)
    {
        return superblock.chunkHeadersOffset() + (long)chunk * ChunkDescriptor.HEADER_BYTES;
    }

    /** Offset of the first byte of a chunk, where its subtable begins. */
    long offset(final int chunk)
    {
        return superblock.chunksOffset() + (long)chunk * superblock.chunkLengthBytes();
    }

    int lengthBytes()
    {
        return superblock.chunkLengthBytes();
    }

    /** Begins a round over all chunks. */
    void beginRound()
    {
        isSettled = true;
    }

    /** Whether nothing was to be looked at in this round, and nothing had changed. */
    boolean isSettled()
    {
        return isSettled;
    }

    /** Asks for a look at the chunk of a subtable that begins after now. */
    void want(final long subtableOffset)
    {
        isWanted[chunk(subtableOffset)] = true;
    }

    /** Whether a subtable can begin there. */
    boolean isChunk(final long offset)
    {
        final long distance = offset - superblock.chunksOffset();
        return distance >= 0 && distance % superblock.chunkLengthBytes() == 0 && chunk(offset) < count();
    }

    private int chunk(final long offset)
    {
        return (int)((offset - superblock.chunksOffset()) / superblock.chunkLengthBytes());
    }

    /** Whether a chunk is to be looked at; if so, the look has begun. */
    boolean beginsLook(final int chunk)
    {
        final long[] now = state(chunk);
        final boolean isDue = isWanted[chunk] || !Arrays.equals(now, seen[chunk]);
        isSettled &= !isDue;
        isWanted[chunk] = false;
        seen[chunk] = now;
        return isDue && now != null;
    }

    /** Whether a chunk held an index at the latest look at its header. */
    boolean isIndex(final int chunk)
    {
        return seen[chunk] != null;
    }

    /** Whether a chunk is still the index that it was when the look began. */
    boolean isStill(final int chunk)
    {
        return leaseNumber(chunk) == seen[chunk][0];
    }

    /** Lease number of the chunk that is looked at. */
    long lease(final int chunk)
    {
        return seen[chunk][0];
    }

    /** The header line of the subtable that is looked at, until the next call; null when none is whole. */
    UnsafeBuffer line(final int chunk)
    {
        for (int i = 0; i < LINE_WORDS; i++)
        {
            line.putLong(i * Long.BYTES, seen[chunk][1 + i], LITTLE_ENDIAN);
        }
        try
        {
            SubtableDescriptor.check(line, 0);
        }
        catch (final FormatException ex)
        {
            return null;
        }
        final int groups = SubtableDescriptor.groupCount(line, 0);
        return groups > 0 && SubtableDescriptor.lengthBytes(groups) <= lengthBytes() ? line : null;
    }

    private long[] state(final int chunk)
    {
        final long lease = leaseNumber(chunk);
        if (lease < 0)
        {
            return null;
        }
        final long[] state = new long[1 + LINE_WORDS];
        state[0] = lease;
        for (int i = 0; i < LINE_WORDS; i++)
        {
            state[1 + i] = loads.word(offset(chunk) + (long)i * Long.BYTES);
        }
        return state;
    }

    /**
     * -1 if it is no index of the group. A header that is being written is looked at again; the node's thread never
     * takes long.
     */
    private long leaseNumber(final int chunk)
    {
        final long offset = headerOffset(chunk);
        for (int look = 0; look < MAX_LOOKS; look++)
        {
            loads.copy(offset, header, ChunkDescriptor.HEADER_BYTES);
            if (ChunkDescriptor.isWhole(header, 0))
            {
                return isOurs() ? ChunkDescriptor.leaseNumber(header, 0) : -1;
            }
            Thread.onSpinWait();
        }
        throw new CheckpointException("no checkpoint: the header of chunk " + chunk + " is damaged", null);
    }
}
