package io.verbena.raas;

import io.verbena.rdma.verbs.DeviceCapability;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.VerbCounters;

import java.util.ArrayList;
import java.util.List;

/** The DC initiators of a context: made when they are first needed, few, and used again. */
final class DcCarrierPool
{
    private final RaasContext context;
    private final int maxCarriers;
    private final int depth;
    private final List<DcCarrier> open = new ArrayList<>();
    private final List<DcCarrier> idle = new ArrayList<>();
    private final VerbCounters closedCounters = new VerbCounters();

    DcCarrierPool(final RaasContext context)
    {
        this.context = context;
        maxCarriers = context.device().attributes().supports(DeviceCapability.DC) ?
            context.configuration().dcInitiators() : 0;
        depth = context.configuration().maxBatchRequests();
    }

    /** An initiator for a channel; null when all are in use, there is no room, or there is no DC. */
    DcCarrier take(final ClientChannel channel, final ReadTargetAddress target)
    {
        if (!target.isThere() || idle.isEmpty() && (open.size() >= maxCarriers ||
            !context.completions().reserve(depth, 0)))
        {
            return null;
        }
        try
        {
            if (idle.isEmpty())
            {
                final DcCarrier made = new DcCarrier(context, this, depth);
                open.add(made);
                idle.add(made);
            }
            final DcCarrier carrier = idle.getLast();
            carrier.lead(channel, target);
            idle.removeLast();
            return carrier;
        }
        catch (final RdmaException ex)
        {
            // It is only quicker with it: the peer is reached when its queue pair is connected.
            onFailed(ex);
            return null;
        }
    }

    /** An initiator could not be made, or broke. */
    void onFailed(final RdmaException failure)
    {
        context.configuration().dcFailureHandler().onError(failure);
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

    void onIdle(final DcCarrier carrier)
    {
        idle.add(carrier);
    }

    void onClosed(final DcCarrier carrier)
    {
        open.remove(carrier);
        idle.remove(carrier);
        closedCounters.add(carrier.counters());
    }

    void addCounters(final VerbCounters sum)
    {
        sum.add(closedCounters);
        open.forEach(carrier -> sum.add(carrier.counters()));
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
