package io.verbena.rdma.sim;

import io.verbena.rdma.spi.RegisteredRegion;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.IdentityHashMap;
import java.util.Map;

/**
 * Hash of a state: memory of the devices without an actor, history (or own state) of those with one, and requests under
 * way. The memory of an actor's device needs no look: it is what its history made of it.
 */
final class StateHash implements SimObserver
{
    static final long START = 0x243F_6A88_85A3_08D3L;
    private static final int LANES = 4;

    private final Map<SimDevice, long[]> histories = new IdentityHashMap<>();
    private final Map<SimDevice, Long> memories = new IdentityHashMap<>();

    void addHistory(final SimDevice device)
    {
        histories.put(device, new long[]{START});
    }

    void note(final SimDevice device, final long value)
    {
        final long[] history = histories.get(device);
        if (history != null)
        {
            history[0] = mix(history[0], value);
        }
    }

    @Override
    public void onCompleted(final SimRequest request)
    {
        final SimDevice device = request.requester.device();
        note(device, (long)request.requester.number() << 32 | request.status);
        note(device, request.position);
        if (request.isAtomic())
        {
            note(device, request.found);
        }
        else if (request.isReadOrAtomic())
        {
            note(device, hash(START, request.payload));
        }
    }

    @Override
    public void onExecuted(final SimDevice target, final SimRequest request)
    {
        memories.remove(target);
        if (histories.containsKey(target))
        {
            note(target, describe(START, request));
        }
    }

    /** Adds one device to the hash of a state. */
    long add(final long hash, final SimDevice device, final long ownState, final boolean isPassive)
    {
        long result = mix(hash, device.isKilled() ? 1 : 0);
        if (isPassive)
        {
            result = mix(result, memories.computeIfAbsent(device, StateHash::memory));
        }
        else
        {
            result = mix(result, ownState == SimActor.HISTORY ? histories.get(device)[0] : ownState);
        }
        for (final SimQueuePair queuePair : device.queuePairs())
        {
            result = mix(result, queuePair.state().ordinal());
            result = mix(result, queuePair.unlaunched());
            for (final SimRequest request : queuePair.inbound())
            {
                result = describe(result, request);
            }
        }
        return result;
    }

    private static long describe(final long hash, final SimRequest request)
    {
        long result = mix(hash, (long)request.requester.device().index() << 32 | request.requester.number());
        result = mix(result, (long)request.operation << 32 | request.flags);
        result = mix(result, request.remoteAddress);
        result = mix(result, (long)request.remoteKey << 32 | request.lengthBytes);
        result = mix(result, request.operand);
        result = mix(result, request.desired);
        result = mix(result, (long)request.immediate << 32 | request.piecesDone());
        return hash(result, request.payload);
    }

    private static long memory(final SimDevice device)
    {
        long result = START;
        for (final RegisteredRegion region : device.keys().openRegions())
        {
            result = mix(result, region.localKey());
            result = hash(mix(result, region.address()), region.segment());
        }
        return result;
    }

    private static long hash(final long start, final byte[] bytes)
    {
        return bytes.length == 0 ? start : hash(start, MemorySegment.ofArray(bytes));
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

    private static long step(final long hash, final long value)
    {
        return Long.rotateLeft((hash ^ value) * 0x9FB2_1C65_1E98_DF25L, 29);
    }

    private static long mix(final long hash, final long value)
    {
        return SeededDecisions.mix(Long.rotateLeft(hash, 23) * 0x9E37_79B9_7F4A_7C15L ^ value);
    }
}
