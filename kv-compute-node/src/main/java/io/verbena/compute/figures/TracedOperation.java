package io.verbena.compute.figures;

import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.RequestKind;

import java.util.List;

/**
 * What an operation on one record did, and how long each part of it took. It names no key: who may read figures need
 * not be allowed to read records.
 *
 * @param number     1, 2, ... in the order in which traces were kept.
 * @param endedMs    when it was answered, in ms since 1970.
 * @param kind       of the operation.
 * @param answer     to it.
 * @param table      name of its table.
 * @param keyHash    64 bits of the hash of its key; 0 if it was not begun.
 * @param keyBytes   length of its key.
 * @param valueBytes length of the value to write.
 * @param waitedNs   that it waited at the node before it was begun, at most; 0 where that is not known.
 * @param durationNs from when it was begun to its answer; 0 if it was not begun.
 * @param retries    how often it looked again because others were in the way.
 * @param leftOut    entries in the middle that were not kept.
 * @param entries    what it did, in order.
 */
public record TracedOperation(
    long number, long endedMs, RequestKind kind, OperationAnswer answer, String table, long keyHash, int keyBytes,
    int valueBytes, long waitedNs, long durationNs, int retries, int leftOut, List<Entry> entries)
{
    /**
     * A batch of requests, from its doorbell until its answer was acted upon; or a wait.
     *
     * @param step         that the batch carried out, or that the operation waited to take.
     * @param isWait       nothing was posted: for memory, a connection, a split or another writer of the key.
     * @param memoryNodeId of the key.
     * @param verbs        requests of the batch.
     * @param roundTrips   that depend on each other.
     * @param fromNs       when it began, from the beginning of the operation on.
     * @param durationNs   how long it took.
     */
    public record Entry(
        String step, boolean isWait, int memoryNodeId, int verbs, int roundTrips, long fromNs, long durationNs)
    {
    }

    /** @return from the arrival at the node to the answer, at most. */
    public long responseNs()
    {
        return waitedNs + durationNs;
    }
}
