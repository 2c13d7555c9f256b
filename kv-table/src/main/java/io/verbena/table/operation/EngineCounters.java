package io.verbena.table.operation;

import io.verbena.table.format.SizeClasses;

/** Running totals of an engine, by operation kind where that makes sense. Written and read by the owner thread. */
public final class EngineCounters
{
    /** Finished operations by {@link OperationKind}. */
    public final long[] operations = new long[OperationKind.COUNT];
    /** Requests posted, by kind. */
    public final long[] verbs = new long[OperationKind.COUNT];
    /** Doorbells rung, by kind. */
    public final long[] doorbells = new long[OperationKind.COUNT];
    /** Dependent round trips, by kind. */
    public final long[] roundTrips = new long[OperationKind.COUNT];
    /** Finished operations by {@link OperationResult}. */
    public final long[] results = new long[OperationResult.COUNT];
    /** Records taken away that were found when their deadline had passed. */
    public long expiredRemoved;
    /** Records taken away by sweeps, because their deadline had passed. */
    public long expiredSwept;
    /** Records whose block a sweep has read. */
    public long sweepReads;
    /** Ranges of groups that were swept to their ends. */
    public long sweepRanges;
    /** Ranges of which the sweep ended before, mostly because a memory node could not be reached. */
    public long sweepRangesLeft;
    /** Words and blocks that a sweep passed by, because they were not what they should be. */
    public long sweepDamaged;
    /** Looks taken again because another operation was in the way. */
    public long retries;
    /** Writers that took effect, or ended, with the compare-and-swap of another one of their key. */
    public long combined;
    /** Writers that were answered with what another one of their key had left or found, and posted nothing. */
    public long answered;
    /** Compare-and-swaps posted that decide a write: of updates, deletes, and commits of inserts. */
    public long decisiveSwaps;
    /** Updates and deletes whose compare-and-swap lost. */
    public long lostSwaps;
    /** Inserts that withdrew in favour of another one. */
    public long withdrawals;
    /** Marks of own deletes that were to be cleared with a later one. */
    public long tombstonesCleared;
    /** Tentative words of others that were removed. */
    public long kills;
    /** Looks that met a split and went on where it leads. */
    public long splitsFollowed;
    /** Pairs of buckets whose slots an operation moved because it needed them. */
    public long pairsHelped;
    /** Blocks read that turned out to be another key's. */
    public long falseMatches;
    /** Blocks read whose checksum did not fit. */
    public long checksumMismatches;
    /** Operations that found their location cached. */
    public long cacheHits;
    /** Operations that passed a cached location by, because their key is write-hot. */
    public long cacheBypasses;
    /** Operations that looked first where their key was some epochs ago. */
    public long cacheHints;
    /** Cached locations that turned out stale. */
    public long cacheStale;
    /** Steps that were not posted, and their operations ended: a word names memory that its node has not. */
    public long refusedSteps;
    /** Blocks whose fate is unknown after a failed connection: never used again by this engine. */
    public long unknownBlocks;
    /** Bytes of {@link #unknownBlocks}. */
    public long unknownBytes;

    /**
     * Adds the totals of another engine to these.
     *
     * @param other not changed.
     * @return this.
     */
    public EngineCounters add(final EngineCounters other)
    {
        add(operations, other.operations);
        add(verbs, other.verbs);
        add(doorbells, other.doorbells);
        add(roundTrips, other.roundTrips);
        add(results, other.results);
        expiredRemoved += other.expiredRemoved;
        expiredSwept += other.expiredSwept;
        sweepReads += other.sweepReads;
        sweepRanges += other.sweepRanges;
        sweepRangesLeft += other.sweepRangesLeft;
        sweepDamaged += other.sweepDamaged;
        retries += other.retries;
        combined += other.combined;
        answered += other.answered;
        decisiveSwaps += other.decisiveSwaps;
        lostSwaps += other.lostSwaps;
        withdrawals += other.withdrawals;
        tombstonesCleared += other.tombstonesCleared;
        kills += other.kills;
        splitsFollowed += other.splitsFollowed;
        pairsHelped += other.pairsHelped;
        falseMatches += other.falseMatches;
        checksumMismatches += other.checksumMismatches;
        cacheHits += other.cacheHits;
        cacheBypasses += other.cacheBypasses;
        cacheHints += other.cacheHints;
        cacheStale += other.cacheStale;
        refusedSteps += other.refusedSteps;
        unknownBlocks += other.unknownBlocks;
        unknownBytes += other.unknownBytes;
        return this;
    }

    private static void add(final long[] totals, final long[] others)
    {
        for (int i = 0; i < totals.length; i++)
        {
            totals[i] += others[i];
        }
    }

    void noteUnknown(final int sizeClass)
    {
        unknownBlocks++;
        unknownBytes += SizeClasses.lengthBytes(sizeClass);
    }
}
