package io.verbena.table.operation;

import io.verbena.table.directory.Subtable;
import io.verbena.table.directory.TableDirectory;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.KeyHash;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SubtableDescriptor;

/** Where an operation looks for its key, as far as the directory knows, and what it saw there of splits and merges. */
final class Location
{
    /** Slots of two combined buckets. */
    static final int MAX_SLOTS = 4 * BucketDescriptor.SLOTS_PER_BUCKET;
    private static final int NEVER = -1;

    /** Keeps a load from being optimised away, see {@link LocationCache#touch}. */
    long touched;
    int fingerprint;
    int window;
    /** Changes of the directory when the key was located, which is not done again before there are more. */
    private int locatedAt = NEVER;
    /** Of the subtable in which the operation looks. */
    int subtableSuffix;
    int subtableDepth;
    long groupsOffset;
    /** Groups of the subtable that is split or merged into that one, or 0; and the link from there. */
    long predecessor;
    long splitLink;
    long bucketHeader;
    final long[] pairOffsets = new long[2];
    final int[] mainBuckets = new int[2];
    int pairCount;
    int skippedBucket;
    /** Met a split link, or a frozen word without one, in the buckets looked at last. */
    boolean sawLink;
    int frozenLooks;
    /** The last lookup took the old buckets in as well. */
    boolean peeked;
    /** Pairs, one bit each, in whose groups some slots of a merged subtable are initialised and others are not. */
    int mixedPairs;

    /** Sets what words of the key have in common wherever they are. */
    void locateFingerprint(final KeyHash hash)
    {
        fingerprint = KeyHash.fingerprint(hash.high());
    }

    /** Finds the two combined buckets of the key, as far as the directory knows. */
    void locate(final Request request)
    {
        final TableDirectory directory = request.table.directory;
        if (locatedAt != directory.changes())
        {
            locatedAt = directory.changes();
            locate(request, directory);
        }
    }

    private void locate(final Request request, final TableDirectory directory)
    {
        final KeyHash hash = request.hash;
        final long low = hash.low();
        final int entry = KeyHash.suffix(hash.high(), directory.depth());
        subtableSuffix = directory.suffix(entry);
        subtableDepth = directory.depth(entry);
        groupsOffset = directory.groupsOffset(entry);
        predecessor = directory.predecessor(entry);
        splitLink = directory.splitLink(entry);
        bucketHeader = directory.bucketHeader(entry);
        fingerprint = KeyHash.fingerprint(hash.high());
        window = KeyHash.window(hash.high(), subtableDepth);
        final long groups = groupsOffset;
        final int group1 = KeyHash.group1(low, request.table.groupCount);
        final int group2 = KeyHash.group2(low, request.table.groupCount);
        final int side1 = KeyHash.side1(low);
        final int side2 = KeyHash.side2(low);
        pairOffsets[0] =
            groups + (long)group1 * BucketDescriptor.GROUP_BYTES + BucketDescriptor.combinedOffset(side1);
        pairOffsets[1] =
            groups + (long)group2 * BucketDescriptor.GROUP_BYTES + BucketDescriptor.combinedOffset(side2);
        mainBuckets[0] = BucketDescriptor.mainOffset(side1) / BucketDescriptor.BUCKET_BYTES;
        mainBuckets[1] = BucketDescriptor.mainOffset(side2) / BucketDescriptor.BUCKET_BYTES;
        pairCount = pairOffsets[0] == pairOffsets[1] ? 1 : 2;
        // Both sides of one group: the shared overflow is seen twice, last of side 0 and first of side 1; the copy in
        // the second pair is left out, else an insert meets itself as its rival.
        skippedBucket = group1 == group2 && side1 != side2 ? (side2 == 0 ? 3 : 2) : -1;
    }

    /** @return the subtable in which the operation looks. */
    Subtable subtable(final int memoryNodeId)
    {
        return new Subtable(memoryNodeId, subtableSuffix, subtableDepth, groupsOffset -
            SubtableDescriptor.GROUPS_OFFSET);
    }

    /** @return the group of a pair in its subtable. */
    int groupOf(final int pair)
    {
        return (int)((pairOffsets[pair] - groupsOffset) / BucketDescriptor.GROUP_BYTES);
    }

    /** @return whether slot i of the lookup counts: a bucket that both pairs share counts once. */
    boolean slotCounts(final int slot)
    {
        return slot / BucketDescriptor.SLOTS_PER_BUCKET != skippedBucket;
    }

    int slotsRead()
    {
        return pairCount * 2 * BucketDescriptor.SLOTS_PER_BUCKET;
    }

    long slotOffset(final int slot)
    {
        final int position = BucketDescriptor.slotPosition(slot);
        return pairOffsets[position / BucketDescriptor.COMBINED_BYTES] + position % BucketDescriptor.COMBINED_BYTES;
    }

    long oldSlotOffset(final int slot)
    {
        return slotOffset(slot) - groupsOffset + predecessor;
    }

    long oldBucketOffset(final int bucket)
    {
        return pairOffsets[bucket / 2] + bucket % 2 * BucketDescriptor.BUCKET_BYTES - groupsOffset + predecessor;
    }

    /** @return whether the subtable takes the place of two that are merged, and may wait for words. */
    boolean isMerging()
    {
        return predecessor != 0 && MergeLink.isLink(splitLink);
    }

    /** @return whether some slots of the group of a slot are initialised and others not, as the last peek found. */
    boolean isMixed(final int slot)
    {
        return (mixedPairs >>> slot / (2 * BucketDescriptor.SLOTS_PER_BUCKET) & 1) != 0;
    }

    /** @return side of the split by which the subtable came to be. */
    int splitSide()
    {
        return subtableSuffix >>> subtableDepth - 1;
    }

    void reset()
    {
        locatedAt = NEVER;
        frozenLooks = 0;
        sawLink = false;
        peeked = false;
        mixedPairs = 0;
    }
}
