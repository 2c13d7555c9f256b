package io.verbena.rdma.connection;

import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.RdmaException;

/** A queue pair that only has a state. */
final class FakeQueuePair implements ConnectableQueuePair
{
    private final int number;
    private volatile QueuePairState state = QueuePairState.RESET;
    volatile ConnectionMessage peer;
    volatile int mtu;
    volatile ConnectionKeys keys;
    volatile boolean isSealDecided;

    FakeQueuePair(final int number)
    {
        this.number = number;
    }

    @Override
    public int number()
    {
        return number;
    }

    @Override
    public QueuePairState state()
    {
        return state;
    }

    @Override
    public int maxReadAtomic()
    {
        return 4;
    }

    @Override
    public void openForConnection(final int accessFlags)
    {
        if (state != QueuePairState.RESET)
        {
            throw new RdmaException("not RESET");
        }
        state = QueuePairState.INIT;
    }

    @Override
    public void attempt(final Attempt attempt)
    {
        // never closed
    }

    @Override
    public void seal(final ConnectionKeys connectionKeys)
    {
        if (state != QueuePairState.INIT)
        {
            throw new RdmaException("not INIT");
        }
        keys = connectionKeys;
        isSealDecided = true;
    }

    @Override
    public void establish(
        final ConnectionMessage message, final int ownPsn, final int agreedMtu, final int accessFlags)
    {
        peer = message;
        mtu = agreedMtu;
        state = QueuePairState.RTS;
    }

    @Override
    public void toReset(final Attempt failed)
    {
        state = QueuePairState.RESET;
    }

    @Override
    public void moveToError()
    {
        state = QueuePairState.ERR;
    }
}
