package io.verbena.table;

import io.verbena.table.operation.EngineCounters;
import java.util.List;

/** The counters of several engines added up. */
final class CounterSum
{
    private CounterSum()
    {
    }

    static EngineCounters of(final List<EngineCounters> engines)
    {
        final EngineCounters sum = new EngineCounters();
        for (final EngineCounters counters : engines)
        {
            sum.retries += counters.retries;
            sum.withdrawals += counters.withdrawals;
            sum.kills += counters.kills;
            sum.falseMatches += counters.falseMatches;
            sum.combined += counters.combined;
            sum.answered += counters.answered;
            sum.lostSwaps += counters.lostSwaps;
            sum.expiredRemoved += counters.expiredRemoved;
            sum.expiredSwept += counters.expiredSwept;
            sum.sweepReads += counters.sweepReads;
            sum.sweepDamaged += counters.sweepDamaged;
            sum.checksumMismatches += counters.checksumMismatches;
            sum.cacheHits += counters.cacheHits;
            sum.cacheHints += counters.cacheHints;
            sum.cacheStale += counters.cacheStale;
            sum.unknownBlocks += counters.unknownBlocks;
            sum.splitsFollowed += counters.splitsFollowed;
            sum.tombstonesCleared += counters.tombstonesCleared;
            sum.pairsHelped += counters.pairsHelped;
            for (int i = 0; i < sum.results.length; i++)
            {
                sum.results[i] += counters.results[i];
            }
        }
        return sum;
    }
}
