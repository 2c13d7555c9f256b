package io.verbena.compute.growth;

import io.verbena.compute.catalog.TableRegistry;
import io.verbena.table.TableEngine;

import java.util.ArrayDeque;
import java.util.stream.Stream;

/**
 * What a {@link GrowthScheduler} is to do, and when: the subtables that operations and probes reported, each once, and
 * before the next probe for a merge also those to be finished because everything begun is. Owned by the node's thread.
 */
final class GrowthAgenda
{
    private static final long RETRY_PAUSE_NS = 5_000_000;

    private final MemoryShortage shortage;
    private final ArrayDeque<GrowthWork> met = new ArrayDeque<>();
    /** Looked at whether something of them has begun, and then finished. */
    private final ArrayDeque<GrowthWork> unfinished = new ArrayDeque<>();
    private TableEngine engine;
    private TableRegistry tables;

    /** @param shortage says where splits are denied, and when memory is asked for again. */
    GrowthAgenda(final MemoryShortage shortage)
    {
        this.shortage = shortage;
    }

    void open(final TableEngine epochs, final TableRegistry registry)
    {
        engine = epochs;
        tables = registry;
    }

    void add(final GrowthWork wanted)
    {
        if (wanted.isOfFinishing())
        {
            unfinished.add(wanted);
        }
        else if (met.stream().noneMatch(wanted::isSame))
        {
            met.add(wanted);
        }
    }

    /** @return how much waits here. */
    int size()
    {
        return met.size() + unfinished.size();
    }

    boolean isEmpty()
    {
        return met.isEmpty() && unfinished.isEmpty();
    }

    /** @return whether something is to be ended because all that has begun is. */
    boolean isFinishing()
    {
        return !unfinished.isEmpty();
    }

    /** @return whether something waits until nobody can decide a merge any more. */
    boolean waitsForEpochs()
    {
        return !isEmpty() && Stream.concat(met.stream(), unfinished.stream()).anyMatch(GrowthWork::waitsForEpochs);
    }

    /** @return when something that was met is to begin, or {@link Long#MAX_VALUE}. */
    long nextAtNs()
    {
        long next = Long.MAX_VALUE;
        for (final GrowthWork wanted : met)
        {
            next = Math.min(next, wanted.notBeforeNs());
        }
        return next;
    }

    /** A table that is dropped is forgotten before an epoch is passed in which its memory may go to another one. */
    boolean isKnown(final GrowthWork wanted)
    {
        return tables.find(wanted.table().descriptor().tableId()) == wanted.table();
    }

    /** @return what is to be begun now, taken out; or null. What nobody wants any more is dropped. */
    GrowthWork next(final long nowNs)
    {
        final GrowthWork next = nextMet(nowNs);
        return null == next ? nextUnfinished(nowNs) : next;
    }

    private GrowthWork nextMet(final long nowNs)
    {
        for (int i = met.size(); i > 0; i--)
        {
            final GrowthWork wanted = met.poll();
            if (0 != wanted.chunks() && shortage.isDenied(wanted.subtable().memoryNodeId(), nowNs))
            {
                continue; // who wants it asks again
            }
            if (!isDue(wanted, nowNs))
            {
                met.add(wanted.notBeforeNs() - nowNs > 0 ? wanted : wanted.at(nowNs + RETRY_PAUSE_NS));
            }
            else if (isKnown(wanted) && wanted.isStillWanted())
            {
                return wanted;
            }
        }
        return null;
    }

    private GrowthWork nextUnfinished(final long nowNs)
    {
        for (int i = unfinished.size(); i > 0; i--)
        {
            final GrowthWork wanted = unfinished.poll();
            if (!isDue(wanted, nowNs))
            {
                unfinished.add(wanted);
            }
            else if (isKnown(wanted))
            {
                return wanted;
            }
        }
        return null;
    }

    private boolean isDue(final GrowthWork wanted, final long nowNs)
    {
        return wanted.isDue(engine, nowNs) &&
            (0 == wanted.chunks() || shortage.isDue(wanted.subtable().memoryNodeId(), nowNs));
    }

    @Override
    public String toString()
    {
        return "GrowthAgenda{met=" + met + " unfinished=" + unfinished + '}';
    }
}
