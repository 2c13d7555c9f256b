package io.verbena.rdma.verbs;

/**
 * A reusable batch of completions ({@code struct ibv_wc} each). With a status other than SUCCESS only
 * {@link #wrId}, {@link #status}, {@link #queuePairNumber} and {@link #vendorError} are valid. Filled by
 * {@link CompletionQueue#poll}; used by one thread.
 */
public final class WorkCompletions
{
    /** UD receives: the 40 bytes in front of the payload hold the routing header. */
    public static final int WITH_GRH = 1;
    /** {@link #immediate} is valid. */
    public static final int WITH_IMMEDIATE = 1 << 1;
    /** {@link #invalidatedKey} is valid. */
    public static final int WITH_INVALIDATION = 1 << 3;

    private static final int STATUS = 0;
    private static final int OPCODE = 1;
    private static final int BYTE_LENGTH = 2;
    private static final int IMMEDIATE = 3;
    private static final int QUEUE_PAIR_NUMBER = 4;
    private static final int SOURCE_QUEUE_PAIR_NUMBER = 5;
    private static final int FLAGS = 6;
    private static final int VENDOR_ERROR = 7;
    private static final int FIELDS_SHIFT = 3;

    private final long[] wrIds;
    /** All that is no identifier, one completion behind the other: half of a line each. */
    private final int[] fields;

    /** @param capacity the most completions one poll takes, 1 or more. */
    public WorkCompletions(final int capacity)
    {
        wrIds = new long[capacity];
        fields = new int[capacity << FIELDS_SHIFT];
    }

    /** @return the most completions one poll takes. */
    public int capacity()
    {
        return wrIds.length;
    }

    /** @return the identifier given when the request was posted. */
    public long wrId(final int index)
    {
        return wrIds[index];
    }

    /** @return one of {@link WorkCompletionStatus}. */
    public int status(final int index)
    {
        return fields[(index << FIELDS_SHIFT) + STATUS];
    }

    /** @return one of {@link WorkCompletionOpcode}. */
    public int opcode(final int index)
    {
        return fields[(index << FIELDS_SHIFT) + OPCODE];
    }

    /**
     * @return bytes received, of UD with the 40 of the routing header; bytes that the peer wrote (a receive consumed by
     *     WRITE_WITH_IMM); bytes read (READ, atomics). Not valid for anything else.
     */
    public int byteLength(final int index)
    {
        return fields[(index << FIELDS_SHIFT) + BYTE_LENGTH];
    }

    /** @return set of {@link #WITH_GRH}, {@link #WITH_IMMEDIATE}, {@link #WITH_INVALIDATION}. */
    public int flags(final int index)
    {
        return fields[(index << FIELDS_SHIFT) + FLAGS];
    }

    /** @return the window key that the sender's SEND_WITH_INV took away. */
    public int invalidatedKey(final int index)
    {
        return fields[(index << FIELDS_SHIFT) + IMMEDIATE];
    }

    /** @return UD receives: number of the queue pair that sent. */
    public int sourceQueuePairNumber(final int index)
    {
        return fields[(index << FIELDS_SHIFT) + SOURCE_QUEUE_PAIR_NUMBER];
    }

    /** @return the device's own code of a failure; 0 where it has none. */
    public int vendorError(final int index)
    {
        return fields[(index << FIELDS_SHIFT) + VENDOR_ERROR];
    }

    /** @return the sender's immediate; valid for receives of requests that carried one. */
    public int immediate(final int index)
    {
        return fields[(index << FIELDS_SHIFT) + IMMEDIATE];
    }

    /** @return number of the local queue pair that the completion belongs to. */
    public int queuePairNumber(final int index)
    {
        return fields[(index << FIELDS_SHIFT) + QUEUE_PAIR_NUMBER];
    }

    /** For providers: stores one completion. */
    public void set(
        final int index,
        final long wrId,
        final int status,
        final int opcode,
        final int byteLength,
        final int immediate,
        final int queuePairNumber)
    {
        wrIds[index] = wrId;
        final int at = index << FIELDS_SHIFT;
        fields[at + STATUS] = status;
        fields[at + OPCODE] = opcode;
        fields[at + BYTE_LENGTH] = byteLength;
        fields[at + IMMEDIATE] = immediate;
        fields[at + QUEUE_PAIR_NUMBER] = queuePairNumber;
        setDetails(index, 0, 0, 0);
    }

    /** For providers: what only some completions have; after {@link #set}. */
    public void setDetails(
        final int index, final int completionFlags, final int sourceQueuePairNumber, final int vendorError)
    {
        final int at = index << FIELDS_SHIFT;
        fields[at + FLAGS] = completionFlags;
        fields[at + SOURCE_QUEUE_PAIR_NUMBER] = sourceQueuePairNumber;
        fields[at + VENDOR_ERROR] = vendorError;
    }
}
