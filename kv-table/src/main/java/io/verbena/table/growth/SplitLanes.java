package io.verbena.table.growth;

import io.verbena.raas.OneSidedPort;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.table.access.Scratch;
import java.util.Arrays;

/**
 * The groups of a subtable that is split, several under way at a time: each lane takes the next group when it has moved
 * one, in batches of its own, so that a split does not last as many round trips as it has groups. No order between
 * groups matters. Owner thread of the engine only; allocates when it is made.
 */
final class SplitLanes
{
    /**
     * Requests under way at a time, of all lanes: operations that share the connection find room in its queue, and do
     * not wait behind more than these.
     */
    private static final int MOST_REQUESTS = 160;

    private final GrowthBatch[] batches;
    private final SplitGroup[] groups;
    private final boolean[] inFlight;
    private final int[] requests;
    private long oldOffset;
    private int oldSuffix;
    private int oldDepth;
    private long link;
    private boolean isLinkOurs;
    private int nextGroup;
    private int groupCount;
    private int groupsLeft;
    private int requestsUnderWay;
    private long movedRecords;
    private long groupsDone;
    private String failure;

    /** @param lanes groups under way at a time, 1 to {@link GrowthBatch#MAX_LANES}. */
    SplitLanes(final Scratch scratch, final int lanes, final int tableId)
    {
        batches = new GrowthBatch[lanes];
        groups = new SplitGroup[lanes];
        inFlight = new boolean[lanes];
        requests = new int[lanes];
        for (int lane = 0; lane < lanes; lane++)
        {
            batches[lane] = GrowthBatch.ofLane(scratch, lane);
            groups[lane] = new SplitGroup(batches[lane], batches[lane].groupAt(), tableId);
        }
    }

    /** @param isFresh whether nobody else can have moved slots but operations that needed them. */
    void begin(
        final long offset, final int suffix, final int depth, final long splitLink, final boolean isFresh,
        final int count)
    {
        oldOffset = offset;
        oldSuffix = suffix;
        oldDepth = depth;
        link = splitLink;
        isLinkOurs = isFresh;
        nextGroup = 0;
        groupCount = count;
        groupsLeft = count;
    }

    /** Posts the next batch of each lane that can go on. @return how many. */
    int post(final OneSidedPort port)
    {
        int posted = 0;
        for (int lane = 0; lane < groups.length; lane++)
        {
            if (!inFlight[lane] && hasWork(lane) && requestsUnderWay < MOST_REQUESTS &&
                port.isReady() && port.space() >= OneSidedPort.LEAST_SPACE)
            {
                post(lane, port);
                posted++;
            }
        }
        return posted;
    }

    private boolean hasWork(final int lane)
    {
        if (groups[lane].isDone() && nextGroup < groupCount)
        {
            groups[lane].begin(oldOffset, oldSuffix, oldDepth, link, isLinkOurs, nextGroup++);
        }
        return !groups[lane].isDone();
    }

    private void post(final int lane, final OneSidedPort port)
    {
        final GrowthBatch batch = batches[lane];
        final long before = batch.verbs();
        batch.begin(port);
        groups[lane].stage();
        inFlight[lane] = batch.complete();
        if (inFlight[lane])
        {
            requests[lane] = (int)(batch.verbs() - before);
            requestsUnderWay += requests[lane];
        }
        else
        {
            groups[lane].unstage();
        }
    }

    void onComplete(final int lane, final int status)
    {
        inFlight[lane] = false;
        requestsUnderWay -= requests[lane];
        if (failure != null)
        {
            return;
        }
        if (status != WorkCompletionStatus.SUCCESS)
        {
            failure = "request failed: " + WorkCompletionStatus.text(status) + " of " + groups[lane];
            return;
        }
        groups[lane].onComplete();
        failure = groups[lane].failure();
        if (failure == null && groups[lane].isDone())
        {
            movedRecords += groups[lane].records();
            groupsDone++;
            groupsLeft--;
        }
    }

    /** The connection is lost. */
    void onDetached()
    {
        for (int lane = 0; lane < groups.length; lane++)
        {
            if (inFlight[lane])
            {
                onComplete(lane, WorkCompletionStatus.WR_FLUSH_ERR);
            }
        }
    }

    /** No request is under way any more. */
    void close()
    {
        Arrays.fill(inFlight, false);
    }

    boolean isInFlight()
    {
        boolean is = false;
        for (final boolean one : inFlight)
        {
            is |= one;
        }
        return is;
    }

    /** @return the number of groups, from the first one on, that are all moved. */
    int groupsMovedInOrder()
    {
        int first = nextGroup;
        for (final SplitGroup group : groups)
        {
            first = group.isDone() ? first : Math.min(first, group.index());
        }
        return first;
    }

    /** @return whether every group is moved. */
    boolean isDone()
    {
        return groupsLeft == 0;
    }

    /** @return why it cannot go on, or null. */
    String failure()
    {
        return failure;
    }

    /** @return records in the groups moved, by this or found moved, of all subtables. */
    long movedRecords()
    {
        return movedRecords;
    }

    /** @return groups moved, of all subtables. */
    long groupsDone()
    {
        return groupsDone;
    }

    long verbs()
    {
        long sum = 0;
        for (final GrowthBatch batch : batches)
        {
            sum += batch.verbs();
        }
        return sum;
    }

    long doorbells()
    {
        long sum = 0;
        for (final GrowthBatch batch : batches)
        {
            sum += batch.doorbells();
        }
        return sum;
    }

    long payloadBytes()
    {
        long sum = 0;
        for (final GrowthBatch batch : batches)
        {
            sum += batch.payloadBytes();
        }
        return sum;
    }
}
