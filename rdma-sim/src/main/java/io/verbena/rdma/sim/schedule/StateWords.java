package io.verbena.rdma.sim.schedule;

import io.verbena.rdma.verbs.DeviceAddress;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Set;
import java.util.function.LongConsumer;
import java.util.function.LongUnaryOperator;

/** The words that decide the future of a state, in a fixed order, as one hash. */
public final class StateWords implements LongConsumer
{
    private static final long START = 0x243F_6A88_85A3_08D3L;
    private static final int LANES = 4;

    private final Set<StatePart> parts;
    private final LongUnaryOperator names;
    private long hash = START;
    private boolean isCounted = true;

    /** @param parts that count; all of them but in tests that show what each is for. */
    public StateWords(final Set<StatePart> parts)
    {
        this(parts, null);
    }

    /**
     * @param parts that count.
     * @param names what each word counts as; null: as itself.
     */
    public StateWords(final Set<StatePart> parts, final LongUnaryOperator names)
    {
        this.parts = parts;
        this.names = names;
    }

    /** The words that follow belong to this part. */
    public StateWords in(final StatePart part)
    {
        isCounted = parts.contains(part);
        return this;
    }

    /** Whether the words that follow count, for what is costly to compute. */
    public boolean isCounted()
    {
        return isCounted;
    }

    @Override
    public void accept(final long word)
    {
        if (isCounted)
        {
            hash = mix(hash, null == names ? word : names.applyAsLong(word));
        }
    }

    public void accept(final boolean flag)
    {
        accept(flag ? 1 : 0);
    }

    public void accept(final byte[] bytes)
    {
        accept(bytes.length == 0 ? MemorySegment.NULL : MemorySegment.ofArray(bytes));
    }

    public void accept(final MemorySegment bytes)
    {
        if (isCounted)
        {
            hash = null == names ? hash(hash, bytes) : hashNamed(hash, bytes);
        }
    }

    public void accept(final DeviceAddress address)
    {
        accept(address == null ? 0 : address.hashCode());
    }

    public long hash()
    {
        return hash;
    }

    /** Four independent chains, because a single one waits for its multiplications. */
    private static long hash(final long start, final MemorySegment segment)
    {
        long a = start;
        long b = ~start;
        long c = start + 1;
        long d = ~start + 1;
        final long end = segment.byteSize();
        long at = 0;
        for (; at + LANES * Long.BYTES <= end; at += LANES * Long.BYTES)
        {
            a = step(a, segment.get(ValueLayout.JAVA_LONG_UNALIGNED, at));
            b = step(b, segment.get(ValueLayout.JAVA_LONG_UNALIGNED, at + Long.BYTES));
            c = step(c, segment.get(ValueLayout.JAVA_LONG_UNALIGNED, at + 2 * Long.BYTES));
            d = step(d, segment.get(ValueLayout.JAVA_LONG_UNALIGNED, at + 3 * Long.BYTES));
        }
        for (; at < end; at++)
        {
            a = step(a, segment.get(ValueLayout.JAVA_BYTE, at));
        }
        return mix(mix(mix(mix(mix(start, a), b), c), d), end);
    }

    private long hashNamed(final long start, final MemorySegment segment)
    {
        long named = start;
        final long end = segment.byteSize();
        long at = 0;
        for (; at + Long.BYTES <= end; at += Long.BYTES)
        {
            named = step(named, names.applyAsLong(segment.get(ValueLayout.JAVA_LONG_UNALIGNED, at)));
        }
        for (; at < end; at++)
        {
            named = step(named, segment.get(ValueLayout.JAVA_BYTE, at));
        }
        return mix(mix(start, named), end);
    }

    private static long step(final long hash, final long value)
    {
        return Long.rotateLeft((hash ^ value) * 0x9FB2_1C65_1E98_DF25L, 29);
    }

    private static long mix(final long hash, final long value)
    {
        return SplitMix.mix(Long.rotateLeft(hash, 23) * 0x9E37_79B9_7F4A_7C15L ^ value);
    }
}
