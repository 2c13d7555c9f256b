package io.verbena.client;

import java.time.Instant;
import java.util.Arrays;
import java.util.Optional;

/**
 * A record as a read found it. Equal when versions and bytes are.
 *
 * @param value      its bytes, the caller's own copy.
 * @param version    of the write that made it, positive, unique for its key.
 * @param deadlineMs from when on it is absent, ms since 1970; 0 if it has no deadline.
 */
public record KvEntry(byte[] value, long version, long deadlineMs)
{
    /**
     * A record without a deadline.
     *
     * @param value   its bytes.
     * @param version of the write that made it.
     */
    public KvEntry(final byte[] value, final long version)
    {
        this(value, version, 0);
    }

    /** {@return from when on the record is absent, or empty if it has no deadline} */
    public Optional<Instant> deadline()
    {
        return deadlineMs == 0 ? Optional.empty() : Optional.of(Instant.ofEpochMilli(deadlineMs));
    }

    @Override
    public boolean equals(final Object other)
    {
        return other instanceof final KvEntry that && version == that.version && Arrays.equals(value, that.value);
    }

    @Override
    public int hashCode()
    {
        return 31 * Arrays.hashCode(value) + Long.hashCode(version);
    }

    @Override
    public String toString()
    {
        return "KvEntry{valueBytes=" + value.length + ", version=" + version + '}';
    }
}
