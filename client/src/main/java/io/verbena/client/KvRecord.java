package io.verbena.client;

import java.util.Arrays;

/**
 * A record that a {@link KvScan} returned.
 *
 * @param key        of the record; a fresh array, the caller's.
 * @param value      that it had; a fresh array, the caller's.
 * @param version    of that value.
 * @param deadlineMs from when on the record is absent, ms since 1970; 0 if it has no deadline.
 */
public record KvRecord(byte[] key, byte[] value, long version, long deadlineMs)
{
    /**
     * A record without a deadline.
     *
     * @param key     of the record.
     * @param value   that it has.
     * @param version of that value.
     */
    public KvRecord(final byte[] key, final byte[] value, final long version)
    {
        this(key, value, version, 0);
    }

    @Override
    public boolean equals(final Object other)
    {
        return other instanceof final KvRecord that && version == that.version && Arrays.equals(key, that.key) &&
            Arrays.equals(value, that.value);
    }

    @Override
    public int hashCode()
    {
        return 31 * Arrays.hashCode(key) + Long.hashCode(version);
    }

    @Override
    public String toString()
    {
        return "KvRecord{keyBytes=" + key.length + ", valueBytes=" + value.length + ", version=" + version + '}';
    }
}
