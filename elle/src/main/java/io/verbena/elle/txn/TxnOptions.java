package io.verbena.elle.txn;

import java.util.Objects;
import java.util.function.BooleanSupplier;

/**
 * What may be assumed of the system and how much work may be spent.
 *
 * @param writesFollowReads rw-register only: a transaction that reads version a of a key and then writes b puts a
 *                          before b. True of every system that does not write below what it has read; on by default,
 *                          since serializable systems certainly do so.
 * @param sequentialKeys    rw-register only: each key by itself is sequentially consistent, so the order of each
 *                          process orders versions. Off by default.
 * @param linearizableKeys  rw-register only: each key by itself is linearizable, so real time orders versions. Off by
 *                          default.
 * @param maxSearchSteps    bound on the steps spent looking for each kind of cycle in one component of the graph.
 *                          Beyond it the verdict still says which models are impossible but may show no example.
 * @param maxExamples       how many anomalies of each type are described; all are counted.
 * @param stop              asked now and then; once true the check ends, with verdict unknown unless it already found
 *                          the history invalid.
 */
public record TxnOptions(
    boolean writesFollowReads,
    boolean sequentialKeys,
    boolean linearizableKeys,
    long maxSearchSteps,
    int maxExamples,
    BooleanSupplier stop)
{
    private static final TxnOptions DEFAULTS = new TxnOptions(true, false, false, 20_000_000L, 8, () -> false);

    /**
     * Checks the numbers.
     */
    public TxnOptions
    {
        Objects.requireNonNull(stop, "stop");
        if (maxSearchSteps < 1 || maxExamples < 1)
        {
            throw new IllegalArgumentException("maxSearchSteps and maxExamples must be at least 1: maxSearchSteps=" +
                maxSearchSteps + " maxExamples=" + maxExamples);
        }
    }

    /**
     * What is used unless something else is said.
     *
     * @return only writes-follow-reads assumed, 20 million steps, 8 examples, never stopped.
     */
    public static TxnOptions defaults()
    {
        return DEFAULTS;
    }

    /**
     * The same options with other assumptions on the orders of versions.
     *
     * @param writesFollow see {@link #writesFollowReads()}.
     * @param sequential   see {@link #sequentialKeys()}.
     * @param linearizable see {@link #linearizableKeys()}.
     * @return new options.
     */
    public TxnOptions assuming(final boolean writesFollow, final boolean sequential, final boolean linearizable)
    {
        return new TxnOptions(writesFollow, sequential, linearizable, maxSearchSteps, maxExamples, stop);
    }

    /**
     * The same options, stopped by the given condition.
     *
     * @param condition for instance that a deadline has passed; called by the checking thread.
     * @return new options.
     */
    public TxnOptions stoppedBy(final BooleanSupplier condition)
    {
        return new TxnOptions(
            writesFollowReads, sequentialKeys, linearizableKeys, maxSearchSteps, maxExamples, condition);
    }
}
