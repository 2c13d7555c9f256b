package io.verbena.rdma.roce.request;

/**
 * READs and atomics that a responder has to answer, oldest first: new requests up to the queue pair's depth, and as
 * many repeated ones. Bounded; the slots are columns of arrays.
 */
public final class ReplyQueue
{
    private final int[] sequences;
    private final int[] messageSequences;
    private final int[] packetsLeft;
    private final int[] packetCounts;
    private final long[] addresses;
    private final int[] keys;
    private final long[] bytesLeft;
    private final boolean[] areReads;
    private final boolean[] areNew;
    private final int capacity;
    private int head;
    private int count;
    private int newCount;

    public ReplyQueue(final int maxReadAtomic)
    {
        capacity = 2 * maxReadAtomic;
        sequences = new int[capacity];
        messageSequences = new int[capacity];
        packetsLeft = new int[capacity];
        packetCounts = new int[capacity];
        addresses = new long[capacity];
        keys = new int[capacity];
        bytesLeft = new long[capacity];
        areReads = new boolean[capacity];
        areNew = new boolean[capacity];
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
        final int slot = (head + count++) % capacity;
        newCount += isNew ? 1 : 0;
        areNew[slot] = isNew;
        sequences[slot] = sequence;
        messageSequences[slot] = messageSequence;
        packetsLeft[slot] = packets;
        packetCounts[slot] = packets;
        return slot;
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
        head = (head + 1) % capacity;
        count--;
    }
}
