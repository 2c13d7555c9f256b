package io.verbena.rdma.conformance;

import io.verbena.rdma.sim.device.SimFabric;
import io.verbena.rdma.verbs.Device;

/** Two devices of a simulated fabric, which moves when it is asked to. */
final class SimRig implements VerbsRig
{
    private static final int SETTLE_STEPS = 1_000;
    private static final long IDLE_NS = 1_000_000;
    private static final long CONNECT_TIMEOUT_NS = 5_000_000_000L;

    private final SimFabric fabric;
    private final Device requester;
    private final Device responder;

    SimRig(final SimFabric fabric)
    {
        this.fabric = fabric;
        requester = fabric.openDevice("requester");
        responder = fabric.openDevice("responder");
    }

    @Override
    public Device requester()
    {
        return requester;
    }

    @Override
    public Device responder()
    {
        return responder;
    }

    @Override
    public void progress()
    {
        if (!fabric.step())
        {
            fabric.advanceTo(fabric.clock().nanoTime() + IDLE_NS);
        }
    }

    @Override
    public void settle()
    {
        for (int i = 0; i < SETTLE_STEPS && fabric.step(); i++)
        {
            continue;
        }
    }

    @Override
    public void pass(final long durationNs)
    {
        fabric.advanceTo(fabric.clock().nanoTime() + durationNs);
    }

    @Override
    public long connectTimeoutNs()
    {
        return CONNECT_TIMEOUT_NS;
    }

    @Override
    public void close()
    {
        requester.close();
        responder.close();
        fabric.close();
    }
}
