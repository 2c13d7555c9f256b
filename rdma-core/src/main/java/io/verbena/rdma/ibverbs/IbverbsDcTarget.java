package io.verbena.rdma.ibverbs;

import io.verbena.rdma.ibverbs.library.Libibverbs;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.DcTarget;
import io.verbena.rdma.verbs.DcTargetOptions;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SharedReceiveQueue;

/**
 * A DC target of an mlx5 RNIC, which is a {@code struct ibv_qp} that can be made and destroyed, and nothing else: the
 * driver knows no way from RTR to RESET or ERR.
 */
final class IbverbsDcTarget implements DcTarget, ReceiveConsumer
{
    private final OpenDomain domain;
    private final IbverbsCompletionQueue completions;
    private final IbverbsSharedReceiveQueue shared;
    private final long qp;
    private final int number;
    private volatile QueuePairState state = QueuePairState.RTR;

    IbverbsDcTarget(
        final OpenDomain domain, final DynamicConnections dynamicConnections, final DcTargetOptions options)
    {
        this.domain = domain;
        final DeviceContext device = domain.device();
        completions = own(device, options.receiveCompletions());
        shared = own(domain, options.sharedReceiveQueue());
        DeviceContext.checkAccessFlags(options.accessFlags());
        DeviceContext.checkRange("maxReadAtomic", options.maxReadAtomic(), 0, device.attributes().maxReadAtomic());
        qp = dynamicConnections.createTarget(
            domain.pointer(), completions.pointer(), shared.pointer(), options.accessKey(), options.accessFlags());
        number = DynamicConnections.number(qp);
        completions.addShared(this, shared);
        shared.childOpened();
        device.events().add(qp, this);
    }

    private static IbverbsCompletionQueue own(final DeviceContext device, final CompletionQueue queue)
    {
        if (queue instanceof final IbverbsCompletionQueue own && own.device() == device)
        {
            return own;
        }
        throw new RdmaException("the completion queue is not of this device: device=" + device.name());
    }

    private static IbverbsSharedReceiveQueue own(final OpenDomain domain, final SharedReceiveQueue queue)
    {
        if (queue instanceof final IbverbsSharedReceiveQueue own && own.domain() == domain)
        {
            return own;
        }
        throw new RdmaException(
            "the shared receive queue is not of this protection domain: device=" + domain.device().name());
    }

    @Override
    public int number()
    {
        return number;
    }

    @Override
    public IbverbsSharedReceiveQueue shared()
    {
        return shared;
    }

    @Override
    public boolean receivesDatagrams()
    {
        return false;
    }

    /** Remembered only: the RNIC serves on, but nobody learns of it. */
    @Override
    public synchronized void moveToError()
    {
        if (state == QueuePairState.RTR)
        {
            state = QueuePairState.ERR;
        }
    }

    @Override
    public QueuePairState state()
    {
        return state;
    }

    /** The RNIC counts them; the library has no call for it. */
    @Override
    public long accessKeyViolations()
    {
        return -1;
    }

    @Override
    public synchronized void close()
    {
        if (state == QueuePairState.RESET)
        {
            return;
        }
        domain.device().events().remove(qp);
        Libibverbs.Destroyer.DESTROY_QP.destroy("a DC target of " + domain.device().name(), qp);
        state = QueuePairState.RESET;
        completions.removeShared(this, shared);
        shared.childClosed();
        domain.childClosed();
    }

    @Override
    public String toString()
    {
        return "IbverbsDcTarget{device=" + domain.device().name() + ", number=" + number + ", state=" + state + '}';
    }
}
