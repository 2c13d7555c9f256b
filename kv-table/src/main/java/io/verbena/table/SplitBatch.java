package io.verbena.table;

import io.verbena.rdma.verbs.DeviceAttributes;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.SubtableDescriptor;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * The requests of a split behind one doorbell, their memory, and what they have cost. Owner thread of the engine only;
 * the memory is that of one split at a time.
 */
final class SplitBatch implements MergeUnit.Requests
{
    /** Cookie of its batches. */
    static final int COOKIE = TableCreator.COOKIE | 8;
    static final int GROUPS_PER_WRITE = 64;
    static final int MAX_SWAPS = 64;
    private static final int SWAPS_AT = 0;
    static final int HEADER_AT = SWAPS_AT + MAX_SWAPS * Long.BYTES;
    static final int GROUP_AT = HEADER_AT + SubtableDescriptor.HEADER_BYTES;
    static final int HASHES_AT = GROUP_AT + BucketDescriptor.GROUP_BYTES;
    /** The same group of both new subtables, read where somebody else has begun. */
    static final int NEW_GROUPS_AT = HASHES_AT + 256;
    static final int FORMAT_AT = NEW_GROUPS_AT + 2 * BucketDescriptor.GROUP_BYTES;
    static final int SCRATCH_BYTES = FORMAT_AT + GROUPS_PER_WRITE * BucketDescriptor.GROUP_BYTES;

    final Scratch scratch;
    private final int[] items = new int[MAX_SWAPS];
    private OneSidedPort port;
    private int posted;
    private long verbs;
    private long doorbells;
    private long payloadBytes;

    SplitBatch(final Scratch scratch)
    {
        this.scratch = scratch;
    }

    static Scratch allocateScratch(final ProtectionDomain protectionDomain, final DeviceAttributes attributes)
    {
        return new Scratch(protectionDomain, attributes, SCRATCH_BYTES);
    }

    void begin(final OneSidedPort onPort)
    {
        port = onPort;
        posted = 0;
        port.begin();
    }

    /** @return whether it is under way. */
    boolean complete()
    {
        final boolean isPosted = port.complete(COOKIE) == PostStatus.OK;
        doorbells += isPosted ? 1 : 0;
        return isPosted;
    }

    @Override
    public void read(final int at, final int lengthBytes, final long offset)
    {
        port.read(scratch.region, at, lengthBytes, offset);
        verbs++;
        payloadBytes += lengthBytes;
    }

    /** A READ that takes the place of a swap, so that {@link #hasRoom()} counts it. */
    void readItem(final int item, final int at, final long offset)
    {
        read(at, Long.BYTES, offset);
        items[posted++] = item;
    }

    void write(final int at, final int lengthBytes, final long offset)
    {
        port.write(scratch.region, at, lengthBytes, offset);
        verbs++;
        payloadBytes += lengthBytes;
    }

    @Override
    public void swap(final int item, final long offset, final long expected, final long desired)
    {
        port.compareSwap(scratch.region, SWAPS_AT + posted * Long.BYTES, offset, expected, desired);
        items[posted++] = item;
        verbs++;
        payloadBytes += Long.BYTES;
    }

    @Override
    public boolean hasRoom()
    {
        return posted < MAX_SWAPS && port.space() > 0;
    }

    @Override
    public int posted()
    {
        return posted;
    }

    @Override
    public int item(final int number)
    {
        return items[number];
    }

    /** @return the word that a swap found. */
    @Override
    public long result(final int number)
    {
        return word(SWAPS_AT + number * Long.BYTES);
    }

    @Override
    public long word(final int at)
    {
        return scratch.buffer.getLong(at, LITTLE_ENDIAN);
    }

    @Override
    public void word(final int at, final long word)
    {
        scratch.word(at, word);
    }

    long verbs()
    {
        return verbs;
    }

    long doorbells()
    {
        return doorbells;
    }

    long payloadBytes()
    {
        return payloadBytes;
    }
}
