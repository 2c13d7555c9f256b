package io.verbena.table;

import io.verbena.table.format.KeyHash;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import net.openhft.hashing.LongTupleHashFunction;

/** Keys with one fingerprint, found by trial. Stateless. */
final class TiedKeys
{
    private static final int FINGERPRINT = 0x1234;
    private static final int NUMBER_BYTES = 16;

    private TiedKeys()
    {
    }

    /** @return so many of them, which begin with a prefix. */
    static List<String> find(final String prefix, final int count, final long hashSeed)
    {
        final LongTupleHashFunction function = KeyHash.function(hashSeed);
        final KeyHash hash = new KeyHash();
        final List<String> keys = new ArrayList<>();
        try (Arena arena = Arena.ofConfined())
        {
            final MemorySegment segment = arena.allocate(prefix.length() + NUMBER_BYTES);
            segment.copyFrom(MemorySegment.ofArray(prefix.getBytes(StandardCharsets.UTF_8)));
            for (int i = 0; keys.size() < count; i++)
            {
                final byte[] number = ("tied-" + i).getBytes(StandardCharsets.UTF_8);
                MemorySegment.copy(MemorySegment.ofArray(number), 0, segment, prefix.length(), number.length);
                hash.compute(function, segment.address(), prefix.length() + number.length);
                if (KeyHash.fingerprint(hash.high()) == FINGERPRINT)
                {
                    keys.add(prefix + "tied-" + i);
                }
            }
        }
        return keys;
    }
}
