package io.verbena.rdma.soft;

import io.verbena.rdma.verbs.ConnectionAttempt;

import org.agrona.concurrent.NanoClock;

import java.util.concurrent.atomic.AtomicReference;

/**
 * The connecting side. The outcome is decided once, by whoever gets first from PENDING: the acceptor's thread, or the
 * connecting owner by timeout or close.
 */
final class SoftConnectionAttempt implements ConnectionAttempt
{
    private static final byte[] NO_DATA = {};

    private final SoftQueuePair queuePair;
    private final int accessFlags;
    private final NanoClock clock;
    private final long deadlineNs;
    private final AtomicReference<Outcome> outcome = new AtomicReference<>();

    /** @param state what it became; null state: an answer is being carried out. */
    private record Outcome(State state, byte[] privateData)
    {
        static final Outcome DECIDING = new Outcome(null, NO_DATA);
    }

    SoftConnectionAttempt(
        final SoftQueuePair queuePair, final int accessFlags, final NanoClock clock, final long deadlineNs)
    {
        this.queuePair = queuePair;
        this.accessFlags = accessFlags;
        this.clock = clock;
        this.deadlineNs = deadlineNs;
    }

    SoftQueuePair queuePair()
    {
        return queuePair;
    }

    boolean isPending()
    {
        return outcome.get() == null;
    }

    @Override
    public State poll()
    {
        if (isPending() && clock.nanoTime() - deadlineNs >= 0)
        {
            decide(State.TIMED_OUT, NO_DATA);
        }
        final Outcome now = outcome.get();
        if (now == null || now.state == null)
        {
            return State.PENDING;
        }
        if (now.state != State.ESTABLISHED)
        {
            queuePair.toReset(this);
        }
        return now.state;
    }

    @Override
    public byte[] privateData()
    {
        final Outcome now = outcome.get();
        return now == null ? NO_DATA : now.privateData;
    }

    /** Connecting side, at once: nobody listens. */
    void unreachable()
    {
        decide(State.UNREACHABLE, NO_DATA);
        queuePair.toReset(this);
    }

    /** Acceptor: binds both queue pairs; when the connecting side has given up, its own goes to ERR. */
    void accept(final SoftQueuePair accepting, final int peerAccessFlags, final byte[] answer)
    {
        if (!outcome.compareAndSet(null, Outcome.DECIDING))
        {
            accepting.moveToError();
            return;
        }
        accepting.establish(queuePair, peerAccessFlags);
        queuePair.establish(accepting, accessFlags);
        outcome.set(new Outcome(State.ESTABLISHED, answer));
    }

    /** Acceptor: refuses. */
    void reject(final byte[] answer)
    {
        decide(State.REJECTED, answer);
    }

    /** Connecting side: its queue pair is being closed. Waits for an acceptor that is binding right now. */
    void cancel()
    {
        decide(State.TIMED_OUT, NO_DATA);
        while (outcome.get() == Outcome.DECIDING)
        {
            Thread.onSpinWait();
        }
    }

    private void decide(final State state, final byte[] data)
    {
        outcome.compareAndSet(null, new Outcome(state, data));
    }
}
