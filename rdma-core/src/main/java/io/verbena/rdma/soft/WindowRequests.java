package io.verbena.rdma.soft;

import io.verbena.rdma.spi.BoundWindow;
import io.verbena.rdma.spi.WindowBinding;
import io.verbena.rdma.spi.WorkRequest;
import io.verbena.rdma.verbs.WorkCompletionStatus;

/**
 * Executes BIND_MW and LOCAL_INV of one queue pair; by the owner thread. An invalidation completes when the requester
 * that was inside when the key was taken away has left, or its process is dead; until then the send queue waits. One
 * that stays longer than the fence timeout is killed if it may be; otherwise the invalidation fails.
 */
final class WindowRequests
{
    /** Not a completion status: an invalidation waits for the peer's requester to be outside. */
    static final int WAIT_OUTSIDE = -3;

    private static final int MAX_SPINS = 100;

    private final SoftConnection connection;
    private final DomainIdentity domain;
    private final int number;
    private final SoftHost device;
    private final SharedWindows windows;
    private BoundWindow pending;
    private long insideMark;
    private long deadlineNs;

    /**
     * @param device     of the queue pair.
     * @param domain     of the queue pair.
     * @param connection of the queue pair.
     * @param number     of the queue pair.
     */
    WindowRequests(
        final SoftHost device, final DomainIdentity domain, final SoftConnection connection, final int number)
    {
        this.device = device;
        this.domain = domain;
        this.connection = connection;
        this.number = number;
        windows = device.windows();
    }

    /** @return completion status, or {@link #WAIT_OUTSIDE}. */
    int execute(final WorkRequest request)
    {
        return request.operation == WorkRequest.BIND_MW ? bind(request) : invalidate(request.remoteKey);
    }

    /** Forgets what it waits for; everything that its queue pair bound is taken away at the same time. */
    void reset()
    {
        pending = null;
    }

    private int bind(final WorkRequest request)
    {
        if (!(request.window instanceof BoundWindow window) || !windows.contains(window))
        {
            return WorkCompletionStatus.MW_BIND_ERR;
        }
        if (request.windowBytes != 0)
        {
            return windows.bind(window, request, domain, number);
        }
        // Of no length: takes the binding away.
        final WindowBinding binding = window.binding();
        if (!window.isOf(domain.domain()) || binding != null && binding.queuePairNumber() != number)
        {
            return WorkCompletionStatus.MW_BIND_ERR;
        }
        return begin(window) || pending == window ? awaitOutside() : WorkCompletionStatus.SUCCESS;
    }

    private int invalidate(final int key)
    {
        final BoundWindow window = windows.find(key);
        if (window == null || !window.mayInvalidate(key, domain.domain(), number))
        {
            return WorkCompletionStatus.LOC_QP_OP_ERR;
        }
        return begin(window) || pending == window ? awaitOutside() : WorkCompletionStatus.LOC_QP_OP_ERR;
    }

    /** Takes the key away; false when it was away already. */
    private boolean begin(final BoundWindow window)
    {
        if (!windows.revoke(window))
        {
            return false;
        }
        pending = window;
        insideMark = connection.insideMark();
        deadlineNs = insideMark == 0 ? 0 : device.clock().nanoTime() + device.outside().timeoutNs();
        return true;
    }

    /** That the requester has come back since does not matter: then it has seen that the key is away. */
    private int awaitOutside()
    {
        for (int spins = 0; insideMark != 0 && connection.insideMark() == insideMark; spins++)
        {
            if (spins < MAX_SPINS)
            {
                Thread.onSpinWait();
            }
            else if (device.clock().nanoTime() - deadlineNs < 0)
            {
                return WAIT_OUTSIDE;
            }
            else if (!connection.endRequester())
            {
                pending = null;
                return WorkCompletionStatus.GENERAL_ERR;
            }
            else
            {
                break;
            }
        }
        windows.finish(pending);
        pending = null;
        return WorkCompletionStatus.SUCCESS;
    }
}
