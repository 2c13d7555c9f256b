package io.verbena.client;

import java.util.Arrays;

/**
 * A record as a read found it. Equal when versions and bytes are.
 *
 * @param value   its bytes, the caller's own copy.
 * @param version of the write that made it, positive, unique for its key.
 */
public record KvEntry(byte[] value, long version)
{
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
