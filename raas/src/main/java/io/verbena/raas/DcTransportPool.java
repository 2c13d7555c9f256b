package io.verbena.raas;

import io.verbena.rdma.verbs.DeviceCapability;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.VerbCounters;

import java.util.ArrayList;
import java.util.List;

/** The DC initiators of a context: made when they are first needed, few, and used again. */
final class DcTransportPool implements DcTransport.Owner
{
    private final ContextResources resources;
    private final DcTransport.BatchCompletions batches;
    private final int maxOpen;
    private final int depth;
    private final List<DcTransport> open = new ArrayList<>();
    private final List<DcTransport> idle = new ArrayList<>();
    private final VerbCounters closedCounters = new VerbCounters();

    DcTransportPool(final ContextResources resources, final DcTransport.BatchCompletions batches)
    {
        this.resources = resources;
        this.batches = batches;
        maxOpen = resources.device().attributes().supports(DeviceCapability.DC) ?
            resources.configuration().dcInitiators() : 0;
        depth = resources.configuration().maxBatchRequests();
    }

    /** An initiator for a channel; null when all are in use, there is no room, or there is no DC. */
    DcTransport take(final DcTransport.User channel, final ReadTargetAddress target)
    {
        if (!target.isThere() || idle.isEmpty() && (open.size() >= maxOpen ||
            !resources.completions().reserve(depth, 0)))
        {
            return null;
        }
        try
        {
            if (idle.isEmpty())
            {
                final DcTransport made = new DcTransport(resources, this, batches, depth);
                open.add(made);
                idle.add(made);
            }
            final DcTransport transport = idle.getLast();
            transport.lead(channel, target);
            idle.removeLast();
            return transport;
        }
        catch (final RdmaException ex)
        {
            // It is only quicker with it: the peer is reached when its queue pair is connected.
            onFailed(ex);
            return null;
        }
    }

    @Override
    public void onFailed(final RdmaException failure)
    {
        resources.configuration().dcFailureHandler().onError(failure);
    }

    /** Gives the room of initiators that nobody uses back; false when there are none. */
    boolean closeIdle()
    {
        final boolean hasIdle = !idle.isEmpty();
        while (!idle.isEmpty())
        {
            idle.getLast().close();
        }
        return hasIdle;
    }

    @Override
    public void onIdle(final DcTransport transport)
    {
        idle.add(transport);
    }

    @Override
    public void onClosed(final DcTransport transport)
    {
        open.remove(transport);
        idle.remove(transport);
        closedCounters.add(transport.counters());
    }

    void addCounters(final VerbCounters sum)
    {
        sum.add(closedCounters);
        open.forEach(transport -> sum.add(transport.counters()));
    }

    /** Initiators that there are. */
    int size()
    {
        return open.size();
    }

    void close()
    {
        while (!open.isEmpty())
        {
            open.getLast().close();
        }
    }
}
