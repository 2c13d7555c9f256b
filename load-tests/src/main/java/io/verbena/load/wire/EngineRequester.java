package io.verbena.load.wire;

import io.verbena.rdma.roce.engine.RoceQueuePair;
import io.verbena.rdma.roce.udp.UdpPort;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

/** Reads and writes the memory of an {@link EngineResponder}. One thread. */
final class EngineRequester
{
    private static final int POLLED = 64;

    private final EngineSide side;
    private final WorkCompletions batch = new WorkCompletions(POLLED);
    private long remoteAddress;
    private int remoteKey;
    private int missing;

    EngineRequester(final UdpPort port, final int windowPackets)
    {
        side = new EngineSide(port, port, windowPackets, EngineSide.QUEUE_PAIRS);
    }

    /** Connects, given the greeting of the responder; returns the command that connects it back. */
    String connect(final DeviceAddress peer, final String[] greeting, final int pathMtuBytes)
    {
        remoteAddress = Long.parseLong(greeting[1]);
        remoteKey = Integer.parseInt(greeting[2]);
        final int[] numbers = new int[EngineSide.QUEUE_PAIRS];
        for (int i = 0; i < numbers.length; i++)
        {
            numbers[i] = Integer.parseInt(greeting[3 + i]);
        }
        side.connect(0, peer, numbers, pathMtuBytes);
        return side.connectCommand(0, pathMtuBytes);
    }

    /** Posts READs, the queue pairs in turn a share each, and waits for all. */
    void read(final int count, final int lengthBytes)
    {
        final int share = Math.max(1, count / EngineSide.QUEUE_PAIRS);
        for (int posted = 0; posted < count; posted += share)
        {
            final RoceQueuePair queuePair = side.queuePairs[posted / share % EngineSide.QUEUE_PAIRS];
            queuePair.begin();
            for (int i = posted; i < Math.min(count, posted + share); i++)
            {
                queuePair.read(i, SendFlags.SIGNALED, side.region.address() + (long)i * lengthBytes, lengthBytes,
                    side.region.localKey(), remoteAddress + (long)i * lengthBytes, remoteKey);
            }
            queuePair.complete();
        }
        await(count);
    }

    void write(final int lengthBytes)
    {
        final RoceQueuePair queuePair = side.queuePairs[0];
        queuePair.begin();
        queuePair.write(0, SendFlags.SIGNALED, side.region.address(), lengthBytes, side.region.localKey(),
            remoteAddress, remoteKey);
        queuePair.complete();
        await(1);
    }

    void compareSwap()
    {
        final RoceQueuePair queuePair = side.queuePairs[0];
        queuePair.begin();
        queuePair.compareSwap(0, SendFlags.SIGNALED, side.region.address(), side.region.localKey(), remoteAddress,
            remoteKey, 0, 0);
        queuePair.complete();
        await(1);
    }

    private void await(final int count)
    {
        missing = count;
        side.send();
        while (missing > 0)
        {
            side.work();
            final int polled = side.completions.poll(batch);
            for (int i = 0; i < polled; i++)
            {
                if (batch.status(i) != WorkCompletionStatus.SUCCESS)
                {
                    throw new IllegalStateException(
                        "an operation failed: " + WorkCompletionStatus.text(batch.status(i)) + ", " + this);
                }
            }
            missing -= polled;
        }
    }

    @Override
    public String toString()
    {
        return side.toString();
    }
}
