package io.verbena.table.format;

import java.util.Arrays;

/**
 * The subtables of a table as bits, as many as there are subtables, not as the deepest one would have in an array: the
 * tree of their suffixes, lower split bits nearer to the root, 0 before 1. A bit 1 stands for two subtrees, which
 * follow; a bit 0 for a subtable: then the index of its memory node and its offset follow, in as few bits as the
 * largest of them needs. Offsets are counted from the least one, in units of the largest power of two that divides all
 * distances. Bit 0 of a byte comes first.
 *
 * <p>One pass over one directory; not thread-safe.
 */
final class DirectoryBits
{
    private static final int NODE_ID_BYTES = Short.BYTES;

    private final int[] memoryNodeIds;
    private final long baseOffset;
    private final int offsetShift;
    private final int offsetBits;
    private final int subtables;
    private final long[] entries;
    private byte[] bytes;
    private int firstBit;
    private int bit;
    private int found;

    private DirectoryBits(
        final long[] entries, final int[] memoryNodeIds, final int subtables, final long baseOffset,
        final int offsetShift, final int offsetBits)
    {
        this.entries = entries;
        this.memoryNodeIds = memoryNodeIds;
        this.subtables = subtables;
        this.baseOffset = baseOffset;
        this.offsetShift = offsetShift;
        this.offsetBits = offsetBits;
    }

    /** @return what the entries of a directory need, each of which says its depth. */
    static DirectoryBits of(final long[] entries)
    {
        final int[] nodes = Arrays.stream(entries).mapToInt(DirectoryEntry::memoryNodeId).sorted().distinct().toArray();
        final long base = Arrays.stream(entries).map(DirectoryEntry::subtableOffset).min().orElseThrow();
        long distances = 0;
        int subtables = 0;
        for (int i = 0; i < entries.length; i++)
        {
            distances |= DirectoryEntry.subtableOffset(entries[i]) - base;
            subtables += i >>> DirectoryEntry.depth(entries[i]) == 0 ? 1 : 0;
        }
        final int shift = distances == 0 ? 0 : Long.numberOfTrailingZeros(distances);
        return new DirectoryBits(
            entries, nodes, subtables, base, shift, Long.SIZE - Long.numberOfLeadingZeros(distances >>> shift));
    }

    /** @return the bits for entries that are to be read; their memory nodes as well. */
    static DirectoryBits toRead(
        final int depth, final int[] memoryNodeIds, final int subtables, final long baseOffset, final int offsetShift,
        final int offsetBits)
    {
        return new DirectoryBits(
            new long[1 << depth], memoryNodeIds, subtables, baseOffset, offsetShift, offsetBits);
    }

    /** @return bytes that memory nodes and tree take, with so many bits for an offset. */
    static int lengthBytes(final int subtables, final int memoryNodes, final int offsetBits)
    {
        final long bits = (long)subtables * (2 + nodeBits(memoryNodes) + offsetBits) - 1;
        return Math.toIntExact(memoryNodes * NODE_ID_BYTES + (bits + Byte.SIZE - 1) / Byte.SIZE);
    }

    private static int nodeBits(final int memoryNodes)
    {
        return Integer.SIZE - Integer.numberOfLeadingZeros(memoryNodes - 1);
    }

    int[] memoryNodeIds()
    {
        return memoryNodeIds;
    }

    long baseOffset()
    {
        return baseOffset;
    }

    int offsetShift()
    {
        return offsetShift;
    }

    int offsetBits()
    {
        return offsetBits;
    }

    int subtables()
    {
        return subtables;
    }

    int treeBytes()
    {
        return lengthBytes(subtables, memoryNodeIds.length, offsetBits) - memoryNodeIds.length * NODE_ID_BYTES;
    }

    void write(final byte[] to, final int at)
    {
        open(to, at);
        write(0, 0);
    }

    private void write(final int suffix, final int depth)
    {
        final long entry = entries[suffix];
        if (DirectoryEntry.depth(entry) > depth)
        {
            put(1, 1);
            write(suffix, depth + 1);
            write(suffix | 1 << depth, depth + 1);
        }
        else
        {
            put(0, 1);
            put(Arrays.binarySearch(memoryNodeIds, DirectoryEntry.memoryNodeId(entry)),
                nodeBits(memoryNodeIds.length));
            put(DirectoryEntry.subtableOffset(entry) - baseOffset >>> offsetShift, offsetBits);
        }
    }

    /**
     * Reads the tree.
     *
     * @return the entries.
     * @throws FormatException when it does not name as many subtables as it should.
     */
    long[] read(final byte[] from, final int at)
    {
        open(from, at);
        read(0, 0);
        if (found != subtables)
        {
            throw new FormatException("table descriptor names " + found + " subtables and not " + subtables);
        }
        return entries;
    }

    private void read(final int suffix, final int depth)
    {
        if (1 << depth > entries.length || found == subtables)
        {
            throw new FormatException("table descriptor names more subtables than its depth or their number allows");
        }
        if (take(1) != 0)
        {
            read(suffix, depth + 1);
            read(suffix | 1 << depth, depth + 1);
            return;
        }
        found++;
        final int node = (int)take(nodeBits(memoryNodeIds.length));
        if (node >= memoryNodeIds.length)
        {
            throw new FormatException("table descriptor names a memory node that is not in it: " + node);
        }
        final long entry =
            DirectoryEntry.stable(depth, memoryNodeIds[node], baseOffset + (take(offsetBits) << offsetShift));
        for (int i = suffix; i < entries.length; i += 1 << depth)
        {
            entries[i] = entry;
        }
    }

    private void open(final byte[] in, final int at)
    {
        bytes = in;
        firstBit = at * Byte.SIZE;
        bit = 0;
        found = 0;
    }

    private void put(final long value, final int count)
    {
        for (int i = 0; i < count; i++, bit++)
        {
            bytes[firstBit + bit >>> 3] |= (byte)((value >>> i & 1) << (firstBit + bit & 7));
        }
    }

    private long take(final int count)
    {
        long value = 0;
        for (int i = 0; i < count; i++, bit++)
        {
            value |= (long)(bytes[firstBit + bit >>> 3] >>> (firstBit + bit & 7) & 1) << i;
        }
        return value;
    }
}
