package io.verbena.rdma.conformance;

import io.verbena.rdma.soft.SoftFabric;
import io.verbena.rdma.soft.SoftFabricOptions;
import io.verbena.rdma.verbs.Device;

import org.agrona.concurrent.SystemNanoClock;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** The contract over {@code soft}, both devices in this process. */
class SoftVerbsTest extends ConnectionContract
{
    static final long RNR_TIMEOUT_NS = TimeUnit.MILLISECONDS.toNanos(20);

    @Override
    protected VerbsRig openRig()
    {
        final SoftFabric fabric = SoftFabric.open(
            new SoftFabricOptions().directory(TestDirectories.next()).rnrTimeoutNs(RNR_TIMEOUT_NS));
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
                Thread.onSpinWait();
            }

            @Override
            public void exhaustRetries()
            {
                final long deadlineNs = SystemNanoClock.INSTANCE.nanoTime() + RNR_TIMEOUT_NS;
                while (SystemNanoClock.INSTANCE.nanoTime() - deadlineNs < 0)
                {
                    LockSupport.parkNanos(RNR_TIMEOUT_NS / 4);
                }
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
