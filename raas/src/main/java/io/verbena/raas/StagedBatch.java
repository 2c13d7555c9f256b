package io.verbena.raas;

import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.VerbCounters;

/** Requests checked and not posted yet, in columns; fixed capacity. */
final class StagedBatch
{
    static final int READ = 0;
    static final int WRITE = 1;
    static final int COMPARE_SWAP = 2;
    static final int FETCH_ADD = 3;

    private static final String[] NAMES = {"READ", "WRITE", "CMP_SWAP", "FETCH_ADD"};

    private final int[] opcodes;
    private final int[] flags;
    private final long[] localAddresses;
    private final int[] lengthsBytes;
    private final int[] localKeys;
    private final long[] remoteAddresses;
    private final int[] remoteKeys;
    private final long[] firstOperands;
    private final long[] secondOperands;
    private int count;

    StagedBatch(final int capacity)
    {
        opcodes = new int[capacity];
        flags = new int[capacity];
        localAddresses = new long[capacity];
        lengthsBytes = new int[capacity];
        localKeys = new int[capacity];
        remoteAddresses = new long[capacity];
        remoteKeys = new int[capacity];
        firstOperands = new long[capacity];
        secondOperands = new long[capacity];
    }

    static String name(final int opcode)
    {
        return NAMES[opcode];
    }

    int capacity()
    {
        return opcodes.length;
    }

    int count()
    {
        return count;
    }

    void clear()
    {
        count = 0;
    }

    void add(
        final int opcode,
        final int requestFlags,
        final long localAddress,
        final int lengthBytes,
        final int localKey,
        final long remoteAddress,
        final int remoteKey)
    {
        final int index = count++;
        opcodes[index] = opcode;
        flags[index] = requestFlags;
        localAddresses[index] = localAddress;
        lengthsBytes[index] = lengthBytes;
        localKeys[index] = localKey;
        remoteAddresses[index] = remoteAddress;
        remoteKeys[index] = remoteKey;
    }

    /** Operands of the atomic added last. */
    void operands(final long first, final long second)
    {
        firstOperands[count - 1] = first;
        secondOperands[count - 1] = second;
    }

    /** Stages everything on a queue pair, all with the same identifier, the last one signalled. */
    void stageOn(final QueuePair queuePair, final long wrId)
    {
        final int last = count - 1;
        for (int i = 0; i < last; i++)
        {
            stageOn(queuePair, wrId, i, flags[i]);
        }
        stageOn(queuePair, wrId, last, flags[last] | SendFlags.SIGNALED);
    }

    /** The same on a DC initiator. */
    void stageOn(
        final QueuePair initiator, final long wrId, final AddressHandle way, final ReadTargetAddress target)
    {
        for (int i = 0; i < count; i++)
        {
            stageOn(initiator, wrId, i, i == count - 1 ? flags[i] | SendFlags.SIGNALED : flags[i]);
            initiator.toDcTarget(way, target.number(), target.accessKey());
        }
    }

    private void stageOn(final QueuePair queuePair, final long wrId, final int i, final int requestFlags)
    {
        final long local = localAddresses[i];
        final long remote = remoteAddresses[i];
        final int length = lengthsBytes[i];
        final int localKey = localKeys[i];
        final int remoteKey = remoteKeys[i];
        switch (opcodes[i])
        {
            case READ -> queuePair.read(wrId, requestFlags, local, length, localKey, remote, remoteKey);
            case WRITE -> queuePair.write(wrId, requestFlags, local, length, localKey, remote, remoteKey);
            case COMPARE_SWAP -> queuePair.compareSwap(
                wrId, requestFlags, local, localKey, remote, remoteKey, firstOperands[i], secondOperands[i]);
            case FETCH_ADD -> queuePair.fetchAdd(
                wrId, requestFlags, local, localKey, remote, remoteKey, firstOperands[i]);
            default -> throw new IllegalStateException("staged opcode " + opcodes[i]);
        }
    }

    /** Adds what was posted to a set of counts. */
    void countInto(final VerbCounters counters)
    {
        for (int i = 0; i < count; i++)
        {
            switch (opcodes[i])
            {
                case READ -> counters.reads++;
                case WRITE -> counters.writes++;
                case COMPARE_SWAP -> counters.compareSwaps++;
                case FETCH_ADD -> counters.fetchAdds++;
                default -> throw new IllegalStateException("staged opcode " + opcodes[i]);
            }
            counters.payloadBytes += lengthsBytes[i];
        }
        counters.doorbells++;
    }
}
