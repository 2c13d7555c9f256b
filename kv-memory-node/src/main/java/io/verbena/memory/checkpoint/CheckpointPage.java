package io.verbena.memory.checkpoint;

import java.nio.ByteBuffer;
import java.util.Arrays;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * What a checkpoint found in a range of an index: the words of its slots that have records, the checksums of their
 * blocks, and whose index it was. Slots go by their place in the range, in bytes. One thread.
 */
final class CheckpointPage
{
    /** Range of an index, bytes. */
    static final int RANGE_BYTES = 4096;
    private static final int RESTORED_AT = 0;
    private static final int LEASE_AT = RESTORED_AT + Long.BYTES;
    private static final int WORDS_AT = LEASE_AT + Long.BYTES;
    private static final int CHECKSUMS_AT = WORDS_AT + RANGE_BYTES;
    private static final int LENGTH_BYTES = CHECKSUMS_AT + RANGE_BYTES;

    private final ByteBuffer buffer;

    private CheckpointPage(final byte[] bytes)
    {
        buffer = ByteBuffer.wrap(bytes).order(LITTLE_ENDIAN);
    }

    /**
     * A page without records.
     *
     * @param restored    see {@link io.verbena.table.format.SuperblockDescriptor#restored}.
     * @param leaseNumber of the chunk: with the other one, no two uses of a chunk have the same.
     */
    static CheckpointPage empty(final long restored, final long leaseNumber)
    {
        final CheckpointPage page = new CheckpointPage(new byte[LENGTH_BYTES]);
        page.buffer.putLong(RESTORED_AT, restored);
        page.buffer.putLong(LEASE_AT, leaseNumber);
        return page;
    }

    static CheckpointPage of(final byte[] bytes)
    {
        if (bytes.length != LENGTH_BYTES)
        {
            throw new DamagedCheckpointException("checkpoint is damaged: a page of " + bytes.length + " bytes", null);
        }
        return new CheckpointPage(bytes);
    }

    /** The array itself. */
    byte[] bytes()
    {
        return buffer.array();
    }

    boolean isOfSameUse(final CheckpointPage other)
    {
        return buffer.getLong(RESTORED_AT) == other.buffer.getLong(RESTORED_AT) &&
            buffer.getLong(LEASE_AT) == other.buffer.getLong(LEASE_AT);
    }

    /** Word of a slot; 0 without a record. */
    long word(final int at)
    {
        return buffer.getLong(WORDS_AT + at);
    }

    /** Checksum of the block of a slot; 0 without a record. */
    long checksum(final int at)
    {
        return buffer.getLong(CHECKSUMS_AT + at);
    }

    void put(final int at, final long word, final long checksum)
    {
        buffer.putLong(WORDS_AT + at, word);
        buffer.putLong(CHECKSUMS_AT + at, checksum);
    }

    int records()
    {
        int records = 0;
        for (int at = 0; at < RANGE_BYTES; at += Long.BYTES)
        {
            records += 0 == word(at) ? 0 : 1;
        }
        return records;
    }

    @Override
    public boolean equals(final Object other)
    {
        return other instanceof final CheckpointPage that && Arrays.equals(bytes(), that.bytes());
    }

    @Override
    public int hashCode()
    {
        return Arrays.hashCode(bytes());
    }
}
