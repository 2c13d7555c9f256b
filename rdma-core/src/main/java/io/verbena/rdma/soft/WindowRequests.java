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
    private static final int MAX_SPINS = 100;

    private final SoftQueuePair queuePair;
    private final SoftProtectionDomain domain;
    private final SoftDevice device;
    private final SharedWindows windows;
    private BoundWindow pending;
    private long insideMark;
    private long deadlineNs;

    WindowRequests(final SoftQueuePair queuePair, final SoftProtectionDomain domain)
    {
        this.queuePair = queuePair;
        this.domain = domain;
        device = domain.device();
        windows = device.windows();
    }

    /** @return completion status, or {@link SoftRequester#WAIT_OUTSIDE}. */
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
            return windows.bind(window, request, domain, queuePair.number());
        }
        // Of no length: takes the binding away.
        final WindowBinding binding = window.binding();
        if (!window.isOf(domain) || binding != null && binding.queuePairNumber() != queuePair.number())
        {
            return WorkCompletionStatus.MW_BIND_ERR;
        }
        return begin(window) || pending == window ? awaitOutside() : WorkCompletionStatus.SUCCESS;
    }

    private int invalidate(final int key)
    {
        final BoundWindow window = windows.find(key);
        if (window == null || !window.mayInvalidate(key, domain, queuePair.number()))
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
        insideMark = queuePair.insideMark();
        deadlineNs = insideMark == 0 ? 0 : device.clock().nanoTime() + device.outside().timeoutNs();
        return true;
    }

    /** That the requester has come back since does not matter: then it has seen that the key is away. */
    private int awaitOutside()
    {
        for (int spins = 0; insideMark != 0 && queuePair.insideMark() == insideMark; spins++)
        {
            if (spins < MAX_SPINS)
            {
                Thread.onSpinWait();
            }
            else if (device.clock().nanoTime() - deadlineNs < 0)
            {
                return SoftRequester.WAIT_OUTSIDE;
            }
            else if (!queuePair.endRequester())
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
