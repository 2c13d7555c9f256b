package io.verbena.compute.growth;

import io.verbena.compute.catalog.TableRegistry;
import io.verbena.table.TableEngine;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.Subtable;
import io.verbena.table.growth.FillProbe;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Finds siblings with few records: looks at some groups of one pair after the other, of all open tables, whoever has
 * deleted what was there. A look costs four READs; a round over all pairs takes {@link #LOOKS_PER_ROUND} pauses, or
 * more where there are so many pairs that there would be more than {@link #LOOKS_PER_PAUSE} looks in a pause.
 * As long as looks find something, the next one comes at once. Each look also finds what somebody has begun and may
 * have left; so that this is found in subtables without a sibling to be merged with, too, the header line of one of
 * those is looked at with each pair, and some groups of it, which say how full the table is. Owned by the node's
 * thread.
 *
 * <p>Two are merged when both together take {@link #MERGE_FILL} of the slots of one, and one is split when 0.85 of its
 * slots are taken: so three fifths of a subtable have to come or go before what was done is undone.
 */
final class MergeWatch
{
    /** Part of the slots of one subtable that the records of both may take. Above it few pairs fit in each group. */
    static final double MERGE_FILL = 0.25;
    private static final int LOOKS_PER_ROUND = 64;
    private static final int LOOKS_PER_PAUSE = 50;
    /** Pauses for which a pair that did not fit is left alone. */
    private static final int PAUSES_WHEN_FULL = 64;
    private static final long LOOK_TIMEOUT_NS = 1_000_000_000;
    private static final int SPREAD = 0x9E3779B9;

    /** Siblings: the one with split bit 0; or a subtable that has no sibling to be merged with. */
    record Pair(OpenTable table, Subtable first)
    {
    }

    private final long pauseNs;
    private final Map<Pair, Long> fullUntilNs = new HashMap<>();
    private TableRegistry tables;
    /** Pairs of this round, and which one comes next. */
    private final List<Pair> round = new ArrayList<>();
    private int at;
    /** Those without a sibling when the round began, and whether it is the turn of one of them. */
    private final List<Pair> alone = new ArrayList<>();
    private int aloneCursor;
    private boolean isAloneNext;
    private int cursor;
    private long nextAtNs;
    private Pair looked;
    private FillProbe look;

    /** @param pauseNs between two looks, when there are few pairs and the one before has found nothing. */
    MergeWatch(final long pauseNs)
    {
        this.pauseNs = pauseNs;
    }

    /** @param start any number, another one for each node: so that not all look at the same pairs. */
    void open(final TableRegistry registry, final int start, final long nowNs)
    {
        tables = registry;
        cursor = start * SPREAD >>> 1;
        aloneCursor = cursor;
        nextAtNs = nowNs + pauseNs;
    }

    /** @return when the next look is due, or {@link Long#MAX_VALUE}. */
    long nextAtNs()
    {
        return null == tables ? Long.MAX_VALUE : nextAtNs;
    }

    /** Looks at once: what was just merged has neighbours. */
    void hurry(final long nowNs)
    {
        nextAtNs = nowNs;
    }

    /** A pair that had too many records in some group, or that could not be merged for anything else. */
    void onFull(final OpenTable table, final Subtable one, final long nowNs)
    {
        fullUntilNs.put(pair(table, one), (Long)(nowNs + PAUSES_WHEN_FULL * pauseNs));
    }

    private static Pair pair(final OpenTable table, final Subtable one)
    {
        return new Pair(table, table.subtable(one.suffix() & ~(1 << one.depth() - 1)));
    }

    /** @return whether a look has begun; when it is due. */
    boolean begin(final TableEngine engine, final long nowNs)
    {
        if (nextAtNs() - nowNs > 0)
        {
            return false;
        }
        isAloneNext = !isAloneNext;
        if (isAloneNext && begin(engine, nextAlone(), nowNs))
        {
            return true;
        }
        isAloneNext = false;
        final Pair pair = next(nowNs);
        // As many looks as a round takes, but a node at rest is to be at rest.
        nextAtNs = nowNs + Math.max(pauseNs / LOOKS_PER_PAUSE, Math.min(pauseNs,
            pauseNs * LOOKS_PER_ROUND / Math.max(1, round.size())));
        return begin(engine, pair, nowNs);
    }

    private boolean begin(final TableEngine engine, final Pair pair, final long nowNs)
    {
        if (null == pair)
        {
            return false;
        }
        looked = pair;
        cursor++;
        final int group = (cursor * SPREAD & Integer.MAX_VALUE) % looked.table.descriptor().groupCount();
        look = engine.growth().beginLook(looked.table, looked.first, group, nowNs + LOOK_TIMEOUT_NS);
        return true;
    }

    /** @return the next pair of the round that is still one; null when there is none in all of a round. */
    private Pair next(final long nowNs)
    {
        if (at == round.size())
        {
            beginRound(nowNs);
        }
        while (at < round.size())
        {
            final Pair pair = round.get(at++);
            if (isThere(pair) && pair.table.mayBeMerged(pair.first) && !fullUntilNs.containsKey(pair))
            {
                return pair;
            }
        }
        return null;
    }

    /** @return one without a sibling, each in turn; null when it has one by now, or what was begun there is known. */
    private Pair nextAlone()
    {
        final Pair next = alone.isEmpty() ? null : alone.get((++aloneCursor & Integer.MAX_VALUE) % alone.size());
        return null != next && isThere(next) && !next.table.mayBeMerged(next.first) &&
            !next.table.mayWaitForWords(next.first) ? next : null;
    }

    private boolean isThere(final Pair pair)
    {
        return tables.find(pair.table.descriptor().tableId()) == pair.table &&
            pair.table.subtable(pair.first.suffix()).equals(pair.first);
    }

    /** Once for all looks of a round: listing what there is takes milliseconds where there are thousands. */
    private void beginRound(final long nowNs)
    {
        fullUntilNs.values().removeIf((until) -> until - nowNs <= 0);
        round.clear();
        alone.clear();
        for (final OpenTable table : tables.openTables())
        {
            for (final Subtable subtable : table.subtables())
            {
                final boolean isPair = table.mayBeMerged(subtable);
                if (!isPair || 0 == subtable.suffix() >>> subtable.depth() - 1)
                {
                    (isPair ? round : alone).add(new Pair(table, subtable));
                }
            }
        }
        at = 0;
        Collections.rotate(round, -(cursor & Integer.MAX_VALUE) % Math.max(1, round.size()));
    }

    boolean isDone()
    {
        return look.isFinished();
    }

    /** Notes how full the look has found a table. */
    void note(final FillEstimates fills)
    {
        fills.add(looked.table, look.countedRecords(), look.countedSlots());
    }

    /** @return siblings that are to be merged, or null. */
    Pair found()
    {
        final boolean isFew = look.isKnown() && look.records() <= MERGE_FILL * look.slots();
        return isFew ? looked : null;
    }

    /** @return siblings, or one that has none, of which somebody has proposed or decided a merge, perhaps; or null. */
    Pair left()
    {
        return look.isLeft() ? looked : null;
    }

    @Override
    public String toString()
    {
        return "MergeWatch{looked=" + looked + " look=" + look + '}';
    }
}
