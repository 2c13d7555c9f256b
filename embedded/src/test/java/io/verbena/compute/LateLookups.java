package io.verbena.compute;

import static io.verbena.test.Mutation.callingFirst;
import static io.verbena.test.Mutation.field;

import io.verbena.compute.catalog.CatalogWatch;
import io.verbena.compute.memory.MemoryLink;
import io.verbena.table.allocation.ChunkWatch;
import io.verbena.test.Mutation;
import java.util.Map;
import java.util.WeakHashMap;

/** Faults of compute nodes: what they look up, they look up late. And what else their methods do when mutated. */
public final class LateLookups
{
    /** Chunk headers are read 20 ms late. */
    public static final Mutation SLOW_LOOKS =
        callingFirst(MemoryLink.class, "poll", LateLookups.class, "noteTurn")
            .and(callingFirst(ChunkWatch.class, "poll", LateLookups.class, "isSlow"));
    /** Chunk headers are read 400 ms late: later than a reaper needs to take a chunk over and use it. */
    public static final Mutation LATE_LOOKS =
        callingFirst(MemoryLink.class, "poll", LateLookups.class, "noteTurn")
            .and(callingFirst(ChunkWatch.class, "poll", LateLookups.class, "isLate"));
    /** What became of tables is asked for 100 ms late, and the answer taken 100 ms later. */
    public static final Mutation SLOW_CATALOG =
        callingFirst(CatalogWatch.class, "poll", LateLookups.class, "isCatalogLate");

    private static final long SLOW_NS = 20_000_000;
    private static final long LATE_NS = 400_000_000;
    private static final long CATALOG_NS = 100_000_000;
    private static final Map<ChunkWatch, Long> NEXT_NS = new WeakHashMap<>();
    private static final Map<CatalogWatch, Long> DUE_NS = new WeakHashMap<>();
    private static long nowNs;
    private static boolean isReady;

    private LateLookups()
    {
    }

    /** Public, as what follows is: the classes that are mutated are of other packages. */
    public static boolean noteTurn(final MemoryLink link, final long atNs)
    {
        nowNs = atNs;
        isReady = field(link, "state", Enum.class).name().equals("READY");
        return false;
    }

    public static boolean isSlow(final ChunkWatch watch)
    {
        return isLate(watch, SLOW_NS);
    }

    public static boolean isLate(final ChunkWatch watch)
    {
        return isLate(watch, LATE_NS);
    }

    private static boolean isLate(final ChunkWatch watch, final long pauseNs)
    {
        if (!isReady || !watch.isIdle())
        {
            return false;
        }
        final boolean isLate = nowNs - NEXT_NS.getOrDefault(watch, 0L) < 0;
        if (!isLate)
        {
            NEXT_NS.put(watch, nowNs + pauseNs);
        }
        return isLate;
    }

    public static boolean isCatalogLate(final CatalogWatch watch, final long atNs)
    {
        if (!watch.isBusy())
        {
            return false;
        }
        final boolean isLate = atNs - DUE_NS.computeIfAbsent(watch, key -> atNs) < CATALOG_NS;
        if (!isLate)
        {
            DUE_NS.remove(watch);
        }
        return isLate;
    }
}
