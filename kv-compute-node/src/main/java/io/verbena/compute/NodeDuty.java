package io.verbena.compute;

import io.verbena.protocol.request.DutyLock;

/** What callers run of a node while they hold its lock. Joining and ending are for the node's own thread. */
final class NodeDuty implements DutyLock.Duty
{
    private final ComputeNode node;

    NodeDuty(final ComputeNode node)
    {
        this.node = node;
    }

    @Override
    public int serve()
    {
        return isOpenToCallers() ? node.doWork() : 0;
    }

    @Override
    public int poll()
    {
        return serve();
    }

    @Override
    public boolean isBusy()
    {
        return !node.queue().isEmpty() || node.isBusy();
    }

    @Override
    public boolean isDutyDue()
    {
        return !isOpenToCallers();
    }

    @Override
    public boolean isOpenToCallers()
    {
        return ComputeNode.State.SERVING == node.state();
    }
}
