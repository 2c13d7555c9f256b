package io.verbena.elle.txn.generate;

import io.verbena.elle.txn.isolation.ConsistencyModel;

/** What the store of {@link TxnHistoryGenerator} can be made to do wrong. */
public enum TxnFault
{
    /** Nothing: histories are strict-serializable. */
    NONE(ConsistencyModel.STRICT_SERIALIZABLE),
    /** A transaction reads an old state, of before some transaction that was over when it was called. */
    STALE_READ(ConsistencyModel.STRICT_SERIALIZABLE),
    /** Half of what a transaction reads is of an old state, from before a transaction that it otherwise sees. */
    FRACTURED_READ(ConsistencyModel.SNAPSHOT_ISOLATION),
    /** Two transactions read the same two keys and each writes another of them, as snapshot isolation allows. */
    WRITE_SKEW(ConsistencyModel.SERIALIZABLE),
    /** Two transactions read the same state of a key, and both write it. */
    LOST_UPDATE(ConsistencyModel.SNAPSHOT_ISOLATION),
    /** A write of a committed transaction vanishes. */
    LOST_WRITE(ConsistencyModel.STRICT_SERIALIZABLE),
    /** An element is appended twice; registers cannot show this. */
    DUPLICATED_APPEND(ConsistencyModel.READ_UNCOMMITTED),
    /** A transaction is called failed although others see what it wrote. */
    DIRTY_READ(ConsistencyModel.READ_COMMITTED),
    /** A transaction reads what another has written so far, before that one is done. */
    INTERMEDIATE_READ(ConsistencyModel.READ_COMMITTED),
    /** Some transactions work on a copy of the store, which is then forgotten. */
    SPLIT_BRAIN(ConsistencyModel.STRICT_SERIALIZABLE);

    private final ConsistencyModel violated;

    TxnFault(final ConsistencyModel violated)
    {
        this.violated = violated;
    }

    /**
     * The weakest model that the fault is sure to violate.
     *
     * @return strict-serializable for {@link #NONE}, which violates nothing.
     */
    public ConsistencyModel violated()
    {
        return violated;
    }
}
