package io.verbena.rdma.sim.device;

import io.verbena.rdma.sim.schedule.SimDecision;
import io.verbena.rdma.sim.schedule.SimDecisions;
import io.verbena.rdma.spi.StagedQueuePair;
import io.verbena.rdma.spi.WorkRequest;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.QueuePairType;

import java.lang.foreign.MemorySegment;

/** The sending side of a simulated queue pair: who it is on the network, and what becomes of its requests. */
abstract class SimSender extends StagedQueuePair implements SimSendQueue.Owner, SimHost.Sender
{
    protected final SimHost host;
    protected final SimNetwork network;
    protected final int number;
    protected SimLink link = new SimLink();

    SimSender(final SimNetwork network, final SimHost host, final QueuePairOptions options, final int number)
    {
        super(
            options.type(),
            options.capabilities(),
            options.type() == QueuePairType.UD ? SimHost.PATH_MTU_BYTES : SimHost.MAX_MESSAGE_BYTES,
            true);
        this.network = network;
        this.host = host;
        this.number = number;
    }

    abstract SimSendQueue sends();

    @Override
    public SimHost host()
    {
        return host;
    }

    @Override
    public SimNetwork network()
    {
        return network;
    }

    @Override
    public SimHost find(final DeviceAddress address)
    {
        return network.find(address);
    }

    /** What it is connected to until the next reset. */
    @Override
    public SimLink link()
    {
        return link;
    }

    @Override
    public SimRequest.Connection connection()
    {
        return link;
    }

    @Override
    public long lane(final int direction)
    {
        return SimDecisions.lane(host.index(), number, direction);
    }

    @Override
    public long decide(final SimDecision what, final long bound)
    {
        return network.timeline().decisions().next(what, lane(SimRequest.REQUEST), bound);
    }

    @Override
    public WorkRequest posted(final long position)
    {
        return request(position);
    }

    @Override
    public long tail()
    {
        return sendTail();
    }

    @Override
    public MemorySegment inline(final WorkRequest posted)
    {
        return inlinePayload(posted);
    }

    @Override
    public void onResumed()
    {
        sends().route().sendHeld();
    }

    @Override
    public void cut(final SimHost peer)
    {
        sends().route().cut(peer);
    }

    @Override
    public void scheduleArrival(final SimRequest request, final long timeNs)
    {
        sends().route().scheduleArrival(request, timeNs);
    }

    @Override
    public void left(final SimRequest request)
    {
        sends().left(request);
    }

    @Override
    public void left(final SimRequest request, final long timeNs)
    {
        sends().left(request, timeNs);
    }

    @Override
    public void respond(final SimRequest request, final int status)
    {
        sends().respond(request, status);
    }

    @Override
    public void responseIsHere(final SimRequest request)
    {
        sends().responseIsHere(request);
    }

    @Override
    public void giveUp(final SimRequest request)
    {
        sends().giveUp(request);
    }

    @Override
    public void expireInInit(final SimRequest request)
    {
        sends().expireInInit(request);
    }

    @Override
    public int number()
    {
        return number;
    }
}
