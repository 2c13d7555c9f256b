package io.verbena.raas.completion;

/**
 * What is outstanding on a send queue, in posting order, which is the order of completion; a ring of fixed length.
 * Among them, batches that have ended already and whose callback waits for those before them.
 */
public final class OutstandingBatches
{
    /** Owner of what no tenant's share is concerned with. */
    public static final int NOBODY = -1;

    private final long[] wrIds;
    /** Of those that have ended: 0. */
    private final int[] requestCounts;
    /** The number of the batch that was kept; of those that have ended: the status. */
    private final int[] details;
    /** Which tenant's share of the queue pair they count in; {@link #NOBODY} for none. */
    private final int[] owners;
    private final int mask;
    private long head;
    private long tail;

    /** @param depth of the send queue, each entry of which stands for one request or more, and what has ended. */
    public OutstandingBatches(final int depth)
    {
        final int capacity = Integer.highestOneBit(Math.max(1, depth - 1)) << 1;
        wrIds = new long[capacity];
        requestCounts = new int[capacity];
        details = new int[capacity];
        owners = new int[capacity];
        mask = capacity - 1;
    }

    public boolean isEmpty()
    {
        return head == tail;
    }

    public int size()
    {
        return (int)(tail - head);
    }

    /** @param batch its number in the pool; that of no batch where its requests are not kept. */
    public void add(final long wrId, final int requestCount, final int batch)
    {
        addPart(wrId, requestCount, batch, NOBODY);
    }

    /**
     * Adds requests of a batch that is kept; it is done when all its parts are.
     *
     * @param owner in whose share they count.
     */
    public void addPart(final long wrId, final int requestCount, final int batch, final int owner)
    {
        final int index = (int)tail++ & mask;
        wrIds[index] = wrId;
        requestCounts[index] = requestCount;
        details[index] = batch;
        owners[index] = owner;
    }

    /** Adds one that is not under way any more. */
    public void addEnded(final long wrId, final int status)
    {
        add(wrId, 0, status);
    }

    public long oldestWrId()
    {
        return wrIds[(int)head & mask];
    }

    /** Whether the oldest is not under way any more. */
    public boolean isOldestEnded()
    {
        return head != tail && requestCounts[(int)head & mask] == 0;
    }

    /** The number of the oldest in the pool; where it has ended, its status. */
    public int oldestDetail()
    {
        return details[(int)head & mask];
    }

    /** In whose share the oldest counts. */
    public int oldestOwner()
    {
        return owners[(int)head & mask];
    }

    /** Forgets the oldest; returns its number of requests. */
    public int removeOldest()
    {
        final int requestCount = requestCounts[(int)head++ & mask];
        if (head == tail)
        {
            // A few entries that stay near, instead of a walk through all of the ring.
            head = 0;
            tail = 0;
        }
        return requestCount;
    }
}
