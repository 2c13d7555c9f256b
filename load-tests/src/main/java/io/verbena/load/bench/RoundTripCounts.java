package io.verbena.load.bench;

import io.verbena.table.operation.OperationKind;

/** How many operations of each kind took how many round trips. One thread. */
final class RoundTripCounts
{
    private static final int MOST = 256;
    private static final double P99 = 0.99;

    private final long[][] counts = new long[OperationKind.COUNT][MOST];

    void add(final int kind, final int roundTrips)
    {
        counts[kind][Math.min(roundTrips, MOST - 1)]++;
    }

    /** Adds what another one has counted. */
    RoundTripCounts add(final RoundTripCounts other)
    {
        for (int kind = 0; kind < OperationKind.COUNT; kind++)
        {
            for (int roundTrips = 0; roundTrips < MOST; roundTrips++)
            {
                counts[kind][roundTrips] += other.counts[kind][roundTrips];
            }
        }
        return this;
    }

    /** @return operations of a kind. */
    long operations(final int kind)
    {
        long operations = 0;
        for (final long count : counts[kind])
        {
            operations += count;
        }
        return operations;
    }

    /** @return round trips that 99 % of the operations of a kind do not exceed; 0 if there are none. */
    int p99(final int kind)
    {
        final long limit = (long)Math.ceil(operations(kind) * P99);
        long seen = 0;
        for (int roundTrips = 0; roundTrips < MOST; roundTrips++)
        {
            seen += counts[kind][roundTrips];
            if (seen >= limit)
            {
                return roundTrips;
            }
        }
        return MOST;
    }
}
