package io.verbena.rdma.roce.request;

/**
 * READs and atomics that a responder has to answer, oldest first: new requests up to the queue pair's depth, and as
 * many repeated ones. Bounded; the slots are columns of arrays, which begin short and grow to what has waited at once,
 * as most connections never use their depth.
 */
public final class ReplyQueue
{
    private static final int FIRST_SLOTS = 16;

    private final int capacity;
    private int[] sequences;
    private int[] messageSequences;
    private int[] packetsLeft;
    private int[] packetCounts;
    private long[] addresses;
    private int[] keys;
    private long[] bytesLeft;
    private boolean[] areReads;
    private boolean[] areNew;
    private int mask;
    private int head;
    private int count;
    private int newCount;

    public ReplyQueue(final int maxReadAtomic)
    {
        capacity = 2 * maxReadAtomic;
        allocate(FIRST_SLOTS);
    }

    private void allocate(final int slots)
    {
        sequences = new int[slots];
        messageSequences = new int[slots];
        packetsLeft = new int[slots];
        packetCounts = new int[slots];
        addresses = new long[slots];
        keys = new int[slots];
        bytesLeft = new long[slots];
        areReads = new boolean[slots];
        areNew = new boolean[slots];
        mask = slots - 1;
    }

    public void clear()
    {
        head = 0;
        count = 0;
        newCount = 0;
    }

    public boolean isEmpty()
    {
        return count == 0;
    }

    public boolean isFull()
    {
        return count == capacity;
    }

    /** How many that are not repetitions wait. */
    public int newCount()
    {
        return newCount;
    }

    /**
     * Adds a READ.
     *
     * @param isNew           whether it is no repetition.
     * @param sequence        PSN of its first response.
     * @param messageSequence MSN of its responses.
     * @param packets         of its responses.
     * @param address         first byte, as the peer names it.
     * @param key             of region or window.
     * @param lengthBytes     0 or more.
     */
    public void addRead(
        final boolean isNew,
        final int sequence,
        final int messageSequence,
        final int packets,
        final long address,
        final int key,
        final long lengthBytes)
    {
        final int slot = add(isNew, sequence, messageSequence, packets);
        areReads[slot] = true;
        addresses[slot] = address;
        keys[slot] = key;
        bytesLeft[slot] = lengthBytes;
    }

    /** Adds an atomic that was executed; {@code original} is its result. */
    public void addAtomic(final boolean isNew, final int sequence, final int messageSequence, final long original)
    {
        final int slot = add(isNew, sequence, messageSequence, 1);
        areReads[slot] = false;
        addresses[slot] = original;
    }

    private int add(final boolean isNew, final int sequence, final int messageSequence, final int packets)
    {
        if (count > mask)
        {
            grow();
        }
        final int slot = head + count++ & mask;
        newCount += isNew ? 1 : 0;
        areNew[slot] = isNew;
        sequences[slot] = sequence;
        messageSequences[slot] = messageSequence;
        packetsLeft[slot] = packets;
        packetCounts[slot] = packets;
        return slot;
    }

    /** Twice as many slots, the oldest in the first. */
    private void grow()
    {
        final int slots = mask + 1;
        sequences = grown(sequences, head);
        messageSequences = grown(messageSequences, head);
        packetsLeft = grown(packetsLeft, head);
        packetCounts = grown(packetCounts, head);
        addresses = grown(addresses, head);
        keys = grown(keys, head);
        bytesLeft = grown(bytesLeft, head);
        areReads = grown(areReads, head);
        areNew = grown(areNew, head);
        mask = 2 * slots - 1;
        head = 0;
    }

    private static int[] grown(final int[] from, final int first)
    {
        final int[] to = new int[2 * from.length];
        copy(from, to, from.length, first);
        return to;
    }

    private static long[] grown(final long[] from, final int first)
    {
        final long[] to = new long[2 * from.length];
        copy(from, to, from.length, first);
        return to;
    }

    private static boolean[] grown(final boolean[] from, final int first)
    {
        final boolean[] to = new boolean[2 * from.length];
        copy(from, to, from.length, first);
        return to;
    }

    private static void copy(final Object from, final Object to, final int length, final int first)
    {
        System.arraycopy(from, first, to, 0, length - first);
        System.arraycopy(from, 0, to, length - first, first);
    }

    /** Whether the oldest is a READ; else an atomic. */
    public boolean isRead()
    {
        return areReads[head];
    }

    /** Whether the oldest is no repetition. */
    public boolean isNew()
    {
        return areNew[head];
    }

    /** PSN of the next response of the oldest. */
    public int sequence()
    {
        return sequences[head];
    }

    /** MSN of the oldest. */
    public int messageSequence()
    {
        return messageSequences[head];
    }

    /** Whether its next response is its first. */
    public boolean isFirst()
    {
        return packetsLeft[head] == packetCounts[head];
    }

    /** Whether its next response is its last. */
    public boolean isLast()
    {
        return packetsLeft[head] == 1;
    }

    /** Where the oldest READ goes on. */
    public long address()
    {
        return addresses[head];
    }

    /** Result of the oldest atomic. */
    public long original()
    {
        return addresses[head];
    }

    /** Key of the oldest READ. */
    public int key()
    {
        return keys[head];
    }

    /** Bytes that the oldest READ still has to send. */
    public long bytesLeft()
    {
        return bytesLeft[head];
    }

    /**
     * One response of the oldest was sent.
     *
     * @param payloadBytes of it.
     */
    public void advance(final int payloadBytes)
    {
        sequences[head]++;
        addresses[head] += payloadBytes;
        bytesLeft[head] -= payloadBytes;
        if (--packetsLeft[head] == 0)
        {
            drop();
        }
    }

    /** Takes the oldest out, answered or not. */
    public void drop()
    {
        newCount -= areNew[head] ? 1 : 0;
        head = head + 1 & mask;
        count--;
    }
}
