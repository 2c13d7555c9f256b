package io.verbena.raas.message;

import io.verbena.raas.completion.Numbers;
import io.verbena.raas.completion.RequestId;
import io.verbena.raas.limit.RaasLimit;
import io.verbena.raas.usage.MessageUsage;

import java.util.ArrayList;
import java.util.Arrays;

/**
 * The way from the immediate of a message to the endpoint that it is for, and the endpoints that have something to do
 * without a message. A number counts together with the queue pair over which it comes, so that no peer reaches an
 * endpoint of another one. One owner thread.
 */
public final class MessageTable
{
    private static final int LEAST_CAPACITY = 16;

    private final Numbers numbers;
    private final int most;
    private final long probeIntervalNs;
    private long nextProbeNs;
    private final ArrayList<MessageReceiver> waiting = new ArrayList<>();
    private MessageReceiver[] byIndex = new MessageReceiver[LEAST_CAPACITY];
    private int[] numbersByIndex = new int[LEAST_CAPACITY];
    private int openCount;
    private long sent;
    private long received;

    /**
     * @param most            endpoints open at once, less than the index of an immediate distinguishes.
     * @param probeIntervalNs between looks whether peers are there that say nothing.
     * @param nowNs           time now.
     */
    public MessageTable(final int most, final long probeIntervalNs, final long nowNs)
    {
        this.most = most;
        this.probeIntervalNs = probeIntervalNs;
        nextProbeNs = nowNs + probeIntervalNs;
        numbers = new Numbers(most);
    }

    /** Gives a receiver its number; {@link RequestId#CALLS} when all are in use. */
    public int add(final MessageReceiver receiver)
    {
        final int number = numbers.allocate();
        if (number == RequestId.CALLS)
        {
            return number;
        }
        final int index = Numbers.index(number);
        if (index >= byIndex.length)
        {
            byIndex = Arrays.copyOf(byIndex, 2 * index);
            numbersByIndex = Arrays.copyOf(numbersByIndex, 2 * index);
        }
        byIndex[index] = receiver;
        numbersByIndex[index] = number;
        openCount++;
        return number;
    }

    /** Nothing comes for a receiver any more: its number is free. */
    public void remove(final int number)
    {
        byIndex[Numbers.index(number)] = null;
        numbers.release(number);
        openCount--;
    }

    public RaasLimit limit()
    {
        return new RaasLimit("message endpoints", openCount, most, "the number of connections: there is no option");
    }

    public boolean isEmpty()
    {
        return openCount == 0;
    }

    /** Returns false when the message is for nobody here: unknown kind, stale or forged number, foreign queue pair. */
    public boolean dispatch(final Object queuePair, final int slot, final int lengthBytes, final int immediate)
    {
        final int kind = MessageImmediateDescriptor.kind(immediate);
        final MessageReceiver receiver = find(immediate);
        return MessageImmediateDescriptor.isOfEndpoint(kind) && receiver != null && receiver.isOver(queuePair) &&
            receiver.onArrived(kind, slot, lengthBytes);
    }

    private MessageReceiver find(final int immediate)
    {
        final int index = MessageImmediateDescriptor.slot(immediate);
        return index < byIndex.length && MessageImmediateDescriptor.generation(immediate) ==
            MessageImmediateDescriptor.generationBits(Numbers.generation(numbersByIndex[index])) ?
            byIndex[index] : null;
    }

    /** The receiver at an index, or null. */
    public MessageReceiver at(final int index)
    {
        return byIndex[index];
    }

    /** A receiver has to be polled. */
    public void await(final MessageReceiver receiver)
    {
        waiting.add(receiver);
    }

    public boolean isWaiting()
    {
        return !waiting.isEmpty();
    }

    /** Polls those that wait; returns how many do no longer. */
    public int poll(final long nowNs)
    {
        if (openCount > 0 && nextProbeNs - nowNs <= 0)
        {
            nextProbeNs = nowNs + probeIntervalNs;
            probe();
        }
        int done = 0;
        for (int i = waiting.size() - 1; i >= 0; i--)
        {
            if (!waiting.get(i).poll(nowNs))
            {
                waiting.remove(i);
                done++;
            }
        }
        return done;
    }

    private void probe()
    {
        for (int index = 0; index < numbers.capacity(); index++)
        {
            if (byIndex[index] != null)
            {
                byIndex[index].probe();
            }
        }
    }

    public void onQueuePairClosed(final Object queuePair)
    {
        for (int index = 0; index < numbers.capacity() && openCount > 0; index++)
        {
            final MessageReceiver receiver = byIndex[index];
            if (receiver != null && receiver.isOver(queuePair))
            {
                receiver.onQueuePairClosed();
            }
        }
    }

    /** Somebody is refused from now on. */
    public void onRefused()
    {
        for (int index = 0; index < numbers.capacity() && openCount > 0; index++)
        {
            if (byIndex[index] != null)
            {
                byIndex[index].onRefused();
            }
        }
    }

    public void onSent()
    {
        sent++;
    }

    public void onReceived()
    {
        received++;
    }

    public MessageUsage usage()
    {
        return new MessageUsage(openCount, sent, received);
    }
}
