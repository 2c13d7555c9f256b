package io.verbena.table.format;

import net.openhft.hashing.LongHashFunction;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Layout of the first bytes of a memory node's region, all little-endian; drawn in {@code docs/format/superblock.md}.
 *
 * <pre>
 *   0         8         16        24             32            40       44       48       56
 *  +---------+----+----+----+----+--------------+-------------+--------+--------+--------+----------+
 *  | magic   |ver-|len-|node|in- | region       | chunks      | chunk  | chunk  | chunk  | checksum |
 *  |"VRBNMEM1"|sion|gth|id |carn.| length       | offset      | length | count  | headers| XXH3-64  |
 *  +---------+----+----+----+----+--------------+-------------+--------+--------+--------+----------+
 * </pre>
 *
 * <p>Written by the memory node's CPU before the node admits anyone, and again with each new incarnation; read by
 * anyone. Nobody changes it by RDMA. The checksum covers bytes 0 to 55 and is written last: a reader that caught it
 * halfway finds it wrong and reads again.
 */
public final class SuperblockDescriptor
{
    /** "VRBNMEM1" read as a little-endian integer. */
    public static final long MAGIC = 0x314D454D4E425256L;
    /** The format version that this build writes: slot words may be emptied ones. */
    public static final int FORMAT_VERSION = 3;
    /** The oldest one that it reads: a region whose emptied slots are 0, which all of them may be. */
    public static final int OLDEST_VERSION = 2;

    /** Magic, 8 bytes. */
    public static final int MAGIC_OFFSET = 0;
    /** Format version, 4 bytes. */
    public static final int VERSION_OFFSET = MAGIC_OFFSET + Long.BYTES;
    /** Length of the superblock, 4 bytes. */
    public static final int LENGTH_OFFSET = VERSION_OFFSET + Integer.BYTES;
    /** Node id, 4 bytes. */
    public static final int NODE_ID_OFFSET = LENGTH_OFFSET + Integer.BYTES;
    /** Incarnation, 4 bytes. */
    public static final int INCARNATION_OFFSET = NODE_ID_OFFSET + Integer.BYTES;
    /** Length of the region, 8 bytes. */
    public static final int REGION_LENGTH_OFFSET = INCARNATION_OFFSET + Integer.BYTES;
    /** Where the first chunk begins, 8 bytes. */
    public static final int CHUNKS_OFFSET_OFFSET = REGION_LENGTH_OFFSET + Long.BYTES;
    /** Length of a chunk, 4 bytes. */
    public static final int CHUNK_LENGTH_OFFSET = CHUNKS_OFFSET_OFFSET + Long.BYTES;
    /** Number of chunks, 4 bytes. */
    public static final int CHUNK_COUNT_OFFSET = CHUNK_LENGTH_OFFSET + Integer.BYTES;
    /** Where the chunk headers begin, 8 bytes. */
    public static final int CHUNK_HEADERS_OFFSET_OFFSET = CHUNK_COUNT_OFFSET + Integer.BYTES;
    /** XXH3-64, 8 bytes. */
    public static final int CHECKSUM_OFFSET = CHUNK_HEADERS_OFFSET_OFFSET + Long.BYTES;
    /** Bytes of the superblock. */
    public static final int LENGTH = CHECKSUM_OFFSET + Long.BYTES;
    /** Version of the chunk headers, 8 bytes, outside the checksum: grows after each change of any of them. */
    public static final int VIEW_VERSION_OFFSET = LENGTH;
    /** Incarnation since which the content is what it is, 8 bytes, outside the checksum; 0: since ever. */
    public static final int RESTORED_OFFSET = VIEW_VERSION_OFFSET + Long.BYTES;
    /** Bytes that a reader of superblock, view version and restoration fetches. */
    public static final int READ_BYTES = RESTORED_OFFSET + Long.BYTES;
    /** Incarnation since which everything that was written is there, 8 bytes, outside the checksum; 0: not known. */
    public static final int COMPLETE_OFFSET = READ_BYTES;
    /** For {@link #RESTORED_OFFSET}: nobody who is registered yet may use the content. */
    public static final long RESTORED_NOW = Long.MAX_VALUE;
    /** A copy of the superblock, for the node that finds the region again; written before the superblock itself. */
    public static final int COPY_OFFSET = 1024;
    /** The chunk header that is written next, see {@code docs/format/superblock.md}. */
    public static final int JOURNAL_OFFSET = 2048;
    /** Bytes set aside for it: the first chunk begins here. */
    public static final int SPACE_BYTES = 4096;

