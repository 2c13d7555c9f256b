package io.verbena.raas.completion;

import io.verbena.raas.batch.Doorbells;
import io.verbena.raas.limit.RaasLimit;
import io.verbena.rdma.verbs.CompletionChannel;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;
import org.agrona.collections.Int2ObjectHashMap;

import java.util.function.IntConsumer;

/**
 * The two completion queues of a context and the way from a completion to its channel. Room in the queues is reserved
 * for the whole depth of a queue pair before it is made, so that no tenant can overrun a queue that others use.
 */
public final class CompletionDispatcher implements AutoCloseable
{
    private static final int POLL_BATCH = 64;
    private static final int MAX_BATCHES_PER_POLL = 16;
    /** Empty polls after which queues are armed: less than an owner makes before it sleeps. */
    public static final int POLLS_BEFORE_ARMING = 32;
    /** The same where each of them is a system call. */
    public static final int CALLS_BEFORE_ARMING = 2;

    private final CompletionQueue sendQueue;
    private final CompletionQueue receiveQueue;
    private final WorkCompletions completions = new WorkCompletions(POLL_BATCH);
    private final WorkCompletions early = new WorkCompletions(POLL_BATCH);
    private final PolledReceives polled = new PolledReceives();
    private final Doorbells doorbells;
    private final IntConsumer unclaimed;
    private final Int2ObjectHashMap<CompletionOwner> channels = new Int2ObjectHashMap<>();
    private final int sendCapacity;
    private int sendRoom;
    private int receiveRoom;
    private int sendRoomToFree;
    private int receiveRoomToFree;
    /** To which the completion before went; null when there is none, or it may not be there any more. */
    private CompletionOwner lastChannel;
    private int lastNumber;
    private final boolean isArming;
    private final int pollsBeforeArming;
    private int emptyPolls;
    private long rounds;

    /**
     * @param channel   to arm the queues for when polls find nothing, or null.
     * @param doorbells of what is posted while completions are dispatched: rung after each round.
     * @param unclaimed gets the slot of a receive that completed and whose queue pair has no use for it any more.
     */
    public CompletionDispatcher(
        final Device device,
        final int sendCapacity,
        final int receiveCapacity,
        final CompletionChannel channel,
        final Doorbells doorbells,
        final IntConsumer unclaimed)
    {
        this.doorbells = doorbells;
        this.unclaimed = unclaimed;
        isArming = channel != null;
        pollsBeforeArming = device.pollsBySystemCall() ? CALLS_BEFORE_ARMING : POLLS_BEFORE_ARMING;
        this.sendCapacity = sendCapacity;
        sendRoom = sendCapacity;
        receiveRoom = receiveCapacity;
        sendQueue = createQueue(device, sendRoom, channel);
        try
        {
            receiveQueue = createQueue(device, receiveRoom, channel);
        }
        catch (final RdmaException ex)
        {
            sendQueue.close();
            throw ex;
        }
    }

    private static CompletionQueue createQueue(
        final Device device, final int capacity, final CompletionChannel channel)
    {
        return channel == null ?
            device.createCompletionQueue(capacity) : device.createCompletionQueue(capacity, channel);
    }

    public CompletionQueue sendQueue()
    {
        return sendQueue;
    }

    public CompletionQueue receiveQueue()
    {
        return receiveQueue;
    }

    /** Takes room for a queue pair; false when there is not enough. */
    public boolean reserve(final int sends, final int receives)
    {
        if (sends > sendRoom || receives > receiveRoom)
        {
            return false;
        }
        sendRoom -= sends;
        receiveRoom -= receives;
        return true;
    }

    /** Of requests: room is reserved for all that a queue pair can have outstanding. */
    public RaasLimit limit()
    {
        return new RaasLimit("requests of queue pairs", sendCapacity - sendRoom, sendCapacity,
            "RaasConfiguration.completionQueueCapacity");
    }

    /** Gives room back; used again only after the queues were seen empty, since stale completions may lie there. */
    public void release(final int sends, final int receives)
    {
        sendRoomToFree += sends;
        receiveRoomToFree += receives;
    }

    public void add(final CompletionOwner channel)
    {
        lastChannel = null;
        channels.put(channel.queuePairNumber(), channel);
    }

    public void remove(final CompletionOwner channel)
    {
        lastChannel = null;
        channels.remove(channel.queuePairNumber(), channel);
        polled.forget(channel.queuePairNumber());
    }

    /**
     * Takes all completions of receives from their queue, to be dispatched by the next poll: those of a queue pair that
     * is closed while they are in the queue would be lost, and with them shared receives. From callbacks, too.
     */
    public void takeReceives()
    {
        for (int emptyPolls = 0; emptyPolls < 2; emptyPolls++)
        {
            final int count = receiveQueue.poll(early);
            for (int i = 0; i < count; i++)
            {
                polled.add(early, i);
            }
            // Twice empty: a provider may flush what a dead peer was filling after what that peer had finished.
            emptyPolls = count > 0 ? -1 : emptyPolls;
        }
    }

