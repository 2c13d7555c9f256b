package io.verbena.rdma.spi;

import io.verbena.rdma.verbs.QueuePairState;

/** What a queue pair does in each state (specification, 10.3.1). Pure. */
public final class QueuePairStates
{
    private QueuePairStates()
    {
    }

    /** Whether send requests are taken: processed in RTS, held back in SQD, flushed in SQE and ERR. */
    public static boolean takesSends(final QueuePairState state)
    {
        return state.ordinal() >= QueuePairState.RTS.ordinal();
    }

    /** Whether receives are taken: kept in INIT, processed later on, flushed in ERR. */
    public static boolean takesReceives(final QueuePairState state)
    {
        return state != QueuePairState.RESET;
    }

    /** Whether requests of the peer are executed; in the other states they are dropped without an answer. */
    public static boolean servesInbound(final QueuePairState state)
    {
        return state == QueuePairState.RTS || state == QueuePairState.RTR || state == QueuePairState.SQD ||
            state == QueuePairState.SQE;
    }

    /** Whether what is posted to the send queue is flushed with WR_FLUSH_ERR. */
    public static boolean flushesSends(final QueuePairState state)
    {
        return state == QueuePairState.ERR || state == QueuePairState.SQE;
    }
}
