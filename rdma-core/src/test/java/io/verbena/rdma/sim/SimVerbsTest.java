package io.verbena.rdma.sim;

import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.VerbsContractTest;
import io.verbena.rdma.verbs.VerbsRig;

/** The contract over {@code sim} at its most adversarial. */
class SimVerbsTest extends VerbsContractTest
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