    public int poll()
    {
        final int work = look();
        if (isArming)
        {
            arm(work);
        }
        return work;
    }

    /** A poll that does not count among the empty ones after which queues are armed: for who polls many times more. */
    public int pollInBetween()
    {
        final int work = look();
        emptyPolls = work > 0 ? 0 : emptyPolls;
        return work;
    }

    private int look()
    {
        // Sends first: when a queue pair broke, its send completions tell the cause, its receives only say flushed.
        return pollSends() + pollReceives();
    }

    /**
     * Arms the queues when some polls have found nothing. An owner that waits on the channel
     * has polled at least once more since, so nothing that came before the arming is missed.
     */
    private void arm(final int work)
    {
        emptyPolls = work > 0 ? 0 : emptyPolls + 1;
        if (emptyPolls == pollsBeforeArming)
        {
            arm();
        }
        else if (emptyPolls > 2 * pollsBeforeArming)
        {
            emptyPolls = 0; // again now and then: an event may have been taken for a completion dropped since
        }
    }

    /** Arms the queues now, where there is a channel; the caller then polls once more before it waits. */
    public void arm()
    {
        if (isArming)
        {
            sendQueue.requestNotification(false);
            receiveQueue.requestNotification(false);
        }
    }

    private int pollSends()
    {
        int total = 0;
        for (int round = 0; round < MAX_BATCHES_PER_POLL; round++)
        {
            final int count = sendQueue.poll(completions);
            if (count > 0)
            {
                rounds++;
                doorbells.gather();
                for (int i = 0; i < count; i++)
                {
                    dispatchSend(i);
                }
                doorbells.ring();
            }
            total += count;
            if (count < POLL_BATCH)
            {
                sendRoom += sendRoomToFree;
                sendRoomToFree = 0;
                break;
            }
        }
        return total;
    }

    /** How often completions of sends were taken from their queue; see {@code RaasContext.completionRounds}. */
    public long rounds()
    {
        return rounds;
    }

    private CompletionOwner channel(final int queuePairNumber)
    {
        if (lastChannel == null || lastNumber != queuePairNumber)
        {
            lastChannel = channels.get(queuePairNumber);
            lastNumber = queuePairNumber;
        }
        return lastChannel;
    }

    private void dispatchSend(final int index)
    {
        final CompletionOwner channel = channel(completions.queuePairNumber(index));
        if (channel == null)
        {
            return; // of a queue pair already closed
        }
        final int status = completions.status(index);
        if (status == WorkCompletionStatus.SUCCESS)
        {
            channel.onSendComplete(completions.wrId(index));
        }
        else
        {
            channel.breakDown(status, WorkCompletionStatus.text(status));
        }
    }

    private int pollReceives()
    {
        int total = 0;
        for (int round = 0; round < MAX_BATCHES_PER_POLL; round++)
        {
            // They are older than what is in the queue.
            total += dispatchPolled();
            final int count = receiveQueue.poll(completions);
            if (count > 0)
            {
                doorbells.gather();
                for (int i = 0; i < count; i++)
                {
                    dispatchReceive(completions.queuePairNumber(i), completions.status(i), (int)completions.wrId(i),
                        completions.byteLength(i), completions.immediate(i));
                }
                doorbells.ring();
            }
            total += count;
            if (count < POLL_BATCH)
            {
                receiveRoom += receiveRoomToFree;
                receiveRoomToFree = 0;
                break;
            }
        }
        return total;
    }

    private int dispatchPolled()
    {
        int count = 0;
        while (!polled.isEmpty())
        {
            final int queuePairNumber = polled.queuePairNumber();
            final int status = polled.status();
            final int slot = (int)polled.wrId();
            final int lengthBytes = polled.byteLength();
            final int immediate = polled.immediate();
            polled.removeOldest();
            dispatchReceive(queuePairNumber, status, slot, lengthBytes, immediate);
            count++;
        }
        return count;
    }

    private void dispatchReceive(
        final int queuePairNumber, final int status, final int slot, final int lengthBytes, final int immediate)
    {
        final CompletionOwner channel = channel(queuePairNumber);
        if (channel == null)
        {
            unclaimed.accept(slot); // of a queue pair already closed
        }
        else if (status == WorkCompletionStatus.SUCCESS)
        {
            channel.onReceive(slot, lengthBytes, immediate);
        }
        else
        {
            unclaimed.accept(slot);
            if (!channel.hasOutstandingSends())
            {
                channel.breakDown(status, WorkCompletionStatus.text(status));
            }
            // Otherwise the send queue is being flushed too, and its first completion in error, yet to come, has the
            // cause.
        }
    }

    @Override
    public void close()
    {
        sendQueue.close();
        receiveQueue.close();
    }
}
