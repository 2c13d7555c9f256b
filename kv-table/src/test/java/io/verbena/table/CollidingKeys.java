package io.verbena.table;

import io.verbena.table.format.KeyHash;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import net.openhft.hashing.LongTupleHashFunction;

/** Keys of eight bytes that share one fingerprint, found by trying. */
final class CollidingKeys
{
    private CollidingKeys()
    {
    }

    static List<byte[]> find(final long hashSeed, final int count)
    {
        final LongTupleHashFunction function = KeyHash.function(hashSeed);
        final KeyHash hash = new KeyHash();
        final List<byte[]> keys = new ArrayList<>();
        try (Arena arena = Arena.ofConfined())
        {
            final MemorySegment key = arena.allocate(Long.BYTES, Long.BYTES);
            int fingerprint = -1;
            for (long i = 0; keys.size() < count; i++)
            {
                key.set(ValueLayout.JAVA_LONG, 0, i);
                hash.compute(function, key);
                if (fingerprint < 0 || KeyHash.fingerprint(hash.high()) == fingerprint)
                {
                    fingerprint = KeyHash.fingerprint(hash.high());
                    keys.add(key.toArray(ValueLayout.JAVA_BYTE));
                }
            }
        }
        return keys;
    }

    /** @return the halves of the keys' hashes that choose subtables. */
    static List<Long> highs(final long hashSeed, final List<byte[]> keys)
    {
        final KeyHash hash = new KeyHash();
        final List<Long> highs = new ArrayList<>();
        try (Arena arena = Arena.ofConfined())
        {
            for (final byte[] key : keys)
            {
                hash.compute(KeyHash.function(hashSeed), arena.allocateFrom(ValueLayout.JAVA_BYTE, key));
                highs.add(hash.high());
            }
        }
        return highs;
    }
}
