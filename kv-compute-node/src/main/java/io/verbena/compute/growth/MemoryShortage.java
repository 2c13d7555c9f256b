package io.verbena.compute.growth;

import io.verbena.table.TableEngine;
import io.verbena.table.allocation.EpochTracker;

import org.agrona.collections.Int2ObjectHashMap;

import java.util.function.IntPredicate;

/**
 * Memory nodes that had no chunks when something was to be split or merged. As long as chunks may be on their way back
 * it is tried again and again; that is so while this node returns or reclaims some, and until all that any node had to
 * return when the first request was refused has gone back: when everybody has passed the epochs that it waited for.
 * Only then splits are denied, for a while. Owned by the node's thread.
 */
final class MemoryShortage
{
    /** How long splits are denied at a memory node that had no memory, unless some comes back: 500 ms. */
    static final long DENIAL_NS = 500_000_000;
    private static final long RETRY_PAUSE_NS = 5_000_000;

    /** Since the first of some requests that were refused one after the other. */
    private static final class Shortage
    {
        private final long epoch;
        private long triesAtNs;
        private boolean isDenying;
        private long endsAtNs;

        Shortage(final long epoch)
        {
            this.epoch = epoch;
        }
    }

    private final Int2ObjectHashMap<Shortage> shortages = new Int2ObjectHashMap<>();
    private final IntPredicate isOnItsWay;
    private TableEngine engine;

    /** @param isOnItsWay whether memory of a memory node is being returned or reclaimed, as far as this node knows. */
    MemoryShortage(final IntPredicate isOnItsWay)
    {
        this.isOnItsWay = isOnItsWay;
    }

    void open(final TableEngine epochs)
    {
        engine = epochs;
    }

    /** A memory node had not as many chunks as were asked for. */
    void onRefused(final int memoryNodeId, final long nowNs)
    {
        Shortage shortage = shortages.get(memoryNodeId);
        if (null == shortage || shortage.endsAtNs - nowNs <= 0)
        {
            shortage = new Shortage(engine.epoch());
            shortages.put(memoryNodeId, shortage);
        }
        shortage.triesAtNs = nowNs + RETRY_PAUSE_NS;
        if (!shortage.isDenying)
        {
            shortage.isDenying = !mayStillReturn(shortage) && !isOnItsWay.test(memoryNodeId);
            shortage.endsAtNs = nowNs + DENIAL_NS;
        }
    }

    private boolean mayStillReturn(final Shortage shortage)
    {
        return !engine.isReusable(shortage.epoch + EpochTracker.REPEAT_EPOCHS);
    }

    /** There were chunks. */
    void onLeased(final int memoryNodeId)
    {
        shortages.remove(memoryNodeId);
    }

    /** @return whether nothing is to be split there now. */
    boolean isDenied(final int memoryNodeId, final long nowNs)
    {
        final Shortage shortage = shortages.get(memoryNodeId);
        return null != shortage && shortage.isDenying && shortage.endsAtNs - nowNs > 0 &&
            !isOnItsWay.test(memoryNodeId);
    }

    /** @return whether chunks may be asked for there; if not, soon. */
    boolean isDue(final int memoryNodeId, final long nowNs)
    {
        final Shortage shortage = shortages.get(memoryNodeId);
        return null == shortage || shortage.triesAtNs - nowNs <= 0;
    }

    /** @return whether it waits for epochs in which others return what they have. */
    boolean wantsEpochs()
    {
        return !shortages.isEmpty() &&
            shortages.values().stream().anyMatch((shortage) -> !shortage.isDenying && mayStillReturn(shortage));
    }
}