    private static final ValueLayout.OfLong LONG_LE =
        ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT_LE =
        ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);

    static
    {
        if (64 != LENGTH || 0 != CHECKSUM_OFFSET % Long.BYTES)
        {
            throw new ExceptionInInitializerError("superblock length changed: " + LENGTH +
                "; give the format a new version");
        }
    }

    private SuperblockDescriptor()
    {
    }

    /**
     * Writes a superblock.
     *
     * @param segment    the region, from its first byte.
     * @param superblock what to write.
     */
    public static void write(final MemorySegment segment, final Superblock superblock)
    {
        segment.set(LONG_LE, MAGIC_OFFSET, MAGIC);
        segment.set(INT_LE, VERSION_OFFSET, FORMAT_VERSION);
        segment.set(INT_LE, LENGTH_OFFSET, LENGTH);
        segment.set(INT_LE, NODE_ID_OFFSET, superblock.nodeId());
        segment.set(INT_LE, INCARNATION_OFFSET, superblock.incarnation());
        segment.set(LONG_LE, REGION_LENGTH_OFFSET, superblock.regionLengthBytes());
        segment.set(LONG_LE, CHUNKS_OFFSET_OFFSET, superblock.chunksOffset());
        segment.set(INT_LE, CHUNK_LENGTH_OFFSET, superblock.chunkLengthBytes());
        segment.set(INT_LE, CHUNK_COUNT_OFFSET, superblock.chunkCount());
        segment.set(LONG_LE, CHUNK_HEADERS_OFFSET_OFFSET, superblock.chunkHeadersOffset());

        // Release: the checksum says that all before it is there.
        LONG_LE.varHandle().setRelease(segment, (long)CHECKSUM_OFFSET, checksum(segment));
    }

    /**
     * Writes copy and superblock; at any moment one of them is whole.
     *
     * @param region     from its first byte.
     * @param superblock what to write.
     */
    public static void writeBoth(final MemorySegment region, final Superblock superblock)
    {
        write(region.asSlice(COPY_OFFSET, LENGTH), superblock);
        VarHandle.releaseFence();
        write(region, superblock);
    }

    /**
     * Finds the superblock of a region that somebody else has left, and mends it from its copy when the writer died in
     * between. Nobody else may use the region.
     *
     * @param region from its first byte.
     * @return what it says; null when none was ever finished, so that nobody was ever let in.
     * @throws FormatException when it is damaged, or of an unknown version.
     */
    public static Superblock recover(final MemorySegment region)
    {
        final MemorySegment copy = region.asSlice(COPY_OFFSET, LENGTH);

        if (isZero(region.asSlice(0, LENGTH)) && !isWhole(copy))
        {
            return null;
        }

        if (isWhole(region) || !isWhole(copy))
        {
            return read(region);
        }

        final Superblock superblock = read(copy);
        write(region, superblock);
        return superblock;
    }

    private static boolean isZero(final MemorySegment segment)
    {
        return -1 == segment.mismatch(MemorySegment.ofArray(new byte[LENGTH]));
    }

    private static boolean isWhole(final MemorySegment segment)
    {
        return MAGIC == segment.get(LONG_LE, MAGIC_OFFSET) &&
            isKnown(segment.get(INT_LE, VERSION_OFFSET)) &&
            (long)LONG_LE.varHandle().getAcquire(segment, (long)CHECKSUM_OFFSET) == checksum(segment);
    }

    private static boolean isKnown(final int version)
    {
        return version >= OLDEST_VERSION && version <= FORMAT_VERSION;
    }

    /**
     * Reads a superblock.
     *
     * @param segment the region or a copy of its first {@link #LENGTH} bytes.
     * @return what it says.
     * @throws FormatException when it is none, of an unknown version, or caught halfway or damaged.
     */
    public static Superblock read(final MemorySegment segment)
    {
        if (segment.byteSize() < LENGTH || MAGIC != segment.get(LONG_LE, MAGIC_OFFSET))
        {
            throw new FormatException("this memory does not begin with a superblock: it is no memory node's");
        }

        final int version = segment.get(INT_LE, VERSION_OFFSET);

        if (!isKnown(version))
        {
            throw new FormatException("superblock has format version " + version + ", this build knows version " +
                FORMAT_VERSION + ": use the build that wrote it");
        }

        final long checksum = (long)LONG_LE.varHandle().getAcquire(segment, (long)CHECKSUM_OFFSET);

        if (checksum != checksum(segment))
        {
            throw new FormatException("superblock is damaged or being written: its checksum does not match");
        }

        return new Superblock(
            segment.get(INT_LE, NODE_ID_OFFSET),
            segment.get(INT_LE, INCARNATION_OFFSET),
            segment.get(LONG_LE, REGION_LENGTH_OFFSET),
            segment.get(LONG_LE, CHUNKS_OFFSET_OFFSET),
            segment.get(INT_LE, CHUNK_LENGTH_OFFSET),
            segment.get(INT_LE, CHUNK_COUNT_OFFSET),
            segment.get(LONG_LE, CHUNK_HEADERS_OFFSET_OFFSET));
    }

    /**
     * Says that chunk headers have changed; the memory node's thread only.
     *
     * @param segment the region, from its first byte.
     * @param version larger than any before.
     */
    public static void writeViewVersion(final MemorySegment segment, final long version)
    {
        LONG_LE.varHandle().setRelease(segment, (long)VIEW_VERSION_OFFSET, version);
    }

    /**
     * @param segment the region or a copy of its first {@link #READ_BYTES} bytes.
     * @return version of the chunk headers; read it before them.
     */
    public static long viewVersion(final MemorySegment segment)
    {
        return (long)LONG_LE.varHandle().getAcquire(segment, (long)VIEW_VERSION_OFFSET);
    }

    /**
     * Says since when the region holds what it holds; the memory node's thread only.
     *
     * @param segment     the region, from its first byte.
     * @param incarnation of the registration under which it was restored, or {@link #RESTORED_NOW} before there is one.
     */
    public static void writeRestored(final MemorySegment segment, final long incarnation)
    {
        LONG_LE.varHandle().setRelease(segment, (long)RESTORED_OFFSET, incarnation);
    }

    /**
     * Whoever is registered under a smaller incarnation may know what was there before, and must use nothing.
     *
     * @param segment the region or a copy of its first {@link #READ_BYTES} bytes.
     * @return the incarnation under which it was restored; 0 when it never was.
     */
    public static long restored(final MemorySegment segment)
    {
        return (long)LONG_LE.varHandle().getAcquire(segment, (long)RESTORED_OFFSET);
    }

    /**
     * Says that what was written before is not all there, and what is written from now on is; the memory node's thread
     * only.
     *
     * @param segment     the region, from its first byte.
     * @param incarnation of the registration with which this begins.
     */
    public static void writeComplete(final MemorySegment segment, final long incarnation)
    {
        LONG_LE.varHandle().setRelease(segment, (long)COMPLETE_OFFSET, incarnation);
    }

    /**
     * @param segment the region, from its first byte.
     * @return incarnation since which everything that was written to it is in it; 1 when nothing was ever lost. Builds
     *     that do not write it down say at least when they have restored.
     */
    public static long complete(final MemorySegment segment)
    {
        final long written = (long)LONG_LE.varHandle().getAcquire(segment, (long)COMPLETE_OFFSET);
        return Math.max(1, Math.max(written, restored(segment)));
    }

    private static long checksum(final MemorySegment segment)
    {
        final byte[] covered = segment.asSlice(0, CHECKSUM_OFFSET).toArray(ValueLayout.JAVA_BYTE);
        return LongHashFunction.xx3().hashBytes(covered);
    }
}
