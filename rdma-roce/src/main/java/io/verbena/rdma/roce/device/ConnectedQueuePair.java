package io.verbena.rdma.roce.device;

import io.verbena.rdma.connection.ConnectableQueuePair;
import io.verbena.rdma.connection.ConnectionKeys;
import io.verbena.rdma.connection.ConnectionMessage;
import io.verbena.rdma.connection.ConnectionTransitions;
import io.verbena.rdma.roce.engine.RoceQueuePair;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;

/** What one connection, or attempt to make one, does with a queue pair of the engine. */
final class ConnectedQueuePair implements ConnectableQueuePair
{
    private final RoceQueuePair queuePair;
    private final Lane lane;
    private boolean isReset;

    ConnectedQueuePair(final RoceQueuePair queuePair, final Lane lane)
    {
        this.queuePair = queuePair;
        this.lane = lane;
    }

    Lane lane()
    {
        return lane;
    }

    QueuePairType type()
    {
        return queuePair.type();
    }

    @Override
    public int number()
    {
        return queuePair.number();
    }

    @Override
    public QueuePairState state()
    {
        return queuePair.state();
    }

    @Override
    public int maxReadAtomic()
    {
        return queuePair.createdReadAtomic();
    }

    @Override
    public void openForConnection(final int accessFlags)
    {
        exclusively(() ->
        {
            if (type() == QueuePairType.UD)
            {
                throw new RdmaException("a UD queue pair is not connected: " + queuePair);
            }
            if (!lane.engine.isOpen(queuePair) || queuePair.state() != QueuePairState.RESET)
            {
                throw new RdmaException("queue pair must be open and in state RESET: " + queuePair);
            }
            queuePair.modify(ConnectionTransitions.toInit(DeviceLimits.PORT_NUMBER, accessFlags));
        });
    }

    @Override
    public void attempt(final Attempt attempt)
    {
        // A queue pair that was closed refuses to be established, which ends the attempt.
    }

    @Override
    public void seal(final ConnectionKeys keys)
    {
        exclusively(() -> lane.engine.seal(queuePair, keys));
    }

    @Override
    public void establish(
        final ConnectionMessage peer, final int ownPsn, final int mtu, final int accessFlags)
    {
        exclusively(() ->
        {
            if (!lane.engine.isOpen(queuePair))
            {
                throw new RdmaException("queue pair was closed: " + queuePair);
            }
            final QueuePairAttributes toRtr =
                ConnectionTransitions.toRtr(type(), maxReadAtomic(), mtu, peer, accessFlags);
            queuePair.modify(toRtr.destination(peer.source()));
            queuePair.modify(ConnectionTransitions.toRts(type(), maxReadAtomic(), peer, ownPsn));
        });
    }

    @Override
    public void toReset(final Attempt failed)
    {
        exclusively(() ->
        {
            if (!isReset && lane.engine.isOpen(queuePair) && queuePair.state() != QueuePairState.RESET)
            {
                queuePair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
            }
            isReset = true;
        });
    }

    @Override
    public void moveToError()
    {
        exclusively(() ->
        {
            if (lane.engine.isOpen(queuePair))
            {
                queuePair.moveToError();
            }
        });
    }

    private void exclusively(final Runnable steps)
    {
        lane.driver.enter();
        try
        {
            steps.run();
        }
        finally
        {
            lane.driver.exit();
        }
    }
}
