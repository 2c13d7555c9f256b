package io.verbena.rdma.roce.host;

import io.verbena.rdma.roce.engine.CompletionListener;
import io.verbena.rdma.roce.engine.NetworkCompletionQueue;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.WorkCompletions;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/**
 * A completion queue of shared memory and one of the network, each as deep as asked for, polled in turns. As long as no
 * queue pair that completes here takes the network, it is looked at for receives of DC targets alone.
 */
final class HostCompletionQueue implements HostCompletionChannel.Queue
{
    private final HostParts parts;
    private final HostCompletionChannel channel;
    private final CompletionQueue shared;
    private final NetworkCompletionQueue network;
    private final List<QueuePair> queuePairs = new CopyOnWriteArrayList<>();
    /** What is done to each DC target that completes here when the queue is dead. */
    private final List<Runnable> targets = new CopyOnWriteArrayList<>();
    /** Roles of queue pairs that take the network. */
    private final AtomicInteger networkUses = new AtomicInteger();
    private final AtomicBoolean isArmed = new AtomicBoolean();
    private boolean isNetworkNext;

    /**
     * @param channel        or null.
     * @param shared         part for this host.
     * @param networkFactory makes the other part, which passes notifications to a listener.
     */
    HostCompletionQueue(
        final HostParts parts,
        final HostCompletionChannel channel,
        final CompletionQueue shared,
        final Function<CompletionListener, NetworkCompletionQueue> networkFactory)
    {
        this.parts = parts;
        this.channel = channel;
        this.shared = shared;
        NetworkCompletionQueue made = null;
        try
        {
            made = networkFactory.apply(queue -> channel.raise(this));
        }
        finally
        {
            if (made == null)
            {
                shared.close();
            }
        }
        network = made;
    }

    /** A completion queue of a device. */
    static HostCompletionQueue of(final HostParts parts, final CompletionQueue queue)
    {
        if (queue instanceof final HostCompletionQueue own && own.parts == parts)
        {
            return own;
        }
        throw new RdmaException(
            "not a completion queue of this device: device=" + parts.name() + ", completionQueue=" + queue);
    }

    CompletionQueue shared()
    {
        return shared;
    }

    NetworkCompletionQueue network()
    {
        return network;
    }

    void attach(final QueuePair queuePair)
    {
        queuePairs.add(queuePair);
    }

    void detach(final QueuePair queuePair)
    {
        queuePairs.remove(queuePair);
    }

    /** What a DC target receives by the network comes without a queue pair here that takes the network. */
    void attachTarget(final Runnable failure)
    {
        targets.add(failure);
    }

    void detachTarget(final Runnable failure)
    {
        targets.remove(failure);
    }

    /** A queue pair that completes here takes the network from now on. */
    void networkBegins()
    {
        networkUses.incrementAndGet();
    }

    /** It does so no more, and nothing of it is in the network's part. */
    void networkEnds()
    {
        networkUses.decrementAndGet();
    }

    @Override
    public int poll(final WorkCompletions completions)
    {
        return networkUses.get() == 0 && targets.isEmpty() ? shared.poll(completions) : pollBoth(completions);
    }

    private int pollBoth(final WorkCompletions completions)
    {
        try
        {
            if (isNetworkNext && network.hasCompletion())
            {
                isNetworkNext = false;
                final int count = network.poll(completions);
                if (count > 0)
                {
                    return count;
                }
            }
            final int count = shared.poll(completions);
            isNetworkNext = count > 0;
            // What comes for DC targets alone is taken by the thread that drives the network: no system call for it.
            final boolean isNetworkPolled = count == 0 && (networkUses.get() > 0 || network.hasCompletion());
            return isNetworkPolled ? network.poll(completions) : count;
        }
        catch (final RdmaException overrun)
        {
            // One part has failed its queue pairs: the queue is dead, and so are the others.
            queuePairs.forEach(QueuePair::moveToError);
            targets.forEach(Runnable::run);
            throw overrun;
        }
    }

    @Override
    public void requestNotification(final boolean solicitedOnly)
    {
        if (channel != null)
        {
            channel.forget(this);
            isArmed.set(true);
        }
        shared.requestNotification(solicitedOnly);
        network.requestNotification(solicitedOnly);
    }

    @Override
    public boolean takeArm()
    {
        return isArmed.getAndSet(false);
    }

    @Override
    public int capacity()
    {
        return shared.capacity();
    }

    @Override
    public void close()
    {
        shared.close();
        network.close();
        parts.closed(shared);
        parts.closed(network);
        if (channel != null)
        {
            channel.forget(this);
        }
    }

    @Override
    public String toString()
    {
        return "HostCompletionQueue{shared=" + shared + ", network=" + network + '}';
    }
}
