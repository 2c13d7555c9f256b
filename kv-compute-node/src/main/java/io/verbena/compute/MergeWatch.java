package io.verbena.compute;

import io.verbena.table.FillLook;
import io.verbena.table.OpenTable;
import io.verbena.table.Subtable;
import io.verbena.table.TableEngine;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Finds siblings with few records: looks at some groups of one pair after the other, of all open tables, whoever has
 * deleted what was there. A look costs two READs; a round over all pairs takes {@link #LOOKS_PER_ROUND} pauses, or, of
 * many pairs, what {@link #LOOKS_PER_PAUSE} allows. As long as looks find something, the next one comes at once. Where
 * the round stands is kept: a look costs no more where there are many subtables. Owned by the node's thread.
 *
 * <p>Two are merged when both together take {@link #MERGE_FILL} of the slots of one, and one is split when 0.85 of its
 * slots are taken: so three fifths of a subtable have to come or go before what was done is undone.
 */
final class MergeWatch
{
    /** Part of the slots of one subtable that the records of both may take. Above it few pairs fit in each group. */
    static final double MERGE_FILL = 0.25;
    private static final int LOOKS_PER_ROUND = 64;
    /** Most looks in a pause, however many pairs there are: a node at rest is to be at rest. */
    private static final int LOOKS_PER_PAUSE = 50;
    /** Entries of directories that are passed in one turn. */
    private static final int ENTRIES_PER_TURN = 256;
    /** Pauses for which a pair that did not fit is left alone. */
    private static final int PAUSES_WHEN_FULL = 64;
    private static final long LOOK_TIMEOUT_NS = 1_000_000_000;
    private static final int SPREAD = 0x9E3779B9;

    /** Siblings: the one with split bit 0. */
    record Pair(OpenTable table, Subtable first)
    {
    }

    private final long pauseNs;
    private final Map<Pair, Long> fullUntilNs = new HashMap<>();
    private TableRegistry tables;
    /** Tables of the round, the one where it stands, and the entry of its directory that comes next. */
    private List<OpenTable> round = List.of();
    private int at;
    private int entry;
    private int looksInRound;
    private long gapNs;
    private int start;
    private int lookCount;
    private long nextAtNs;
    private Pair looked;
    private FillLook look;

    /** @param pauseNs between two looks, when there are few pairs and the one before has found nothing. */
    MergeWatch(final long pauseNs)
    {
        this.pauseNs = pauseNs;
    }

    /** @param number any, another one for each node: so that not all look at the same pairs. */
    void open(final TableRegistry registry, final int number, final long nowNs)
    {
        tables = registry;
        start = number * SPREAD >>> 1;
        lookCount = start;
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

    /** A pair that had too many records in some group. */
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
        nextAtNs = nowNs;
        final Pair pair = next(nowNs);
        if (null == pair)
        {
            return false;
        }
        looked = pair;
        looksInRound++;
        lookCount++;
        nextAtNs = nowNs + gapNs;
        final int group = (lookCount * SPREAD & Integer.MAX_VALUE) % pair.table.descriptor().groupCount();
        look = engine.splits().beginLook(pair.table, pair.first, group, nowNs + LOOK_TIMEOUT_NS);
        return true;
    }

    /** The next pair of the round, or null if there is none in what one turn may pass. */
    private Pair next(final long nowNs)
    {
        for (int passed = 0; passed < ENTRIES_PER_TURN; passed++)
        {
            if (at == round.size())
            {
                final boolean isIdle = 0 == looksInRound;
                beginRound(nowNs);
                if (isIdle || round.isEmpty())
                {
                    nextAtNs = nowNs + gapNs;
                    return null;
                }
            }
            final Pair pair = pairHere(nowNs);
            if (null != pair)
            {
                return pair;
            }
        }
        return null;
    }

    /** Passes one entry, or to the next table. */
    private Pair pairHere(final long nowNs)
    {
        final OpenTable table = round.get(at);
        if (entry >= 1 << table.deepest() || tables.find(table.descriptor().tableId()) != table)
        {
            at++;
            entry = 0;
            return null;
        }
        final int here = entry++;
        if (!table.isFirstToMerge(here))
        {
            return null;
        }
        final Pair pair = new Pair(table, table.subtable(here));
        final Long fullUntil = fullUntilNs.isEmpty() ? null : fullUntilNs.get(pair);
        return null != fullUntil && fullUntil - nowNs > 0 ? null : pair;
    }

    private void beginRound(final long nowNs)
    {
        fullUntilNs.values().removeIf((until) -> until - nowNs <= 0);
        round = new ArrayList<>();
        long pairs = 0;
        for (final OpenTable table : tables.openTables())
        {
            final int inTable = table.pairsToMerge();
            if (inTable > 0)
            {
                round.add(table);
                pairs += inTable;
            }
        }
        gapNs = Math.max(pauseNs / LOOKS_PER_PAUSE, Math.min(pauseNs, pauseNs * LOOKS_PER_ROUND / Math.max(1, pairs)));
        looksInRound = 0;
        at = 0;
        entry = 0;
        if (!round.isEmpty())
        {
            // The first round begins somewhere.
            at = start % round.size();
            entry = start % (1 << round.get(at).deepest());
            start = 0;
        }
    }

    /** @return what was looked at last, or null. */
    Pair looked()
    {
        return looked;
    }

    boolean isDone()
    {
        return look.isFinished();
    }

    /** @return siblings that are to be merged, or null. */
    Pair found()
    {
        final boolean isFew = look.isKnown() && look.records() <= MERGE_FILL * look.slots();
        return isFew ? looked : null;
    }

    /** @return siblings of which one was merged by somebody who has not published that, perhaps; or null. */
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
