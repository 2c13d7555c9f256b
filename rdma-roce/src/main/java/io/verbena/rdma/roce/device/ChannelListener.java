package io.verbena.rdma.roce.device;

import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;

import java.util.concurrent.atomic.AtomicBoolean;

/** A listener that its channel is not closed before. */
final class ChannelListener implements ConnectionListener
{
    private final ConnectionListener listener;
    private final RoceCompletionChannel channel;
    private final AtomicBoolean isClosed = new AtomicBoolean();

    ChannelListener(final ConnectionListener listener, final RoceCompletionChannel channel)
    {
        this.listener = listener;
        this.channel = channel;
    }

    @Override
    public ConnectionRequest poll()
    {
        return listener.poll();
    }

    @Override
    public void close()
    {
        listener.close();
        if (isClosed.compareAndSet(false, true))
        {
            channel.listenerClosed();
        }
    }
}
