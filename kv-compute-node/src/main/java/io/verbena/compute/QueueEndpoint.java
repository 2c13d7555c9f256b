package io.verbena.compute;

import io.verbena.compute.figures.DeniedTally;
import io.verbena.protocol.access.AccessRules;
import io.verbena.protocol.request.ComputeEndpoint;
import io.verbena.protocol.request.DutyLock;
import io.verbena.protocol.request.NodeRequest;
import io.verbena.raas.identity.PeerIdentity;

import java.util.function.IntSupplier;
import java.util.function.Supplier;

/** A compute node as threads of its process see it: a queue, and a duty cycle that they may run. Thread-safe. */
final class QueueEndpoint implements ComputeEndpoint
{
    private final RequestQueue queue;
    private final IntSupplier id;
    private final String name;
    private final Supplier<AccessRules> access;
    private final DeniedTally denied;
    private final DutyLock.Entrance entrance;
    private volatile DutyLock dutyLock;

    /**
     * @param queue of the node.
     * @param id    of the node.
     * @param name   for messages.
     * @param access who may do what, as the node knows now.
     * @param denied takes what was refused, for the audit log.
     */
    QueueEndpoint(
        final RequestQueue queue, final IntSupplier id, final String name, final Supplier<AccessRules> access,
        final DeniedTally denied)
    {
        this.access = access;
        this.denied = denied;
        this.queue = queue;
        this.id = id;
        this.name = name;
        entrance = queue::enqueue;
    }

    /** Lets submitting threads run the duty cycle under a lock; before any of them submits. */
    void share(final DutyLock lock)
    {
        dutyLock = lock;
    }

    @Override
    public int id()
    {
        return id.getAsInt();
    }

    @Override
    public void onRefused(final PeerIdentity who, final String what)
    {
        denied.add(who, what, null);
    }

    @Override
    public void onUnproved(final String what, final long times, final String last)
    {
        denied.addUnproved(what, times, last);
    }

    @Override
    public AccessRules access()
    {
        return access.get();
    }

    @Override
    public int submit(final NodeRequest request)
    {
        final DutyLock lock = dutyLock;
        if (null == lock)
        {
            return queue.offer(request);
        }
        final int status = queue.enqueue(request);
        if (ACCEPTED == status)
        {
            lock.wake();
        }
        return status;
    }

    @Override
    public int submitAndWork(final NodeRequest request)
    {
        final DutyLock lock = dutyLock;
        if (null == lock)
        {
            return queue.offer(request);
        }
        return lock.isMine() ? NESTED : lock.submit(request, entrance, entrance);
    }

    @Override
    public String toString()
    {
        return "QueueEndpoint{name=" + name + ", id=" + id() + '}';
    }
}
