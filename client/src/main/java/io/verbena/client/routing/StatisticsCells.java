package io.verbena.client.routing;

import io.verbena.client.OperationKind;
import io.verbena.client.OperationStatistics;
import io.verbena.client.OperationStatistics.Column;
import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.OperationRequest;

import java.util.concurrent.atomic.AtomicLongArray;

/** Where threads count: a few stripes of cells, so that threads seldom meet on one. Thread-safe, allocation-free. */
final class StatisticsCells
{
    private static final int STRIPES = 8;
    private static final int PAD_CELLS = 16; // two cache lines between stripes

    private final AtomicLongArray[] stripes = new AtomicLongArray[STRIPES];

    StatisticsCells()
    {
        for (int i = 0; i < STRIPES; i++)
        {
            stripes[i] = new AtomicLongArray(OperationStatistics.CELLS + PAD_CELLS);
        }
    }

    /**
     * Counts one attempt that a node answered.
     *
     * @param request answered.
     * @param isLast  true if its answer ends the operation; otherwise only its cost counts.
     * @param failed  true if the operation ends with an exception.
     */
    void count(final OperationRequest request, final boolean isLast, final boolean failed)
    {
        final AtomicLongArray cells = stripes[(int)Thread.currentThread().threadId() & (STRIPES - 1)];
        final int row = OperationStatistics.cell(kind(request), Column.COUNT);
        if (isLast)
        {
            cells.getAndIncrement(row + (failed ? Column.FAILURES : Column.COUNT).ordinal());
        }
        if (request.verbCount() > 0)
        {
            cells.getAndAdd(row + Column.VERBS.ordinal(), request.verbCount());
            cells.getAndAdd(row + Column.ROUND_TRIPS.ordinal(), request.roundTripCount());
            cells.getAndAdd(row + Column.DOORBELLS.ordinal(), request.doorbellCount());
        }
    }

    OperationStatistics snapshot()
    {
        final long[] sums = new long[OperationStatistics.CELLS];
        for (final AtomicLongArray cells : stripes)
        {
            for (int i = 0; i < sums.length; i++)
            {
                sums[i] += cells.get(i);
            }
        }
        return new OperationStatistics(sums);
    }

    private static OperationKind kind(final OperationRequest request)
    {
        return switch (request.kind())
        {
            case GET -> OperationAnswer.NOT_FOUND == request.answer() ? OperationKind.GET_ABSENT : OperationKind.GET;
            case EXISTS -> OperationKind.EXISTS;
            case PUT -> OperationKind.PUT;
            case PUT_IF_ABSENT -> OperationKind.PUT_IF_ABSENT;
            case REPLACE, PUT_IF_PRESENT -> OperationKind.REPLACE;
            case APPEND -> OperationKind.APPEND;
            case INCREMENT -> OperationKind.INCREMENT;
            case DELETE, DELETE_BY_VERSION -> OperationKind.DELETE;
            case EXPIRE -> OperationKind.EXPIRE;
            case SCAN, COUNT -> OperationKind.SCAN;
        };
    }
}
