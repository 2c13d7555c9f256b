package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.AccessMark;
import io.verbena.rdma.spi.WorkRequest;
import io.verbena.rdma.verbs.DeviceAddress;

/** Leads each datagram to its queue pair, on any device; what cannot be delivered is dropped without a word. */
final class SoftDatagramRoute implements SoftRoute
{
    private final SoftHost device;
    private final SoftConnection connection;
    private final SoftRequester requester;
    private final AccessMark mark;
    private DeviceAddress destination;
    private SoftPeer peer;
    private int number;

    SoftDatagramRoute(
        final SoftHost device,
        final SoftConnection connection,
        final SoftRequester requester,
        final AccessMark mark)
    {
        this.device = device;
        this.connection = connection;
        this.requester = requester;
        this.mark = mark;
    }

    @Override
    public int execute(final WorkRequest request)
    {
        final DeviceAddress target = request.destination.target();
        if (!target.equals(destination) || peer != null && !peer.file().isOpen())
        {
            goTo(target);
            if (device.isEnding())
            {
                return RemoteQueuePair.UNANSWERED;
            }
        }
        if (number != request.destinationNumber || !requester.isConnected())
        {
            number = request.destinationNumber;
            requester.connect(peer, number, 0);
        }
        requester.remote().present(qkey(request));
        return requester.execute(request);
    }

    /** A key with the highest bit set stands for the sender's own. */
    private int qkey(final WorkRequest request)
    {
        final int given = (int)request.destinationKey;
        return given < 0 ? connection.attributes().qkey() : given;
    }

    /** A mark names one device: inside another one only under a new mark. */
    private void goTo(final DeviceAddress target)
    {
        mark.leave();
        requester.remote().wakeSleepers();
        try
        {
            disconnect();
            destination = target;
            peer = target.gidHigh() == device.address().gidHigh() ? device.usePeer(target.gidLow()) : null;
            mark.target(target.gidLow());
        }
        finally
        {
            mark.enter();
        }
    }

    @Override
    public void rest()
    {
    }

    @Override
    public void disconnect()
    {
        requester.reset();
        destination = null;
        if (peer != null)
        {
            peer.unuse();
            peer = null;
        }
    }
}
