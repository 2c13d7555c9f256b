package io.verbena.rdma.conformance;

import io.verbena.rdma.sim.SimFabric;
import io.verbena.rdma.sim.SimFabricOptions;
import io.verbena.rdma.verbs.Device;

/** The contract over {@code sim} at its most adversarial. */
class SimVerbsTest extends ConnectionContract
{
    @Override
    protected VerbsRig openRig()
    {
        final SimFabric fabric = new SimFabric(4711, new SimFabricOptions());
        final Device requester = fabric.openDevice("requester");
        final Device responder = fabric.openDevice("responder");
        return new VerbsRig()
        {
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
                    fabric.advanceTo(fabric.clock().nanoTime() + 1_000_000);
                }
            }

            @Override
            public void exhaustRetries()
            {
                fabric.advanceTo(fabric.clock().nanoTime() + 1_000_000_000L);
            }

            @Override
            public void close()
            {
                requester.close();
                responder.close();
                fabric.close();
            }
        };
    }
}
