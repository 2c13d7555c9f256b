package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.AccessMark;
import io.verbena.rdma.soft.shared.DcContexts;
import io.verbena.rdma.spi.WorkRequest;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.WorkCompletionStatus;

/**
 * Leads the requests of a DC initiator to their targets, one target at a time: those before are complete when it goes
 * to the next one. Holds a responder context of the target's device meanwhile, which bounds how many initiators that
 * device serves at once. Owner thread, {@linkplain AccessMark marked inside} unless said otherwise.
 */
final class SoftDcRoute implements SoftRoute
{
    private final SoftHost device;
    private final int initiator;
    private final SoftConnection connection;
    private final SoftRequester requester;
    private final AccessMark mark;
    private SoftPeer peer;
    private DeviceAddress destination;
    private int number;
    private long accessKey;
    private long idleContext;
    private int context = DcContexts.NONE;
    private boolean isConnected;
    private boolean isBusy;

    /** @param initiator number of the queue pair. */
    SoftDcRoute(
        final SoftHost device,
        final int initiator,
        final SoftConnection connection,
        final SoftRequester requester,
        final AccessMark mark)
    {
        this.device = device;
        this.initiator = initiator;
        this.connection = connection;
        this.requester = requester;
        this.mark = mark;
    }

    @Override
    public int execute(final WorkRequest request)
    {
        if (!isConnected || !leadsTo(request))
        {
            final int status = connect(request);
            if (status != WorkCompletionStatus.SUCCESS)
            {
                return status;
            }
        }
        if (!isBusy)
        {
            context = DcContexts.take(peer.file(), idleContext, context);
            isBusy = context != DcContexts.NONE;
            if (!isBusy)
            {
                return RemoteQueuePair.UNANSWERED;
            }
        }
        return requester.execute(request);
    }

    private boolean leadsTo(final WorkRequest request)
    {
        return number == request.destinationNumber && accessKey == request.destinationKey &&
            destination.equals(request.destination.target());
    }

    /** Goes to a request's target, and shows the key there. */
    private int connect(final WorkRequest request)
    {
        final DeviceAddress target = request.destination.target();
        if (peer == null || !target.equals(destination))
        {
            // A mark names one device: inside another one only under a new mark.
            disconnect();
            mark.leave();
            requester.remote().wakeSleepers();
            try
            {
                usePeer(target);
            }
            finally
            {
                mark.enter();
            }
            if (device.isEnding())
            {
                return RemoteQueuePair.UNANSWERED;
            }
        }
        number = request.destinationNumber;
        accessKey = request.destinationKey;
        if (!requester.connect(peer, number, connection.attributes().maxReadAtomic()))
        {
            return RemoteQueuePair.UNANSWERED;
        }
        final int status = requester.remote().status();
        if (status != WorkCompletionStatus.SUCCESS)
        {
            return status;
        }
        if (!requester.remote().takesKey(accessKey))
        {
            return WorkCompletionStatus.REM_ACCESS_ERR;
        }
        isConnected = true;
        return status;
    }

    /** Outside. */
    private void usePeer(final DeviceAddress target)
    {
        destination = target;
        peer = target.gidHigh() == device.address().gidHigh() ? device.usePeer(target.gidLow()) : null;
        if (peer != null)
        {
            mark.target(target.gidLow());
            idleContext = DcContexts.idle(peer.visitor(), initiator);
        }
    }

    /** The context stays, unless another initiator needs it. */
    @Override
    public void rest()
    {
        if (isBusy)
        {
            isBusy = false;
            DcContexts.rest(peer.file(), context, idleContext);
        }
    }

    @Override
    public void disconnect()
    {
        isConnected = false;
        isBusy = false;
        if (peer != null)
        {
            if (context != DcContexts.NONE)
            {
                DcContexts.release(peer.file(), context, idleContext);
                context = DcContexts.NONE;
            }
            requester.reset();
            peer.unuse();
            peer = null;
        }
    }
}
