package io.verbena.rdma.soft.shared;

import io.verbena.rdma.verbs.QueuePairState;

/** Moves queue pairs to ERR from outside, by their entries. */
public final class QueuePairFailure
{
    private QueuePairFailure()
    {
    }

    /**
     * Moves a queue pair to ERR unless it is there, in RESET, or another one by now; any process may.
     *
     * @param device whose queue pair it is.
     * @param entry  address of its entry.
     * @param number of the queue pair.
     * @return whether it was moved now.
     */
    public static boolean moveToError(final DeviceFile device, final long entry, final int number)
    {
        final long error = QueuePairEntry.stateWord(number, QueuePairState.ERR);
        long word;
        do
        {
            word = SharedWords.getLongVolatile(entry + QueuePairEntry.STATE_OFFSET);
            if (QueuePairEntry.isPastErrors(word, number))
            {
                return false;
            }
        }
        while (!SharedWords.compareAndSetLong(entry + QueuePairEntry.STATE_OFFSET, word, error));
        final long sends = SharedWords.getLong(entry + QueuePairEntry.SEND_COMPLETIONS_OFFSET);
        CompletionInbox.requestAttention(device, device.base() + sends);
        final long receives = SharedWords.getLong(entry + QueuePairEntry.RECEIVE_COMPLETIONS_OFFSET);
        CompletionInbox.requestAttention(device, device.base() + receives);
        return true;
    }

    /**
     * Owner: its queue pairs send nothing from here on. They go to ERR, so that threads that wait for completions get
     * them; the device stays open, because closers elsewhere look at the marks of open devices only.
     *
     * @param device     whose they are.
     * @param deadlineNs until when to wait for requesters that are inside.
     * @return whether all of them were outside after that.
     */
    static boolean stopRequesters(final DeviceFile device, final long deadlineNs)
    {
        final int limit = SharedWords.getIntAcquire(device.base() + DeviceFileDescriptor.QUEUE_PAIR_LIMIT_OFFSET);
        for (int i = 0; i < limit; i++)
        {
            final long entry = device.queuePairEntry(i);
            if (SharedWords.getInt(entry + QueuePairEntry.TYPE_OFFSET) != QueuePairEntry.DC_TARGET)
            {
                final long word = SharedWords.getLongVolatile(entry + QueuePairEntry.STATE_OFFSET);
                moveToError(device, entry, QueuePairEntry.number(word));
            }
        }
        boolean isOutside = true;
        for (int i = 0; i < limit; i++)
        {
            isOutside &= AccessMark.awaitOutside(device.queuePairEntry(i), deadlineNs);
        }
        return isOutside;
    }
}
