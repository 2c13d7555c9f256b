package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.ConnectWord;
import io.verbena.rdma.soft.shared.QueuePairEntry;
import io.verbena.rdma.soft.shared.SharedWords;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.RdmaException;

import org.agrona.concurrent.NanoClock;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The connecting side. The outcome stands in the queue pair's entry ({@link ConnectWord}); the acceptor, of any
 * process, writes it there, and opens this queue pair when it accepts.
 */
final class SoftConnectionAttempt implements ConnectionAttempt, SoftQueuePair.Attempt
{
    private static final byte[] NO_DATA = {};
    private static final long MAX_DECIDING_NS = TimeUnit.SECONDS.toNanos(60);
    private static final long PARK_NS = 20_000;

    private final SoftQueuePair queuePair;
    private final NanoClock clock;
    private final long deadlineNs;
    private final long number;

    SoftConnectionAttempt(final SoftQueuePair queuePair, final NanoClock clock, final long deadlineNs)
    {
        this.queuePair = queuePair;
        this.clock = clock;
        this.deadlineNs = deadlineNs;
        number = ConnectWord.begin(queuePair.entry());
    }

    /** Number of the attempt on its queue pair. */
    long number()
    {
        return number;
    }

    @Override
    public State poll()
    {
        int outcome = ConnectWord.outcome(queuePair.entry(), number);
        if (outcome == ConnectWord.PENDING && clock.nanoTime() - deadlineNs >= 0)
        {
            ConnectWord.change(queuePair.entry(), number, ConnectWord.PENDING, ConnectWord.TIMED_OUT);
            outcome = ConnectWord.outcome(queuePair.entry(), number);
        }
        else if (outcome == ConnectWord.DECIDING && clock.nanoTime() - deadlineNs >= 0 && !queuePair.isPeerAlive())
        {
            // The acceptor died over its answer: this queue pair may be open already, with nobody behind it.
            ConnectWord.change(queuePair.entry(), number, ConnectWord.DECIDING, ConnectWord.TIMED_OUT);
            outcome = ConnectWord.outcome(queuePair.entry(), number);
        }
        final State state = ConnectWord.state(outcome);
        if (state != State.PENDING && state != State.ESTABLISHED)
        {
            queuePair.toReset(this);
        }
        return state;
    }

    @Override
    public byte[] privateData()
    {
        final int outcome = ConnectWord.outcome(queuePair.entry(), number);
        if (outcome != ConnectWord.ESTABLISHED && outcome != ConnectWord.REJECTED)
        {
            return NO_DATA;
        }
        final long entry = queuePair.entry();
        final int length = SharedWords.getInt(entry + QueuePairEntry.DATA_LENGTH_OFFSET);
        final byte[] data = new byte[Math.max(0, Math.min(length, ConnectionRequest.MAX_PRIVATE_DATA_BYTES))];
        SharedWords.getBytes(entry + QueuePairEntry.DATA_OFFSET, data);
        return data;
    }

    /** Connecting side, at once: nobody listens. */
    void unreachable()
    {
        ConnectWord.change(queuePair.entry(), number, ConnectWord.PENDING, ConnectWord.UNREACHABLE);
        queuePair.toReset(this);
    }

    /** Connecting side: its queue pair is being closed. Waits for an acceptor that is binding right now. */
    @Override
    public void cancel()
    {
        ConnectWord.change(queuePair.entry(), number, ConnectWord.PENDING, ConnectWord.TIMED_OUT);
        final long giveUpNs = clock.nanoTime() + MAX_DECIDING_NS;
        while (ConnectWord.outcome(queuePair.entry(), number) == ConnectWord.DECIDING && queuePair.isPeerAlive())
        {
            if (clock.nanoTime() - giveUpNs > 0)
            {
                throw new RdmaException("a peer stopped while it was accepting: let it run, and close again: " +
                    queuePair);
            }
            LockSupport.parkNanos(PARK_NS);
        }
    }
}
