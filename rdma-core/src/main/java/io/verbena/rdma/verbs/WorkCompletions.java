package io.verbena.rdma.verbs;

/**
 * A reusable batch of completions in columns ({@code struct ibv_wc} each). With a status other than SUCCESS only
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

    private final long[] wrIds;
    private final int[] statuses;
    private final int[] opcodes;
    private final int[] byteLengths;
    private final int[] immediates;
    private final int[] queuePairNumbers;
    private final int[] sourceQueuePairNumbers;
    private final int[] flags;
    private final int[] vendorErrors;

    /** @param capacity the most completions one poll takes, 1 or more. */
    public WorkCompletions(final int capacity)
    {
        wrIds = new long[capacity];
        statuses = new int[capacity];
        opcodes = new int[capacity];
        byteLengths = new int[capacity];
        immediates = new int[capacity];
        queuePairNumbers = new int[capacity];
        sourceQueuePairNumbers = new int[capacity];
        flags = new int[capacity];
        vendorErrors = new int[capacity];
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
        return statuses[index];
    }

    /** @return one of {@link WorkCompletionOpcode}. */
    public int opcode(final int index)
    {
        return opcodes[index];
    }

    /**
     * @return bytes received, of UD with the 40 of the routing header; bytes that the peer wrote (a receive consumed by
     *     WRITE_WITH_IMM); bytes read (READ, atomics). Not valid for anything else.
     */
    public int byteLength(final int index)
    {
        return byteLengths[index];
    }

    /** @return set of {@link #WITH_GRH}, {@link #WITH_IMMEDIATE}, {@link #WITH_INVALIDATION}. */
    public int flags(final int index)
    {
        return flags[index];
    }

    /** @return the window key that the sender's SEND_WITH_INV took away. */
    public int invalidatedKey(final int index)
    {
        return immediates[index];
    }

    /** @return UD receives: number of the queue pair that sent. */
    public int sourceQueuePairNumber(final int index)
    {
        return sourceQueuePairNumbers[index];
    }

    /** @return the device's own code of a failure; 0 where it has none. */
    public int vendorError(final int index)
    {
        return vendorErrors[index];
    }

    /** @return the sender's immediate; valid for receives of requests that carried one. */
    public int immediate(final int index)
    {
        return immediates[index];
    }

    /** @return number of the local queue pair that the completion belongs to. */
    public int queuePairNumber(final int index)
    {
        return queuePairNumbers[index];
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
        statuses[index] = status;
        opcodes[index] = opcode;
        byteLengths[index] = byteLength;
        immediates[index] = immediate;
        queuePairNumbers[index] = queuePairNumber;
        setDetails(index, 0, 0, 0);
    }

    /** For providers: what only some completions have; after {@link #set}. */
    public void setDetails(
        final int index, final int completionFlags, final int sourceQueuePairNumber, final int vendorError)
    {
        flags[index] = completionFlags;
        sourceQueuePairNumbers[index] = sourceQueuePairNumber;
        vendorErrors[index] = vendorError;
    }
}
