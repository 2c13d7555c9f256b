package io.verbena.table.mirror;

/** A batch to a mirror group: its requests, and how far they are. Used again and again. */
final class MirrorBatch
{
    final MirrorRequest[] requests;
    int count;
    int cookie;
    /** Bit i is set: requests go to member i, or may. Those of READs alone go to one. */
    int members;
    /** READs alone: there is one step. */
    boolean isReads;
    /** Members that have not answered the step that is under way. */
    int unanswered;
    boolean isUsed;
    /** Waits for room at a member, or for another batch. */
    boolean isWaiting;

    MirrorBatch(final int number, final int requestsPerBatch)
    {
        requests = new MirrorRequest[requestsPerBatch];
        for (int i = 0; i < requestsPerBatch; i++)
        {
            requests[i] = new MirrorRequest(number * requestsPerBatch + i);
        }
    }

    void reset()
    {
        count = 0;
        members = 0;
        isReads = true;
        unanswered = 0;
    }

    boolean isDone()
    {
        boolean isDone = true;
        for (int i = 0; i < count; i++)
        {
            isDone &= requests[i].step == MirrorRequest.DONE;
        }
        return isDone;
    }

    int left()
    {
        int left = 0;
        for (int i = 0; i < count; i++)
        {
            left += requests[i].step == MirrorRequest.DONE ? 0 : 1;
        }
        return left;
    }

    /**
     * @return whether a slot is to be changed behind a link that is not committed: whoever loses the round of a frozen
     *     slot finishes it, and nobody may see such a slot and no link in the header of its bucket.
     */
    boolean isBehindLink(final int index)
    {
        boolean isBehind = false;
        for (int i = 0; i < index && !isBehind && requests[index].isSlot; i++)
        {
            isBehind = requests[i].isLinkUnderWay();
        }
        return isBehind;
    }

    /** @return whether a round that was staged before for the same slot has not ended. */
    boolean isBehindSameSlot(final int index)
    {
        boolean isBehind = false;
        for (int i = 0; i < index && !isBehind; i++)
        {
            isBehind = requests[i].isRound() && requests[i].offset == requests[index].offset &&
                requests[i].step != MirrorRequest.DONE;
        }
        return isBehind;
    }
}
