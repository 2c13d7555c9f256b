package io.verbena.table.moving;

import io.verbena.table.format.BucketDescriptor;

/**
 * Freezes slots, for all who move them: puts the links into the headers of their buckets, then freezes the slots. Whose
 * swap was lost sees the word that was found in its place, and tries again with that, until all are frozen. Section
 * "Split" of {@code docs/protocol/growth.md}. Stateless.
 */
public final class Freezing
{
    /** Buckets, numbered from 0, as they were read into the memory of requests; slots are numbered through them. */
    public interface Buckets
    {
        /** @return how many there are. */
        int count();

        /** @return whether a bucket counts; one that was read twice counts once. */
        default boolean counts(final int bucket)
        {
            return true;
        }

        /** @return whether a slot is to be frozen. */
        default boolean isNeeded(final int slot)
        {
            return true;
        }

        /** @return where a bucket is in the memory. */
        int at(int bucket);

        /** @return where it is in the region of its memory node. */
        long offset(int bucket);

        /** @return the link that leads from it. */
        long link(int bucket);
    }

    private Freezing()
    {
    }

    /** Links first: whoever sees a frozen word finds the way. Items are buckets (negative) and slots. */
    public static void stage(final MoveRequests requests, final Buckets buckets)
    {
        for (int bucket = 0; bucket < buckets.count(); bucket++)
        {
            final long header = requests.word(buckets.at(bucket) + BucketDescriptor.HEADER_OFFSET);
            if (buckets.counts(bucket) && !isLinked(header, buckets.link(bucket)))
            {
                requests.swapLink(-1 - bucket, buckets.offset(bucket) + BucketDescriptor.HEADER_OFFSET, header,
                    buckets.link(bucket));
            }
        }
        final int slots = buckets.count() * BucketDescriptor.SLOTS_PER_BUCKET;
        for (int slot = 0; slot < slots && requests.hasRoom(); slot++)
        {
            final int bucket = slot / BucketDescriptor.SLOTS_PER_BUCKET;
            final long word = requests.word(buckets.at(bucket) + inBucket(slot));
            if (buckets.isNeeded(slot) && !SlotMove.isFrozen(word))
            {
                requests.swap(slot, buckets.offset(bucket) + inBucket(slot), word, SlotMove.frozen(word));
            }
        }
    }

    /** Notes in the memory what stands in the places of the swaps now. */
    public static void onComplete(final MoveRequests requests, final Buckets buckets)
    {
        for (int i = 0; i < requests.posted(); i++)
        {
            final int item = requests.item(i);
            final int bucket = item < 0 ? -1 - item : item / BucketDescriptor.SLOTS_PER_BUCKET;
            final int at = buckets.at(bucket) + (item < 0 ? BucketDescriptor.HEADER_OFFSET : inBucket(item));
            final long expected = requests.word(at);
            final long desired = item < 0 ? buckets.link(bucket) : SlotMove.frozen(expected);
            requests.word(at, requests.result(i) == expected ? desired : requests.result(i));
        }
    }

    /** Whether those who see a frozen word of a bucket find their way from its header. */
    private static boolean isLinked(final long header, final long link)
    {
        return header == link;
    }

    private static int inBucket(final int slot)
    {
        return BucketDescriptor.SLOTS_OFFSET + slot % BucketDescriptor.SLOTS_PER_BUCKET * BucketDescriptor.SLOT_BYTES;
    }
}
