package io.verbena.rdma.roce.engine;

/**
 * READs and atomics that a responder has to answer, oldest first: new requests up to the queue pair's depth, and as
 * many repeated ones. Bounded; the slots are columns of arrays.
 */
final class ReplyQueue
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

    ReplyQueue(final int maxReadAtomic)
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

    void clear()
    {
        head = 0;
        count = 0;
        newCount = 0;
    }

    boolean isEmpty()
    {
        return count == 0;
    }

    boolean isFull()
    {
        return count == capacity;
    }

    /** How many that are not repetitions wait. */
    int newCount()
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
    void addRead(
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
    void addAtomic(final boolean isNew, final int sequence, final int messageSequence, final long original)
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
    boolean isRead()
    {
        return areReads[head];
    }

    /** Whether the oldest is no repetition. */
    boolean isNew()
    {
        return areNew[head];
    }

    /** PSN of the next response of the oldest. */
    int sequence()
    {
        return sequences[head];
    }

    /** MSN of the oldest. */
    int messageSequence()
    {
        return messageSequences[head];
    }

    /** Whether its next response is its first. */
    boolean isFirst()
    {
        return packetsLeft[head] == packetCounts[head];
    }

    /** Whether its next response is its last. */
    boolean isLast()
    {
        return packetsLeft[head] == 1;
    }

    /** Where the oldest READ goes on. */
    long address()
    {
        return addresses[head];
    }

    /** Result of the oldest atomic. */
    long original()
    {
        return addresses[head];
    }

    /** Key of the oldest READ. */
    int key()
    {
        return keys[head];
    }

    /** Bytes that the oldest READ still has to send. */
    long bytesLeft()
    {
        return bytesLeft[head];
    }

    /**
     * One response of the oldest was sent.
     *
     * @param payloadBytes of it.
     */
    void advance(final int payloadBytes)
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
    void drop()
    {
        newCount -= areNew[head] ? 1 : 0;
        head = (head + 1) % capacity;
        count--;
    }
}
