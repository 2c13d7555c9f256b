package io.verbena.resp.session;

import io.verbena.resp.codec.RespWriter;

/**
 * The operations of one session that are under way, in the order of their commands: at most {@link #LENGTH}. An
 * operation waits for an earlier one on the same key where one of the two writes. By the thread of the session.
 */
final class OperationWindow
{
    /** Operations under way at once. */
    static final int LENGTH = 128;
    private static final int MASK = LENGTH - 1;

    private final TableOperation[] operations = new TableOperation[LENGTH];
    private final OperationSteps[] steps = new OperationSteps[LENGTH];
    private int head;
    private int tail;

    boolean isEmpty()
    {
        return head == tail;
    }

    boolean isFull()
    {
        return tail - head == LENGTH;
    }

    int count()
    {
        return tail - head;
    }

    /** Takes an operation whose key is known, while it is not full. */
    void add(final TableOperation operation, final OperationSteps newSteps)
    {
        operation.place = tail & MASK;
        operations[tail & MASK] = operation;
        steps[tail++ & MASK] = newSteps;
    }

    /** Whether an operation on a key would have to wait for an earlier one. */
    boolean hasConflict(final long keyHash, final boolean isWrite)
    {
        for (int i = head; i != tail; i++)
        {
            final TableOperation earlier = operations[i & MASK];
            if (earlier.keyHash == keyHash && (isWrite || earlier.isWrite))
            {
                return true;
            }
        }
        return false;
    }

    /** Takes an answer: the operation may ask something else. */
    void onAnswer(final TableOperation operation)
    {
        operation.isReady = null != operation.failure() || steps[operation.place].onAnswer(operation);
    }

    /** Writes the replies that are there, in their order, and gives the operations back. */
    void drain(final RespWriter writer, final Worker worker)
    {
        while (head != tail && operations[head & MASK].isReady)
        {
            final TableOperation operation = operations[head & MASK];
            if (null == operation.failure())
            {
                steps[head & MASK].reply(operation, writer);
            }
            else
            {
                writer.error(operation.failure());
            }
            operations[head & MASK] = null;
            steps[head++ & MASK] = null;
            worker.release(operation);
        }
    }

    /** Gives back those that were answered, without a reply. */
    void discard(final Worker worker)
    {
        while (head != tail && operations[head & MASK].isReady)
        {
            final TableOperation operation = operations[head & MASK];
            operations[head & MASK] = null;
            steps[head++ & MASK] = null;
            worker.release(operation);
        }
    }
}
