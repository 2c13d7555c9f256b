package io.verbena.client;

import java.util.Arrays;

/**
 * What operations have cost, per kind: an immutable snapshot of sums over the operations that a compute node answered.
 * Operations in flight are not in it yet, so a snapshot taken while nothing runs is exact. What is counted:
 * <ul>
 * <li><em>verbs</em>: work requests posted for the operation (READ, WRITE, CMP_SWAP, FETCH_ADD);
 * <li><em>doorbells</em>: times a batch of them was posted;
 * <li><em>round trips</em>: dependent exchanges; batches posted together, before either was looked at, are one.
 * </ul>
 */
public final class OperationStatistics
{
    /** Columns of a row, in this order. */
    enum Column
    {
        COUNT, FAILURES, VERBS, ROUND_TRIPS, DOORBELLS
    }

    static final int COLUMNS = Column.values().length;
    static final int CELLS = OperationKind.values().length * COLUMNS;

    private final long[] cells;

    OperationStatistics(final long[] cells)
    {
        this.cells = cells;
    }

    static int cell(final OperationKind kind, final Column column)
    {
        return kind.ordinal() * COLUMNS + column.ordinal();
    }

    /**
     * @param kind of operation.
     * @return how many were answered, with whatever expected outcome ("not found" and "version mismatch" are answers).
     */
    public long count(final OperationKind kind)
    {
        return cells[cell(kind, Column.COUNT)];
    }

    /**
     * @param kind of operation; failed gets are under {@link OperationKind#GET}.
     * @return how many ended with an exception, those that were refused before they were sent left out.
     */
    public long failures(final OperationKind kind)
    {
        return cells[cell(kind, Column.FAILURES)];
    }

    /**
     * @param kind of operation.
     * @return work requests of all operations counted, failed ones included.
     */
    public long verbs(final OperationKind kind)
    {
        return cells[cell(kind, Column.VERBS)];
    }

    /**
     * @param kind of operation.
     * @return dependent round trips of all operations counted, failed ones included.
     */
    public long roundTrips(final OperationKind kind)
    {
        return cells[cell(kind, Column.ROUND_TRIPS)];
    }

    /**
     * @param kind of operation.
     * @return doorbells of all operations counted, failed ones included.
     */
    public long doorbells(final OperationKind kind)
    {
        return cells[cell(kind, Column.DOORBELLS)];
    }

    /** @return operations of all kinds that were answered. */
    public long count()
    {
        return sum(Column.COUNT);
    }

    /** @return operations of all kinds that ended with an exception. */
    public long failures()
    {
        return sum(Column.FAILURES);
    }

    /** @return work requests of all kinds; to be compared with what the fabric counted. */
    public long verbs()
    {
        return sum(Column.VERBS);
    }

    /** @return doorbells of all kinds; to be compared with what the fabric counted. */
    public long doorbells()
    {
        return sum(Column.DOORBELLS);
    }

    /**
     * @param kind of operation.
     * @return mean round trips of one, or 0 when there was none.
     */
    public double meanRoundTrips(final OperationKind kind)
    {
        final long operations = count(kind) + failures(kind);
        return 0 == operations ? 0.0 : (double)roundTrips(kind) / operations;
    }

    /**
     * @param earlier a snapshot of the same client.
     * @return what happened between the two.
     */
    public OperationStatistics since(final OperationStatistics earlier)
    {
        final long[] difference = cells.clone();
        for (int i = 0; i < CELLS; i++)
        {
            difference[i] -= earlier.cells[i];
        }
        return new OperationStatistics(difference);
    }

    private long sum(final Column column)
    {
        long sum = 0;
        for (final OperationKind kind : OperationKind.values())
        {
            sum += cells[cell(kind, column)];
        }
        return sum;
    }

    @Override
    public boolean equals(final Object other)
    {
        return other instanceof final OperationStatistics that && Arrays.equals(cells, that.cells);
    }

    @Override
    public int hashCode()
    {
        return Arrays.hashCode(cells);
    }

    @Override
    public String toString()
    {
        final StringBuilder text = new StringBuilder("OperationStatistics{");
        for (final OperationKind kind : OperationKind.values())
        {
            text.append(kind).append("{count=").append(count(kind)).append(", failures=").append(failures(kind))
                .append(", verbs=").append(verbs(kind)).append(", roundTrips=").append(roundTrips(kind))
                .append(", doorbells=").append(doorbells(kind)).append("} ");
        }
        text.setCharAt(text.length() - 1, '}');
        return text.toString();
    }
}
