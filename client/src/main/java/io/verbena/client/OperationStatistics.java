package io.verbena.client;

import java.util.Arrays;

/**
 * What operations have cost, per kind: an immutable snapshot of sums over the operations that a compute node answered.
 * Operations in flight are not in it yet, so a snapshot taken while nothing runs is exact. What is counted:
 * <ul>
 * <li><em>verbs</em>: work requests posted for the operation (READ, WRITE, CMP_SWAP, FETCH_ADD);
 * <li><em>doorbells</em>: times a batch of them was posted;
 * <li><em>round trips</em>: dependent exchanges; batches posted together, before either was answered, are one.
 * </ul>
 */
public final class OperationStatistics
{
    /** What is counted for each kind of operation. */
    public enum Column
    {
        /** Operations that were answered. */
        COUNT,
        /** Operations that ended with an exception. */
        FAILURES,
        /** Work requests. */
        VERBS,
        /** Dependent exchanges. */
        ROUND_TRIPS,
        /** Batches of work requests that were posted. */
        DOORBELLS
    }

    private static final int COLUMNS = Column.values().length;
    /** Counts of a snapshot: for each kind, in its order, each column. */
    public static final int CELLS = OperationKind.values().length * COLUMNS;

    private final long[] cells;

    /**
     * For clients, and for stubs of them.
     *
     * @param cells as many as {@link #CELLS}, each at its {@link #cell}; copied.
     */
    public OperationStatistics(final long[] cells)
    {
        this.cells = Arrays.copyOf(cells, CELLS);
    }

    /**
     * {@return place of the count among the cells}
     *
     * @param kind   of operation.
     * @param column counted.
     */
    public static int cell(final OperationKind kind, final Column column)
    {
        return kind.ordinal() * COLUMNS + column.ordinal();
    }

    /**
     * {@return how many were answered, with whatever expected outcome ("not found" and "version mismatch" are
     * answers)}
     *
     * @param kind of operation.
     */
    public long count(final OperationKind kind)
    {
        return cells[cell(kind, Column.COUNT)];
    }

    /**
     * {@return how many ended with an exception, those that were refused before they were sent left out}
     *
     * @param kind of operation; failed gets are under {@link OperationKind#GET}.
     */
    public long failures(final OperationKind kind)
    {
        return cells[cell(kind, Column.FAILURES)];
    }

    /**
     * {@return work requests of all operations counted, failed ones included}
     *
     * @param kind of operation.
     */
    public long verbs(final OperationKind kind)
    {
        return cells[cell(kind, Column.VERBS)];
    }

    /**
     * {@return dependent round trips of all operations counted, failed ones included}
     *
     * @param kind of operation.
     */
    public long roundTrips(final OperationKind kind)
    {
        return cells[cell(kind, Column.ROUND_TRIPS)];
    }

    /**
     * {@return doorbells of all operations counted, failed ones included}
     *
     * @param kind of operation.
     */
    public long doorbells(final OperationKind kind)
    {
        return cells[cell(kind, Column.DOORBELLS)];
    }

    /** {@return operations of all kinds that were answered} */
    public long count()
    {
        return sum(Column.COUNT);
    }

    /** {@return operations of all kinds that ended with an exception} */
    public long failures()
    {
        return sum(Column.FAILURES);
    }

    /** {@return work requests of all kinds; to be compared with what the fabric counted} */
    public long verbs()
    {
        return sum(Column.VERBS);
    }

    /** {@return doorbells of all kinds; to be compared with what the fabric counted} */
    public long doorbells()
    {
        return sum(Column.DOORBELLS);
    }

    /**
     * {@return mean round trips of one, or 0 when there was none}
     *
     * @param kind of operation.
     */
    public double meanRoundTrips(final OperationKind kind)
    {
        final long operations = count(kind) + failures(kind);
        return 0 == operations ? 0.0 : (double)roundTrips(kind) / operations;
    }

    /**
     * {@return what happened between the two}
     *
     * @param earlier a snapshot of the same client.
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
