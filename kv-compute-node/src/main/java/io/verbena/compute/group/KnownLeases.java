package io.verbena.compute.group;

import io.verbena.protocol.message.MirroredChunk;

import org.agrona.collections.Int2ObjectHashMap;

import java.util.function.IntToLongFunction;

/**
 * By which leases chunks were had at one moment, as far as this node knew then. Who returns a chunk that goes out of
 * use afterwards names one of them: whoever has the chunk later has it by a later lease, and keeps it. Of a chunk whose
 * lease was not known, or is a later one, the return does nothing: it stays taken until it is swept. Immutable.
 */
public final class KnownLeases
{
    /** Of a group: by the offset of a chunk, or null. */
    @FunctionalInterface
    interface Names
    {
        MirroredChunk lease(long offset);
    }

    /** Nothing was known. */
    public static final KnownLeases NONE = new KnownLeases((node) -> 0L, new Int2ObjectHashMap<>());

    private final IntToLongFunction newest;
    private final Int2ObjectHashMap<Names> byGroup;

    private KnownLeases(final IntToLongFunction newest, final Int2ObjectHashMap<Names> byGroup)
    {
        this.newest = newest;
        this.byGroup = byGroup;
    }

    /** @return of memory nodes: of each a lease than which none known is newer, or 0. */
    public static KnownLeases ofNodes(final IntToLongFunction newest)
    {
        return new KnownLeases(newest, NONE.byGroup);
    }

    /** @return of a group. */
    static KnownLeases ofGroup(final int group, final Names names)
    {
        final Int2ObjectHashMap<Names> byGroup = new Int2ObjectHashMap<>();
        byGroup.put(group, names);
        return new KnownLeases(NONE.newest, byGroup);
    }

    /** @return what was known at this moment or at another one: of both the later lease. */
    public KnownLeases and(final KnownLeases other)
    {
        final Int2ObjectHashMap<Names> both = new Int2ObjectHashMap<>(byGroup);
        other.byGroup.forEach((group, names) ->
        {
            final Names mine = both.get(group);
            both.put(group, null == mine ? names : (offset) -> later(mine.lease(offset), names.lease(offset)));
        });
        return new KnownLeases((node) -> Math.max(newest(node), other.newest(node)), both);
    }

    /** @return of two leases of one chunk that one with the larger count; either may be null. */
    static MirroredChunk later(final MirroredChunk one, final MirroredChunk other)
    {
        return null == one || null != other && other.count() > one.count() ? other : one;
    }

    /** @return a lease of a memory node than which none of those is newer by which chunks were had; 0 for unknown. */
    public long newest(final int memoryNodeId)
    {
        return newest.applyAsLong(memoryNodeId);
    }

    /** @return by which all members of a group had the chunk at an offset; null for unknown. */
    public MirroredChunk lease(final int group, final long offset)
    {
        final Names names = byGroup.get(group);
        return null == names ? null : names.lease(offset);
    }
}
