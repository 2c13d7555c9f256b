package io.verbena.raas.batch;

import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.VerbCounters;

/**
 * Requests that were checked, in the form in which they are posted, and posted again when a queue pair broke; fixed
 * capacity. A request is made when a batch is as long for the first time.
 */
public final class StagedBatch
{
    public static final int READ = 0;
    public static final int WRITE = 1;
    public static final int COMPARE_SWAP = 2;
    public static final int FETCH_ADD = 3;
    /** With the immediate as its first operand. */
    public static final int SEND = 4;
    /** With the immediate as its first operand. */
    public static final int WRITE_WITH_IMMEDIATE = 5;

    private static final String[] NAMES = {"READ", "WRITE", "CMP_SWAP", "FETCH_ADD", "SEND", "WRITE_WITH_IMM"};

    /** One request; a line of the processor's caches. */
    private static final class Request
    {
        int opcode;
        int flags;
        int lengthBytes;
        int localKey;
        int remoteKey;
        long localAddress;
        long remoteAddress;
        long firstOperand;
        long secondOperand;
    }

    private final Request[] requests;
    private int count;
    private int posted;
    private int completed;
    private int endStatus;

    public StagedBatch(final int capacity)
    {
        requests = new Request[capacity];
    }

    public static String name(final int opcode)
    {
        return NAMES[opcode];
    }

    public int capacity()
    {
        return requests.length;
    }

    public int count()
    {
        return count;
    }

    public void clear()
    {
        count = 0;
        posted = 0;
        completed = 0;
        endStatus = 0;
    }

    /** Requests that were posted, where a batch is posted in parts. */
    public int posted()
    {
        return posted;
    }

    /** The requests up to this one were posted. */
    public void posted(final int requestCount)
    {
        posted = requestCount;
    }

    /** Requests that are done, or of which nothing is heard any more. */
    public int completed()
    {
        return completed;
    }

    public void completed(final int requestCount)
    {
        completed = requestCount;
    }

    /** How it ends, if it was decided before its last part is over; 0: with success. */
    public int endStatus()
    {
        return endStatus;
    }

    public void endStatus(final int status)
    {
        endStatus = status;
    }

    /** Whether a request needs one of the few places for READs and atomics at the peer. */
    public boolean isReadOrAtomic(final int index)
    {
        final int opcode = requests[index].opcode;
        return opcode != WRITE && opcode < SEND;
    }

    /** Whether a request waits for earlier READs and atomics. */
    public boolean isFenced(final int index)
    {
        return (requests[index].flags & SendFlags.FENCE) != 0;
    }

    /** Stages some requests, the last one signalled, without fences: the caller has waited. */
    public void stagePartOn(final QueuePair queuePair, final long wrId, final int from, final int to)
    {
        for (int i = from; i < to; i++)
        {
            final int flags = requests[i].flags & ~SendFlags.FENCE;
            stageOn(queuePair, wrId, requests[i], i == to - 1 ? flags | SendFlags.SIGNALED : flags);
        }
    }

    public void add(
        final int opcode,
        final int requestFlags,
        final long localAddress,
        final int lengthBytes,
        final int localKey,
        final long remoteAddress,
        final int remoteKey)
    {
        Request request = requests[count];
        if (request == null)
        {
            request = new Request();
            requests[count] = request;
        }
        count++;
        request.opcode = opcode;
        request.flags = requestFlags;
        request.localAddress = localAddress;
        request.lengthBytes = lengthBytes;
        request.localKey = localKey;
        request.remoteAddress = remoteAddress;
        request.remoteKey = remoteKey;
    }

    /** Operands of the atomic added last, or the immediate. */
    public void operands(final long first, final long second)
    {
        final Request request = requests[count - 1];
        request.firstOperand = first;
        request.secondOperand = second;
    }

    /** Whether it changes nothing at the peer, so that it may be executed twice. */
    public boolean isReadOnly()
    {
        for (int i = 0; i < count; i++)
        {
            if (requests[i].opcode != READ)
            {
                return false;
            }
        }
        return true;
    }

    /** Whether the peer could refuse a READ of it. */
    public boolean hasRead()
    {
        for (int i = 0; i < count; i++)
        {
            if (requests[i].opcode == READ)
            {
                return true;
            }
        }
        return false;
    }

    public int opcode(final int index)
    {
        return requests[index].opcode;
    }

    public int lengthBytes(final int index)
    {
        return requests[index].lengthBytes;
    }

    public long remoteAddress(final int index)
    {
        return requests[index].remoteAddress;
    }

    public int remoteKey(final int index)
    {
        return requests[index].remoteKey;
    }

    /** The same memory under another address and key, over another way. */
    public void redirect(final int index, final long remoteAddress, final int remoteKey)
    {
        requests[index].remoteAddress = remoteAddress;
        requests[index].remoteKey = remoteKey;
    }

    /** Stages everything on a queue pair, all with the same identifier, the last one signalled. */
    public void stageOn(final QueuePair queuePair, final long wrId)
    {
        final int last = count - 1;
        for (int i = 0; i < last; i++)
        {
            stageOn(queuePair, wrId, requests[i], requests[i].flags);
        }
        stageOn(queuePair, wrId, requests[last], requests[last].flags | SendFlags.SIGNALED);
    }

    /** The same on a DC initiator. */
    public void stageOn(
        final QueuePair initiator, final long wrId, final AddressHandle way, final int targetNumber,
        final long accessKey)
    {
        for (int i = 0; i < count; i++)
        {
            final int flags = requests[i].flags;
            stageOn(initiator, wrId, requests[i], i == count - 1 ? flags | SendFlags.SIGNALED : flags);
            initiator.toDcTarget(way, targetNumber, accessKey);
        }
    }

    private static void stageOn(
        final QueuePair queuePair, final long wrId, final Request request, final int requestFlags)
    {
        final long local = request.localAddress;
        final long remote = request.remoteAddress;
        final int length = request.lengthBytes;
        final int localKey = request.localKey;
        final int remoteKey = request.remoteKey;
        switch (request.opcode)
        {
            case READ -> queuePair.read(wrId, requestFlags, local, length, localKey, remote, remoteKey);
            case WRITE -> queuePair.write(wrId, requestFlags, local, length, localKey, remote, remoteKey);
            case COMPARE_SWAP -> queuePair.compareSwap(
                wrId, requestFlags, local, localKey, remote, remoteKey, request.firstOperand, request.secondOperand);
            case FETCH_ADD -> queuePair.fetchAdd(
                wrId, requestFlags, local, localKey, remote, remoteKey, request.firstOperand);
            case SEND -> queuePair.sendWithImmediate(
                wrId, requestFlags, local, length, localKey, (int)request.firstOperand);
            case WRITE_WITH_IMMEDIATE -> queuePair.writeWithImmediate(
                wrId, requestFlags, local, length, localKey, remote, remoteKey, (int)request.firstOperand);
            default -> throw new IllegalStateException("staged opcode " + request.opcode);
        }
    }

    /** Adds what was posted to a set of counts. */
    public void countInto(final VerbCounters counters)
    {
        for (int i = 0; i < count; i++)
        {
            final Request request = requests[i];
            switch (request.opcode)
            {
                case READ -> counters.reads++;
                case WRITE, WRITE_WITH_IMMEDIATE -> counters.writes++;
                case COMPARE_SWAP -> counters.compareSwaps++;
                case FETCH_ADD -> counters.fetchAdds++;
                case SEND -> counters.sends++;
                default -> throw new IllegalStateException("staged opcode " + request.opcode);
            }
            counters.payloadBytes += request.lengthBytes;
        }
        counters.doorbells++;
    }
}
