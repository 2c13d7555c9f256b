package io.verbena.rdma.roce.device;

import io.verbena.rdma.connection.ConnectableQueuePair;
import io.verbena.rdma.connection.ConnectionDevice;
import io.verbena.rdma.connection.ConnectionMessage;
import io.verbena.rdma.connection.ConnectionService;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairState;

import java.util.concurrent.atomic.AtomicReference;
import java.util.random.RandomGenerator;

/** Accepts every connection over TCP and sends no packets. */
final class AcceptingDevice implements ConnectionDevice, ConnectableQueuePair
{
    static final int SERVICE_PORT = 9;

    private final AtomicReference<ConnectionListener> listener = new AtomicReference<>();
    private volatile DeviceAddress address;
    private volatile QueuePairState state = QueuePairState.RESET;

    void begin(final ConnectionService service, final int port)
    {
        address = RoceAddress.of(0, 1, port, 0);
        service.start();
        listener.set(service.listen(SERVICE_PORT, () -> Thread.ofVirtual().start(this::acceptNext)));
    }

    private void acceptNext()
    {
        final ConnectionRequest request = listener.get().poll();
        if (request != null)
        {
            request.accept(null, 0, new byte[0]);
        }
    }

    @Override
    public String name()
    {
        return "accepting";
    }

    @Override
    public DeviceAddress address()
    {
        return address;
    }

    @Override
    public int mtu(final DeviceAddress peer)
    {
        return 5;
    }

    @Override
    public RandomGenerator random()
    {
        return RandomGenerator.getDefault();
    }

    @Override
    public ConnectableQueuePair own(final QueuePair queuePair)
    {
        return this;
    }

    @Override
    public void childOpened()
    {
        // not counted
    }

    @Override
    public void childClosed()
    {
        // not counted
    }

    @Override
    public long silencePatienceNs()
    {
        return Long.MAX_VALUE;
    }

    @Override
    public int number()
    {
        return 5;
    }

    @Override
    public QueuePairState state()
    {
        return state;
    }

    @Override
    public int maxReadAtomic()
    {
        return 1;
    }

    @Override
    public void openForConnection(final int accessFlags)
    {
        state = QueuePairState.INIT;
    }

    @Override
    public void attempt(final Attempt attempt)
    {
        // makes none
    }

    @Override
    public void establish(final ConnectionMessage peer, final int ownPsn, final int mtu, final int accessFlags)
    {
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
